// SPDX-License-Identifier: Apache-2.0
// The key: all that decides what is in the object, but for the command and the files that it reads,
// which are the cache's own matter.

#include <stdio.h>
#include <stdlib.h>

#include "cache.h"
#include "files.h"
#include "sha1.h"

namespace cudaops {

namespace {

// What makes the compiler write more than its object, or takes its parts from elsewhere.
const char moving[] =
    "GCC_EXEC_PREFIX COMPILER_PATH GCC_ROOT BINUTILS_ROOT GCC_COMPARE_DEBUG DEPENDENCIES_OUTPUT "
    "SUNPRO_DEPENDENCIES AS_SECURE_LOG_FILE DUMP_KNOBS_TO_FILE CCC_OVERRIDE_OPTIONS LD_PRELOAD";
// What nvcc, cicc, cudafe++, ptxas and the host compiler read and that can reach the object.
const char reaching[] =
    "NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS NVCC_CCBIN INCLUDES SYSTEM_INCLUDES CUDAFE_FLAGS "
    "PTXAS_FLAGS OCG_FLAGS NVVM_FLAGS LLVMC_FLAGS LLVMDIS_FLAGS NVASM_FLAGS CICC_PATH "
    "NVVMIR_LIBRARY_DIR TOP _HERE_ _TARGET_DIR_ _TARGET_SIZE_ _SPACE_ EDG_BASE EDG_MODULES_PATH "
    "USR_INCLUDE LLVM_OVERRIDE_PRODUCER NVVM_IR_VER_CHK NV_NVVM_VERSION NVVMCCWIZ "
    "LIBNVVM_DISABLE_CONCURRENT_API CAN_FINALIZE_DEBUG CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH "
    "SOURCE_DATE_EPOCH";

// Of a file, as `stat -L -c '%s %.9Y %.9Z %i'`; the time of the last change of the file itself,
// which nobody sets back, tells where a script's text was changed and its date restored.
std::string stamp_of(const std::string& path) {
  struct stat about;
  if (stat(path.c_str(), &about) != 0) return "";
  char text[160];
  snprintf(text, sizeof text, "%lld %lld.%09ld %lld.%09ld %llu",
           static_cast<long long>(about.st_size), static_cast<long long>(about.st_mtim.tv_sec),
           about.st_mtim.tv_nsec, static_cast<long long>(about.st_ctim.tv_sec),
           about.st_ctim.tv_nsec, static_cast<unsigned long long>(about.st_ino));
  return text;
}

std::string compilers_assembler() {
  for (const std::string& directory : split(env_or_empty("PATH"), ':')) {
    std::string path = directory + "/as";
    if (is_executable(path)) return path;
  }
  return "as";
}

}  // namespace

bool Cache::describe_environment() {
  for (const std::string& name : split_blanks(moving)) {
    if (env(name.c_str())) return refuse("a variable of the environment that moves the compiler");
  }
  // sccache's server makes other dates than the compiler here.
  if (engine_ != "ccache" && env("SOURCE_DATE_EPOCH")) return refuse("SOURCE_DATE_EPOCH");
  for (const std::string& name : split_blanks(reaching)) {
    if (const char* value = env(name.c_str())) key_ += "|" + name + "=" + value;
  }
  std::string why = why_not_flags(
      env_or_empty("NVCC_PREPEND_FLAGS") + " " + env_or_empty("NVCC_APPEND_FLAGS"), debug_);
  if (!why.empty()) return refuse(why);
  if (kind_ == Kind::cuda && env("NVCC_CCBIN")) {
    describe_program(env("NVCC_CCBIN"));
    present_ = false;
  }
  // What clang takes from ROCm, and from where.
  std::string rocm;
  for (const char* name : {"ROCM_PATH", "HIP_PATH", "HIP_DEVICE_LIB_PATH"}) {
    rocm += "|" + env_or_empty(name);
  }
  if (kind_ == Kind::hip && rocm != "|||") {
    if (!holds(settings_.get("rocm"), "device-lib-path="))
      return refuse("ROCM_PATH, HIP_PATH or HIP_DEVICE_LIB_PATH decides on the device libraries");
    key_ += rocm;
  }
  // The host compiler takes its assembler from the PATH.
  std::string assembler = compilers_assembler();
  if (assembler != settings_.get("assembler")) describe_program(assembler);
  return true;
}

// A program that isn't among the compiler's known parts, by what it is now.
void Cache::describe_program(const std::string& program) {
  std::string path = find_program(program);
  key_ += "|" + program + ":" + path + " " + stamp_of(path);
}

bool Cache::describe_command(const Compile& compile) {
  if (!compile.why_not.empty()) return refuse(compile.why_not);
  if (kind_ == Kind::cuda && compile.host != settings_.get("host_compiler")) {
    if (compile.host.empty()) return refuse("no host compiler is named");
    present_ = false;
    describe_program(compile.host);
  }
  if (kind_ == Kind::hip && compile.rocm != settings_.get("rocm"))
    return refuse("another ROCm than the one that was configured");
  if (compile.native) {
    // The same words mean another processor on another machine.
    std::string text;
    if (!read_file("/proc/cpuinfo", text)) return refuse("no /proc/cpuinfo");
    for (const std::string& line : split(text, '\n')) {
      if (line.empty()) break;
      if (begins(line, "model name") || begins(line, "flags") || begins(line, "Features") ||
          begins(line, "CPU part")) {
        key_ += "|" + line;
      }
    }
  }
  debug_ = debug_ || compile.debug;
  object_ = compile.object;
  depfile_ = compile.depfile;
  return true;
}

// The same command wherever checkout, venv, toolkit and home lie. Debug information holds the paths
// that were compiled: it belongs to this place.
void Cache::describe_place(Compile& compile) {
  const std::string& build = settings_.get("build");
  bool inside = true;
  places_.up.clear();
  if (!same_file(".", build)) {
    const std::string& here = working_directory();
    inside = begins(here, build + "/");
    for (size_t i = build.size(); inside && i < here.size(); ++i) {
      if (here[i] == '/') places_.up += "../";
    }
  }
  if (debug_) {
    bound_ = "debug information belongs to this place";
  } else if (!inside) {
    bound_ = "run outside of the build tree";
  } else {
    for (const std::string& link : settings_.all("link")) {
      if (!exists(places_.up + link + "/.")) bound_ = "a link of the build tree leads nowhere";
    }
  }
  compiler_ = settings_.get("compiler");
  trees_ = Trees::of(settings_);
  if (!bound_.empty()) {
    key_ += "|" + working_directory() + "|" + settings_.get("source");
    return;
  }
  trees_.from = places_.up + settings_.get("source_name") + "/";
  Words directories = settings_.all("place"), names = settings_.all("place_name");
  for (size_t i = 0; i < directories.size() && i < names.size(); ++i) {
    places_.places.push_back({directories[i], names[i] == "." ? "" : names[i]});
  }
  compile.words = places_.relative_words(compile.words, key_);
  for (std::string& word : split_blanks(settings_.get("link_flags")))
    compile.words.push_back(std::move(word));
  const std::string& link = settings_.get("link_compiler");
  if (!link.empty()) compiler_ = places_.up + link;
}

// The compiler's parts are those that the fingerprint was taken of; else it is taken again.
bool Cache::describe_compiler() {
  Words parts = settings_.all("part");
  std::string stamp;
  for (const std::string& part : parts) {
    std::string one = stamp_of(part);
    if (one.empty()) return refuse("a part of the compiler is gone");
    stamp += one + "\n";
  }
  std::string fingerprint = settings_.get("fingerprint");
  std::string configured;
  for (const std::string& line : settings_.all("stamp")) configured += line + "\n";
  if (stamp != configured) {
    std::string file = directory_ + "/" + kind_name_ + ".changed", text;
    size_t end = 0;
    if (read_file(file, text) && (end = text.find('\n')) != std::string::npos &&
        text.substr(end + 1) == stamp) {
      fingerprint = text.substr(0, end);
    } else {
      Sha1 sum;
      for (const std::string& part : parts) {
        if (!sum.add_file(part)) return refuse("a part of the compiler is gone");
      }
      fingerprint = sum.hex();
      write_whole(file, fingerprint + "\n" + stamp);
    }
  }
  key_ = "cudaops 2|" + kind_name_ + "|" + fingerprint + key_;
  return true;
}

}  // namespace cudaops
