// SPDX-License-Identifier: Apache-2.0
// Strings.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cudaops {

using Words = std::vector<std::string>;

inline bool begins(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}
inline bool ends(std::string_view text, std::string_view with) {
  return text.size() >= with.size() && text.substr(text.size() - with.size()) == with;
}
inline bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
inline bool is_in(const Words& words, std::string_view word) {
  for (const std::string& other : words) {
    if (other == word) return true;
  }
  return false;
}
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
// Of a name in C.
inline bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}
// Where the line begins that holds this place.
inline size_t line_begin(std::string_view text, size_t at) { return text.rfind('\n', at) + 1; }

// The first line, which is taken off the text.
std::string_view next_line(std::string_view& text);

// A pattern as in a shell's `case`: *, ?, [abc], [^abc].
bool matches(const char* pattern, std::string_view text);

// Whether one of the patterns, which blanks separate, matches.
bool matches_any(const char* patterns, std::string_view text);

// The parts between separators, empty ones too.
Words split(std::string_view text, char separator);

// What blanks and line ends separate.
Words split_blanks(std::string_view text);

std::string join(const Words& words, const char* separator);
std::string first_line(const std::string& text);

// The part before, and the part after, the last slash; "." and all of it where there is none.
std::string directory_of(const std::string& path);
std::string name_of(const std::string& path);

}  // namespace cudaops
