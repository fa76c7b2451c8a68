// SPDX-License-Identifier: Apache-2.0
// Compiles on other machines, where sccache has a scheduler. There are two sccache servers, each
// with its own socket: one with the user's configuration, and one with a copy of it that names no
// scheduler.

#pragma once

#include "process.h"
#include "settings.h"

namespace cudaops {

class Distribution {
 public:
  // <directory> holds the notes of this build tree.
  Distribution(const Settings& settings, const std::string& directory, long started_ms);

  // The server that this compile goes to. False where sccache can't take nvcc apart, which it would
  // say with an exit code that a broken server has too.
  bool choose(const Words& words, std::string& why);
  // Whether this compile may go to other machines.
  bool on() const { return on_; }

  // After a compile: a server on another machine fails for reasons of its own (a token, a full
  // disk, no memory), and sccache hands that on as the compiler's failure. Only this machine's
  // compiler is believed.
  void done(Ended& ended, std::string& said, const Words& command);
  // Whether done() has compiled, and said what there was to say.
  bool compiled_here() const { return compiled_here_; }

 private:
  bool all_here() const;
  void say_once(const std::string& what, const std::string& why, const std::string& key) const;
  void read_log();

  const Settings& settings_;
  const std::string directory_;
  const long started_ms_;
  bool on_;
  bool compiled_here_ = false;
};

// The server and the last cause of a line of sccache's log.
std::string cause_of(const std::string& line);

}  // namespace cudaops
