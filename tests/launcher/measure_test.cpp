// SPDX-License-Identifier: Apache-2.0

#include "measure.h"

#include "test_directory.h"

namespace cudaops {
namespace {

class Measured : public InDirectory {
 protected:
  void SetUp() override {
    InDirectory::SetUp();
    unset_env("CCACHE_STATSLOG");
    write_script(
        "compile",
        "head -c 40000000 /dev/zero | tail -c 1 >a.o\necho 'a.o: a.cpp' >a.d\nexit ${1#-}\n");
    write("a.cpp", "");
  }
};

Ended measured(const char* settings, const Words& command) {
  Settings read;
  read.parse(settings);
  Measuring measuring(read, command);
  Ended ended = run(measuring.begin());
  measuring.end(ended);
  return ended;
}

TEST_F(Measured, the_memory_of_the_largest_process) {
  EXPECT_EQ(measured("memory\tmemory\n", {"./compile", "-0", "-c", "a.cpp"}).status, 0);
  EXPECT_EQ(measured("memory\tmemory\n", {"./compile", "-3", "-c", "a.cpp"}).status, 3);
  EXPECT_EQ(measured("memory\tno/such/directory\n", {"./compile", "-0", "-c", "a.cpp"}).status, 0);
  EXPECT_EQ(measured("memory\tmemory\n", {"./compile", "-0"}).status, 0);
  long size = 0;
  char name[16] = "";
  ASSERT_EQ(sscanf(content("memory").c_str(), "%ld %15s", &size, name), 2);
  EXPECT_GT(size, 500);
  EXPECT_STREQ(name, "a.cpp");
  EXPECT_EQ(split(content("memory"), '\n').size(), 2u);
}

TEST_F(Measured, odd_names_stay_what_they_are) {
  const Words command = {"./compile", "-0", "-DX=\"\\\n\x01", "-D\xc3\xbc", "-D\xff", "-MF",
                         "a.d",       "-c", "a.cpp",          "-o",         "a.o"};
  for (const char* expected : {"first compile", "neither the files nor the command are new"}) {
    write_script("cache", "echo cache_miss >>\"$CCACHE_STATSLOG\"\nexec \"$@\"\n");
    unset_env("CCACHE_STATSLOG");
    Words cached = command;
    cached.insert(cached.begin(), "./cache");
    EXPECT_EQ(measured("trace\ttrace\n", cached).status, 0);
    Words records = names_in("trace");
    ASSERT_EQ(records.size(), 1u);
    const std::string text = content("trace/" + records[0]);
    EXPECT_TRUE(holds(text, expected)) << text;
    EXPECT_TRUE(holds(text, "\nword\t-DX=\"\\\\\\n\x01\nword\t-D\xc3\xbc\nword\t-D\xff\n")) << text;
    EXPECT_TRUE(holds(text, "\ninput\t0 ")) << text;
    EXPECT_TRUE(holds(text, " a.cpp\n")) << text;
  }
}

}  // namespace
}  // namespace cudaops
