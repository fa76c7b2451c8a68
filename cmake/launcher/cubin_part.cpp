// SPDX-License-Identifier: Apache-2.0

#include "cubin_part.h"

#include <stdlib.h>

namespace cudaops {

void add_named_files(std::string_view text, Words& names) {
  std::string last;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (!begins(line, "# ") || line.size() < 5 || !is_digit(line[2])) continue;
    size_t quote = line.find('"'), close = line.rfind('"');
    if (quote == std::string_view::npos || close == quote) continue;
    size_t digit = 2;
    while (is_digit(line[digit])) ++digit;
    if (digit + 1 != quote) continue;
    std::string name(line.substr(quote + 1, close - quote - 1));
    if (name == last) continue;
    last = name;
    if (name.empty() || ends(name, "//") || (name[0] == '<' && name.back() == '>')) continue;
    std::string plain;
    for (size_t i = 0; i < name.size(); ++i) {
      if (name[i] == '\\' && i + 3 < name.size() && is_digit(name[i + 1]) &&
          is_digit(name[i + 2]) && is_digit(name[i + 3])) {
        plain += static_cast<char>((name[i + 1] - '0') * 64 + (name[i + 2] - '0') * 8 +
                                   (name[i + 3] - '0'));
        i += 3;
      } else {
        if (name[i] == '\\' && i + 1 < name.size()) ++i;
        plain += name[i];
      }
    }
    if (!is_in(names, plain)) names.push_back(std::move(plain));
  }
}

bool needs_lines(const Words& commands, std::string_view text) {
  for (const std::string& command : commands) {
    for (const char* option : {" -g ", " -generate-line-info ", " -show-src ", " --debug_mode "}) {
      if (holds(command, option)) return true;
    }
  }
  // A line in a raw string is no line of code.
  for (const char* word : {"__builtin_LINE", "__builtin_FILE", "__builtin_COLUMN",
                           "__builtin_source_location", "R\""}) {
    if (holds(text, word)) return true;
  }
  return false;
}

std::string without_lines(std::string_view text) {
  std::string rest;
  rest.reserve(text.size());
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (line.find_first_not_of(" \t\r\v\f") == std::string_view::npos) continue;
    if (begins(line, "# ") && line.size() > 2 && is_digit(line[2])) continue;
    rest.append(line).append("\n");
  }
  return rest;
}

std::string packed(const std::vector<Entry>& entries) {
  std::string text = "cudaops part 1\n";
  for (const Entry& entry : entries) {
    text += entry.name + "\t" + std::to_string(entry.content.size()) + "\n" + entry.content;
  }
  return text + "end\t0\n";
}

bool unpack(std::string_view text, std::vector<Entry>& entries) {
  const std::string_view head = "cudaops part 1\n";
  if (!begins(text, head)) return false;
  text.remove_prefix(head.size());
  while (true) {
    size_t tab = text.find('\t');
    size_t end = text.find('\n', tab);
    if (tab == std::string_view::npos || end == std::string_view::npos) return false;
    std::string name(text.substr(0, tab));
    size_t size = strtoul(std::string(text.substr(tab + 1, end - tab - 1)).c_str(), nullptr, 10);
    text.remove_prefix(end + 1);
    if (size > text.size() || holds(name, "/")) return false;
    if (name == "end") return text.empty();
    entries.push_back({std::move(name), std::string(text.substr(0, size))});
    text.remove_prefix(size);
  }
}

}  // namespace cudaops
