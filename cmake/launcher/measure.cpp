// SPDX-License-Identifier: Apache-2.0

#include "measure.h"

#include <limits.h>
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

struct Input {
  std::string path;
  long long size, time_ns;
};
using Inputs = std::vector<Input>;

struct Record {
  Words words;
  Inputs inputs;
};

// The length of the UTF-8 character that begins there; 0 where none does.
int utf8_length(const std::string& text, size_t at) {
  unsigned char c = text[at];
  int length = c < 0x80                ? 1
               : c >= 0xc2 && c < 0xe0 ? 2
               : c >= 0xe0 && c < 0xf0 ? 3
               : c >= 0xf0 && c < 0xf5 ? 4
                                       : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (int i = 1; i < length; ++i) {
    if ((text[at + i] & 0xc0) != 0x80) return 0;
  }
  return length;
}

std::string json(const std::string& text) {
  std::string out = "\"";
  char buffer[16];
  for (size_t i = 0; i < text.size();) {
    unsigned char c = text[i];
    int length = utf8_length(text, i);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
      length = 1;
    } else if (c < 0x20) {
      snprintf(buffer, sizeof buffer, "\\u%04x", c);
      out += buffer;
    } else if (length == 0) {
      // A byte of no character, as Python's surrogateescape has it.
      snprintf(buffer, sizeof buffer, "\\udc%02x", c);
      out += buffer;
      length = 1;
    } else {
      out.append(text, i, length);
    }
    i += length;
  }
  return out + '"';
}

// A reader of the records that are written here, which may be cut off or another's.
class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  bool record(Record& record) {
    bool words = false, inputs = false;
    bool whole = object([&](const std::string& key) {
      if (key == "words") return words = array([&] { return string(record.words.emplace_back()); });
      if (key == "inputs") {
        return inputs = object([&](const std::string& path) {
                 Input input = {path, 0, 0};
                 int at = 0;
                 bool read = array([&] { return number(at++ ? input.time_ns : input.size); });
                 record.inputs.push_back(std::move(input));
                 return read && at == 2;
               });
      }
      return skip();
    });
    return whole && words && inputs;
  }

 private:
  bool next(char c) {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  template <typename Member>
  bool object(Member member) {
    if (!next('{')) return false;
    if (next('}')) return true;
    do {
      std::string key;
      if (!string(key) || !next(':') || !member(key)) return false;
    } while (next(','));
    return next('}');
  }
  template <typename Element>
  bool array(Element element) {
    if (!next('[')) return false;
    if (next(']')) return true;
    do {
      if (!element()) return false;
    } while (next(','));
    return next(']');
  }
  bool string(std::string& value) {
    if (!next('"')) return false;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] != '\\') {
        value += text_[at_];
        continue;
      }
      if (++at_ >= text_.size()) return false;
      if (text_[at_] == 'u') {
        if (at_ + 4 >= text_.size()) return false;
        value += static_cast<char>(strtol(text_.substr(at_ + 3, 2).c_str(), nullptr, 16));
        at_ += 4;
      } else {
        value += text_[at_];
      }
    }
    return next('"');
  }
  bool number(long long& value) {
    next(' ');
    char* end = nullptr;
    value = strtoll(text_.c_str() + at_, &end, 10);
    bool read = end != text_.c_str() + at_;
    at_ = end - text_.c_str();
    return read;
  }
  bool skip() {
    std::string ignored;
    next(' ');
    if (at_ >= text_.size()) return false;
    if (text_[at_] == '"') return string(ignored);
    if (text_[at_] == '{') return object([&](const std::string&) { return skip(); });
    if (text_[at_] == '[') return array([&] { return skip(); });
    size_t from = at_;
    while (at_ < text_.size() && !holds(",}] \n", std::string_view(&text_[at_], 1))) ++at_;
    return at_ > from;
  }

  const std::string& text_;
  size_t at_ = 0;
};

