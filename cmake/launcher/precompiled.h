// SPDX-License-Identifier: Apache-2.0
// Offers gcc the precompiled header that tools/precompile.sh made.

#pragma once

#include "settings.h"

namespace cudaops {

// The command with the directory of the precompiled header before the other include directories,
// where gcc takes it by itself, if it comes first in the source and was made with the same options
// and macros. If a header isn't the one any more that went into it, or the file itself is damaged,
// which gcc may stop at, the command is as it was.
Words with_precompiled(const Settings& settings, Words command);

// Whether a source includes Python.h and, next, torch's header, with nothing but comments before
// and between: a precompiled Python.h brings torch's header with it.
bool python_first(const std::string& text);

// Whether the headers that were precompiled, and what was made of them, are the same still.
bool precompiled_valid(const std::string& directory);

}  // namespace cudaops
