// SPDX-License-Identifier: Apache-2.0
// One CUDA source, compiled an architecture at a time: accelerate/cubins.cmake makes an edge of
// each architecture, and this does its part of what nvcc would do, and puts the parts together
// where the object is made.
//
// nvcc itself says what it would do (-dryrun): the same commands run here, so that the object is
// the one that it would have made. A part is taken only where it was made by the commands of the
// object and holds the name that nvcc gives to this unit, if it holds any; else it is made again. A
// plan that isn't understood is left to nvcc as a whole.
//
// A part is known by its preprocessed text, without line numbers where nothing depends on them: an
// edit that an architecture doesn't see compiles nothing for it.

#pragma once

#include "process.h"
#include "settings.h"

namespace cudaops {

// Whether a command is a step of cubins.cmake: `cubins` in the settings, and a source that stands
// for another one.
bool is_cubins_step(const Settings& settings, const Words& command);

// Such a command, through the cache where there is one (`engine`). Returns how it ended.
Ended launch_cubins(Settings& settings, const Words& command);

// The compiler, as the cache calls it: a link by the name of `cubins_compiler`. <context> is what
// launch_cubins() says.
int run_cubins_compiler(const std::string& context, const Words& words);

}  // namespace cudaops
