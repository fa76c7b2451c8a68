// SPDX-License-Identifier: Apache-2.0
// The commands that nvcc says it would run (-dryrun).

#pragma once

#include "text.h"

namespace cudaops {

// Stands in the commands for the directory of a compile, so that they are the same everywhere.
#define CUDAOPS_PLAN_DIRECTORY "$_cudaops_d"

// What nvcc would do, of its -dryrun.
struct Plan {
  struct Arch {
    std::string name;    // compute_90a
    std::string before;  // preprocesses
    Words commands;      // compiles
  };
  Words variables;  // NAME=value
  Words host;       // up to cudafe++
  std::vector<Arch> archs;
  Words end;  // puts it together

  // False where there is something that isn't known.
  bool parse(const std::string& text);
  Arch* arch(const std::string& name);
};

// The words of a command as nvcc prints it, for a shell: double quotes, backslashes, variables in
// quotes. False where a shell would see more in it.
bool split_command(const std::string& line, const Words& variables, Words& words);

}  // namespace cudaops
