// SPDX-License-Identifier: Apache-2.0

#include "precompiled.h"

#include <stdio.h>

#include "files.h"
#include "measure.h"

namespace cudaops {

namespace {

// As `stat -L -c '%s %.Y %i'`.
std::string identity(const std::string& path) {
  struct stat about;
  if (stat(path.c_str(), &about) != 0) return "";
  char time[64];
  snprintf(time, sizeof time, "%lld.%09ld", static_cast<long long>(about.st_mtim.tv_sec),
           about.st_mtim.tv_nsec);
  return std::to_string(about.st_size) + " " + time + " " + std::to_string(about.st_ino) + "\n";
}

// #include <name> or "name"; <rest> is what stands behind it.
bool includes(std::string_view line, std::string_view name, std::string_view& rest) {
  size_t at = line.find_first_not_of(" \t", 1);
  if (line.empty() || line[0] != '#' || at == std::string_view::npos ||
      line.substr(at, 7) != "include")
    return false;
  at = line.find_first_not_of(" \t", at + 7);
  if (at == std::string_view::npos || (line[at] != '<' && line[at] != '"')) return false;
  if (line.substr(at + 1, name.size()) != name) return false;
  at += 1 + name.size();
  if (at >= line.size() || (line[at] != '>' && line[at] != '"')) return false;
  rest = line.substr(at + 1);
  return true;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t") == std::string_view::npos;
}

// A comment to the end of the line, and of this line only.
bool is_comment(std::string_view text) { return begins(text, "//") && text.back() != '\\'; }

}  // namespace

bool precompiled_valid(const std::string& directory) {
  std::string stamp, files, now;
  if (!read_file(directory + "/stamp", stamp) || !read_file(directory + "/files", files))
    return false;
  std::string first = directory + "/Python.h";
  if (!exists(first)) first = directory + "/torch/csrc/stable/library.h";
  Words names = {first, first + ".gch"};
  for (std::string& name : split(files, '\n')) {
    if (!name.empty()) names.push_back(std::move(name));
  }
  for (const std::string& name : names) {
    std::string one = identity(name);
    // More than the file holds is no reason to look at the rest.
    if (one.empty() || stamp.compare(now.size(), one.size(), one) != 0) return false;
    now += one;
  }
  return now == stamp;
}

bool python_first(const std::string& text) {
  bool comment = false, seen = false;
  for (const std::string& whole : split(text, '\n')) {
    std::string_view line = whole;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    while (true) {
      if (comment) {
        size_t end = line.find("*/");
        if (end == std::string_view::npos) break;
        line.remove_prefix(end + 2);
        comment = false;
      }
      size_t at = line.find_first_not_of(" \t");
      line.remove_prefix(at == std::string_view::npos ? line.size() : at);
      if (!begins(line, "/*")) break;
      line.remove_prefix(2);
      comment = true;
    }
    if (comment || line.empty() || is_comment(line)) continue;
    std::string_view rest;
    if (!seen && includes(line, "Python.h", rest)) {
      size_t at = rest.find_first_not_of(" \t");
      if (is_blank(rest) || is_comment(rest.substr(at))) {
        seen = true;
        continue;
      }
    }
    return seen && includes(line, "torch/csrc/stable/library.h", rest);
  }
  return false;
}

Words with_precompiled(const Settings& settings, Words command) {
  std::string directory = settings.get("precompiled");
  const std::string& python = settings.get("precompiled_python");
  std::string text;
  if (!python.empty() && read_file(option_value(command, "-c"), text) && python_first(text))
    directory = python;
  if (precompiled_valid(directory)) {
    command.insert(command.begin() + 1, "-fpch-deps");
    command.insert(command.begin() + 1, "-I" + directory);
  }
  return command;
}

}  // namespace cudaops
