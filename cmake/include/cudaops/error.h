// SPDX-License-Identifier: Apache-2.0
// std::runtime_error for .cu files, without the C++ headers that nvcc takes long to compile:
// <stdexcept> and <string> add 50 % to the time of a small one.
//
//   if (num_blocks > INT_MAX) cudaops::throw_runtime_error("wanted fewer rows.");
//
//   cudaops::ErrorText text;
//   text << "device " << device << " has no memory pools";
//   cudaops::throw_runtime_error(text.c_str());
#pragma once

#include <cstdlib>
#include <cstring>
#if defined(__GLIBCXX__)
#include <bits/functexcept.h>
#else
#include <stdexcept>
#endif

// Error paths are compiled for size and kept apart from other code.
#if defined(__GNUC__)
#define CUDAOPS_COLD __attribute__((noinline, cold))
#else
#define CUDAOPS_COLD
#endif

namespace cudaops {

// One sentence; a longer text is truncated and ends in "...".
class ErrorText {
 public:
  CUDAOPS_COLD ErrorText& add(const char* text, size_t size) {
    const size_t room = sizeof(text_) - 1 - size_;
    memcpy(text_ + size_, text, size < room ? size : room);
    size_ += size < room ? size : room;
    text_[size_] = '\0';
    if (size > room) memcpy(text_ + sizeof(text_) - 4, "...", 3);
    return *this;
  }
  CUDAOPS_COLD ErrorText& operator<<(const char* text) { return add(text, strlen(text)); }
  CUDAOPS_COLD ErrorText& operator<<(int number) {
    char digits[12];
    char* first = digits + sizeof(digits);
    unsigned rest = number < 0 ? 0U - static_cast<unsigned>(number) : static_cast<unsigned>(number);
    do {
      *--first = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest != 0);
    if (number < 0) *--first = '-';
    return add(first, static_cast<size_t>(digits + sizeof(digits) - first));
  }
  const char* c_str() const { return text_; }

 private:
  char text_[2048] = "";
  size_t size_ = 0;
};

[[noreturn]] inline void throw_runtime_error(const char* text) {
#if defined(__GLIBCXX__)
  std::__throw_runtime_error(text);
#else
  throw std::runtime_error(text);
#endif
}

}  // namespace cudaops
