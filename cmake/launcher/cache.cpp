// SPDX-License-Identifier: Apache-2.0

#include "cache.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "depfile.h"
#include "distribute.h"
#include "files.h"
#include "hip.h"
#include "measure.h"
#include "precompiled.h"
#include "questions.h"
#include "sha1.h"

namespace cudaops {

namespace {

Kind kind_of(const std::string& name) {
  return name == "cuda" ? Kind::cuda : name == "hip" ? Kind::hip : Kind::cxx;
}

std::string without_line_end(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

// A file of that name was read itself, by a detour: what a directory that -I names calls
// "../common/one.h" lies in common/../common too. Asked of directories, not of names: ".." of a
// link leads elsewhere.
bool was_read(const HeaderSearch& search, const std::string& path) {
  if (!holds(path, "/../")) return false;
  for (const std::string& name : search.names()) {
    if (name_of(name) == name_of(path) && same_file(directory_of(path), directory_of(name)))
      return true;
  }
  return false;
}

}  // namespace

Cache::Cache(const Settings& settings)
    : settings_(settings),
      engine_(settings.get("engine")),
      program_(settings.get("cache")),
      directory_(settings.get("dir")),
      kind_(kind_of(settings.get("kind"))),
      kind_name_(settings.get("kind")),
      started_ms_(now_ms()),
      left_out_(directory_ + "/failed"),
      remote_left_out_(directory_ + "/remote-failed") {}

bool Cache::compile(const Words& words, Ended& ended) {
  // A cache that failed a moment ago is left alone.
  if (left_out_.now(started_ms_ / 1000)) return refuse(engine_ + " failed");
  if (!describe_environment()) return false;
  Compile compile = read_command(words);
  if (!describe_command(compile)) return false;
  describe_place(compile);
  if (!describe_compiler()) return false;
  directories_ = IncludeDirectories::of(compile.words, kind_ == Kind::cuda);
  mark_ = object_ + ".cudaops";
  remote_begin();

  Words command = with_build_type_in_place(compile.words);
  Distribution distribution(settings_, directory_, started_ms_);
  if (engine_ == "ccache") {
    command = ccache_words(std::move(command));
  } else {
    set_env("SCCACHE_C_CUSTOM_CACHE_BUSTER", env_or_empty("SCCACHE_C_CUSTOM_CACHE_BUSTER") + key_);
    if (!distribution.choose(command, why_)) return false;
    // Another server than the one that knows no shared cache.
    if (remote_state_ == "asked" && distribution.on()) {
      set_env("SCCACHE_SERVER_UDS", env_or_empty("SCCACHE_SERVER_UDS") + "-shared");
    }
    command.insert(command.begin(), compiler_);
  }
  Answer answer = ask(command);
  if (answer.ended.status == 0 && engine_ != "ccache") {
    judge_afterwards(answer);
    if (answer.mark == "unfit") return refuse(answer.unfit);
  }
  std::string shadow;
  if (answer.ended.status == 0 && answer.mark.empty()) shadow = shadowing_file(command);
  if (!shadow.empty()) {
    // An entry made before that file was there.
    set_env("CCACHE_RECACHE", "1");
    set_env("SCCACHE_RECACHE", "1");
    std::string before = sum_;
    answer = ask(command);
    if (answer.ended.status == 0 && read_depfile()) {
      // It was found by another name, as in one include directory below another: no reason to
      // compile the next time.
      HeaderSearch search(trees_, directories_, read_.names());
      if (shadow != "?" && read_sum(search, command) == before) {
        append_file(directory_ + "/harmless", before + " " + shadow + "\n");
      }
    }
  }
  if (read_depfile()) name_own_files();
  distribution.done(answer.ended, answer.said, command);
  if (distribution.compiled_here()) {
    if (answer.ended.status == 0) {
      log("not cached", "a distributed compile failed");
    } else {
      log("failed", "exit code " + std::to_string(answer.ended.status));
    }
    ended = answer.ended;
    return true;
  }
  return finish(answer, ended);
}

bool Cache::finish(Answer& answer, Ended& ended) {
  ended = answer.ended;
  int status = ended.status;
  std::string shown = answer.said;
  auto show = [&] {
    if (!shown.empty()) say(shown);
  };
  if (status == 0 || status == 129 || status == 130 || status == 143) {
    show();
    if (status == 0) {
      left_out_.end();
      if (engine_ == "ccache" && answer.result == "asked") {
        log("not cached",
            "ccache says: " + (answer.declined.empty() ? "nothing" : answer.declined));
      } else {
        log(answer.result, bound_);
      }
    }
    return true;
  }
  if (engine_ == "sccache") {
    // It runs the compiler in its server: only its message tells whether the compiler or sccache
    // failed, and not always.
    why_ = "sccache could not run the compiler";
    if (status == 254 || holds(answer.said, "sccache: Compiler killed")) return false;
    if (status < 100 && !begins(answer.said, "sccache: ")) answer.mark = "failed";
  }
  if (answer.mark == "failed") {
    // The compiler's own failure.
    show();
    log("failed", "exit code " + std::to_string(status));
    return true;
  }
  if (answer.mark == "unfit") {
    // Compiled, and not to be kept.
    why_ = answer.unfit;
    if (!has_content(object_)) return false;
    show();
    log("not cached", why_);
    ended = ended_with(0);
    return true;
  }
  // The cache's failure. One line for all the compiles of a build, which do without for a minute.
  why_ = engine_ + " failed";
  std::string why = first_line(answer.said);
  if (why.empty()) why = "exit code " + std::to_string(status);
  if (engine_ == "sccache" && remote_state_ == "asked") {
    // Its server can't do without the shared cache; the user's own can.
    remote_failed(why);
    return false;
  }
  if (left_out_.begin(started_ms_ / 1000, first_line(answer.said))) {
    say("CudaOps: " + engine_ + " failed and is left out for a minute: " + why);
  }
  if (answer.mark == "done" && has_content(object_) && has_content(depfile_)) {
    log("not cached", why_);
    ended = ended_with(0);
    return true;
  }
  return false;
}

Words Cache::ccache_words(Words words) {
  // ccache takes it for an option of gcc's, with a value.
  for (std::string& word : words) {
    if (word == "-G") word = "--device-debug";
  }
  // The user's own settings say where and how much; what decides on hits is said here. (Not by the
  // namespace: entries with one of more than 255 bytes can't be read again.)
  for (const char* name :
       {"CCACHE_NODIRECT", "CCACHE_NODEPEND", "CCACHE_NOCPP2", "CCACHE_NOHASHDIR",
        "CCACHE_HARDLINK", "CCACHE_COMPILER", "CCACHE_UNIFY"}) {
    unset_env(name);
  }
  for (const char* name :
       {"CCACHE_DIRECT", "CCACHE_DEPEND", "CCACHE_CPP2", "CCACHE_HASHDIR", "CCACHE_NOHARDLINK"}) {
    set_env(name, "1");
  }
  for (const char* name : {"CCACHE_BASEDIR", "CCACHE_IGNOREHEADERS", "CCACHE_PREFIX"})
    set_env(name, "");
  set_env("CCACHE_COMPILERTYPE", settings_.get("type"));
  set_env("CCACHE_COMPILERCHECK", "string:" + key_);
  set_env("CCACHE_SLOPPINESS", "locale");
  set_env("CCACHE_IGNOREOPTIONS", "--threads=*");
  // Where it counts what it did, and the step says how the compiler ended.
  their_log_ = env_or_empty("CCACHE_STATSLOG");
  set_env("CCACHE_STATSLOG", mark_);
  Settings context;
  context.add("settings", settings_.get("file"));
  context.add("compiler", compiler_);
  context.add("mark", mark_);
  context.add("depfile", depfile_);
  context.add("from", trees_.from);
  if (present_) context.add("present", "1");
  std::string torch;
  if (bound_.empty() && places_.relative(settings_.get("precompiled_include"), torch))
    context.add("torch_include", torch);
  directories_.write(context);
  set_env("CUDAOPS_LAUNCH_STEP", context.text());
  words.insert(words.begin(), settings_.get("step"));
  return words;
}

namespace {

// ccache's time-outs are for each read, and a server may send a byte a second: one that has not
// started the compiler in time is ended.
bool not_begun(void* context) {
  std::string text;
  read_file(*static_cast<std::string*>(context), text);
  for (const std::string& line : split(text, '\n')) {
    if (line == "begun") return false;
  }
  return true;
}

}  // namespace

Cache::Answer Cache::ask(const Words& words) {
  unlink(mark_.c_str());
  read_ = Depfile();
  const std::string before = state_of(object_);
  Answer answer;
  Start start;
  start.capture_error = engine_ != "ccache" || !isatty(2);
  const long patience_s = 10;
  if (engine_ == "ccache" && remote_state_ == "asked") {
    start.patience_ms = patience_s * 1000;
    start.late = not_begun;
    start.context = &mark_;
  }
  Words command = words;
  command.insert(command.begin(), program_);
  Captured done = run(command, start);
  if (done.ended_late) {
    // What the server gave so far is nothing.
    remote_failed("no whole answer in " + std::to_string(patience_s) + " s");
    set_env("CCACHE_REMOTE_STORAGE", "");
    return ask(words);
  }
  answer.ended = done;
  answer.said = without_line_end(done.error);
  if (done.status == 0) {
    // Who did nothing has not succeeded; an object that is as it was before is another compile's.
    const std::string now = state_of(object_);
    if (now.empty() || (!has_content(mark_) && now == before)) {
      answer.ended.status = 256;
      if (answer.said.empty()) answer.said = "it made no object";
    }
  }
  read_mark(answer);
  if (remote_state_ != "-") remote_end(answer);
  return answer;
}

// The step's word, and ccache's counters.
void Cache::read_mark(Answer& answer) {
  std::string text, theirs;
  read_file(mark_, text);
  unlink(mark_.c_str());
  if (env("CCACHE_DISABLE")) answer.declined = "CCACHE_DISABLE";
  for (const std::string& line : split(text, '\n')) {
    if (line.empty() || line == "begun") continue;
    theirs += line + "\n";
    if (line == "done" || line == "failed") {
      answer.mark = line;
    } else if (begins(line, "unfit")) {
      answer.mark = "unfit";
      answer.unfit = line.substr(line.size() < 6 ? line.size() : 6);
    } else if (line == "remote_storage_error" || line == "remote_storage_timeout") {
      answer.remote = "failed";
    } else if (line == "remote_storage_read_hit") {
      if (answer.remote.empty()) answer.remote = "answered";
    } else if (line == "remote_storage_hit") {
      if (answer.remote != "failed") answer.remote = "hit";
    } else if (begins(line, "remote_storage_")) {
      if (answer.remote.empty() || answer.remote == "answered") answer.remote = "miss";
    } else if (ends(line, "_cache_hit")) {
      answer.result = "hit";
    } else if (line == "cache_miss" || line == "recache") {
      answer.result = "miss";
    } else if (line[0] != '#' && !holds(line, "_storage_") && !ends(line, "_cache_miss") &&
               line != "cleanups_performed") {
      // Why ccache left it to the compiler: one of its counters.
      answer.declined = line;
    }
  }
  if (!their_log_.empty() && !theirs.empty()) append_file(their_log_, theirs);
}

void Cache::judge_afterwards(Answer& answer) {
  std::string unfit = "no dependency file";
  if (read_depfile()) {
    HeaderSearch search(trees_, directories_, read_.names());
    unfit = why_unfit(search, trees_.absent,
                      present_ ? split_blanks(settings_.get("present")) : Words());
  }
  if (unfit.empty()) return;
  answer.mark = "unfit";
  answer.unfit = unfit;
}

bool Cache::read_depfile() {
  if (read_.names().empty()) return read_.read(depfile_);
  return true;
}

void Cache::name_own_files() const {
  if (trees_.from.empty()) return;
  std::string text = read_.renamed(trees_.from, trees_.source);
  if (!text.empty()) overwrite_file(depfile_, text);
}

// Empty where there is none; "?" where that isn't known, and it is compiled again.
std::string Cache::shadowing_file(const Words& words) {
  if (!has_content(depfile_)) return "";
  if (!read_depfile()) return "?";
  HeaderSearch search(trees_, directories_, read_.names());
  std::string harmless;
  for (const std::string& file : search.shadows()) {
    if (was_read(search, file)) continue;
    // This very compile may have been done here while the file was there.
    sum_ = read_sum(search, words);
    if (harmless.empty()) read_file(directory_ + "/harmless", harmless);
    if (!holds("\n" + harmless, "\n" + sum_ + " " + file + "\n")) return file;
  }
  return "";
}

// Of the command, the names of what the dependency file says was read, and what stands there.
std::string Cache::read_sum(const HeaderSearch& search, const Words& words) const {
  Sha1 sum;
  sum.add(join(words, " ") + "\n" + key_ + "\n");
  for (const std::string& name : search.names()) {
    sum.add(name + "\n");
    sum.add_file(name);
  }
  return sum.hex();
}

void Cache::log(const std::string& result, const std::string& reason) {
  std::string object = object_;
  if (object.empty() || object[0] != '/') {
    const std::string& build = settings_.get("build");
    const std::string& here = working_directory();
    if (begins(here, build + "/")) {
      object = here.substr(build.size() + 1) + "/" + object;
    } else if (!same_file(".", build)) {
      object = here + "/" + object;
    }
  }
  append_file(directory_ + "/log",
              result + "\t" + (remote_state_ == "asked" ? "-" : remote_state_) + "\t" +
                  std::to_string(now_ms() - started_ms_) + "\t" + reason + "\t" + object + "\n");
}

void Cache::log_not_cached(const Words& words) {
  object_ = option_value(words, "-o");
  log("not cached", why_);
}

namespace {

// Compiles with precompiled headers. The entry is that of a compile without: its headers have the
// names that the command has for them. False where this was no such compile.
bool run_precompiled(const Settings& settings, const Words& words, const Settings& context,
                     int& status) {
  PrecompiledSearch search = {Trees::of(settings), {}, context.get("torch_include")};
  search.trees.from = context.get("from");
  search.directories.read(context);
  const Words command = with_precompiled(settings, words, search);
  if (command.size() == words.size()) return false;
  status = run(command).status;
  if (status != 0) return true;
  const std::string depfile = context.get("depfile");
  Depfile read;
  if (!read.read(depfile)) return false;
  const std::string text =
      read.renamed(Depfile::escaped(settings.get("precompiled_include")) + "/", search.torch + "/");
  return text.empty() || overwrite_file(depfile, text);
}

}  // namespace

int run_step(const std::string& text, const Words& words) {
  Settings context, settings;
  context.parse(text);
  if (!settings.read(context.get("settings"))) return 1;
  const std::string mark = context.get("mark");
  const std::string depfile = context.get("depfile");
  // Who watches over the cache's time knows that it is the compiler's now.
  append_file(mark, "begun\n");
  unset_env("CUDAOPS_LAUNCH_STEP");
  set_env("CUDAOPS_LAUNCH_CACHED", "1");
  Words command = words;
  command.insert(command.begin(), context.get("compiler"));
  const bool hip = settings.has("hip");
  int status = 0;
  const std::string torch = context.get("torch_include");
  if (torch.empty() || !run_precompiled(settings, command, context, status))
    status = (hip ? run_hip(command) : run(command)).status;
  std::string word = "done";
  if (status != 0) {
    word = "failed";
  } else {
    std::string unfit;
    if (hip && exists(depfile + ".passes")) {
      unfit = "no list of the headers of device passes";
    } else {
      Trees trees = Trees::of(settings);
      trees.from = context.get("from");
      IncludeDirectories directories;
      directories.read(context);
      Depfile read;
      // The compiler's own headers are others then, or none.
      Words all = words;
      all.push_back(env_or_empty("NVCC_PREPEND_FLAGS"));
      all.push_back(env_or_empty("NVCC_APPEND_FLAGS"));
      bool present = context.has("present");
      for (const std::string& option : all) {
        present = present && !holds(option, "-nostd") && !holds(option, "-stdlib") &&
                  !holds(option, "sysroot");
      }
      if (read.read(depfile)) {
        HeaderSearch search(trees, directories, read.names());
        unfit = why_unfit(search, trees.absent,
                          present ? split_blanks(settings.get("present")) : Words());
      } else {
        unfit = "no dependency file";
      }
    }
    if (!unfit.empty()) {
      word = "unfit " + unfit;
      status = 1;
    }
  }
  append_file(mark, word + "\n");
  return status;
}

}  // namespace cudaops
