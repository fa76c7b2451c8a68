// SPDX-License-Identifier: Apache-2.0

#include "link.h"

#include <stdio.h>
#include <unistd.h>

#include "files.h"
#include "measure.h"

namespace cudaops {

namespace {

// What a command says, on both streams.
Ended run_quietly(const Words& command, std::string& said) {
  Start start;
  start.capture_output = start.capture_error = true;
  Captured done = run(command, start);
  said = done.output + done.error;
  while (!said.empty() && said.back() == '\n') said.pop_back();
  return done;
}

bool output_of(const Words& command, std::string& output) {
  Start start;
  start.capture_output = true;
  Captured done = run(command, start);
  output = std::move(done.output);
  return done.status == 0;
}

const char* const no_stack = ".section .note.GNU-stack,\"\",@progbits\n";

// As `stat -L -c '%s %Y %n'`.
std::string identity_of(const std::string& path) {
  struct stat about;
  if (stat(path.c_str(), &about) != 0) return "";
  return std::to_string(about.st_size) + " " + std::to_string(about.st_mtim.tv_sec) + " " + path +
         "\n";
}

// The files that the interpreter consists of.
const char* const mapped_files =
    "with open('/proc/self/maps') as maps:\n"
    "    print('\\n'.join(sorted({line.rstrip('\\n').split(None, 5)[5] for line in maps "
    "if ' /' in line})))\n";

// What they export of Python's names.
bool make_python_stub(const Settings& settings, std::string& why) {
  const std::string& stub = settings.get("python_stub");
  const std::string& python = settings.get("python");
  std::string files, code;
  if (!output_of({python, "-I", "-S", "-B", "-c", mapped_files}, files)) {
    why = python + " doesn't run";
    return false;
  }
  std::vector<uint64_t> seen;
  for (const std::string& file : split(files, '\n')) {
    if (file.empty()) continue;
    // Not each is an ELF file.
    Start start;
    start.capture_output = start.capture_error = true;
    const std::string table =
        run({settings.get("readelf"), "-W", "--dyn-syms", file}, start).output;
    for (const std::string& line : split(table, '\n')) {
      // Number, value, size, type, binding, visibility, section, name.
      Words fields = split_blanks(line);
      if (fields.size() < 8 || fields[fields.size() - 2] == "UND" ||
          (fields[4] != "GLOBAL" && fields[4] != "WEAK"))
        continue;
      std::string name = fields.back().substr(0, fields.back().find('@'));
      if (!begins(name, "Py") && !begins(name, "_Py")) continue;
      const uint64_t hash = hash_of(name);
      bool known = false;
      for (uint64_t other : seen) known = known || other == hash;
      if (known) continue;
      seen.push_back(hash);
      const char *kind = "function", *section = ".text";
      if (fields[3] == "OBJECT") kind = "object", section = ".data";
      if (fields[3] == "TLS") kind = "tls_object", section = ".section .tbss,\"awT\",@nobits";
      code += std::string(section) + "\n.globl " + name + "\n.type " + name + ",@" + kind +
              "\n.size " + name + ",8\n" + name + ":\n.zero 8\n";
    }
  }
  if (code.empty()) {
    why = python + " exports none of Python's symbols";
    return false;
  }
  const std::string made = stub + "." + std::to_string(getpid()), source = made + ".s";
  bool whole = write_file(source, code + no_stack) &&
               run_quietly({settings.get("compiler"), "-shared", "-nostdlib",
                            "-Wl,-soname,cudaops-python-stub", "-o", made, source},
                           why)
                       .status == 0 &&
               rename(made.c_str(), stub.c_str()) == 0;
  unlink(source.c_str());
  unlink(made.c_str());
  return whole;
}

// The command with the file of "-o" taken to another name.
Words into(const std::string& output, Words command) {
  for (size_t i = 1; i < command.size(); ++i) {
    if (command[i - 1] == "-o") command[i] = output;
  }
  return command;
}

Words with(Words command, std::string word) {
  command.push_back(std::move(word));
  return command;
}

// Whether the hidden symbol that a linker misses even with all others open is that of a kernel
// which one of the objects has for itself: nvcc's function for a launch stands there by this name.
bool is_static_kernel(const Words& command, const std::string& said) {
  static const std::string sign = "hidden symbol `";
  const size_t begin = said.find(sign), end = said.find('\'', begin);
  if (begin == std::string::npos || end == std::string::npos) return false;
  const size_t name = begin + sign.size();
  const std::string launch = "__device_stub_" + said.substr(name, end - name);
  std::string object;
  for (const std::string& word : command) {
    if (ends(word, ".o") && read_file(word, object) && holds(object, launch)) return true;
  }
  return false;
}

// With Python's symbols as the exception.
Ended link_once(const Settings& settings, const Words& command, std::string& said) {
  const std::string& stub = settings.get("python_stub");
  const std::string output = option_value(command, "-o");
  // The device link of CUDA makes an object.
  const bool plain = stub.empty() || ends(output, ".o");
  Ended ended;
  if (plain || settings.get("uses_python") != "must") {
    ended = run_quietly(command, said);
    if (plain || ended.status == 0) return ended;
  } else {
    ended.status = 1;
  }
  std::string why;
  if (!exists(stub) && !make_python_stub(settings, why)) {
    said += (said.empty() ? "" : "\n") + ("what Python's API is can't be told: " + why);
    return ended;
  }
  const std::string check = output + ".check", open = "-Wl,--unresolved-symbols=ignore-all";
  ended = run_quietly(into(check, with(command, stub)), said);
  unlink(check.c_str());
  std::string ignored;
  if (ended.status == 0) return run_quietly(with(command, open), said);
  if (run_quietly(into(check, with(command, open)), ignored).status == 0) {
    said += "\n" + advice_for(said);
  } else if (is_static_kernel(command, ignored)) {
    said +=
        "\nFix: a __global__ template that another file instantiates is static since CUDA 13:\n"
        "     target_compile_options(<target> PRIVATE "
        "$<$<COMPILE_LANGUAGE:CUDA>:-static-global-template-stub=false>),\n"
        "     or set_target_properties(<target> PROPERTIES CUDA_SEPARABLE_COMPILATION ON)";
  }
  unlink(check.c_str());
  return ended;
}

Words with_stubs(Words command, const std::string& torch, const std::string& stubs) {
  for (std::string& word : command) {
    if (!begins(word, torch + "/lib") || !ends(word, ".so")) continue;
    const std::string stub = stubs + "/" + name_of(word);
    if (directory_of(word) == torch && exists(stub)) word = stub;
  }
  return command;
}

}  // namespace

bool any_linker(const Words& words) {
  // Only the compiler's own reads it.
  if (!env_or_empty("LD_RUN_PATH").empty()) return false;
  static const char odd[] = "-Wl,*,*,* -Wl,--build-id*,*";
  static const char known[] =
      "-l* -L* -o -shared -fPIC -pthread -fopenmp -O* -g -D* -std=* -m64 -s -static-libgcc "
      "-static-libstdc++ -Wl,-soname,* -Wl,-rpath,* -Wl,-rpath-link,* -Wl,--no-undefined "
      "-Wl,-z,defs -Wl,-z,now -Wl,-z,relro -Wl,--as-needed -Wl,--no-as-needed "
      "-Wl,--exclude-libs,* -Wl,-s -Wl,--strip-all -Wl,--enable-new-dtags -Wl,--build-id* "
      "-Wl,-Bstatic -Wl,-Bdynamic";
  static const char files[] = "*.o *.a *.so *.so.[0-9]*";
  for (const std::string& word : words) {
    if (matches_any(odd, word)) {
      // Nothing behind what is known; a list of names is one.
      return false;
    }
    if (!matches_any(begins(word, "-") ? known : files, word)) return false;
  }
  return true;
}

std::string advice_for(const std::string& said) {
  static const char* const libraries[] = {"cublas", "cublasLt", "cuda_driver", "cudart",   "cudnn",
                                          "cufft",  "curand",   "cusolver",    "cusparse", "nccl",
                                          "nvml",   "nvrtc",    "openmp"};
  const size_t count = sizeof libraries / sizeof libraries[0];
  bool missing[count] = {}, other = false;
  for (const std::string& line : split(said, '\n')) {
    size_t at = std::string::npos;
    for (const char* sign : {"undefined reference to", "undefined symbol"}) {
      if (holds(line, sign)) at = line.rfind(sign) + std::string_view(sign).size();
    }
    if (at == std::string::npos) continue;
    while (at < line.size() && (!is_word(line[at]) || is_digit(line[at]))) ++at;
    size_t end = at;
    while (end < line.size() && is_word(line[end])) ++end;
    const std::string name = line.substr(at, end - at);
    const auto follows = [&](std::string_view prefix) {
      const size_t length = prefix.size();
      return begins(name, prefix) && name.size() > length && name[length] >= 'A' &&
             name[length] <= 'Z';
    };
    const char* library = nullptr;
    for (const char* one : libraries) {
      if (follows(one)) library = one;
    }
    if (!library && follows("cuda")) library = "cudart";
    if (!library && follows("cu") && !begins(name, "cuFile")) library = "cuda_driver";
    if (begins(name, "GOMP_") || begins(name, "omp_") || begins(name, "__kmpc_"))
      library = "openmp";
    if (!library) other = true;
    for (size_t i = 0; library && i < count; ++i) {
      missing[i] = missing[i] || std::string_view(library) == libraries[i];
    }
  }
  std::string names, text;
  for (size_t i = 0; i < count; ++i) {
    if (missing[i]) names += std::string(" CudaOps::") + libraries[i];
  }
  if (!names.empty()) text = "Fix: target_link_libraries(<target> PRIVATE" + names + ")";
  if (other || names.empty()) {
    text += (text.empty() ? "" : "\n") +
            std::string(
                "Fix: add the source that defines it (a .cpp that calls a CUDA launcher "
                "belongs to CUDA_SOURCES),\n     or the library: "
                "target_link_libraries(<target> PRIVATE <library>)");
  }
  return text;
}

Ended run_link(const Settings& settings, const Words& command) {
  const std::string& stubs = settings.get("stubs");
  std::string stamp, said;
  Ended ended;
  if (!stubs.empty() && read_file(stubs + "/stamp", stamp)) {
    std::string now, torch, linker;
    for (const std::string& line : split(stamp, '\n')) {
      const size_t name = line.find(' ', line.find(' ') + 1);
      if (name == std::string::npos) continue;
      now += identity_of(line.substr(name + 1));
      torch = directory_of(line.substr(name + 1));
    }
    if (now == stamp) {
      const Words words = with_stubs(command, torch, stubs);
      if (settings.has("open") && read_file(stubs + "/linker", linker) &&
          any_linker(Words(command.begin() + 1, command.end()))) {
        ended = link_once(settings, with(words, "-fuse-ld=" + first_line(linker)), said);
      }
      // The linker that was found may be gone, or no longer work.
      if (ended.status != 0) ended = link_once(settings, words, said);
    }
  }
  if (ended.status != 0) ended = link_once(settings, command, said);
  if (!said.empty()) say(said);
  // Not every linker removes what an earlier link left there.
  if (ended.status != 0) unlink(option_value(command, "-o").c_str());
  return ended;
}

int make_link_stubs(const Words& words) {
  const std::string &compiler = words[0], &nm = words[1], &readelf = words[2],
                    &directory = words[3];
  const std::string made = directory + "." + std::to_string(getpid());
  const std::string source = made + "/stub.s";
  std::string stamp, last;
  make_directories(made);
  auto make = [&] {
    for (size_t i = 4; i < words.size(); ++i) {
      const std::string name = name_of(words[i]);
      std::string text, code;
      if (!output_of({readelf, "-d", words[i]}, text) ||
          !matches(("*SONAME*[[]" + name + "]*").c_str(), text))
        return false;
      if (!output_of({nm, "-D", "--defined-only", words[i]}, text)) return false;
      for (const std::string& line : split(text, '\n')) {
        Words fields = split_blanks(line);
        if (fields.size() != 3 || fields[1] != "T") continue;
        const std::string& symbol = fields[2];
        bool fits = begins(symbol, "torch_") || begins(symbol, "aoti_torch_");
        for (char c : symbol) fits = fits && is_word(c);
        if (fits)
          code += ".globl " + symbol + "\n.type " + symbol + ",@function\n" + symbol + ":\n";
      }
      last = made + "/" + name;
      if (code.empty() || !write_file(source, code + no_stack) ||
          run({compiler, "-shared", "-nostdlib", "-Wl,-soname," + name, "-o", last, source})
                  .status != 0)
        return false;
      stamp += identity_of(words[i]);
    }
    // Of the fast linkers the one that links as the compiler's own does. mold 1 makes weak
    // references strong, and an op that asks whether this torch has a function would no longer load
    // where it has not; lld takes gcc's LTO objects for empty ones; and both may take a symbol that
    // several archives have from another one.
    std::string ignored;
    const std::string tried = made + "/tried";
    if (run_quietly({compiler, "-shared", "-fuse-ld=gold", "-o", tried, source, last}, ignored)
            .status == 0)
      write_file(made + "/linker", "gold\n");
    unlink(source.c_str());
    unlink(tried.c_str());
    return write_file(made + "/stamp", stamp);
  };
  bool whole = make();
  // Another configure may have been faster; one directory is as good as the other.
  if (whole && rename(made.c_str(), directory.c_str()) != 0) whole = exists(directory + "/stamp");
  remove_tree(made);
  return whole ? 0 : 1;
}

}  // namespace cudaops
