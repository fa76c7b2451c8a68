// SPDX-License-Identifier: Apache-2.0

#include "gcc_parts.h"

#include <unistd.h>

#include "files.h"
#include "process.h"

namespace cudaops {

int print_gcc_parts(const std::string& gcc) {
  // gcc translates the names of its lists.
  set_env("LC_ALL", "C");
  Start start;
  start.capture_output = true;
  Words lines;
  auto add = [&](const std::string& line) {
    if (!is_in(lines, line)) lines.push_back(line);
  };
  for (const char* question :
       {"-print-prog-name=cc1plus", "-print-prog-name=as", "-print-file-name=specs"}) {
    Captured said = run({gcc, question}, start);
    if (said.status != 0) return said.status;
    const std::string path = first_line(said.output);
    const std::string name = std::string(question).substr(std::string(question).find('=') + 1);
    add(name + "=" + path);
    if (name != "specs" && holds(path, "/")) add("depends=" + path);
  }
  Captured said = run({gcc, "-print-search-dirs"}, start);
  if (said.status != 0) return said.status;
  for (const std::string& line : split(said.output, '\n')) {
    const bool programs = begins(line, "programs: =");
    if (!programs && !begins(line, "libraries: =")) continue;
    for (const std::string& directory :
         split(std::string_view(line).substr(line.find('=') + 1), ':')) {
      if (!programs) {
        add("depends=" + directory + "specs");
        continue;
      }
      add("depends=" + directory + "cc1plus");
      add("depends=" + directory + "as");
    }
  }
  const std::string text = join(lines, "\n") + "\n";
  return write(1, text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1;
}

}  // namespace cudaops
