// SPDX-License-Identifier: Apache-2.0
// Where the compiler looks for headers, and which files it would find instead of those that a
// dependency file names: that one says what was found, not what was not.

#pragma once

#include <stdint.h>

#include "settings.h"

namespace cudaops {

// Directories by the place that the compiler searches them in. Those that reach the host compiler
// by -Xcompiler stand before and after the others, because their place among them isn't known.
struct IncludeDirectories {
  Words quote;            // -iquote
  Words include;          // -I
  Words include_through;  // -I by -Xcompiler
  Words system;           // -isystem
  Words system_through;   // -isystem by -Xcompiler
  Words path;             // CPATH
  Words cplus_path;       // CPLUS_INCLUDE_PATH
  bool here = false;      // the working directory is searched first

  // What the words of a command say, and what nvcc takes from its environment.
  static IncludeDirectories of(const Words& words, bool cuda);

  void write(Settings& settings) const;
  void read(const Settings& settings);
};

struct Trees {
  std::string source, build;  // with a slash
  std::string from;    // what the source tree is called in dependency files, with a slash; empty:
                       // nothing else
  std::string system;  // ROCm's root, with a slash
  Words standard;      // the compiler's own directories
  Words absent;        // headers that sources may ask for and that the compiler lacks
  Words others;        // torch, toolkit, Python and this package by their own names, with a slash:
                       // what the links of the build tree lead to

  // All but `from`.
  static Trees of(const Settings& settings);
};

class HeaderSearch {
 public:
  // <names> are those of a dependency file, the source first.
  HeaderSearch(const Trees& trees, const IncludeDirectories& directories, const Words& names);

  // The names, the source tree's files by their own.
  const Words& names() const { return names_; }
  // Of the project: no system's, compiler's, torch's or toolkit's.
  bool own(const std::string& path) const;

  struct Absent {
    std::string name, file;
  };
  // What would be found of the headers that the compiler lacks.
  std::vector<Absent> absent() const;

  // The files that are there and that the compiler would find before one of the names, or of what
  // is absent.
  Words shadows() const;

 private:
  struct Directory {
    Directory(std::string directory, bool is_filled)
        : path(std::move(directory)), below(path == "." ? "" : path + "/"), filled(is_filled) {}
    std::string path, below;
    bool filled;  // the project or the user may put a file there
    mutable bool listed = false;
    mutable std::vector<uint64_t> entries;  // hashes of what is in it
  };

  std::string mapped(const std::string& path) const;
  bool compilers(const std::string& path) const;
  bool known(const std::string& path) const;
  void add(const Words& directories, bool system, bool through);
  struct Name {
    explicit Name(std::string_view text);
    std::string_view text;
    uint64_t first;  // of its first directory, or itself; 0 where that is none that a listing has
  };
  void tried(const Directory& directory, const Name& name, Words& found) const;

  const Trees& trees_;
  Words names_;
  Words standard_;  // for compilers()
  Words last_;  // directories that gcc searches as system directories, wherever else they are named
  Words first_, second_;  // of those that were added, -I and the like, -isystem and the like
  std::vector<Directory> searched_;
  std::vector<Directory> near_;  // where files of the project lie
  size_t before_toolkit_ = 0, before_standard_ = 0;
};

// Without x/../ in it, where it begins with a slash.
std::string plain(std::string path);

}  // namespace cudaops
