// SPDX-License-Identifier: Apache-2.0
// cudaops-launch: runs the compiles of CudaOps' targets. detail/launch/launcher.cmake builds it,
// once a user and compiler, and tests/launcher/ tests its parts.
//
//   cudaops-launch <settings> <compiler> <argument>...
//
// <settings> (settings.h), one file a target and language, says which steps there are beside
// running the compiler, from the outermost to the innermost:
//
//   memory <file>                measure.h: the memory that the compile took
//   trace <directory>, phases    measure.h: all that it took
//   engine <ccache or sccache>   cache.h
//   cubins                       cubins.h: one architecture, or what puts them together
//   precompiled <directory>      precompiled.h
//   hip                          hip.h: the headers of all passes in the dependency file
//
// or, of a link:
//
//   link_step                    link.h

#include <unistd.h>

#include "cache.h"
#include "cubins.h"
#include "files.h"
#include "gcc_parts.h"
#include "hip.h"
#include "link.h"
#include "measure.h"
#include "precompiled.h"
#include "settings.h"

namespace {

using namespace cudaops;

// Where nothing comes after the compile this process becomes the compiler.
Ended compile(Settings& settings, Words command, bool last) {
  if (is_cubins_step(settings, command)) return launch_cubins(settings, command);
  if (settings.has("engine")) {
    Cache cache(settings);
    Ended ended;
    if (command[0] == settings.get("compiler") &&
        cache.compile(Words(command.begin() + 1, command.end()), ended)) {
      return ended;
    }
    // How long that takes nobody waits to see.
    cache.log_not_cached(command);
  }
  if (settings.has("precompiled")) {
    const PrecompiledSearch search = PrecompiledSearch::of(settings, command);
    command = with_precompiled(settings, std::move(command), search);
  }
  if (settings.has("hip")) return run_hip(command);
  if (!last) return run(command);
  Ended ended;
  ended.status = become(command);
  return ended;
}

void launch(const Words& words) {
  Settings settings;
  Words command(words.begin() + 1, words.end());
  // Whatever has become of the settings, the compile is right without them.
  if (!settings.read(words[0])) _exit(become(command));
  if (settings.has("link_step")) end_like(run_link(settings, command));
  settings.add("file", words[0]);
  Measuring measuring(settings, command);
  if (!measuring.on()) end_like(compile(settings, std::move(command), true));
  Ended ended = compile(settings, measuring.begin(), false);
  measuring.end(ended);
  end_like(ended);
}

}  // namespace

int main(int count, char** arguments) {
  Words words(arguments + 1, arguments + count);
  if (name_of(arguments[0]) == "step" && env("CUDAOPS_LAUNCH_STEP")) {
    return run_step(env("CUDAOPS_LAUNCH_STEP"), words);
  }
  if (name_of(arguments[0]) == "cubins_compiler" && env("CUDAOPS_LAUNCH_CUBINS")) {
    return run_cubins_compiler(env("CUDAOPS_LAUNCH_CUBINS"), words);
  }
  if (words.size() == 1 && words[0] == "--version") {
    say("cudaops-launch");
    return 0;
  }
  if (words.size() == 2 && words[0] == "--python-first") {
    std::string text;
    return read_file(words[1], text) && python_first(text) ? 0 : 1;
  }
  if (words.size() == 2 && words[0] == "--gcc-parts") return print_gcc_parts(words[1]);
  const Words rest(words.begin() + (words.empty() ? 0 : 1), words.end());
  if (rest.size() >= 4 && words[0] == "--precompile") return make_precompiled(rest);
  if (rest.size() == 1 && words[0] == "--precompiled") return precompiled_valid(rest[0]) ? 0 : 1;
  if (rest.size() >= 5 && words[0] == "--link-stubs") return make_link_stubs(rest);
  if (words.size() < 2) {
    say("usage: cudaops-launch <settings> <compiler> <argument>...");
    return 2;
  }
  launch(words);
}