Inputs inputs_of(const std::string& path) {
  Inputs inputs;
  Depfile depfile;
  if (path.empty() || !depfile.read(path)) return inputs;
  for (const std::string& name : depfile.names()) {
    struct stat about;
    if (stat(name.c_str(), &about) != 0) continue;
    inputs.push_back(
        {name, about.st_size, about.st_mtim.tv_sec * 1000000000LL + about.st_mtim.tv_nsec});
  }
  return inputs;
}

template <typename List, typename Equal>
bool in(const List& list, Equal equal) {
  for (const auto& entry : list) {
    if (equal(entry)) return true;
  }
  return false;
}

// A cache says that it has no entry, not why: what is different from the compile before.
std::string why_missed(const Record* old, const Record& now) {
  if (!old) return "first compile of this file in this build tree";
  if (old->words != now.words) {
    Words changes;
    for (const std::string& word : now.words) {
      if (!is_in(old->words, word)) changes.push_back("+ " + word);
    }
    for (const std::string& word : old->words) {
      if (!is_in(now.words, word)) changes.push_back("- " + word);
    }
    if (changes.size() > 6) changes.resize(6);
    return "other command: " +
           (changes.empty() ? "other order of its options" : join(changes, " "));
  }
  Words changed;
  for (const Input& input : now.inputs) {
    if (!in(old->inputs, [&](auto& other) {
          return other.path == input.path && other.size == input.size &&
                 other.time_ns == input.time_ns;
        })) {
      changed.push_back(input.path);
    }
  }
  for (const Input& input : old->inputs) {
    if (!in(now.inputs, [&](auto& other) { return other.path == input.path; })) {
      changed.push_back(input.path);
    }
  }
  if (changed.empty()) {
    return "neither the files nor the command are new: another compiler or environment, or the "
           "entry is gone";
  }
  std::string more;
  if (changed.size() > 1) more = " and " + std::to_string(changed.size() - 1) + " more";
  return "changed since the compile before: " + changed[0] + more;
}

std::string result(const char* name, const std::string& reason) {
  return std::string("{\"result\": \"") + name + "\", \"reason\": " + json(reason) + "}";
}

// What ccache counted; "null" where nothing is known.
std::string cache_result(const std::string& statistics, bool cached, bool phases, const Record* old,
                         const Record& now) {
  std::string text;
  if (!read_file(statistics, text)) {
    // sccache keeps no such log.
    if (!phases || !cached) return "null";
    return result("not cached", "nvcc's phases are traced (CUDAOPS_BUILD_TRACE=PHASES)");
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
  if (hit) return result("hit", remote ? "from the remote cache" : "");
  if (missed) return result("miss", why_missed(old, now));
  return result("not cached", rest);
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
    read_file(base_ + ".json", before_);
    for (const char* ending : {".csv", ".stats", ".json"}) unlink((base_ + ending).c_str());
    if (phases_ && in(words, [](auto& word) { return name_of(word) == "nvcc"; })) {
      words.push_back("--time=" + base_ + ".csv");
    }
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
  Record record;
  const Record* old = Reader(before_).record(record) ? &record : nullptr;
  Record now = {command_, inputs_of(option_value(command_, "-MF"))};
  std::string text =
      "{\"object\": " + json(absolute(object_)) +
      ", \"started_ns\": " + std::to_string(started_ns_) +
      ", \"seconds\": " + seconds((finished_ns - started_ns_) / 1e9) +
      ", \"cpu_seconds\": " + seconds(seconds(usage.ru_utime) + seconds(usage.ru_stime)) +
      ", \"peak_memory_bytes\": " + std::to_string(usage.ru_maxrss * 1024LL) + ", \"words\": [";
  for (size_t i = 0; i < command_.size(); ++i) text += (i ? ", " : "") + json(command_[i]);
  text += "], \"inputs\": {";
  for (size_t i = 0; i < now.inputs.size(); ++i) {
    const Input& input = now.inputs[i];
    text += (i ? ", " : "") + json(input.path) + ": [" + std::to_string(input.size) + ", " +
            std::to_string(input.time_ns) + "]";
  }
  text += "}, \"cache\": " + cache_result(statistics_, cached_, phases_, old, now) + "}";
  write_whole(base_ + ".json", text);
}

}  // namespace cudaops
