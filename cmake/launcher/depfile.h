// SPDX-License-Identifier: Apache-2.0
// Dependency files: what a compile has read, as a rule of make.

#pragma once

#include "text.h"

namespace cudaops {

class Depfile {
 public:
  // False where the file can't be read or holds no rule.
  bool read(const std::string& path);
  bool parse(std::string text);

  // The prerequisites of the first rule, in order, without escapes.
  const Words& names() const { return names_; }

  // The text with another beginning of those prerequisites that begin with `from`; empty where none
  // does.
  std::string renamed(const std::string& from, const std::string& to) const;

  // The text with more prerequisites at the end of the first rule; where empty rules stand behind
  // it, as of -MP, each of them gets one too. What is there already is left out.
  std::string with(const Words& more) const;

  // As make reads it.
  static std::string escaped(const std::string& name);

 private:
  struct Word {
    size_t begin, end;
  };
  std::string text_;
  std::vector<Word> places_;  // of the names in the text
  Words names_;
  size_t rule_end_ = 0;
};

}  // namespace cudaops
