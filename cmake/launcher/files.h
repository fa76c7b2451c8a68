// SPDX-License-Identifier: Apache-2.0
// Files, the environment and the clock.

#pragma once

#include <stdint.h>
#include <sys/stat.h>

#include "text.h"

namespace cudaops {

bool read_file(const std::string& path, std::string& text);
// False where not all of it could be written.
bool write_file(const std::string& path, std::string_view text);
// Beside it first, so that whoever reads it sees all of it or what was there before.
bool write_whole(const std::string& path, std::string_view text);
bool append_file(const std::string& path, std::string_view text);
// False where it is there already.
bool create_file(const std::string& path, std::string_view text);
// Without emptying it first, which file systems answer by writing it to the disk at once.
bool overwrite_file(const std::string& path, std::string_view text);
bool remove_tree(const std::string& path);
// And those above it; false where it isn't there then.
bool make_directories(const std::string& path);

bool exists(const std::string& path);
bool is_file(const std::string& path);
bool is_directory(const std::string& path);
bool has_content(const std::string& path);
bool is_readable(const std::string& path);
bool is_executable(const std::string& path);
bool same_file(const std::string& one, const std::string& other);
// Whether the first was changed later; no file is older than every file.
bool newer(const std::string& one, const std::string& other);
// Hashes of the names in a directory, in a table of a power of two (its first hash is asked for at
// the hash's low bits, then behind it), never full; empty where the directory is there and can't be
// read.
std::vector<uint64_t> hashed_names_in(const std::string& directory);
uint64_t hash_of(std::string_view text);
// Names in a directory, none where it can't be read.
Words names_in(const std::string& directory);
// What changes with each write to a file, empty where there is none.
std::string state_of(const std::string& path);
// Seconds since the file was changed; -1 where there is none.
long age_of(const std::string& path);

// Null where it isn't set.
const char* env(const char* name);
std::string env_or_empty(const char* name);
void set_env(const char* name, const std::string& value);
void unset_env(const char* name);

// Variables that are set for a while.
class Environment {
 public:
  void set(const std::string& name, const std::string& value);
  // As they were.
  void restore();

 private:
  struct Variable {
    std::string name, value;
    bool was_set;
  };
  std::vector<Variable> before_;
};

// Where this process runs, as the shell calls it.
const std::string& working_directory();
// The file that a program of this name is, by PATH; the name itself where there is none.
std::string find_program(const std::string& name);

// Milliseconds since the machine was started, which no clock that is set can change.
long now_ms();

// To stderr, whole.
void say(const std::string& line);

}  // namespace cudaops
