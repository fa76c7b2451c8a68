// SPDX-License-Identifier: Apache-2.0

#include "cubins.h"

#include <stdio.h>

#include "cache.h"
#include "files.h"
#include "measure.h"

namespace cudaops {

namespace {

// The source that the file stands for, and what of it.
struct Stand {
  std::string name, arch;
};

bool stand_of(const std::string& source, Stand& stand) {
  if (!holds("/" + source, "/CudaOps/cubins/") || !ends(source, ".cu")) return false;
  stand.name = name_of(source.substr(0, source.size() - 3));
  size_t at = stand.name.rfind(".compute_");
  if (at != std::string::npos) {
    stand.arch = stand.name.substr(at + 1);
    stand.name.resize(at);
  }
  return true;
}

}  // namespace

bool is_cubins_step(const Settings& settings, const Words& command) {
  Stand stand;
  return settings.has("cubins") && stand_of(option_value(command, "-c"), stand);
}

Ended launch_cubins(Settings& settings, const Words& command) {
  Stand stand;
  const std::string source = option_value(command, "-c"), object = option_value(command, "-o");
  stand_of(source, stand);
  std::string real;
  Words names = settings.all("stand_in"), paths = settings.all("stands_for");
  for (size_t i = 0; i < names.size() && i < paths.size(); ++i) {
    if (names[i] == stand.name) real = paths[i];
  }
  if (real.empty()) {
    say("CudaOps: " + settings.get("file") + " doesn't know " + source + "; configure again");
    return ended_with(1);
  }
  const bool part = !stand.arch.empty();
  Words words = command;
  for (size_t i = 1; i < words.size(); ++i) {
    if (command[i - 1] == "-c") words[i] = real;
    if (command[i - 1] == "-o" && part) words[i] = object + ".part";
  }
  Settings context;
  context.add("nvcc", command[0]);
  context.add("program", settings.get("cubins_compiler"));
  if (part) {
    context.add("part", stand.arch);
  } else {
    context.add("parts", object.substr(0, object.size() - (ends(object, ".cu.o") ? 5 : 0)));
  }
  const bool cached = settings.has("engine");
  if (cached) {
    if (!env("CCACHE_DISABLE")) context.add("ccache", settings.get("cache"));
    context.add("link", settings.get("link_compiler"));
  }
  set_env("CUDAOPS_LAUNCH_CUBINS", context.text());
  // No object of the same command, for the cache.
  if (part)
    set_env("CCACHE_NAMESPACE", env_or_empty("CCACHE_NAMESPACE") + "cubins 2|" + stand.arch + "|");
  // For the cache, that program is the compiler; the settings about nvcc remain.
  words[0] = settings.get("cubins_compiler");
  settings.add("compiler", words[0]);
  settings.add("link_compiler", "");
  Ended ended;
  bool done = false;
  const Words arguments(words.begin() + 1, words.end());
  if (cached) {
    Cache cache(settings);
    done = cache.compile(arguments, ended);
    if (!done) cache.log_not_cached(words);
  }
  if (!done) ended = ended_with(run_cubins_compiler(env("CUDAOPS_LAUNCH_CUBINS"), arguments));
  if (ended.status != 0 || !part) return ended;
  // What the link sees of it.
  const std::string& empty = settings.get("cubins_empty");
  std::string text;
  if (!has_content(empty)) {
    const std::string made = object + ".new";
    Ended compiled =
        run({settings.get("cxx"), "-x", "c++", "-fPIC", "-c", "/dev/null", "-o", made});
    if (compiled.status != 0) return compiled;
    if (rename(made.c_str(), empty.c_str()) != 0) return ended_with(1);
  }
  return ended_with(read_file(empty, text) && write_file(object, text) ? 0 : 1);
}

}  // namespace cudaops
