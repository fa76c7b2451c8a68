// SPDX-License-Identifier: Apache-2.0

#include "distribute.h"

#include <unistd.h>

#include "files.h"

namespace cudaops {

Distribution::Distribution(const Settings& settings, const std::string& directory, long started_ms)
    : settings_(settings),
      directory_(directory),
      started_ms_(started_ms),
      on_(settings.has("dist")) {}

// For a minute.
bool Distribution::all_here() const {
  const std::string note = directory_ + "/here";
  long age = age_of(note);
  if (age > 60) remove_tree(note);
  return age >= 0 && age <= 60;
}

bool Distribution::choose(const Words& words, std::string& why) {
  if (!settings_.has("dist_config")) return true;
  for (const std::string& word : words) {
    if (word == "--jobserver" || word == "-jobserver" || holds(word, "code=lto_") ||
        matches("*code=[[]*lto_*", word)) {
      why = "sccache can't take this nvcc apart";
      return false;
    }
  }
  if (on_ && all_here()) on_ = false;
  const std::string which = on_ ? "dist_" : "dist_local_";
  set_env("SCCACHE_CONF", settings_.get(which + "config"));
  set_env("SCCACHE_SERVER_UDS", settings_.get(which + "socket"));
  const std::string& log = settings_.get("dist_log");
  if (on_ && !log.empty() && env_or_empty("SCCACHE_LOG").empty() &&
      env_or_empty("SCCACHE_ERROR_LOG").empty()) {
    set_env("SCCACHE_LOG", "sccache::compiler=warn");
    set_env("SCCACHE_ERROR_LOG", log);
  }
  return true;
}

// One line for all the compiles of a build; for the same key in ten minutes again.
void Distribution::say_once(const std::string& what, const std::string& why,
                            const std::string& key) const {
  const std::string file = directory_ + "/dist_said";
  if (age_of(file) > 600) unlink(file.c_str());
  std::string text;
  read_file(file, text);
  if (holds("\n" + text, "\n" + key + "\n")) return;
  append_file(file, key + "\n");
  say("CudaOps: " + what + ": " + why);
}

std::string cause_of(const std::string& line) {
  const std::string url = " for url (http", description = "\"description\":\"";
  size_t at = line.rfind(url);
  size_t said = line.rfind(description);
  if (at != std::string::npos && said != std::string::npos && said > at) {
    at = line.find("//", at);
    size_t end = line.find('/', at + 2);
    size_t quote = line.find('"', said + description.size());
    if (at != std::string::npos && end < said && quote != std::string::npos) {
      return "server " + line.substr(at + 2, end - at - 2) + ": " +
             line.substr(said + description.size(), quote - said - description.size());
    }
  }
  const std::string id = "ServerId(", sending = "): error sending request for url (";
  at = line.rfind(id);
  said = line.find(sending, at == std::string::npos ? 0 : at);
  if (at != std::string::npos && said != std::string::npos) {
    size_t end = line.find("): ", said + sending.size());
    if (end != std::string::npos) {
      return "server " + line.substr(at + id.size(), said - at - id.size()) + ": " +
             line.substr(end + 3);
    }
  }
  return line;
}

void Distribution::done(Ended& ended, std::string& said, const Words& command) {
  if (!on_ || ended.status == 129 || ended.status == 130 || ended.status == 143) return;
  if (ended.status == 0) {
    read_log();
    return;
  }
  int failed = ended.status;
  ended = run(command);
  compiled_here_ = true;
  if (ended.status != 0 || mkdir((directory_ + "/here").c_str(), 0777) != 0) return;
  const std::string status = "http error status: ";
  size_t at = said.find(status);
  if (at != std::string::npos) said.erase(0, at + status.size());
  said = first_line(said);
  at = said.rfind("sccache: Compiler");
  if (at != std::string::npos && at > 0) said.resize(at);
  if (said.empty()) said = "exit code " + std::to_string(failed);
  say_once("a distributed compile failed, for a minute all run here", said, said);
}

// sccache compiles here what another machine doesn't, and says so in its log only.
void Distribution::read_log() {
  const std::string& log = settings_.get("dist_log");
  const std::string read = directory_ + "/dist_read";
  if (log.empty() || !newer(log, exists(read) ? read : settings_.get("file"))) return;
  std::string text, before, last;
  read_file(read, before);
  read_file(log, text);
  const std::string sign = "falling back to local: ";
  size_t at = text.rfind(sign);
  if (at != std::string::npos) {
    const size_t begin = line_begin(text, at);
    last = text.substr(begin, text.find('\n', at) - begin);
  }
  write_file(read, last + "\n");
  if (last.empty() || first_line(before) == last) return;
  // A server that is gone is known at once. For one that hangs or is cut off each compile would
  // wait half a minute.
  bool gone = false;
  for (const char* pattern :
       {"*[Cc]onnection refused*", "*connection closed*", "*[Cc]onnection reset*"}) {
    gone = gone || matches(pattern, last);
  }
  std::string more;
  if (!gone && now_ms() - started_ms_ > 20000 && mkdir((directory_ + "/here").c_str(), 0777) == 0) {
    more = ", for a minute all run here";
  }
  say_once("a compile that was to be distributed ran here" + more,
           cause_of(last.substr(last.find(sign) + sign.size())), "ran here");
}

}  // namespace cudaops
