// SPDX-License-Identifier: Apache-2.0
// The arguments of a compile by nvcc, gcc or clang.

#pragma once

#include "text.h"

namespace cudaops {

enum class Kind { cuda, hip, cxx };

struct Compile {
  Words words;          // with the words of option files in place of these
  std::string object;   // -o
  std::string depfile;  // -MF
  std::string host;     // -ccbin
  std::string rocm;     // the options that say where ROCm is, each behind a bar
  bool debug = false;   // the object holds paths
  bool native = false;  // for this machine's processor
  std::string why_not;  // why no cache can answer; empty where one can
};

// Reads the words, without the compiler's name.
Compile read_command(const Words& words);

// The words with -O<level> and -DNDEBUG where CMake puts those of a build type: the same compile as
// with an empty build type has the same words. As they are where either stands there more than
// once, or may be another option's value.
Words with_build_type_in_place(const Words& words);

// Why flags in NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS, which can name files, compilers and places
// too, can't be described; empty where they can. <debug> becomes true where they ask for debug
// information.
std::string why_not_flags(const std::string& flags, bool& debug);

// The words with the option files of nvcc, as CMake's Makefiles use them, read: plain words and
// words in double quotes. False where there is one that is none of this.
bool expand_option_files(const Words& words, Words& expanded);

// Where things lie that lie elsewhere on the next machine, and what they are called from the build
// tree.
struct Places {
  struct Place {
    std::string directory, name;  // an empty name: the build tree itself
  };
  std::vector<Place> places;  // the longest first
  std::string up;             // leads from here to the top of the build tree

  // False where the path lies in none of them.
  bool relative(const std::string& path, std::string& name) const;

  // The words with their paths relative to the build tree; <key> gets the prefix maps, of which a
  // cache thinks that only debug information sees them.
  Words relative_words(const Words& words, std::string& key) const;
};

}  // namespace cudaops
