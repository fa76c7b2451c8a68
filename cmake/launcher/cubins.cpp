// SPDX-License-Identifier: Apache-2.0

#include "cubins.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cache.h"
#include "depfile.h"
#include "files.h"
#include "measure.h"
#include "sha1.h"

namespace cudaops {

namespace {

// Stands in nvcc's commands for the directory of a compile, so that they are the same everywhere.
#define DIRECTORY "$_cudaops_d"

std::string between(const std::string& line, size_t from, const char* ends_at) {
  return line.substr(from, line.find_first_of(ends_at, from) - from);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_upper(char c) { return (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

Plan::Arch* Plan::arch(const std::string& name) {
  for (Arch& arch : archs) {
    if (arch.name == name) return &arch;
  }
  return nullptr;
}

bool Plan::parse(const std::string& text) {
  struct Step {
    std::string arch, line;
  };
  std::vector<Step> steps;
  for (std::string line : split(text, '\n')) {
    if (line.empty()) continue;
    if (!begins(line, "#$ ")) return false;
    line.erase(0, 3);
    // With several threads, nvcc collects what each command says.
    if (matches("* > *_stdout 2>*_stderr", line)) line.resize(line.rfind(" > "));
    bool variable = false;
    for (const char* name :
         {"PATH=", "LD_LIBRARY_PATH=", "CICC_PATH=", "NVVMIR_LIBRARY_DIR=", "TOP="}) {
      variable = variable || begins(line, name);
    }
    size_t equals = line.find('=');
    if (variable) {
      variables.push_back(line);
    } else if (equals != std::string::npos && is_upper(line[0])) {
      for (size_t i = 0; i < equals; ++i) {
        if (!is_upper(line[i])) return false;
      }
    } else if (begins(line, "-- Filter Dependencies --") || begins(line, "rm ")) {
    } else if (matches("cudafe++ * --gen_module_id_file --module_id_file_name *", line) ||
               matches("* -E * -o \"" DIRECTORY "/*.cpp4.ii\"*", line)) {
      host.push_back(line);
    } else if (matches("* -E * -o \"" DIRECTORY "/*.compute_*.cpp1.ii\"*", line)) {
      archs.push_back({"compute_" + between(line, line.rfind(".compute_") + 9, "."), line, {}});
    } else if (matches("\"$CICC_PATH/cicc\" * -arch compute_* --module_id_file_name *", line)) {
      steps.push_back({between(line, line.rfind(" -arch ") + 7, " "), line});
    } else if (matches("ptxas *\"" DIRECTORY "/*.compute_*.ptx\"*", line)) {
      size_t at = line.rfind(".compute_", line.rfind(".ptx\"")) + 9;
      steps.push_back({"compute_" + line.substr(at, line.find(".ptx\"", at) - at), line});
    } else if (matches("fatbinary * --embedded-fatbin=*", line) ||
               matches("* -c -x c++ * \"" DIRECTORY "/*.compute_*.cudafe1.cpp\" -o \"*", line)) {
      end.push_back(line);
    } else {
      return false;
    }
  }
  for (Step& step : steps) {
    Arch* found = arch(step.arch);
    if (!found) return false;
    found->commands.push_back(std::move(step.line));
  }
  if (host.size() != 2 || end.size() != 2 || archs.empty()) return false;
  Words words;
  for (const Words* lines : {&host, &end}) {
    for (const std::string& line : *lines) {
      if (!split_command(line, variables, words)) return false;
    }
  }
  for (const Arch& arch : archs) {
    bool compiled = false;
    if (!split_command(arch.before, variables, words)) return false;
    for (const std::string& line : arch.commands) {
      if (!split_command(line, variables, words)) return false;
      compiled = compiled || holds(line, " -arch " + arch.name + " ");
    }
    if (!compiled) return false;
  }
  return true;
}

bool split_command(const std::string& line, const Words& variables, Words& words) {
  words.clear();
  std::string word;
  bool in_word = false, quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    char c = line[i];
    char next = i + 1 < line.size() ? line[i + 1] : 0;
    if (c == '`' || (!quoted && holds(";|&<>()'", std::string_view(&c, 1))) ||
        (c == '#' && !in_word))
      return false;
    if (c == '"') {
      quoted = !quoted;
      in_word = true;
    } else if (!quoted && (c == ' ' || c == '\t')) {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else if (c == '\\' && (!quoted || holds("\"\\$`", std::string_view(&next, 1)))) {
      if (!next) return false;
      word += next;
      in_word = true;
      ++i;
    } else if (c == '$') {
      size_t end = i + 1;
      while (end < line.size() && (is_upper(line[end]) || (line[end] >= 'a' && line[end] <= 'z') ||
                                   (end > i + 1 && is_digit(line[end])))) {
        ++end;
      }
      if (!quoted || end == i + 1) return false;
      std::string name = line.substr(i + 1, end - i - 1);
      std::string value = env_or_empty(name.c_str());
      for (const std::string& variable : variables) {
        if (begins(variable, name + "=")) value = variable.substr(name.size() + 1);
      }
      word += value;
      i = end - 1;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) words.push_back(std::move(word));
  return !quoted && !words.empty();
}

void add_named_files(std::string_view text, Words& names) {
  std::string last;
  while (!text.empty()) {
    size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!begins(line, "# ") || line.size() < 5 || !is_digit(line[2])) continue;
    size_t quote = line.find('"'), close = line.rfind('"');
    if (quote == std::string_view::npos || close == quote) continue;
    size_t digit = 2;
    while (is_digit(line[digit])) ++digit;
    if (digit + 1 != quote) continue;
    std::string name(line.substr(quote + 1, close - quote - 1));
    if (name == last) continue;
    last = name;
    if (name.empty() || ends(name, "//") || (name[0] == '<' && name.back() == '>')) continue;
    std::string plain;
    for (size_t i = 0; i < name.size(); ++i) {
      if (name[i] == '\\' && i + 3 < name.size() && is_digit(name[i + 1]) &&
          is_digit(name[i + 2]) && is_digit(name[i + 3])) {
        plain += static_cast<char>((name[i + 1] - '0') * 64 + (name[i + 2] - '0') * 8 +
                                   (name[i + 3] - '0'));
        i += 3;
      } else {
        if (name[i] == '\\' && i + 1 < name.size()) ++i;
        plain += name[i];
      }
    }
    if (!is_in(names, plain)) names.push_back(std::move(plain));
  }
}

bool needs_lines(const Words& commands, std::string_view text) {
  for (const std::string& command : commands) {
    for (const char* option : {" -g ", " -generate-line-info ", " -show-src ", " --debug_mode "}) {
      if (holds(command, option)) return true;
    }
  }
  // A line in a raw string is no line of code.
  for (const char* word : {"__builtin_LINE", "__builtin_FILE", "__builtin_COLUMN",
                           "__builtin_source_location", "R\""}) {
    if (holds(text, word)) return true;
  }
  return false;
}

std::string without_lines(std::string_view text) {
  std::string rest;
  rest.reserve(text.size());
  while (!text.empty()) {
    size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.find_first_not_of(" \t\r\v\f") == std::string_view::npos) continue;
    if (begins(line, "# ") && line.size() > 2 && is_digit(line[2])) continue;
    rest.append(line).append("\n");
  }
  return rest;
}

std::string packed(const std::vector<Entry>& entries) {
  std::string text = "cudaops part 1\n";
  for (const Entry& entry : entries) {
    text += entry.name + "\t" + std::to_string(entry.content.size()) + "\n" + entry.content;
  }
  return text + "end\t0\n";
}

bool unpack(std::string_view text, std::vector<Entry>& entries) {
  const std::string_view head = "cudaops part 1\n";
  if (!begins(text, head)) return false;
  text.remove_prefix(head.size());
  while (true) {
    size_t tab = text.find('\t');
    size_t end = text.find('\n', tab);
    if (tab == std::string_view::npos || end == std::string_view::npos) return false;
    std::string name(text.substr(0, tab));
    size_t size = strtoul(std::string(text.substr(tab + 1, end - tab - 1)).c_str(), nullptr, 10);
    text.remove_prefix(end + 1);
    if (size > text.size() || holds(name, "/")) return false;
    if (name == "end") return text.empty();
    entries.push_back({std::move(name), std::string(text.substr(0, size))});
    text.remove_prefix(size);
  }
}

namespace {

std::string lines_of(const Words& words) { return words.empty() ? "" : join(words, "\n") + "\n"; }

const std::string* entry(const std::vector<Entry>& entries, const std::string& name) {
  for (const Entry& one : entries) {
    if (one.name == name) return &one.content;
  }
  return nullptr;
}

class CubinsCompiler {
 public:
  CubinsCompiler(const std::string& context, const Words& words) : words_(words), text_(context) {
    context_.parse(context);
    arch_ = context_.get("part");
    nvcc_ = context_.get("nvcc");
    source_ = option_value(words, "-c");
    object_ = option_value(words, "-o");
    depfile_ = option_value(words, "-MF");
    target_ = option_value(words, "-MT");
    if (target_.empty()) target_ = object_;
  }

  int compile() {
    find_nvcc();
    if (object_.empty() || source_.empty() || (arch_.empty() && context_.get("parts").empty())) {
      return run(nvcc_command()).status;
    }
    directory_ = object_ + ".parts";
    remove_tree(directory_);
    if (mkdir(directory_.c_str(), 0777) != 0) {
      say("CudaOps: " + directory_ + " can't be made");
      return 1;
    }
    int status = plan() ? (arch_.empty() ? join_parts() : make_one()) : whole();
    remove_tree(directory_);
    return status;
  }

  // The cache has no such part.
  int make_for_cache(const std::string& directory) {
    directory_ = directory;
    std::string text;
    if (!read_file(directory_ + "/plan", text) || !plan_.parse(text)) return 1;
    int status = make_part(*plan_.arch(arch_));
    if (status != 0) write_file(directory_ + "/failed", "");
    return status;
  }

 private:
  Words nvcc_command() const {
    Words command = words_;
    command.insert(command.begin(), nvcc_);
    return command;
  }

  // The launcher says paths relative to the build tree where it can; so does nvcc then, of its own
  // headers.
  void find_nvcc() {
    const std::string& link = context_.get("link");
    if (link.empty()) return;
    const std::string all = " " + join(words_, " ");
    if (!matches("*[ =I]CudaOps/links/*", all) && !matches("*/../CudaOps/links/*", all) &&
        !matches("*[ =I]../CudaOps/links/*", all)) {
      return;
    }
    std::string up;
    for (int i = 0; i < 12; ++i, up += "../") {
      if (!is_executable(up + link)) continue;
      nvcc_ = up + link;
      return;
    }
  }

  bool plan() {
    Words command = words_;
    const char* const first[] = {"-dryrun", "--keep", "--keep-dir", DIRECTORY};
    command.insert(command.begin(), first, first + 4);
    command.insert(command.begin(), nvcc_);
    Start start;
    start.capture_output = start.capture_error = true;
    Captured said = run(command, start);
    if (said.status != 0 || !said.output.empty() || !plan_.parse(said.error)) return false;
    return write_file(directory_ + "/plan", said.error);
  }

  // nvcc as it is. A part is left empty then.
  int whole() {
    remove_tree(directory_);
    if (arch_.empty()) return run(nvcc_command()).status;
    write_file(object_, "");
    depend({source_});
    return 0;
  }

  void depend(const Words& names) const {
    if (depfile_.empty()) return;
    // What -MT says stands as it is.
    std::string text = target_ + " :";
    for (size_t i = 0; i < names.size(); ++i) {
      text += (i ? " \\\n    " : " ") + Depfile::escaped(names[i]);
    }
    write_file(depfile_, text + "\n");
  }

  // As nvcc would run them, up to one that fails.
  int run_all(const Words& commands) {
    Words variables = plan_.variables;
    Environment environment;
    for (const std::string& variable : variables) {
      const size_t equals = variable.find('=');
      environment.set(variable.substr(0, equals), variable.substr(equals + 1));
    }
    variables.push_back("_cudaops_d=" + directory_);
    int status = 0;
    for (const std::string& line : commands) {
      Words command;
      if (!split_command(line, variables, command)) return 1;
      Start start;
      start.no_input = true;
      status = run(command, start).status;
      if (status != 0) break;
    }
    environment.restore();
    return status;
  }

  // Files of this compile, by a pattern.
  Words files(const std::string& pattern) const {
    Words found;
    for (const std::string& name : names_in(directory_)) {
      if (!matches(pattern.c_str(), name)) continue;
      size_t at = 0;
      while (at < found.size() && found[at] < name) ++at;
      found.insert(found.begin() + at, name);
    }
    return found;
  }

  std::string content(const std::string& name) const {
    std::string text;
    read_file(directory_ + "/" + name, text);
    return text;
  }

  std::string all_content(const std::string& pattern) const {
    std::string text;
    for (const std::string& name : files(pattern)) text += content(name);
    return text;
  }

  Words named_by(const std::string& pattern) const {
    Words names;
    add_named_files(all_content(pattern), names);
    return names;
  }

  // What makes device code here, and the variables that it reads. The commands name neither.
  std::string tools() const {
    std::string cicc, ptxas, libdevice, text;
    for (const std::string& variable : plan_.variables) {
      if (begins(variable, "CICC_PATH=")) cicc = variable.substr(10);
      if (begins(variable, "NVVMIR_LIBRARY_DIR=")) libdevice = variable.substr(19);
      if (!begins(variable, "PATH=")) continue;
      for (const std::string& directory : split(variable.substr(5), ':')) {
        if (ptxas.empty() && is_executable(directory + "/ptxas")) ptxas = directory + "/ptxas";
      }
    }
    if (libdevice.empty()) libdevice = cicc + "/../libdevice";
    Words parts = {nvcc_, cicc + "/cicc", ptxas};
    for (const std::string& name : names_in(libdevice)) {
      if (ends(name, ".bc")) parts.push_back(libdevice + "/" + name);
    }
    for (const std::string& part : parts) {
      struct stat about = {};
      stat(part.c_str(), &about);
      text += part + " " + std::to_string(about.st_size) + " " +
              std::to_string(about.st_mtim.tv_sec) + " " + std::to_string(about.st_ctim.tv_sec) +
              " " + std::to_string(about.st_ino) + "\n";
    }
    for (const char* name :
         {"PTXAS_FLAGS", "OCG_FLAGS", "NVVM_FLAGS", "NVASM_FLAGS", "LLVMC_FLAGS", "LLVMDIS_FLAGS",
          "LLVM_OVERRIDE_PRODUCER", "NVVM_IR_VER_CHK", "NV_NVVM_VERSION"}) {
      text += name + ("=" + env_or_empty(name)) + "\n";
    }
    return text;
  }

  // The file `part`: the commands, the unit's name as nvcc makes it for one architecture, and what
  // they have made of the preprocessed text.
  int make_part(const Plan::Arch& arch) {
    const std::string named = "name." + arch.name;
    Words commands = arch.commands;
    for (std::string& line : commands) {
      const std::string option = " --module_id_file_name \"";
      size_t at = line.find(option);
      if (at == std::string::npos) continue;
      size_t end = line.find('"', at + option.size());
      line.replace(at, end + 1 - at,
                   " --gen_module_id_file --module_id_file_name \"" DIRECTORY "/" + named + "\"");
    }
    int status = run_all(commands);
    if (status != 0) return status;
    std::string name = first_line(content(named));
    if (name.empty()) return 1;
    // Most code holds its unit's name nowhere; then it doesn't matter.
    if (!holds(all_content("*." + arch.name + ".ptx"), name) &&
        !holds(all_content("*." + arch.name + ".cudafe1.stub.c"), name)) {
      name = "any";
    }
    std::vector<Entry> entries = {{named, name}, {"do." + arch.name, lines_of(arch.commands)}};
    Words patterns = {"*." + arch.name + ".cudafe1.stub.c", "*." + arch.name + ".*cubin"};
    if (holds(lines_of(plan_.end), "." + arch.name + ".ptx\""))
      patterns.push_back("*." + arch.name + ".ptx");
    for (const std::string& pattern : patterns) {
      for (const std::string& file : files(pattern)) entries.push_back({file, content(file)});
    }
    return write_file(directory_ + "/part", packed(entries)) ? 0 : 1;
  }

  // The edge of one architecture.
  int make_one() {
    Plan::Arch* arch = plan_.arch(arch_);
    if (!arch) return whole();
    int status = run_all({arch->before});
    if (status != 0) return status;
    const std::string text = all_content("*." + arch_ + ".cpp1.ii");
    Words names;
    add_named_files(text, names);
    depend(names);
    // What the part is made of.
    std::string known;
    for (const std::string& line : arch->commands) known += "// " + line + "\n";
    const std::string ptx = "." + arch_ + ".ptx\"";
    const std::string end = lines_of(plan_.end);
    for (size_t at = end.find(ptx); at != std::string::npos; at = end.find(ptx, at + 1))
      known += "// " + ptx + "\n";
    known += needs_lines(arch->commands, text) ? text : without_lines(text);
    const std::string file = directory_ + "/known.ii", part = directory_ + "/part";
    if (!write_file(file, known)) return 1;
    const std::string& ccache = context_.get("ccache");
    std::string sum;
    if (env("CUDAOPS_LAUNCH_CACHED") && !ccache.empty()) {
      status = ask_cache(ccache, file, part);
      if (status != 0 && exists(directory_ + "/failed")) return status;
      // The cache's failure.
      if (status != 0) status = make_part(*arch);
    } else {
      Sha1 hash;
      hash.add(tools());
      hash.add(known);
      sum = hash.hex();
      std::vector<Entry> old;
      std::string before;
      const std::string* was = nullptr;
      if (read_file(object_, before) && unpack(before, old)) was = entry(old, "known." + arch_);
      if (was && *was == sum) {
        old.resize(old.size() - 3);
        status = write_file(part, packed(old)) ? 0 : 1;
      } else {
        status = make_part(*arch);
      }
    }
    if (status != 0) return status;
    // From which files the text came is not the part's: others can have the same.
    std::vector<Entry> entries;
    std::string made;
    if (!read_file(part, made) || !unpack(made, entries)) return 1;
    entries.push_back({"known." + arch_, sum});
    entries.push_back({"from." + arch_, lines_of(names)});
    entries.push_back({"pp." + arch_, arch->before});
    return write_whole(object_, packed(entries)) ? 0 : 1;
  }

  int ask_cache(const std::string& ccache, const std::string& file, const std::string& part) {
    // The launcher has put all of the compiler and its environment into the key. The cache that
    // called us has turned itself off.
    for (const char* name : {"CCACHE_DEPEND", "CCACHE_DISABLE", "UNCACHED_ERR_FD"}) unset_env(name);
    set_env("CCACHE_NODEPEND", "1");
    set_env("CCACHE_COMPILERTYPE", "gcc");
    set_env("CUDAOPS_LAUNCH_CUBINS", text_);
    set_env("CUDAOPS_LAUNCH_PART", directory_);
    int status = run({ccache, context_.get("program"), "-c", file, "-o", part}).status;
    unset_env("CUDAOPS_LAUNCH_PART");
    return status;
  }

  // The object, of what the architectures' edges have made.
  int join_parts() {
    int status = run_all(plan_.host);
    if (status != 0) return status;
    const std::string name = first_line(all_content("*.module_id"));
    if (name.empty()) return whole();
    Words names = named_by("*.cpp4.ii");
    auto more = [&](const Words& others) {
      for (const std::string& other : others) {
        if (!other.empty() && !is_in(names, other)) names.push_back(other);
      }
    };
    std::vector<const Plan::Arch*> again;
    for (const Plan::Arch& arch : plan_.archs) {
      std::vector<Entry> part;
      std::string text;
      if (read_file(context_.get("parts") + "." + arch.name + ".cu.o.part", text) &&
          !unpack(text, part))
        part.clear();
      const std::string* before = entry(part, "pp." + arch.name);
      const std::string* commands = entry(part, "do." + arch.name);
      const std::string* theirs = entry(part, "name." + arch.name);
      const char* why = nullptr;
      if (!before || !commands || !theirs) {
        why = "there is no result of its own step";
      } else if (*commands != lines_of(arch.commands) || *before != arch.before) {
        why = "its own step has other options";
      } else if (*theirs != "any" && *theirs != name) {
        why = "its first definition depends on __CUDA_ARCH__";
      }
      if (why) {
        again.push_back(&arch);
        say("CudaOps: " + source_ + " is compiled for " + arch.name + " once more: " + why);
        continue;
      }
      for (const Entry& file : part) {
        if (!write_file(directory_ + "/" + file.name, file.content)) return 1;
      }
      more(split(*entry(part, "from." + arch.name), '\n'));
    }
    // The unit has another name here than an architecture gives it, or there is no such part.
    for (const Plan::Arch* arch : again) {
      if ((status = run_all({arch->before})) != 0) return status;
      more(named_by("*." + arch->name + ".cpp1.ii"));
      if ((status = run_all(arch->commands)) != 0) return status;
    }
    if ((status = run_all(plan_.end)) != 0) return status;
    depend(names);
    return 0;
  }

  const Words words_;
  const std::string text_;
  Settings context_;
  std::string arch_, nvcc_, source_, object_, depfile_, target_, directory_;
  Plan plan_;
};

// The source that the file stands for, and what of it.
struct Stand {
  std::string name, arch;
};

bool stand_of(const std::string& source, Stand& stand) {
  if (!holds("/" + source, "/CudaOps/cubins/") || !ends(source, ".cu")) return false;
  stand.name = name_of(source.substr(0, source.size() - 3));
  size_t at = stand.name.rfind(".compute_");
  if (at != std::string::npos) {
    stand.arch = stand.name.substr(at + 1);
    stand.name.resize(at);
  }
  return true;
}

}  // namespace

bool is_cubins_step(const Settings& settings, const Words& command) {
  Stand stand;
  return settings.has("cubins") && stand_of(option_value(command, "-c"), stand);
}

Ended launch_cubins(Settings& settings, const Words& command) {
  Stand stand;
  const std::string source = option_value(command, "-c"), object = option_value(command, "-o");
  stand_of(source, stand);
  std::string real;
  Words names = settings.all("stand_in"), paths = settings.all("stands_for");
  for (size_t i = 0; i < names.size() && i < paths.size(); ++i) {
    if (names[i] == stand.name) real = paths[i];
  }
  if (real.empty()) {
    say("CudaOps: " + settings.get("file") + " doesn't know " + source + "; configure again");
    return ended_with(1);
  }
  const bool part = !stand.arch.empty();
  Words words = command;
  for (size_t i = 1; i < words.size(); ++i) {
    if (command[i - 1] == "-c") words[i] = real;
    if (command[i - 1] == "-o" && part) words[i] = object + ".part";
  }
  Settings context;
  context.add("nvcc", command[0]);
  context.add("program", settings.get("cubins_compiler"));
  if (part) {
    context.add("part", stand.arch);
  } else {
    context.add("parts", object.substr(0, object.size() - (ends(object, ".cu.o") ? 5 : 0)));
  }
  const bool cached = settings.has("engine");
  if (cached) {
    if (!env("CCACHE_DISABLE")) context.add("ccache", settings.get("cache"));
    context.add("link", settings.get("link_compiler"));
  }
  set_env("CUDAOPS_LAUNCH_CUBINS", context.text());
  // No object of the same command, for the cache.
  if (part)
    set_env("CCACHE_NAMESPACE", env_or_empty("CCACHE_NAMESPACE") + "cubins 2|" + stand.arch + "|");
  // For the cache, that program is the compiler; the settings about nvcc remain.
  words[0] = settings.get("cubins_compiler");
  settings.add("compiler", words[0]);
  settings.add("link_compiler", "");
  Ended ended;
  bool done = false;
  const Words arguments(words.begin() + 1, words.end());
  if (cached) {
    Cache cache(settings);
    done = cache.compile(arguments, ended);
    if (!done) cache.log_not_cached(words);
  }
  if (!done) ended = ended_with(run_cubins_compiler(env("CUDAOPS_LAUNCH_CUBINS"), arguments));
  if (ended.status != 0 || !part) return ended;
  // What the link sees of it.
  const std::string& empty = settings.get("cubins_empty");
  std::string text;
  if (!has_content(empty)) {
    const std::string made = object + ".new";
    Ended compiled =
        run({settings.get("cxx"), "-x", "c++", "-fPIC", "-c", "/dev/null", "-o", made});
    if (compiled.status != 0) return compiled;
    if (rename(made.c_str(), empty.c_str()) != 0) return ended_with(1);
  }
  return ended_with(read_file(empty, text) && write_file(object, text) ? 0 : 1);
}

int run_cubins_compiler(const std::string& context, const Words& words) {
  CubinsCompiler compiler(context, words);
  if (const char* directory = env("CUDAOPS_LAUNCH_PART")) {
    std::string place = directory;
    unset_env("CUDAOPS_LAUNCH_PART");
    return compiler.make_for_cache(place);
  }
  return compiler.compile();
}

}  // namespace cudaops
