// SPDX-License-Identifier: Apache-2.0
// Starts programs, by posix_spawn; no shell is between.

#pragma once

#include <sys/resource.h>

#include "text.h"

namespace cudaops {

// How a program ended.
struct Ended {
  int status = 127;  // its exit code; 128 and the number of the signal that ended it
  int signal = 0;    // that signal
  struct rusage usage = {};
};

inline Ended ended_with(int status) {
  Ended ended;
  ended.status = status;
  return ended;
}

struct Start {
  bool capture_output = false;
  bool capture_error = false;
  // After so many milliseconds, and then again, `late` is asked whether the program is to be ended;
  // 0: never.
  long patience_ms = 0;
  bool (*late)(void* context) = nullptr;
  void* context = nullptr;
  const char* directory = nullptr;
  bool no_input = false;
};

struct Captured : Ended {
  std::string output;
  std::string error;
  bool ended_late = false;
};

// Runs a program with this process' environment, waits for it. What can't be started ends with 127,
// and with 126 where it is no program. A SIGTERM or SIGHUP is passed on to it; a SIGINT goes to the
// whole group by itself.
Captured run(const Words& command, const Start& start = {});

// This process becomes the command; returns 127 or 126, after a line on stderr, where it can't.
int become(const Words& command);

// Ends this process in the way that the command has ended.
[[noreturn]] void end_like(const Ended& ended);

}  // namespace cudaops
