// SPDX-License-Identifier: Apache-2.0
// Links what add_torch_op() and cudaops_add_kernels() make: with every symbol there but Python's
// own, and stable ops against stubs of torch's libraries, where the linker reads 50 kB instead of
// half a gigabyte.
//
// `link_step` in the settings, with
//
//   stubs <directory>        made by make_link_stubs()
//   open                     the linker may be another than the compiler's own
//   uses_python may|must
//   python_stub <library>    what modules find in the interpreter; made when it is wanted for the
//   python, compiler, readelf     first time, by these programs

#pragma once

#include "process.h"
#include "settings.h"

namespace cudaops {

// Runs the command of a link: with stubs in the place of torch's libraries, and by the linker that
// was found with them where the command leaves the choice open. Where there are no stubs, the
// libraries are others by now, or the link fails, as it was given: what can't be linked is said by
// the compiler's own linker and with torch itself.
//
// The command says --no-undefined, which knows no exceptions, and Python's symbols come from the
// interpreter. What fails to link (`may` use Python's API) or would fail (`must`) is linked with
// the Python stub: the linker itself says what else is missing. Where nothing is, the file is
// linked without that library, so that it doesn't need it, and with these symbols open.
Ended run_link(const Settings& settings, const Words& command);

// <compiler> <nm> <readelf> <directory> <library>...: a stub of each library in <directory>: its
// SONAME, and of its functions those of the C interface, which are all that a stable op may use.
// `stamp` in it names the libraries, `linker` a linker that is faster than the compiler's own, if
// there is one. Returns an exit code.
int make_link_stubs(const Words& words);

// Whether all words of a link mean the same to both linkers: no other linker was asked for, no
// plug-in, no script.
bool any_linker(const Words& words);

// What to do about the names that a linker misses: those of CUDA and of OpenMP tell their library.
std::string advice_for(const std::string& said);

}  // namespace cudaops
