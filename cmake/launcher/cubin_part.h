// SPDX-License-Identifier: Apache-2.0
// What one architecture of a CUDA source gives: the text that it is made of, and its files.

#pragma once

#include "text.h"

namespace cudaops {

// The files that a preprocessed text names.
void add_named_files(std::string_view text, Words& names);

// Whether what is compiled depends on line numbers.
bool needs_lines(const Words& commands, std::string_view text);
std::string without_lines(std::string_view text);

// Several files in one.
struct Entry {
  std::string name, content;
};
std::string packed(const std::vector<Entry>& entries);
bool unpack(std::string_view text, std::vector<Entry>& entries);

}  // namespace cudaops
