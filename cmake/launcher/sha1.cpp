// SPDX-License-Identifier: Apache-2.0

#include "sha1.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

namespace cudaops {

static uint32_t rotated(uint32_t value, int bits) { return value << bits | value >> (32 - bits); }

void Sha1::block(const unsigned char* bytes) {
  uint32_t w[80];
  for (int i = 0; i < 16; ++i) {
    w[i] = uint32_t(bytes[4 * i]) << 24 | bytes[4 * i + 1] << 16 | bytes[4 * i + 2] << 8 |
           bytes[4 * i + 3];
  }
  for (int i = 16; i < 80; ++i) w[i] = rotated(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  uint32_t a = state_[0], b = state_[1], c = state_[2], d = state_[3], e = state_[4];
  for (int i = 0; i < 80; ++i) {
    uint32_t f, k;
    if (i < 20) {
      f = (b & c) | (~b & d);
      k = 0x5a827999;
    } else if (i < 40) {
      f = b ^ c ^ d;
      k = 0x6ed9eba1;
    } else if (i < 60) {
      f = (b & c) | (b & d) | (c & d);
      k = 0x8f1bbcdc;
    } else {
      f = b ^ c ^ d;
      k = 0xca62c1d6;
    }
    uint32_t next = rotated(a, 5) + f + e + k + w[i];
    e = d;
    d = c;
    c = rotated(b, 30);
    b = a;
    a = next;
  }
  state_[0] += a;
  state_[1] += b;
  state_[2] += c;
  state_[3] += d;
  state_[4] += e;
}

void Sha1::add(std::string_view bytes) {
  size_t filled = length_ % 64;
  length_ += bytes.size();
  if (filled) {
    size_t take = bytes.size() < 64 - filled ? bytes.size() : 64 - filled;
    memcpy(rest_ + filled, bytes.data(), take);
    bytes.remove_prefix(take);
    if (filled + take < 64) return;
    block(rest_);
  }
  while (bytes.size() >= 64) {
    block(reinterpret_cast<const unsigned char*>(bytes.data()));
    bytes.remove_prefix(64);
  }
  memcpy(rest_, bytes.data(), bytes.size());
}

bool Sha1::add_file(const std::string& path) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  static char buffer[1 << 16];
  ssize_t got;
  while ((got = read(fd, buffer, sizeof buffer)) > 0) add(std::string_view(buffer, got));
  close(fd);
  return got == 0;
}

std::string Sha1::hex() {
  uint64_t bits = length_ * 8;
  add(std::string_view("\x80", 1));
  while (length_ % 64 != 56) add(std::string_view("\0", 1));
  char end[8];
  for (int i = 0; i < 8; ++i) end[i] = static_cast<char>(bits >> (56 - 8 * i));
  add(std::string_view(end, 8));
  std::string text;
  for (uint32_t word : state_) {
    for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[word >> shift & 15];
  }
  return text;
}

}  // namespace cudaops
