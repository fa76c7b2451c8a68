// SPDX-License-Identifier: Apache-2.0

#include "header_search.h"

#include "files.h"

namespace cudaops {

namespace {

bool in_links(std::string_view path) {
  return begins(path, "CudaOps/links/") || holds(path, "/CudaOps/links/");
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
  const std::pair<const char*, const Words*> lists[] = {
      {"search_quote", &quote},
      {"search_include", &include},
      {"search_include_through", &include_through},
      {"search_system", &system},
      {"search_system_through", &system_through},
      {"search_path", &path},
      {"search_cplus_path", &cplus_path}};
  for (const auto& list : lists) {
    for (const std::string& directory : *list.second) settings.add(list.first, directory);
  }
  if (here) settings.add("here", "1");
}

void IncludeDirectories::read(const Settings& settings) {
  quote = settings.all("search_quote");
  include = settings.all("search_include");
  include_through = settings.all("search_include_through");
  system = settings.all("search_system");
  system_through = settings.all("search_system_through");
  path = settings.all("search_path");
  cplus_path = settings.all("search_cplus_path");
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

Trees Trees::of(const Settings& settings) {
  Trees trees;
  trees.source = settings.get("source") + "/";
  trees.build = settings.get("build") + "/";
  trees.system = settings.get("system");
  trees.standard = settings.all("standard");
  trees.absent = split_blanks(settings.get("absent"));
  Words directories = settings.all("place"), names = settings.all("place_name");
  for (size_t i = 0; i < directories.size() && i < names.size(); ++i) {
    if (in_links(names[i]) && names[i] != settings.get("source_name"))
      trees.others.push_back(directories[i] + "/");
  }
  return trees;
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
    if (is_in(named, directory)) continue;
    last_.push_back(directory);
    // What comes with the compiler; a directory that CPATH names does not, and distributions leave
    // one to the user.
    if (directory != "/usr/local/include") standard_.push_back(directory + "/");
  }
  Words once;
  for (const std::string& directory : directories.quote) {
    if (is_in(once, directory)) continue;
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
  const std::string detour = holds(path, "/../") ? plain(path) : "";
  const std::string& whole = detour.empty() ? path : detour;
  for (const std::string& directory : standard_) {
    if (begins(whole, directory)) return true;
    if (whole.size() + 1 == directory.size() && begins(directory, whole)) return true;
  }
  return false;
}

bool HeaderSearch::own(const std::string& path) const {
  if (!trees_.system.empty() && begins(path, trees_.system)) return false;
  if (in_links(path)) return false;
  auto below = [&path](const std::string& tree) {
    return begins(path, tree) || (path.size() + 1 == tree.size() && begins(tree, path));
  };
  // A virtual environment can lie in the source tree, and a project in a toolkit's directory.
  size_t tree = 0, other = 0;
  for (const std::string* one : {&trees_.source, &trees_.build}) {
    if (below(*one) && one->size() > tree) tree = one->size();
  }
  for (const std::string& one : trees_.others) {
    if (below(one) && one.size() > other) other = one.size();
  }
  if (tree || other) return tree > other;
  return !begins(path, "/usr/") && !compilers(path);
}

void HeaderSearch::add(const Words& directories, bool system, bool through) {
  for (const std::string& name : directories) {
    std::string directory = mapped(name);
    // gcc passes over one that is a system directory too, and over one that came before.
    if (!system && is_in(last_, directory)) continue;
    if (!through) {
      Words& had = system ? second_ : first_;
      if (is_in(had, directory)) continue;
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

HeaderSearch::Name::Name(std::string_view name) : text(name), first(0) {
  std::string_view part = name.substr(0, name.find('/'));
  if (!part.empty() && part != "." && part != "..") first = hash_of(part);
}

// Most names are in none of the directories: each is listed once, and not asked for every header.
void HeaderSearch::tried(const Directory& directory, const Name& name, Words& found) const {
  if (!directory.listed) {
    directory.listed = true;
    directory.entries = hashed_names_in(directory.path);
  }
  if (name.first && !directory.entries.empty()) {
    const size_t mask = directory.entries.size() - 1;
    size_t at = name.first & mask;
    while (directory.entries[at] && directory.entries[at] != name.first) at = (at + 1) & mask;
    if (!directory.entries[at]) return;
  }
  std::string path = directory.below + std::string(name.text);
  if (!is_in(found, path) && is_file(path) && !known(path)) found.push_back(std::move(path));
}

Words HeaderSearch::shadows() const {
  Words found;
  for (const std::string& text : trees_.absent) {
    const Name name(text);
    for (const Directory& directory : searched_) {
      if (directory.filled) tried(directory, name, found);
    }
  }
  // What the compiler searched before the place where it found a name.
  auto try_before = [&](std::string_view text, size_t end) {
    const Name name(text);
    for (size_t k = 0; k < end; ++k) {
      if (searched_[k].filled) tried(searched_[k], name, found);
    }
    for (const Directory& directory : near_) tried(directory, name, found);
  };
  for (size_t h = 1; h < names_.size(); ++h) {
    const std::string_view path = names_[h];
    bool hit = false;
    for (size_t k = 0; k < before_standard_; ++k) {
      const Directory& directory = searched_[k];
      if (directory.below.empty() ? path[0] == '/' || begins(path, "../") || in_links(path)
                                  : !begins(path, directory.below)) {
        continue;
      }
      hit = true;
      try_before(path.substr(directory.below.size()), k);
    }
    if (hit) continue;
    // The toolkit's, as nvcc names them.
    size_t at = path.find("/bin/../");
    if (at != std::string_view::npos) {
      std::string_view rest = path.substr(at + 8);
      if (begins(rest, "targets/") && rest.find('/', 8) != std::string_view::npos) {
        rest.remove_prefix(rest.find('/', 8) + 1);
      }
      if (begins(rest, "include/")) {
        rest.remove_prefix(8);
        const bool cccl = begins(rest, "cccl/");
        try_before(rest.substr(cccl ? 5 : 0), cccl ? before_standard_ : before_toolkit_);
        continue;
      }
    }
    if (!trees_.system.empty() && begins(path, trees_.system) &&
        begins(path.substr(trees_.system.size()), "include/")) {
      try_before(path.substr(trees_.system.size() + 8), before_standard_);
      continue;
    }
    // One of them may lie in another: /usr/include/c++/12 and /usr/include.
    std::string whole;
    if (holds(path, "/../")) whole = plain(std::string(path));
    const std::string_view name = whole.empty() ? path : std::string_view(whole);
    const Directory* longest = nullptr;
    for (size_t k = before_standard_; k < searched_.size(); ++k) {
      const Directory& directory = searched_[k];
      if ((!longest || directory.below.size() > longest->below.size()) &&
          begins(name, directory.below)) {
        longest = &directory;
      }
    }
    if (longest) try_before(name.substr(longest->below.size()), longest - searched_.data());
  }
  return found;
}

}  // namespace cudaops
