// SPDX-License-Identifier: Apache-2.0

#include "settings.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include "files.h"

namespace cudaops {
namespace {

TEST(Settings, are_keys_and_values) {
  Settings settings;
  settings.parse("# a comment\nkind\tcuda\npart\t/a b\npart\t/c\nkind\thip\n\nno value\nempty\t\n");
  EXPECT_EQ(settings.get("kind"), "hip");
  EXPECT_EQ(settings.all("part"), Words({"/a b", "/c"}));
  EXPECT_TRUE(settings.has("empty"));
  EXPECT_FALSE(settings.has("no value"));
  EXPECT_EQ(settings.get("nothing"), "");
}

TEST(Settings, keep_every_value) {
  for (const char* value : {"", "a\nb", "a\\nb", "\\", "a\tb", "'$(x)' \"y\"", "#", "\n"}) {
    Settings settings;
    settings.add("key", value);
    settings.add("other", "1");
    Settings again;
    again.parse(settings.text());
    EXPECT_EQ(again.get("key"), value);
    EXPECT_EQ(again.get("other"), "1");
  }
}

TEST(Settings, include_others_that_what_follows_overrides) {
  char name[] = "/tmp/cudaops-settings-XXXXXX";
  int fd = mkstemp(name);
  ASSERT_GE(fd, 0);
  close(fd);
  write_file(name, "compiler\tnvcc\nkind\tcuda\n");
  std::string second = std::string(name) + ".2";
  write_file(second, std::string("include\t") + name + "\ncompiler\tstep\n");
  Settings settings;
  EXPECT_TRUE(settings.read(second));
  EXPECT_EQ(settings.get("compiler"), "step");
  EXPECT_EQ(settings.get("kind"), "cuda");
  unlink(name);
  Settings broken;
  EXPECT_FALSE(broken.read(second));
  unlink(second.c_str());
}

}  // namespace
}  // namespace cudaops
