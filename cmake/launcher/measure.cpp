// SPDX-License-Identifier: Apache-2.0

#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "depfile.h"
#include "files.h"
#include "sha1.h"

namespace cudaops {

std::string option_value(const Words& words, const char* name) {
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == name) return words[i + 1];
  }
  return "";
}

namespace {

// What a compile has read, a line each: size, time in nanoseconds, path.
void note_inputs(const std::string& path, Settings& record) {
  Depfile depfile;
  if (path.empty() || !depfile.read(path)) return;
  for (const std::string& name : depfile.names()) {
    struct stat about;
    if (stat(name.c_str(), &about) != 0) continue;
    const long long time_ns = about.st_mtim.tv_sec * 1000000000LL + about.st_mtim.tv_nsec;
    record.add("input", std::to_string(about.st_size) + " " + std::to_string(time_ns) + " " + name);
  }
}

std::string path_of(const std::string& input) {
  return input.substr(input.find(' ', input.find(' ') + 1) + 1);
}

// A cache says that it has no entry, not why: what is different from the compile before.
std::string why_missed(const Settings& old, const Settings& now) {
  // It may be cut off.
  if (!old.has("end")) return "first compile of this file in this build tree";
  const Words words = now.all("word"), old_words = old.all("word");
  if (old_words != words) {
    Words changes;
    for (const std::string& word : words) {
      if (!is_in(old_words, word)) changes.push_back("+ " + word);
    }
    for (const std::string& word : old_words) {
      if (!is_in(words, word)) changes.push_back("- " + word);
    }
    if (changes.size() > 6) changes.resize(6);
    return "other command: " +
           (changes.empty() ? "other order of its options" : join(changes, " "));
  }
  const Words inputs = now.all("input"), old_inputs = old.all("input");
  Words changed, paths;
  for (const std::string& input : inputs) {
    paths.push_back(path_of(input));
    if (!is_in(old_inputs, input)) changed.push_back(paths.back());
  }
  for (const std::string& input : old_inputs) {
    if (!is_in(paths, path_of(input))) changed.push_back(path_of(input));
  }
  if (changed.empty()) {
    return "neither the files nor the command are new: another compiler or environment, or the "
           "entry is gone";
  }
  std::string more;
  if (changed.size() > 1) more = " and " + std::to_string(changed.size() - 1) + " more";
  return "changed since the compile before: " + changed[0] + more;
}

// What ccache counted: `result`, `reason`; neither where nothing is known.
void note_cache(const std::string& statistics, bool cached, bool phases, const Settings& old,
                Settings& record) {
  auto note = [&record](const char* result, const std::string& reason) {
    record.add("result", result);
    record.add("reason", reason);
  };
  std::string text;
  if (!read_file(statistics, text)) {
    // sccache keeps no such log.
    if (phases && cached)
      note("not cached", "nvcc's phases are traced (CUDAOPS_BUILD_TRACE=PHASES)");
    return;
  }
  bool hit = false, remote = false, missed = false;
  std::string rest;
  for (std::string& counter : split(text, '\n')) {
    if (counter.empty() || counter[0] == '#') continue;
    hit = hit || ends(counter, "_cache_hit");
    remote = remote || begins(counter, "remote_storage_hit");
    missed = missed || counter == "cache_miss";
    if (holds(counter, "_storage_") || holds(counter, "_read_") || holds(counter, "_write_") ||
        holds(counter, "_cache_hit") || holds(counter, "cache_miss")) {
      continue;
    }
    for (char& c : counter) {
      if (c == '_') c = ' ';
    }
    rest += (rest.empty() ? "" : ", ") + counter;
  }
  if (hit) return note("hit", remote ? "from the remote cache" : "");
  if (missed) return note("miss", why_missed(old, record));
  note("not cached", rest);
}

std::string resolved(const std::string& path) {
  // The object need not be there.
  char* directory = realpath(directory_of(path).c_str(), nullptr);
  std::string whole = path;
  if (path[0] != '/') whole = working_directory() + "/" + path;
  if (directory) whole = std::string(directory) + "/" + name_of(path);
  free(directory);
  char* real = realpath(path.c_str(), nullptr);
  if (real) whole = real;
  free(real);
  return whole;
}

std::string absolute(std::string path) {
  if (path.empty()) path = working_directory();
  if (path[0] != '/') path = working_directory() + "/" + path;
  Words parts;
  for (std::string& part : split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(std::move(part));
    } else if (!parts.empty()) {
      parts.pop_back();
    }
  }
  return "/" + join(parts, "/");
}

long long now_ns() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

std::string seconds(double value) {
  char buffer[32];
  snprintf(buffer, sizeof buffer, "%.6f", value);
  return buffer;
}

double seconds(const timeval& time) { return time.tv_sec + time.tv_usec / 1e6; }

}  // namespace

Measuring::Measuring(const Settings& settings, const Words& command)
    : memory_(settings.get("memory")),
      trace_(settings.get("trace")),
      phases_(settings.has("phases")),
      cached_(settings.has("engine")),
      command_(command) {}

Words Measuring::begin() {
  Words words = command_;
  if (!trace_.empty()) {
    object_ = option_value(command_, "-o");
    if (object_.empty()) object_ = option_value(command_, "--output-file");
    Sha1 hash;
    hash.add(resolved(object_));
    base_ = trace_ + "/" + hash.hex().substr(0, 20);
    make_directories(trace_);
    read_file(base_ + ".record", before_);
    for (const char* ending : {".csv", ".stats", ".record"}) unlink((base_ + ending).c_str());
    bool nvcc = false;
    for (const std::string& word : words) nvcc = nvcc || name_of(word) == "nvcc";
    if (phases_ && nvcc) words.push_back("--time=" + base_ + ".csv");
    // The user's own stays theirs.
    if (!env("CCACHE_STATSLOG")) {
      statistics_ = base_ + ".stats";
      set_env("CCACHE_STATSLOG", statistics_);
    }
  }
  started_ns_ = now_ns();
  return words;
}

void Measuring::end(const Ended& ended) {
  const long long finished_ns = now_ns();
  // Of the largest process; they run one after the other, but for nvcc's --threads.
  rusage usage = {};
  getrusage(RUSAGE_CHILDREN, &usage);
  if (ended.status == 0 && !memory_.empty()) note_memory(usage);
  if (ended.status == 0 && !object_.empty()) note_trace(usage, finished_ns);
  if (!statistics_.empty()) unlink(statistics_.c_str());
}

void Measuring::note_memory(const rusage& usage) const {
  const std::string source = option_value(command_, "-c");
  // A line holds one path.
  if (source.empty() || source[0] == '-' || holds(source, "\n")) return;
  append_file(memory_, std::to_string(usage.ru_maxrss) + " " + source + "\n");
}

void Measuring::note_trace(const rusage& usage, long long finished_ns) {
  Settings old, record;
  old.parse(before_);
  record.add("object", absolute(object_));
  record.add("started_ns", std::to_string(started_ns_));
  record.add("seconds", seconds((finished_ns - started_ns_) / 1e9));
  record.add("cpu_seconds", seconds(seconds(usage.ru_utime) + seconds(usage.ru_stime)));
  record.add("peak_memory_bytes", std::to_string(usage.ru_maxrss * 1024LL));
  for (const std::string& word : command_) record.add("word", word);
  note_inputs(option_value(command_, "-MF"), record);
  note_cache(statistics_, cached_, phases_, old, record);
  record.add("end", "");
  write_whole(base_ + ".record", record.text());
}

}  // namespace cudaops
