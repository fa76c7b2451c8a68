// SPDX-License-Identifier: Apache-2.0
// A compile of HIP whose dependency file names the headers of all passes.

#pragma once

#include "process.h"

namespace cudaops {

// Each of clang's passes writes the dependency file anew, the host's last: a header that only
// device code includes isn't in it, and an edit there would build nothing. Clang's list of headers,
// which every pass adds to, has them all. Where there is no such list <dependency file>.passes
// stays behind.
Ended run_hip(const Words& command);

// Puts the list's names into the dependency file; false where it can't be relied on.
bool complete_depfile(const std::string& depfile, const std::string& list);

}  // namespace cudaops
