// SPDX-License-Identifier: Apache-2.0

#include "questions.h"

#include <string.h>
#include <strings.h>

#include "files.h"

namespace cudaops {

namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

size_t skip_spaces(std::string_view text, size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

bool at_nocase(std::string_view text, size_t at, std::string_view what) {
  return at + what.size() <= text.size() &&
         strncasecmp(text.data() + at, what.data(), what.size()) == 0;
}

bool mentions(std::string_view line) {
  return holds(line, "__has_include") || holds(line, "__has_embed");
}

// The length of __has_include or __has_embed where one of them stands there as a whole word; else
// 0.
size_t question_at(std::string_view line, size_t at) {
  for (std::string_view name :
       {std::string_view("__has_include"), std::string_view("__has_embed")}) {
    if (line.substr(at, name.size()) != name) continue;
    size_t end = at + name.size();
    return end == line.size() || !is_word(line[end]) ? name.size() : 0;
  }
  return 0;
}

// The lines that mention one.
void collect(std::string_view text, Words& lines) {
  size_t at = 0;
  while ((at = text.find("__has_", at)) != std::string_view::npos) {
    size_t end = text.find('\n', at);
    if (end == std::string_view::npos) end = text.size();
    const size_t begin = line_begin(text, at);
    std::string_view line = text.substr(begin, end - begin);
    if (mentions(line)) {
      lines.emplace_back(line);
      at = end;
    } else {
      at += 6;
    }
  }
}

// Whether a line asks for a header of this name.
bool asks_for(std::string_view text, const std::string& name) {
  for (size_t at = 0; at + 11 <= text.size(); ++at) {
    if ((text[at] | 32) != 'h' || !at_nocase(text, at, "has_include")) continue;
    for (size_t i = at + 11; i < text.size() && text[i] != '\n'; ++i) {
      if ((text[i] != '<' && text[i] != '"') || !at_nocase(text, i + 1, name)) continue;
      size_t end = skip_spaces(text, i + 1 + name.size());
      if (end < text.size() && (text[end] == '>' || text[end] == '"')) return true;
    }
  }
  return false;
}

}  // namespace

bool reads_by_assembler(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const void* next = memchr(text.data() + at, 'n', text.size() - at);
    const void* upper =
        memchr(text.data() + at, 'N',
               next ? static_cast<const char*>(next) - text.data() - at : text.size() - at);
    if (upper) next = upper;
    if (!next) return false;
    at = static_cast<const char*>(next) - text.data() + 1;
    if (at < 2) continue;
    size_t begin = at - 2;  // of the word "in..."
    if (at_nocase(text, begin, "incbin") && (begin == 0 || !is_word(text[begin - 1]))) return true;
    if (begin > 0 && text[begin - 1] == '.' && at_nocase(text, begin, "include")) {
      size_t i = begin + 7;
      size_t end = i;
      while (end < text.size() && text[end] != '\n' && is_space(text[end])) ++end;
      if (end > i && end < text.size() &&
          (text[end] == '"' ||
           (text[end] == '\\' && end + 1 < text.size() && text[end + 1] == '"'))) {
        return true;
      }
    }
  }
  return false;
}

std::string without_known_questions(std::string line, const Words& names) {
  if (!holds(line, "/*"))
    line.resize(line.find("//") == std::string::npos ? line.size() : line.find("//"));
  // __has_include(<name>)
  std::string text;
  for (size_t at = 0; at < line.size();) {
    size_t end = at;
    if (line.compare(at, 13, "__has_include") == 0) {
      size_t i = skip_spaces(line, at + 13);
      if (i < line.size() && line[i] == '(') {
        i = skip_spaces(line, i + 1);
        size_t close = i < line.size() && line[i] == '<' ? line.find('>', i) : std::string::npos;
        if (close != std::string::npos) {
          std::string_view name(line.data() + i + 1, close - i - 1);
          size_t after = skip_spaces(line, close + 1);
          for (const std::string& known : names) {
            if (name == known && after < line.size() && line[after] == ')') end = after + 1;
          }
        }
      }
    }
    if (end > at) {
      at = end;
    } else {
      text += line[at++];
    }
  }
  // defined(__has_include)
  line.clear();
  for (size_t at = 0; at < text.size();) {
    if (text.compare(at, 7, "defined") == 0) {
      size_t i = skip_spaces(text, at + 7);
      if (i < text.size() && text[i] == '(') ++i;
      i = skip_spaces(text, i);
      if (size_t length = question_at(text, i)) {
        at = i + length;
        continue;
      }
    }
    line += text[at++];
  }
  // #ifdef __has_include
  size_t i = skip_spaces(line, 0);
  if (i < line.size() && line[i] == '#') {
    i = skip_spaces(line, i + 1);
    size_t length = line.compare(i, 5, "ifdef") == 0    ? 5
                    : line.compare(i, 6, "ifndef") == 0 ? 6
                                                        : 0;
    size_t name = skip_spaces(line, i + length);
    if (length && name > i + length) {
      if (size_t question = question_at(line, name)) line.erase(name, question);
    }
  }
  return line;
}

std::string why_unfit(const HeaderSearch& search, const Words& absent, const Words& present) {
  bool assembler = false;
  Words lines;
  std::string text;
  for (const std::string& name : search.names()) {
    // A file that can't be read may hold anything.
    if (!read_file(name, text) || reads_by_assembler(text)) assembler = true;
    if (search.own(name)) collect(text, lines);
  }
  Words names = absent;
  names.insert(names.end(), present.begin(), present.end());
  bool toolkit = false;
  for (const std::string& line : lines) {
    toolkit = toolkit || holds(line, "<cuda/") || holds(line, "<nv/");
  }
  if (toolkit) {
    for (const std::string& name : search.names()) {
      size_t at = name.rfind("/include/");
      if (search.own(name) || at == std::string::npos) continue;
      std::string_view rest = std::string_view(name).substr(at + 9);
      if (begins(rest, "cccl/")) rest.remove_prefix(5);
      bool plain_name =
          rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz_/") == std::string_view::npos;
      if ((begins(rest, "cuda/") || begins(rest, "nv/")) && plain_name) names.emplace_back(rest);
    }
  }
  for (const std::string& line : lines) {
    if (mentions(without_known_questions(line, names)))
      return "__has_include of a file of the project";
  }
  // The compiler's, torch's and the toolkit's headers ask as well.
  for (const HeaderSearch::Absent& file : search.absent()) {
    for (const std::string& name : search.names()) {
      if (read_file(name, text) && asks_for(text, file.name)) {
        return "__has_include of a file of the project";
      }
    }
  }
  return assembler ? ".incbin or .include of the assembler" : "";
}

}  // namespace cudaops
