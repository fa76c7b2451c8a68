// SPDX-License-Identifier: Apache-2.0

#include "hip.h"

#include <unistd.h>

#include "depfile.h"
#include "files.h"
#include "measure.h"

namespace cudaops {

bool complete_depfile(const std::string& path, const std::string& list) {
  Depfile depfile;
  std::string text;
  if (!depfile.read(path) || !read_file(list, text)) return false;
  // Nothing is listed where there is no header at all.
  if (text.empty() && depfile.names().size() > 1) return false;
  Words more;
  for (std::string& name : split(text, '\n')) {
    while (begins(name, "./")) name.erase(0, 2);
    if (!name.empty() && name[0] != '<') more.push_back(std::move(name));
  }
  return write_whole(path, depfile.with(more));
}

Ended run_hip(const Words& command) {
  std::string depfile = option_value(command, "-MF");
  std::string list = depfile + ".passes";
  if (list[0] != '/') list = working_directory() + "/" + list;
  // A list that can't be written would stop clang.
  if (depfile.empty() || !write_file(list, "")) return run(command);
  unset_env("CC_PRINT_HEADERS_FORMAT");
  unset_env("CC_PRINT_HEADERS_FILTERING");
  set_env("CC_PRINT_HEADERS", "1");
  set_env("CC_PRINT_HEADERS_FILE", list);
  Ended ended = run(command);
  if (ended.status != 0 || complete_depfile(depfile, list)) unlink(list.c_str());
  return ended;
}

}  // namespace cudaops
