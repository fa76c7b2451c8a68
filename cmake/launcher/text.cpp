// SPDX-License-Identifier: Apache-2.0

#include "text.h"

namespace cudaops {

bool matches(const char* pattern, std::string_view text) {
  size_t at = 0;
  const char* star = nullptr;
  size_t star_at = 0;
  while (true) {
    bool one = false;
    const char* next = pattern;
    if (*pattern == '*') {
      star = ++pattern;
      star_at = at;
      if (!*pattern) return true;
      continue;
    }
    if (at < text.size() && *pattern) {
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
    } else if (at == text.size() && !*pattern) {
      return true;
    } else if (star && star_at < text.size()) {
      pattern = star;
      at = ++star_at;
    } else {
      return false;
    }
  }
}

bool matches_any(const char* const* patterns, std::string_view text) {
  for (; *patterns; ++patterns) {
    if (matches(*patterns, text)) return true;
  }
  return false;
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

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string directory_of(const std::string& path) {
  size_t at = path.rfind('/');
  return at == std::string::npos ? "." : path.substr(0, at);
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace cudaops
