// SPDX-License-Identifier: Apache-2.0
// SHA-1, as CMake's file(SHA1).

#pragma once

#include <stdint.h>

#include "text.h"

namespace cudaops {

class Sha1 {
 public:
  void add(std::string_view bytes);
  // Of a file's content; false where it can't be read.
  bool add_file(const std::string& path);
  std::string hex();

 private:
  void block(const unsigned char* bytes);

  uint32_t state_[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  uint64_t length_ = 0;
  unsigned char rest_[64];
};

}  // namespace cudaops
