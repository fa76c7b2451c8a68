// SPDX-License-Identifier: Apache-2.0
// The compiler of cubins.h.

#include "cubin_part.h"
#include "cubins.h"
#include "depfile.h"
#include "files.h"
#include "measure.h"
#include "nvcc_plan.h"
#include "sha1.h"

namespace cudaops {

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
    const char* const first[] = {"-dryrun", "--keep", "--keep-dir", CUDAOPS_PLAN_DIRECTORY};
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
                   " --gen_module_id_file --module_id_file_name \"" CUDAOPS_PLAN_DIRECTORY "/" +
                       named + "\"");
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

}  // namespace

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
