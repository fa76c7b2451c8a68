// SPDX-License-Identifier: Apache-2.0

#include "left_out.h"

#include "test_directory.h"

namespace cudaops {
namespace {

class BackOff : public InDirectory {};

TEST_F(BackOff, for_one_two_four_minutes) {
  EXPECT_FALSE(LeftOut("failed").now(100));
  EXPECT_TRUE(LeftOut("failed").begin(100, "out of luck"));
  // One line for all the compiles of a build.
  EXPECT_FALSE(LeftOut("failed").begin(101, "out of luck"));
  EXPECT_TRUE(LeftOut("failed").now(159));
  long now = 160;
  for (long wait : {120, 240, 480, 960, 1920, 1920}) {
    LeftOut one("failed");
    EXPECT_FALSE(one.now(now)) << now;
    EXPECT_GT(one.times(), 0);
    // The others don't try meanwhile.
    EXPECT_TRUE(LeftOut("failed").now(now));
    EXPECT_TRUE(LeftOut("failed").now(now + wait - 1));
    now += wait;
  }
  EXPECT_EQ(content("failed").substr(content("failed").find("out")), "out of luck\n");
}

TEST_F(BackOff, ends_where_it_works_again) {
  LeftOut("failed").begin(100, "x");
  LeftOut one("failed");
  one.now(160);
  one.end();
  EXPECT_FALSE(exists("failed"));
  // Who wasn't left out removes nothing of others.
  LeftOut("failed").begin(200, "x");
  LeftOut("failed").end();
  EXPECT_TRUE(exists("failed"));
}

TEST_F(BackOff, hands_the_question_on) {
  LeftOut("failed").begin(100, "x");
  LeftOut one("failed");
  one.now(160);
  one.ask_next();
  LeftOut next("failed");
  EXPECT_FALSE(next.now(161));
  EXPECT_EQ(next.times(), 1);
}

TEST_F(BackOff, reads_what_others_left) {
  // Of before the machine was started.
  write("failed", "900000 3 x\n");
  EXPECT_FALSE(LeftOut("failed").now(100));
  for (const char* text : {"", "x", "1", "-5 2 x", "99 99 x", "50 2"}) {
    write("failed", text);
    EXPECT_FALSE(LeftOut("failed").now(100)) << text;
  }
}

TEST_F(BackOff, where_nothing_can_be_written) {
  EXPECT_TRUE(LeftOut("no/such/directory").begin(100, "x"));
  EXPECT_FALSE(LeftOut("no/such/directory").now(100));
}

}  // namespace
}  // namespace cudaops
