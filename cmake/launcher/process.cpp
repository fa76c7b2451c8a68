// SPDX-License-Identifier: Apache-2.0

#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files.h"

extern char** environ;

namespace cudaops {

static volatile pid_t running = 0;

static void pass_on(int number) {
  if (running > 0) kill(running, number);
}

static std::vector<char*> pointers(const Words& words) {
  std::vector<char*> out;
  for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

static int not_started(const std::string& program, int error) {
  say(program + ": " + strerror(error));
  return error == ENOENT ? 127 : 126;
}

// While a program runs, this process outlives the signals that are meant for both.
class Signals {
 public:
  Signals() {
    struct sigaction action = {};
    for (int i = 0; i < 3; ++i) {
      action.sa_handler = number_[i] == SIGINT ? [](int) {} : pass_on;
      action.sa_flags = SA_RESTART;
      sigaction(number_[i], nullptr, &old_[i]);
      if (old_[i].sa_handler == SIG_IGN) continue;
      sigaction(number_[i], &action, nullptr);
    }
  }
  ~Signals() {
    for (int i = 0; i < 3; ++i) sigaction(number_[i], &old_[i], nullptr);
  }

 private:
  const int number_[3] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction old_[3];
};

static Ended wait_for(pid_t child) {
  Ended ended;
  int status = 0;
  while (wait4(child, &status, 0, &ended.usage) < 0) {
    if (errno != EINTR) return ended;
  }
  if (WIFSIGNALED(status)) {
    ended.signal = WTERMSIG(status);
    ended.status = 128 + ended.signal;
  } else {
    ended.status = WEXITSTATUS(status);
  }
  return ended;
}

Captured run(const Words& command, const Start& start) {
  Captured result;
  if (command.empty()) return result;
  // Of the pipes for stdout and stderr, the end that is read here.
  int ends[2][2] = {{-1, -1}, {-1, -1}};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int i = 0; i < 2; ++i) {
    if (!(i ? start.capture_error : start.capture_output)) continue;
    if (pipe2(ends[i], O_CLOEXEC) != 0) {
      ends[i][0] = -1;
      continue;
    }
    posix_spawn_file_actions_adddup2(&actions, ends[i][1], i + 1);
  }
  if (start.no_input) posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  // Handlers become the default by exec, and what is ignored stays so.
  Signals signals;
  pid_t child = 0;
  int here = -1;
  if (start.directory) {
    here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (chdir(start.directory) != 0) here = -1;
  }
  int error = posix_spawnp(&child, command[0].c_str(), &actions, nullptr, pointers(command).data(),
                           environ);
  if (here >= 0) {
    if (fchdir(here) != 0) abort();
    close(here);
  }
  posix_spawn_file_actions_destroy(&actions);
  for (auto& end : ends) {
    if (end[1] >= 0) close(end[1]);
  }
  if (error != 0) {
    for (auto& end : ends) {
      if (end[0] >= 0) close(end[0]);
    }
    result.error = command[0] + ": " + strerror(error);
    if (!start.capture_error) say(result.error);
    result.status = error == ENOENT ? 127 : 126;
    return result;
  }
  running = child;
  long until = start.patience_ms ? now_ms() + start.patience_ms : 0;
  bool reaped = false;
  while (ends[0][0] >= 0 || ends[1][0] >= 0 || (until && !reaped)) {
    pollfd polled[2] = {{ends[0][0], POLLIN, 0}, {ends[1][0], POLLIN, 0}};
    bool piped = ends[0][0] >= 0 || ends[1][0] >= 0;
    long left = until ? until - now_ms() : -1;
    if (until && left < 0) left = 0;
    // Without a pipe nothing tells of the end: it is looked for.
    int ready = poll(polled, 2, piped ? static_cast<int>(left) : (left < 20 ? left : 20));
    if (ready < 0 && errno != EINTR) break;
    for (int i = 0; i < 2; ++i) {
      if (ready <= 0 || ends[i][0] < 0 || !polled[i].revents) continue;
      char buffer[65536];
      ssize_t got = read(ends[i][0], buffer, sizeof buffer);
      if (got > 0) {
        (i ? result.error : result.output).append(buffer, got);
      } else if (got == 0 || errno != EINTR) {
        close(ends[i][0]);
        ends[i][0] = -1;
      }
    }
    if (!piped || (ends[0][0] < 0 && ends[1][0] < 0)) {
      siginfo_t info = {};
      reaped = waitid(P_PID, child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid;
    }
    if (until && !reaped && now_ms() >= until) {
      until = 0;
      if (start.late && start.late(start.context)) {
        result.ended_late = true;
        kill(child, SIGTERM);
      }
    }
  }
  static_cast<Ended&>(result) = wait_for(child);
  running = 0;
  return result;
}

int become(const Words& command) {
  execvp(command[0].c_str(), pointers(command).data());
  return not_started(command[0], errno);
}

void end_like(const Ended& ended) {
  if (ended.signal) {
    // No second core file.
    struct rlimit none = {};
    setrlimit(RLIMIT_CORE, &none);
    signal(ended.signal, SIG_DFL);
    kill(getpid(), ended.signal);
  }
  _exit(ended.status);
}

}  // namespace cudaops
