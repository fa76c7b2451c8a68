// SPDX-License-Identifier: Apache-2.0
// What the configure step tells the launcher: a file of lines, each a key, a tab and a value. A key
// may come several times. In a value \n is a line end and \\ a backslash. Nothing in it is ever
// run.

#pragma once

#include <utility>

#include "text.h"

namespace cudaops {

class Settings {
 public:
  static std::string escaped(const std::string& value);

  // False where the file can't be read. A line `include <file>` stands for the lines of that file.
  bool read(const std::string& file);
  void parse(std::string_view text);

  bool has(std::string_view key) const;
  // The last value of a key, empty where there is none.
  const std::string& get(std::string_view key) const;
  // All of them, in order.
  Words all(std::string_view key) const;

  void add(std::string key, std::string value);
  // As a file holds it.
  std::string text() const;

 private:
  std::vector<std::pair<std::string, std::string>> lines_;
};

}  // namespace cudaops
