// SPDX-License-Identifier: Apache-2.0
// A directory of a test's own, which is also where it runs.

#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include "files.h"

namespace cudaops {

class InDirectory : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/cudaops-launch-XXXXXX";
    directory_ = mkdtemp(name);
    ASSERT_EQ(chdir(directory_.c_str()), 0);
    // working_directory() is asked once a process.
    unset_env("PWD");
  }
  void TearDown() override {
    ASSERT_EQ(chdir("/"), 0);
    remove_tree(directory_);
  }
  // With the directories that it lies in.
  void write(const std::string& name, const std::string& text) {
    for (size_t at = name.find('/', 1); at != std::string::npos; at = name.find('/', at + 1)) {
      mkdir(name.substr(0, at).c_str(), 0777);
    }
    ASSERT_TRUE(write_file(name, text));
  }
  void write_script(const std::string& name, const std::string& text) {
    write(name, "#!/bin/sh\n" + text);
    chmod(name.c_str(), 0755);
  }
  std::string content(const std::string& name) {
    std::string text;
    read_file(name, text);
    return text;
  }

  std::string directory_;
};

}  // namespace cudaops
