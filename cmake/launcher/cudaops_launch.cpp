// SPDX-License-Identifier: Apache-2.0
// All of the program in one source: most of the time of a small source goes into the standard
// library's headers.

#include "cache.cpp"
#include "command_line.cpp"
#include "cubins.cpp"
#include "depfile.cpp"
#include "distribute.cpp"
#include "files.cpp"
#include "gcc_parts.cpp"
#include "header_search.cpp"
#include "hip.cpp"
#include "key.cpp"
#include "left_out.cpp"
#include "main.cpp"
#include "measure.cpp"
#include "precompiled.cpp"
#include "process.cpp"
#include "questions.cpp"
#include "remote.cpp"
#include "settings.cpp"
#include "sha1.cpp"
#include "text.cpp"
