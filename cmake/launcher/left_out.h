// SPDX-License-Identifier: Apache-2.0
// What failed is left out for one, two, four ... minutes: a file says until when, how often it was
// so, and why.

#pragma once

#include "text.h"

namespace cudaops {

class LeftOut {
 public:
  explicit LeftOut(std::string file) : file_(std::move(file)) {}

  // Whether it is left out now. Else this compile tries it again, alone: the file now says the next
  // time for the others. <now_s> are seconds since the machine was started.
  bool now(long now_s);
  // For a minute from now on. Whether this is the compile that says so: another one may have been
  // faster.
  bool begin(long now_s, const std::string& why);
  // How often it had failed when now() said that this compile may try.
  int times() const { return times_; }
  // It works again.
  void end();
  // The next compile may ask at once; how often it had failed stays.
  void ask_next();

 private:
  std::string file_;
  int times_ = 0;
};

}  // namespace cudaops
