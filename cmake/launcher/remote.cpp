// SPDX-License-Identifier: Apache-2.0
// A cache that machines share, asked through the cache's own means. While it fails, one compile
// asks it again after one, two, four ... minutes; the others don't wait for it.

#include "cache.h"
#include "files.h"

namespace cudaops {

// Lines <name>='<value>' of a file that a shell reads too: sccache's settings for the shared cache,
// for this user's eyes.
static bool set_from(const std::string& file, Environment& environment) {
  std::string text;
  if (!read_file(file, text)) return false;
  size_t at = 0;
  while ((at = text.find("='", at)) != std::string::npos) {
    const size_t begin = line_begin(text, at);
    std::string name = text.substr(begin, at - begin), value;
    at += 2;
    while (true) {
      size_t end = text.find('\'', at);
      if (end == std::string::npos) return false;
      value.append(text, at, end - at);
      at = end + 1;
      if (text.compare(at, 3, "\\''") != 0) break;
      value += '\'';
      at += 3;
    }
    environment.set(name, value);
  }
  return true;
}

void Cache::remote_begin() {
  if (!remote_.read(directory_ + "/remote")) return;
  remote_state_ = remote_left_out_.now(started_ms_ / 1000) ? "left out" : "asked";
  const std::string& file = remote_.get("file");
  if (engine_ == "sccache") {
    if (remote_state_ != "asked") return;
    if (!is_readable(file)) {
      remote_failed("its settings are no longer in " + file);
      return;
    }
    Environment environment;
    set_from(file, environment);
    // It waits a minute for a server that doesn't answer.
    Words ping = remote_.all("ping");
    Start start;
    start.capture_output = true;
    Captured answer;
    if (!ping.empty()) answer = run(ping, start);
    if (!ping.empty() && answer.status != 0) {
      environment.restore();
      std::string what = first_line(answer.output);
      remote_failed(what.empty() ? "no answer" : what);
    }
    return;
  }
  std::string url = remote_.get("url");
  if (remote_state_ == "asked" && !file.empty()) {
    // Its second line is for ccache; nobody else may read the file.
    std::string text;
    read_file(file, text);
    Words lines = split(text, '\n');
    url = lines.size() > 2 ? lines[1] : "";
    if (url.empty()) remote_failed("its password is no longer in " + file);
  }
  set_env("CCACHE_REMOTE_STORAGE", remote_state_ == "asked" ? url + remote_.get("attributes") : "");
  unset_env("CCACHE_SECONDARY_STORAGE");
}

// One line for all the compiles of a build.
void Cache::remote_failed(const std::string& what) {
  remote_state_ = "failed";
  if (remote_left_out_.begin(started_ms_ / 1000, what)) {
    say("CudaOps: the shared cache " + remote_.get("remote") +
        " failed and is left out for a minute: " + what);
  }
}

// What the shared cache did.
void Cache::remote_end(const Answer& answer) {
  if (remote_state_ == "left out") return;
  if (answer.remote == "failed") {
    remote_failed("no answer, or none that " + engine_ + " understands");
  } else if (remote_state_ == "failed") {
  } else if (answer.remote.empty()) {
    // The local cache had it: the next one is to ask. What sccache does in its server is not known.
    if (engine_ == "ccache") remote_left_out_.ask_next();
  } else {
    remote_state_ = answer.remote == "hit" ? "hit" : "miss";
    remote_left_out_.end();
  }
}

}  // namespace cudaops
