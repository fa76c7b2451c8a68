// SPDX-License-Identifier: Apache-2.0
// All of the program in one source: most of the time of a small source goes into the standard
// library's headers.

#include "depfile.cpp"
#include "files.cpp"
#include "main.cpp"
#include "measure.cpp"
#include "process.cpp"
#include "settings.cpp"
#include "sha1.cpp"
#include "text.cpp"
