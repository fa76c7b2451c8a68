// SPDX-License-Identifier: Apache-2.0

#include "process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cudaops {
namespace {

TEST(Process, tells_how_a_program_ended) {
  EXPECT_EQ(run({"true"}).status, 0);
  EXPECT_EQ(run({"sh", "-c", "exit 3"}).status, 3);
  Captured killed = run({"sh", "-c", "kill -TERM $$"});
  EXPECT_EQ(killed.status, 128 + SIGTERM);
  EXPECT_EQ(killed.signal, SIGTERM);
  Start captured;
  captured.capture_error = true;
  EXPECT_EQ(run({"/no/such/program"}, captured).status, 127);
  EXPECT_EQ(run({"/"}, captured).status, 126);
}

TEST(Process, captures_both_streams_however_long) {
  Start both;
  both.capture_output = both.capture_error = true;
  Captured said = run(
      {"sh", "-c", "i=0; while [ $i -lt 20000 ]; do echo out; echo error >&2; i=$((i+1)); done"},
      both);
  EXPECT_EQ(said.output.size(), 80000u);
  EXPECT_EQ(said.error.size(), 120000u);
  EXPECT_GT(said.usage.ru_maxrss, 100);
}

TEST(Process, ends_what_takes_too_long) {
  static int asked;
  asked = 0;
  Start start;
  start.patience_ms = 100;
  start.late = [](void*) { return ++asked > 0; };
  for (bool capture : {false, true}) {
    start.capture_error = capture;
    Captured late = run({"sleep", "20"}, start);
    EXPECT_TRUE(late.ended_late);
    EXPECT_EQ(late.signal, SIGTERM);
  }
  EXPECT_EQ(asked, 2);
  // Asked, and left alone.
  start.late = [](void*) { return false; };
  EXPECT_EQ(run({"sh", "-c", "sleep 0.3; exit 4"}, start).status, 4);
}

TEST(Process, passes_a_signal_on) {
  pid_t child = fork();
  if (child == 0) end_like(run({"sh", "-c", "trap 'kill $!; exit 7' TERM; sleep 20 & wait"}));
  usleep(300000);
  kill(child, SIGTERM);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
}  // namespace cudaops
