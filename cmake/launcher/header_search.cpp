// SPDX-License-Identifier: Apache-2.0

#include "header_search.h"

#include "files.h"

namespace cudaops {

namespace {

bool in(const Words& words, const std::string& word) {
  for (const std::string& other : words) {
    if (other == word) return true;
  }
  return false;
}

bool in_links(std::string_view path) {
  return begins(path, "CudaOps/links/") || holds(path, "/CudaOps/links/");
}

uint64_t hash_of(std::string_view text) {
  uint64_t hash = 14695981039346656037u;
  for (unsigned char c : text) hash = (hash ^ c) * 1099511628211u;
  return hash ? hash : 1;
}

// One directory more, without a slash at its end; an empty one is here.
void add_directory(Words& words, std::string_view directory) {
  if (directory.size() > 1 && directory.back() == '/') directory.remove_suffix(1);
  words.emplace_back(directory.empty() ? "." : directory);
}

// nvcc takes several, separated by commas; elsewhere a comma is part of the name, and a directory
// that isn't there shadows nothing.
void add_list(Words& words, std::string_view directories) {
  if (directories.empty()) return;
  if (holds(directories, ",")) add_directory(words, directories);
  Words parts = split(directories, ',');
  if (parts.size() > 1 && parts.back().empty()) parts.pop_back();
  for (const std::string& part : parts) add_directory(words, part);
}

class WordReader {
 public:
  explicit WordReader(IncludeDirectories& directories) : to_(directories) {}

  void read(const std::string& word) {
    if (through_next_) {
      through_next_ = false;
      return host_words(word);
    }
    if (word == "-Xcompiler" || word == "--compiler-options") {
      through_next_ = true;
      return;
    }
    for (const char* option : {"-Xcompiler=", "--compiler-options="}) {
      if (begins(word, option)) return host_words(word.substr(std::string_view(option).size()));
    }
    if (expected_) {
      Words* list = expected_;
      expected_ = nullptr;
      return add_list(*list, word);
    }
    Words* include = through_ ? &to_.include_through : &to_.include;
    Words* system = through_ ? &to_.system_through : &to_.system;
    if (word == "-I" || word == "--include-path") {
      expected_ = include;
    } else if (word == "-isystem" || word == "--system-include") {
      expected_ = system;
    } else if (word == "-iquote") {
      expected_ = &to_.quote;
    } else if (begins(word, "--include-path=")) {
      add_list(*include, std::string_view(word).substr(15));
    } else if (begins(word, "-I")) {
      add_list(*include, std::string_view(word).substr(2));
    } else if (begins(word, "-iquote")) {
      add_list(to_.quote, std::string_view(word).substr(7));
    } else if (begins(word, "-isystem=") || begins(word, "--system-include=")) {
      add_list(*system, std::string_view(word).substr(word.find('=') + 1));
    } else if (begins(word, "-isystem")) {
      add_list(*system, std::string_view(word).substr(8));
    } else if (begins(word, "-include") || begins(word, "--pre-include") ||
               begins(word, "-imacros")) {
      // Looked for where the compiler is run first.
      to_.here = true;
    }
  }

 private:
  void host_words(const std::string& words) {
    bool before = through_;
    through_ = true;
    for (const std::string& word : split(words, ',')) read(word);
    through_ = before;
  }

