// SPDX-License-Identifier: Apache-2.0
// One compile through a compiler cache, so that the object is always the one that the compiler
// would make.
//
// Plain `ccache nvcc` preprocesses one of nvcc's passes and reads no environment variable; here the
// cache uses the dependency file, which names the headers of all passes, and its key holds
// everything else that decides what is in the object. What can't be described so is compiled
// without the cache, and so is everything when the cache fails.
//
// Each compile leaves a line in <build>/CudaOps/cache/log, fields separated by tabs:
//
//   hit | miss | failed | not cached   hit, miss, failed, left out or - (of the shared cache)
//   milliseconds   reason   object

#pragma once

#include "command_line.h"
#include "depfile.h"
#include "header_search.h"
#include "left_out.h"
#include "process.h"
#include "settings.h"

namespace cudaops {

class Cache {
 public:
  explicit Cache(const Settings& settings);

  // Compiles, with the words behind the compiler's name. False where that must be done without the
  // cache.
  bool compile(const Words& words, Ended& ended);
  // Why it must, in the log.
  void log_not_cached(const Words& words);

 private:
  // That it must be done without the cache.
  bool refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }

  // key.cpp: what decides on the object beside the command and the files that it reads.
  bool describe_environment();
  bool describe_command(const Compile& compile);
  void describe_place(Compile& compile);
  bool describe_compiler();
  void describe_program(const std::string& program);

  // What ccache, or sccache, did when it was asked.
  struct Answer {
    Ended ended;
    std::string said;   // on stderr, where it wasn't shown
    std::string mark;   // how the compile ended, where there was one: done, failed, unfit
    std::string unfit;  // why its object must not be kept
    std::string result = "asked";  // hit, miss
    std::string declined;          // why ccache left it to the compiler
    std::string remote;            // hit, miss, failed, answered: of the shared cache
  };
  Answer ask(const Words& words);
  void read_mark(Answer& answer);
  bool finish(Answer& answer, Ended& ended);
  Words ccache_words(Words words);
  // sccache doesn't run our step: whether the entry may be used is decided afterwards.
  void judge_afterwards(Answer& answer);

  // Whether a file is there now that the compiler would find before a header that the entry names.
  std::string shadowing_file(const Words& words);
  // What the compile, or the entry, has left.
  bool read_depfile();
  std::string read_sum(const HeaderSearch& search, const Words& words) const;
  // The source tree's files by their own names, as whoever generates one of them calls it.
  void name_own_files() const;

  // remote.cpp
  void remote_begin();
  void remote_failed(const std::string& what);
  void remote_end(const Answer& answer);

  void log(const std::string& result, const std::string& reason);

  const Settings& settings_;
  const std::string engine_, program_, directory_;
  const Kind kind_;
  std::string kind_name_;
  long started_ms_;
  std::string why_ = "another compiler than the one that was configured";
  std::string key_, bound_, object_, depfile_, mark_, compiler_;
  bool debug_ = false, present_ = true;
  Places places_;
  Trees trees_;
  IncludeDirectories directories_;
  Depfile read_;
  std::string their_log_;
  LeftOut left_out_;
  std::string sum_;  // of the last read_sum()

  LeftOut remote_left_out_;
  std::string remote_state_ = "-";
  Settings remote_;
};

// The compiler as ccache sees it: runs where the cache has no entry, and leaves word of how it
// ended, so that a failed compile is known from a failed cache. <context> is what the launcher
// says.
int run_step(const std::string& context, const Words& words);

}  // namespace cudaops
