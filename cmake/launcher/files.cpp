// SPDX-License-Identifier: Apache-2.0

#include "files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

namespace cudaops {

bool read_file(const std::string& path, std::string& text) {
  text.clear();
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  struct stat about;
  if (fstat(fd, &about) == 0 && about.st_size > 0) text.reserve(about.st_size + 1);
  char buffer[65536];
  ssize_t got;
  while ((got = read(fd, buffer, sizeof buffer)) > 0) text.append(buffer, got);
  close(fd);
  return got == 0;
}

static bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t done = write(fd, text.data(), text.size());
    if (done <= 0) return false;
    text.remove_prefix(done);
  }
  return true;
}

static bool write_with(const std::string& path, int flags, std::string_view text) {
  int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666);
  if (fd < 0) return false;
  bool written = write_all(fd, text);
  return close(fd) == 0 && written;
}

bool write_file(const std::string& path, std::string_view text) {
  return write_with(path, O_CREAT | O_TRUNC, text);
}

bool write_whole(const std::string& path, std::string_view text) {
  std::string beside = path + "." + std::to_string(getpid());
  if (write_file(beside, text) && rename(beside.c_str(), path.c_str()) == 0) return true;
  unlink(beside.c_str());
  return false;
}

bool append_file(const std::string& path, std::string_view text) {
  return write_with(path, O_CREAT | O_APPEND, text);
}

bool create_file(const std::string& path, std::string_view text) {
  return write_with(path, O_CREAT | O_EXCL, text);
}

bool overwrite_file(const std::string& path, std::string_view text) {
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return false;
  bool written = write_all(fd, text) && ftruncate(fd, text.size()) == 0;
  return close(fd) == 0 && written;
}

std::string state_of(const std::string& path) {
  struct stat about;
  if (stat(path.c_str(), &about) != 0) return "";
  std::string state;
  for (long long part :
       {static_cast<long long>(about.st_ino), static_cast<long long>(about.st_size),
        static_cast<long long>(about.st_mtim.tv_sec), static_cast<long long>(about.st_mtim.tv_nsec),
        static_cast<long long>(about.st_ctim.tv_sec),
        static_cast<long long>(about.st_ctim.tv_nsec)}) {
    state += std::to_string(part) + " ";
  }
  return state;
}

uint64_t hash_of(std::string_view text) {
  uint64_t hash = 14695981039346656037u;
  for (unsigned char c : text) hash = (hash ^ c) * 1099511628211u;
  return hash ? hash : 1;
}

std::vector<uint64_t> hashed_names_in(const std::string& directory) {
  std::vector<uint64_t> table, names;
  DIR* open = opendir(directory.c_str());
  if (!open) {
    if (!is_directory(directory)) table.resize(1);
    return table;
  }
  while (dirent* entry = readdir(open)) names.push_back(hash_of(entry->d_name));
  closedir(open);
  size_t size = 16;
  while (size < 2 * names.size() + 1) size *= 2;
  table.resize(size);
  for (uint64_t hash : names) {
    size_t at = hash & (size - 1);
    while (table[at]) at = (at + 1) & (size - 1);
    table[at] = hash;
  }
  return table;
}

bool remove_tree(const std::string& path) {
  struct stat about;
  if (lstat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode)) {
    for (const std::string& name : names_in(path)) remove_tree(path + "/" + name);
  }
  return remove(path.c_str()) == 0;
}

bool make_directories(const std::string& path) {
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    mkdir(path.substr(0, at).c_str(), 0777);
  }
  mkdir(path.c_str(), 0777);
  return is_directory(path);
}

bool exists(const std::string& path) {
  struct stat about;
  return stat(path.c_str(), &about) == 0;
}

bool is_file(const std::string& path) {
  struct stat about;
  return stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode);
}

bool is_directory(const std::string& path) {
  struct stat about;
  return stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
}

bool has_content(const std::string& path) {
  struct stat about;
  return stat(path.c_str(), &about) == 0 && about.st_size > 0;
}

bool is_readable(const std::string& path) { return access(path.c_str(), R_OK) == 0; }

bool is_executable(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

bool same_file(const std::string& one, const std::string& other) {
  struct stat a, b;
  return stat(one.c_str(), &a) == 0 && stat(other.c_str(), &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

bool newer(const std::string& one, const std::string& other) {
  struct stat a, b;
  if (stat(one.c_str(), &a) != 0) return false;
  if (stat(other.c_str(), &b) != 0) return true;
  if (a.st_mtim.tv_sec != b.st_mtim.tv_sec) return a.st_mtim.tv_sec > b.st_mtim.tv_sec;
  return a.st_mtim.tv_nsec > b.st_mtim.tv_nsec;
}

Words names_in(const std::string& directory) {
  Words names;
  DIR* open = opendir(directory.c_str());
  if (!open) return names;
  while (dirent* entry = readdir(open)) {
    std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(std::move(name));
  }
  closedir(open);
  return names;
}

long age_of(const std::string& path) {
  struct stat about;
  if (stat(path.c_str(), &about) != 0) return -1;
  long age = time(nullptr) - about.st_mtim.tv_sec;
  return age < 0 ? 0 : age;
}

const char* env(const char* name) { return getenv(name); }

std::string env_or_empty(const char* name) {
  const char* value = getenv(name);
  return value ? value : "";
}

void set_env(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }
void unset_env(const char* name) { unsetenv(name); }

void Environment::set(const std::string& name, const std::string& value) {
  before_.push_back({name, env_or_empty(name.c_str()), env(name.c_str()) != nullptr});
  set_env(name.c_str(), value);
}

void Environment::restore() {
  for (; !before_.empty(); before_.pop_back()) {
    const Variable& variable = before_.back();
    if (variable.was_set) {
      set_env(variable.name.c_str(), variable.value);
    } else {
      unset_env(variable.name.c_str());
    }
  }
}

const std::string& working_directory() {
  static std::string directory;
  if (directory.empty()) {
    directory = env_or_empty("PWD");
    if (directory.empty() || directory[0] != '/' || holds(directory, "/.") ||
        !same_file(directory, ".")) {
      char* real = getcwd(nullptr, 0);
      directory = real ? real : "/";
      free(real);
    }
  }
  return directory;
}

std::string find_program(const std::string& name) {
  if (holds(name, "/")) return name;
  for (const std::string& directory : split(env_or_empty("PATH"), ':')) {
    std::string path = (directory.empty() ? "." : directory) + "/" + name;
    if (is_executable(path) && !is_directory(path)) return path;
  }
  return name;
}

long now_ms() {
  timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void say(const std::string& line) { write_all(2, line + "\n"); }

}  // namespace cudaops
