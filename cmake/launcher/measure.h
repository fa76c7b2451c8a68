// SPDX-License-Identifier: Apache-2.0
// What a compile took: time, memory, what the compiler cache did. build_report.py reads the
// records.

#pragma once

#include "process.h"

namespace cudaops {

// Runs a command and leaves <directory>/<hash of the object>.json; with `phases` nvcc's own table
// beside it, .csv, in which case no cache keeps the object. The compile is never worse for it: what
// can't be noted is left out.
Ended run_traced(const std::string& directory, bool phases, const Words& command);

// Runs a command and adds a line to a file: KiB of the largest of its processes, and the source.
// accelerate/jobs_weight.cmake reads them.
Ended run_weighed(const std::string& file, const Words& command);

// The value of `-o x`; empty where there is none.
std::string option_value(const Words& words, const char* name);

}  // namespace cudaops
