// SPDX-License-Identifier: Apache-2.0

#include "text.h"

#include <string.h>

namespace cudaops {

// The pattern ends at a zero, or at `end`.
static bool matches_up_to(char end, const char* pattern, std::string_view text) {
  auto ended = [end](const char* at) { return !*at || *at == end; };
  size_t at = 0;
  const char* star = nullptr;
  size_t star_at = 0;
  while (true) {
    bool one = false;
    const char* next = pattern;
    if (*pattern == '*') {
      star = ++pattern;
      star_at = at;
      if (ended(pattern)) return true;
      continue;
    }
    if (at < text.size() && !ended(pattern)) {
      if (*pattern == '?') {
        one = true;
        next = pattern + 1;
      } else if (*pattern == '[') {
        next = pattern + 1;
        bool inverted = *next == '^';
        if (inverted) ++next;
        bool in = false;
        for (bool first = true; first || *next != ']'; first = false, ++next) {
          if (next[1] == '-' && next[2] != ']') {
            in = in || (text[at] >= next[0] && text[at] <= next[2]);
            next += 2;
          } else {
            in = in || text[at] == *next;
          }
        }
        ++next;
        one = in != inverted;
      } else {
        one = *pattern == text[at];
        next = pattern + 1;
      }
    }
    if (one) {
      pattern = next;
      ++at;
    } else if (at == text.size() && ended(pattern)) {
      return true;
    } else if (star && star_at < text.size()) {
      pattern = star;
      ++star_at;
      // Where what is behind the star can begin.
      if (*star != '?' && *star != '[') star_at = text.find(*star, star_at);
      if (star_at == std::string_view::npos) return false;
      at = star_at;
    } else {
      return false;
    }
  }
}

bool matches(const char* pattern, std::string_view text) {
  return matches_up_to('\0', pattern, text);
}

bool matches_any(const char* patterns, std::string_view text) {
  while (true) {
    // Most don't even begin alike.
    const char first = *patterns;
    const bool plain = first != '*' && first != '?' && first != '[' && !text.empty();
    if ((!plain || first == text[0]) && matches_up_to(' ', patterns, text)) return true;
    patterns = strchr(patterns, ' ');
    if (!patterns) return false;
    ++patterns;
  }
}

Words split(std::string_view text, char separator) {
  Words parts;
  while (true) {
    size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

Words split_blanks(std::string_view text) {
  Words parts;
  size_t at = 0;
  while ((at = text.find_first_not_of(" \t\n", at)) != std::string_view::npos) {
    size_t end = text.find_first_of(" \t\n", at);
    if (end == std::string_view::npos) end = text.size();
    parts.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return parts;
}

std::string join(const Words& words, const char* separator) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i) text += separator;
    text += words[i];
  }
  return text;
}

std::string_view next_line(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string directory_of(const std::string& path) {
  size_t at = path.rfind('/');
  return at == std::string::npos ? "." : path.substr(0, at);
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace cudaops
