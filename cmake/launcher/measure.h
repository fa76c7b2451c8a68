// SPDX-License-Identifier: Apache-2.0
// What a compile took: time, memory, what the compiler cache did. build_report.py reads the
// records.

#pragma once

#include "process.h"
#include "settings.h"

namespace cudaops {

// `memory <file>` in the settings: a line of KiB, of the largest process, and source, which
// accelerate/jobs.cmake reads. `trace <directory>`: <hash of the object>.record, with `phases`
// nvcc's own table beside it, .csv, in which case no cache keeps the object. The compile is never
// worse for it: what can't be noted is left out.
class Measuring {
 public:
  Measuring(const Settings& settings, const Words& command);

  bool on() const { return !memory_.empty() || !trace_.empty(); }
  // The command that is to be run.
  Words begin();
  // It has ended, and all that it ran with it.
  void end(const Ended& ended);

 private:
  void note_memory(const rusage& usage) const;
  void note_trace(const rusage& usage, long long finished_ns);

  const std::string memory_, trace_;
  const bool phases_, cached_;
  const Words command_;
  std::string object_, base_, statistics_, before_;
  long long started_ns_ = 0;
};

// The value of `-o x`; empty where there is none.
std::string option_value(const Words& words, const char* name);

}  // namespace cudaops
