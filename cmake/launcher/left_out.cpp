// SPDX-License-Identifier: Apache-2.0

#include "left_out.h"

#include <stdio.h>
#include <unistd.h>

#include "files.h"

namespace cudaops {

bool LeftOut::now(long now_s) {
  std::string text;
  if (!read_file(file_, text)) return false;
  text = first_line(text);
  long until = 0;
  int times = 1, end = 0;
  if (sscanf(text.c_str(), "%ld %d %n", &until, &times, &end) < 2 || until < 0 || times < 0 ||
      times > 5) {
    until = 0;
    times = 1;
    end = static_cast<int>(text.size());
  }
  // A time long to come is one of before the machine was started.
  if (now_s < until && until - now_s <= 4000) return true;
  write_file(file_, std::to_string(now_s + (60L << times)) + " " +
                        std::to_string(times < 5 ? times + 1 : 5) + " " + text.substr(end) + "\n");
  times_ = times;
  return false;
}

bool LeftOut::begin(long now_s, const std::string& why) {
  if (create_file(file_, std::to_string(now_s + 60) + " 1 " + why + "\n")) return true;
  // Where nothing can be written, each says it.
  return !exists(file_);
}

void LeftOut::end() {
  if (times_) unlink(file_.c_str());
}

void LeftOut::ask_next() {
  if (times_) write_file(file_, "0 " + std::to_string(times_) + "\n");
}

}  // namespace cudaops
