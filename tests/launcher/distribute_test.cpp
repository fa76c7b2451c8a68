// SPDX-License-Identifier: Apache-2.0

#include "distribute.h"

#include <sys/time.h>

#include "test_directory.h"

namespace cudaops {
namespace {

class Distributed : public InDirectory {
 protected:
  void SetUp() override {
    InDirectory::SetUp();
    write("settings", "");
    made_ago("settings", 86400);
    settings_.parse(
        "dist\t1\ndist_config\t/c\ndist_socket\t/s\ndist_local_config\t/lc\ndist_local_socket\t/"
        "ls\ndist_log\tlog\nfile\tsettings\n");
    unset_env("SCCACHE_LOG");
    unset_env("SCCACHE_ERROR_LOG");
  }
  void made_ago(const std::string& name, long seconds) {
    timeval now[2];
    gettimeofday(&now[0], nullptr);
    now[0].tv_sec -= seconds;
    now[1] = now[0];
    utimes(name.c_str(), now);
  }
  // What is said of a compile that took so long.
  std::string said(long seconds) {
    Distribution distribution(settings_, ".", now_ms() - seconds * 1000);
    Ended ended;
    ended.status = 0;
    std::string none;
    testing::internal::CaptureStderr();
    distribution.done(ended, none, {"false"});
    EXPECT_FALSE(distribution.compiled_here());
    return testing::internal::GetCapturedStderr();
  }
  Settings settings_;
};

TEST_F(Distributed, keeps_away_what_cant_be_taken_apart) {
  std::string why;
  for (const char* word : {"--jobserver", "-jobserver", "-gencode=arch=compute_90,code=lto_90",
                           "-gencode=arch=compute_90,code=[sm_90,lto_90]"}) {
    EXPECT_FALSE(Distribution(settings_, ".", 0).choose({"-c", word, "x.cu"}, why)) << word;
    EXPECT_EQ(why, "sccache can't take this nvcc apart");
  }
  EXPECT_TRUE(Distribution(settings_, ".", 0).choose({"-c", "-DX", "x.cu"}, why));
}

TEST_F(Distributed, chooses_the_server) {
  std::string why;
  Distribution(settings_, ".", 0).choose({"-c"}, why);
  EXPECT_EQ(env_or_empty("SCCACHE_SERVER_UDS"), "/s");
  EXPECT_EQ(env_or_empty("SCCACHE_ERROR_LOG"), "log");
  mkdir("here", 0777);
  Distribution local(settings_, ".", 0);
  local.choose({"-c"}, why);
  EXPECT_FALSE(local.on());
  EXPECT_EQ(env_or_empty("SCCACHE_SERVER_UDS"), "/ls");
  // For a minute.
  made_ago("here", 70);
  Distribution again(settings_, ".", 0);
  again.choose({"-c"}, why);
  EXPECT_TRUE(again.on());
  EXPECT_FALSE(exists("here"));
}

TEST_F(Distributed, a_slow_server_is_left_alone_and_nothing_is_said_twice) {
  const std::string ran = "CudaOps: a compile that was to be distributed ran here";
  write("log", "x: falling back to local: Error 500: slow\n");
  EXPECT_EQ(said(19), ran + ": Error 500: slow\n");
  EXPECT_FALSE(exists("here"));
  // The same again, and within ten minutes.
  made_ago("dist_read", 86400);
  made_ago("dist_said", 300);
  append_file("log", "again: falling back to local: Error 500: slow\n");
  EXPECT_EQ(said(19), "");
  made_ago("dist_read", 86400);
  made_ago("dist_said", 86400);
  append_file("log", "y: falling back to local: Error 500: slower\n");
  EXPECT_EQ(said(29), ran + ", for a minute all run here: Error 500: slower\n");
  EXPECT_TRUE(exists("here"));
  rmdir("here");
  // One that is gone is known at once.
  made_ago("dist_read", 86400);
  made_ago("dist_said", 86400);
  append_file("log", "z: falling back to local: Connection refused\n");
  EXPECT_EQ(said(29), ran + ": Connection refused\n");
  EXPECT_FALSE(exists("here"));
  // Nothing new.
  EXPECT_EQ(said(29), "");
}

TEST_F(Distributed, a_failure_elsewhere_is_no_failure) {
  Distribution distribution(settings_, ".", now_ms());
  Ended ended;
  ended.status = 1;
  std::string words = "[\"x.o\"] http error status: Error 401: token\nmore";
  testing::internal::CaptureStderr();
  distribution.done(ended, words, {"true"});
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "CudaOps: a distributed compile failed, for a minute all run here: Error 401: token\n");
  EXPECT_TRUE(distribution.compiled_here());
  EXPECT_EQ(ended.status, 0);
  EXPECT_TRUE(exists("here"));
  rmdir("here");
  // The compiler's own.
  Distribution second(settings_, ".", now_ms());
  ended.status = 1;
  second.done(ended, words, {"false"});
  EXPECT_EQ(ended.status, 1);
  EXPECT_FALSE(exists("here"));
}

TEST(Cause, is_the_server_and_the_last_reason) {
  EXPECT_EQ(cause_of("could not run on ServerId(10.0.0.9:10501): error sending request for url "
                     "(https://10.0.0.9:10501/x/1): connection closed"),
            "server 10.0.0.9:10501: connection closed");
  EXPECT_EQ(cause_of("error for url (https://10.0.0.9:10501/api): {\"a\":1,\"description\":\"no "
                     "space\",\"b\":2}"),
            "server 10.0.0.9:10501: no space");
  EXPECT_EQ(cause_of("Error 500: slow"), "Error 500: slow");
}

}  // namespace
}  // namespace cudaops
