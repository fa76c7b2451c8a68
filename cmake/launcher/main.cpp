// SPDX-License-Identifier: Apache-2.0
// cudaops-launch: runs the compiles of CudaOps' targets. detail/launch/launcher.cmake builds it,
// once a user and compiler, and tests/launcher/ tests its parts.
//
//   cudaops-launch <settings> <compiler> <argument>...
//
// <settings> (settings.h) says what is done beside running the compiler:
//
//   memory <file>                measure.h: the memory that the compile took
//   trace <directory>, phases    the same: all that it took

#include "files.h"
#include "gcc_parts.h"
#include "measure.h"
#include "precompiled.h"
#include "settings.h"

namespace {

using namespace cudaops;

int launch(const Words& words) {
  Settings settings;
  Words command(words.begin() + 1, words.end());
  // Whatever has become of the settings, the compile is right without them.
  if (!settings.read(words[0])) return become(command);
  if (settings.has("memory")) end_like(run_weighed(settings.get("memory"), command));
  if (settings.has("trace")) {
    end_like(run_traced(settings.get("trace"), settings.has("phases"), command));
  }
  settings.add("file", words[0]);
  if (settings.has("cubins")) end_like(launch_cubins(settings, command));
  if (settings.has("engine")) {
    Cache cache(settings);
    Ended ended;
    if (command[0] == settings.get("compiler") &&
        cache.compile(Words(command.begin() + 1, command.end()), ended)) {
      end_like(ended);
    }
    // How long that takes nobody waits to see.
    cache.log_not_cached(command);
  }
  if (settings.has("precompiled")) command = with_precompiled(settings, std::move(command));
  if (settings.has("hip")) end_like(run_hip(command));
  return become(command);
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
  if (words.size() < 2) {
    say("usage: cudaops-launch <settings> <compiler> <argument>...");
    return 2;
  }
  return launch(words);
}
