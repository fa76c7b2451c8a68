// SPDX-License-Identifier: Apache-2.0

#include "precompiled.h"

#include <stdio.h>
#include <unistd.h>

#include "depfile.h"
#include "files.h"
#include "header_search.h"
#include "measure.h"
#include "process.h"

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

const std::string header = "torch/csrc/stable/library.h";

// Of what is in it and of the headers that it was made of, a line each; empty where one is gone.
std::string identities(const std::string& directory, const std::string& expected) {
  std::string files, all;
  if (!read_file(directory + "/files", files)) return "";
  std::string first = directory + "/Python.h";
  if (!exists(first)) first = directory + "/" + header;
  Words names = {first, first + ".gch"};
  for (std::string& name : split(files, '\n')) {
    if (!name.empty()) names.push_back(std::move(name));
  }
  for (const std::string& name : names) {
    std::string one = identity(name);
    // More than is expected is no reason to look at the rest.
    if (one.empty() || (!expected.empty() && expected.compare(all.size(), one.size(), one) != 0))
      return "";
    all += one;
  }
  return all;
}

// Whether the command finds the headers where they were found when they were precompiled: gcc
// doesn't look for them again.
bool none_is_hidden(const Settings& settings, const std::string& directory, const Words& command,
                    const PrecompiledSearch& search) {
  std::string files;
  if (!read_file(directory + "/files", files)) return false;
  const std::string include = settings.get("precompiled_include") + "/";
  Words names = {option_value(command, "-c")};
  for (std::string& name : split(files, '\n')) {
    if (begins(name, include)) name = search.torch + "/" + name.substr(include.size());
    if (!name.empty()) names.push_back(std::move(name));
  }
  return HeaderSearch(search.trees, search.directories, names).shadows().empty();
}

}  // namespace

PrecompiledSearch PrecompiledSearch::of(const Settings& settings, const Words& command) {
  PrecompiledSearch search;
  search.trees.source = settings.get("source") + "/";
  search.trees.standard = settings.all("standard");
  search.directories = IncludeDirectories::of(command, false);
  search.torch = settings.get("precompiled_include");
  for (const std::string& other : settings.all("other")) search.trees.others.push_back(other + "/");
  return search;
}

bool precompiled_valid(const std::string& directory) {
  std::string stamp;
  return read_file(directory + "/stamp", stamp) && !stamp.empty() &&
         identities(directory, stamp) == stamp;
}

int make_precompiled(const Words& words) {
  const std::string &directory = words[0], &first = words[1], &include = words[3];
  const std::string made = directory + "." + std::to_string(getpid()), old = made + ".old";
  const std::string all = directory_of(directory);
  // Of those that were killed.
  for (const std::string& name : names_in(all)) {
    if (holds(name, ".") && age_of(all + "/" + name) > 3600) remove_tree(all + "/" + name);
  }
  auto make = [&] {
    if (!make_directories(directory_of(made + "/" + first))) return false;
    // Found in the include directories: no file of this name is here yet.
    Words command = {words[2]};
    command.insert(command.end(), words.begin() + 4, words.end());
    if (first != header) command.insert(command.end(), {"-include", first});
    // Of the header itself, whose place is in the dependency files of all that take it. -w: gcc
    // warns of #pragma once in a main file.
    command.insert(command.end(), {"-w", "-I" + include, "-x", "c++-header", "-MD", "-MF",
                                   "depfile", "-o", "gch", include + "/" + header});
    Start start;
    start.directory = made.c_str();
    Depfile depfile;
    if (run(command, start).status != 0 || !depfile.read(made + "/depfile") ||
        rename((made + "/gch").c_str(), (made + "/" + first + ".gch").c_str()) != 0)
      return false;
    std::string files;
    for (const std::string& name : depfile.names()) {
      if (!holds("\n" + files, "\n" + name + "\n")) files += name + "\n";
    }
    unlink((made + "/depfile").c_str());
    // gcc comes here where the precompiled file can't be taken, and in a source that includes the
    // header twice.
    return write_file(made + "/" + first,
                      "#pragma GCC system_header\n#include_next <" + first + ">\n") &&
           write_file(made + "/files", files) && write_file(made + "/stamp", identities(made, ""));
  };
  bool whole = make();
  // Another configure may have been faster; what was there before is of headers that have changed.
  if (whole && !precompiled_valid(directory)) {
    rename(directory.c_str(), old.c_str());
    whole = rename(made.c_str(), directory.c_str()) == 0;
  }
  remove_tree(made);
  remove_tree(old);
  // They are large: the latest few are kept.
  std::vector<std::pair<long, std::string>> ages;
  for (const std::string& name : names_in(all)) {
    const long age = age_of(all + "/" + name + "/stamp");
    if (age < 0) continue;
    size_t at = 0;
    while (at < ages.size() && ages[at].first <= age) ++at;
    ages.insert(ages.begin() + at, {age, name});
  }
  for (size_t i = 6; i < ages.size(); ++i) remove_tree(all + "/" + ages[i].second);
  return whole ? 0 : 1;
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

Words with_precompiled(const Settings& settings, Words command, const PrecompiledSearch& search) {
  std::string directory = settings.get("precompiled");
  const std::string& python = settings.get("precompiled_python");
  std::string text;
  if (!python.empty() && read_file(option_value(command, "-c"), text) && python_first(text))
    directory = python;
  if (precompiled_valid(directory) && none_is_hidden(settings, directory, command, search)) {
    command.insert(command.begin() + 1, "-fpch-deps");
    command.insert(command.begin() + 1, "-I" + directory);
  }
  return command;
}

}  // namespace cudaops