  IncludeDirectories& to_;
  Words* expected_ = nullptr;
  bool through_next_ = false, through_ = false;
};

}  // namespace

IncludeDirectories IncludeDirectories::of(const Words& words, bool cuda) {
  IncludeDirectories directories;
  WordReader reader(directories);
  if (cuda) {
    // nvcc includes cuda_runtime.h as if by -include.
    directories.here = true;
    for (const std::string& word : split_blanks(env_or_empty("NVCC_PREPEND_FLAGS")))
      reader.read(word);
  }
  for (const std::string& word : words) reader.read(word);
  if (cuda) {
    for (const std::string& word : split_blanks(env_or_empty("NVCC_APPEND_FLAGS")))
      reader.read(word);
  }
  for (const char* name : {"CPATH", "CPLUS_INCLUDE_PATH"}) {
    std::string value = env_or_empty(name);
    if (value.empty()) continue;
    Words& list =
        *name && name[1] == 'P' && name[2] == 'A' ? directories.path : directories.cplus_path;
    for (const std::string& part : split(value, ':')) add_directory(list, part);
  }
  return directories;
}

void IncludeDirectories::write(Settings& settings) const {
  const std::pair<const char*, const Words*> lists[] = {{"quote", &quote},
                                                        {"include", &include},
                                                        {"include_through", &include_through},
                                                        {"system", &system},
                                                        {"system_through", &system_through},
                                                        {"path", &path},
                                                        {"cplus_path", &cplus_path}};
  for (const auto& list : lists) {
    for (const std::string& directory : *list.second) settings.add(list.first, directory);
  }
  if (here) settings.add("here", "1");
}

void IncludeDirectories::read(const Settings& settings) {
  quote = settings.all("quote");
  include = settings.all("include");
  include_through = settings.all("include_through");
  system = settings.all("system");
  system_through = settings.all("system_through");
  path = settings.all("path");
  cplus_path = settings.all("cplus_path");
  here = settings.has("here");
}

std::string plain(std::string path) {
  if (path.empty() || path[0] != '/') return path;
  size_t at = 0;
  while ((at = path.find("/../", at)) != std::string::npos) {
    size_t from = at ? path.rfind('/', at - 1) : std::string::npos;
    if (from == std::string::npos) {
      // Above the root.
      at += 3;
      continue;
    }
    path.erase(from + 1, at + 4 - (from + 1));
    at = from;
  }
  return path;
}

HeaderSearch::HeaderSearch(const Trees& trees, const IncludeDirectories& directories,
                           const Words& names)
    : trees_(trees) {
  Words named;
  for (const Words* list : {&directories.path, &directories.cplus_path}) {
    for (const std::string& directory : *list) named.push_back(mapped(directory));
  }
  for (const Words* list :
       {&directories.system, &directories.system_through, &directories.cplus_path}) {
    for (const std::string& directory : *list) last_.push_back(mapped(directory));
  }
  for (const std::string& directory : trees.standard) {
    if (in(named, directory)) continue;
    last_.push_back(directory);
    // What comes with the compiler; a directory that CPATH names does not, and distributions leave
    // one to the user.
    if (directory != "/usr/local/include") standard_.push_back(directory + "/");
  }
  Words once;
  for (const std::string& directory : directories.quote) {
    if (in(once, directory)) continue;
    once.push_back(directory);
    searched_.push_back({mapped(directory), false});
  }
  add(directories.include_through, false, true);
  add(directories.include, false, false);
  add(directories.include_through, false, true);
  // After them comes the toolkit itself.
  before_toolkit_ = searched_.size();
  add(directories.path, false, false);
  add(directories.system_through, true, true);
  add(directories.system, true, false);
  add(directories.system_through, true, true);
  add(directories.cplus_path, true, false);
  before_standard_ = searched_.size();
  for (const std::string& directory : trees.standard) searched_.push_back({directory, false});
  for (Directory& directory : searched_) {
    directory.filled = directory.path == "/usr/local/include" || own(directory.path);
  }
  if (directories.here) near_.push_back({".", true});
  for (const std::string& name : names) {
    std::string path = mapped(name);
    while (begins(path, "./")) path.erase(0, 2);
    if (own(path)) {
      std::string place = directory_of(path);
      bool there = false;
      for (const Directory& other : near_) there = there || other.path == place;
      if (!there) near_.push_back({place, true});
    }
    names_.push_back(std::move(path));
  }
}

std::string HeaderSearch::mapped(const std::string& path) const {
  if (trees_.from.empty()) return path;
  if (begins(path, trees_.from)) return trees_.source + path.substr(trees_.from.size());
  // The tree itself.
  if (path.size() + 1 == trees_.from.size() && begins(trees_.from, path)) {
    return trees_.source.substr(0, trees_.source.size() - 1);
  }
  return path;
}

bool HeaderSearch::compilers(const std::string& path) const {
  std::string whole = plain(path) + "/";
  for (const std::string& directory : standard_) {
    if (begins(whole, directory)) return true;
  }
  return false;
}

bool HeaderSearch::own(const std::string& path) const {
  if (!trees_.system.empty() && begins(path, trees_.system)) return false;
  if (in_links(path)) return false;
  for (const std::string* tree : {&trees_.source, &trees_.build}) {
    if (begins(path, *tree)) return true;
    if (path.size() + 1 == tree->size() && begins(*tree, path)) return true;
  }
  return !begins(path, "/usr/") && !compilers(path);
}

void HeaderSearch::add(const Words& directories, bool system, bool through) {
  for (const std::string& name : directories) {
    std::string directory = mapped(name);
    // gcc passes over one that is a system directory too, and over one that came before.
    if (!system && in(last_, directory)) continue;
    if (!through) {
      Words& had = system ? second_ : first_;
      if (in(had, directory)) continue;
      had.push_back(directory);
    }
    searched_.push_back({std::move(directory), false});
  }
}

bool HeaderSearch::known(const std::string& path) const {
  for (const std::string& name : names_) {
    if (name == path || plain(name) == path) return true;
  }
  return false;
}

std::vector<HeaderSearch::Absent> HeaderSearch::absent() const {
  std::vector<Absent> files;
  for (const Directory& directory : searched_) {
    if (!directory.filled) continue;
    for (const std::string& name : trees_.absent) {
      std::string file = directory.path + "/" + name;
      if (exists(file) && !known(plain(file))) files.push_back({name, file});
    }
  }
  return files;
}

// Most names are in none of the directories: each is listed once, and not asked for every header.
void HeaderSearch::tried(const Directory& directory, const std::string& name, Words& found) const {
  if (!directory.listed) {
    directory.listed = true;
    Words names = names_in(directory.path);
    // One that can be searched and not read keeps none, and every name is asked for.
    bool hidden = names.empty() && is_directory(directory.path) && !is_readable(directory.path);
    size_t size = hidden ? 0 : 16;
    while (size && size < 2 * names.size() + 1) size *= 2;
    directory.entries.assign(size, 0);
    for (const std::string& entry : names) {
      uint64_t hash = hash_of(entry);
      size_t at = hash & (size - 1);
      while (directory.entries[at]) at = (at + 1) & (size - 1);
      directory.entries[at] = hash;
    }
  }
  std::string_view first(name.data(),
                         name.find('/') == std::string::npos ? name.size() : name.find('/'));
  if (!directory.entries.empty() && first != "." && first != ".." && !first.empty()) {
    uint64_t hash = hash_of(first);
    size_t mask = directory.entries.size() - 1;
    size_t at = hash & mask;
    while (directory.entries[at] && directory.entries[at] != hash) at = (at + 1) & mask;
    if (!directory.entries[at]) return;
  }
  std::string path = directory.path == "." ? name : directory.path + "/" + name;
  if (!in(found, path) && is_file(path) && !known(path)) found.push_back(std::move(path));
}

Words HeaderSearch::shadows() const {
  Words found;
  for (const Directory& directory : searched_) {
    if (!directory.filled) continue;
    for (const std::string& name : trees_.absent) tried(directory, name, found);
  }
  for (size_t h = 1; h < names_.size(); ++h) {
    const std::string& path = names_[h];
    struct Hit {
      std::string name;
      size_t before;
    };
    std::vector<Hit> hits;
    for (size_t k = 0; k < before_standard_; ++k) {
      const std::string& directory = searched_[k].path;
      if (directory == ".") {
        if (path[0] != '/' && !begins(path, "../") && !in_links(path)) hits.push_back({path, k});
      } else if (path.size() > directory.size() && path[directory.size()] == '/' &&
                 begins(path, directory)) {
        hits.push_back({path.substr(directory.size() + 1), k});
      }
    }
    if (hits.empty()) {
      // The toolkit's, as nvcc names them.
      size_t at = path.find("/bin/../");
      if (at != std::string::npos) {
        at += 8;
        if (path.compare(at, 8, "targets/") == 0) {
          size_t slash = path.find('/', at + 8);
          if (slash != std::string::npos) at = slash + 1;
        }
        if (path.compare(at, 8, "include/") == 0) {
          at += 8;
          bool cccl = path.compare(at, 5, "cccl/") == 0;
          hits.push_back(
              {path.substr(at + (cccl ? 5 : 0)), cccl ? before_standard_ : before_toolkit_});
        }
      }
    }
    if (hits.empty() && !trees_.system.empty() && begins(path, trees_.system + "include/")) {
      hits.push_back({path.substr(trees_.system.size() + 8), before_standard_});
    }
    if (hits.empty()) {
      // One of them may lie in another: /usr/include/c++/12 and /usr/include.
      std::string whole = plain(path);
      size_t longest = 0;
      for (size_t k = before_standard_; k < searched_.size(); ++k) {
        const std::string& directory = searched_[k].path;
        if (directory.size() <= longest || !begins(whole, directory + "/")) continue;
        longest = directory.size();
        hits.assign(1, {whole.substr(longest + 1), k});
      }
    }
    for (const Hit& hit : hits) {
      for (size_t k = 0; k < hit.before; ++k) {
        if (searched_[k].filled) tried(searched_[k], hit.name, found);
      }
      for (const Directory& directory : near_) tried(directory, hit.name, found);
    }
  }
  return found;
}

}  // namespace cudaops
