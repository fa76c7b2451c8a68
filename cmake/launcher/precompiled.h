// SPDX-License-Identifier: Apache-2.0
// The header that every stable binding begins with, torch/csrc/stable/library.h, precompiled by
// gcc: half of the time that such a source takes.

#pragma once

#include "header_search.h"
#include "settings.h"

namespace cudaops {

// How a command finds headers, and what it calls torch's include directory.
struct PrecompiledSearch {
  Trees trees;
  IncludeDirectories directories;
  std::string torch;

  // Of a command as the build system writes it.
  static PrecompiledSearch of(const Settings& settings, const Words& command);
};

// The command with the directory of the precompiled header before the other include directories,
// where gcc takes it by itself, if it comes first in the source and was made with the same options
// and macros. If a header isn't the one any more that went into it, or the file itself is damaged,
// which gcc may stop at, or another directory has a file that the command would find in place of
// one of those headers, the command is as it was.
Words with_precompiled(const Settings& settings, Words command, const PrecompiledSearch& search);

// Whether a source includes Python.h and, next, torch's header, with nothing but comments before
// and between: a precompiled Python.h brings torch's header with it.
bool python_first(const std::string& text);

// <directory> <first> <compiler> <include directory of torch> <option>...: writes
// <directory>/<first>.gch, `files`, which names the headers in it, and `stamp`, the sizes and times
// of all of these. <first> is the header itself, or Python.h, which has to stand first where it is
// included: then Python.h.gch is both. Returns an exit code.
int make_precompiled(const Words& words);

// Whether the headers that were precompiled, and what was made of them, are the same still.
bool precompiled_valid(const std::string& directory);

}  // namespace cudaops
