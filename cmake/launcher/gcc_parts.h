// SPDX-License-Identifier: Apache-2.0
// What a gcc consists of.

#pragma once

#include "text.h"

namespace cudaops {

// Prints which programs a gcc runs to make an object, and its specs file: a line <name>=<path>
// each, as gcc says it, where it says none the bare name. Then, a line depends=<path> each, every
// place that gcc would have taken one from.
int print_gcc_parts(const std::string& gcc);

}  // namespace cudaops
