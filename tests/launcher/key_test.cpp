// SPDX-License-Identifier: Apache-2.0
// What reaches the cache's key, by a cache that only notes it.

#include "cache.h"
#include "test_directory.h"

namespace cudaops {
namespace {

class Key : public InDirectory {
 protected:
  void SetUp() override {
    InDirectory::SetUp();
    // What this process was started with must not reach it.
    for (const char* name :
         {"CPATH", "CPLUS_INCLUDE_PATH", "CCACHE_STATSLOG", "CCACHE_DISABLE", "LD_PRELOAD",
          "SOURCE_DATE_EPOCH", "GCC_EXEC_PREFIX", "CCACHE_RECACHE"}) {
      unset_env(name);
    }
    set_env("PATH", directory_ + "/bin:/usr/bin:/bin");
    write_script("bin/cache", "printf '%s\\n' \"$CCACHE_COMPILERCHECK\" >\"" + directory_ +
                                  "/key\"\n" + "printf '%s\\n' \"$*\" >\"" + directory_ +
                                  "/words\"\n" +
                                  "echo direct_cache_hit >>\"$CCACHE_STATSLOG\"\n"
                                  "echo object >a.o\necho 'a.o: " +
                                  directory_ + "/src/a.cpp' >a.d\n");
    write("part", "one");
    write("bin/as", "");
    chmod("bin/as", 0755);
    write("src/a.cpp", "");
    write("cache/x", "");
    settings_.parse("engine\tccache\nkind\tcxx\ntype\tgcc\ncompiler\tg++\n");
    settings_.add("cache", directory_ + "/bin/cache");
    settings_.add("build", directory_);
    settings_.add("source", directory_ + "/src");
    settings_.add("source_name", "src");
    settings_.add("dir", directory_ + "/cache");
    settings_.add("assembler", directory_ + "/bin/as");
    settings_.add("fingerprint", "configured");
    settings_.add("step", "step");
    settings_.add("part", directory_ + "/part");
    settings_.add("place", directory_ + "/src");
    settings_.add("place_name", "src");
  }

  // Times of files are those of the kernel's clock ticks.
  void later() { usleep(20000); }
  // The key; empty where the compile is left to the compiler.
  std::string key(const std::string& words = "") {
    unlink("key");
    Cache cache(settings_);
    Words all = split_blanks("-c " + directory_ + "/src/a.cpp -o a.o -MD -MF a.d " + words);
    Ended ended;
    if (!cache.compile(all, ended)) {
      cache.log_not_cached(all);
      return "";
    }
    EXPECT_EQ(ended.status, 0);
    return content("key");
  }
  // Of the last compile.
  Words logged() {
    Words lines = split(content("cache/log"), '\n');
    Words fields = split(lines[lines.size() - 2], '\t');
    fields.erase(fields.begin() + 2);  // the time
    return fields;
  }

  Settings settings_;
};

TEST_F(Key, is_the_same_for_the_same) {
  const std::string first = key();
  EXPECT_NE(first, "");
  EXPECT_EQ(key(), first);
  EXPECT_EQ(logged(), Words({"hit", "-", "", "a.o"}));
  EXPECT_EQ(content("words"), "step -c src/a.cpp -o a.o -MD -MF a.d\n");
}

TEST_F(Key, holds_what_compilers_read) {
  const std::string first = key();
  for (const char* name :
       {"CPATH", "CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH", "SOURCE_DATE_EPOCH", "NVCC_APPEND_FLAGS",
        "PTXAS_FLAGS", "CICC_PATH", "INCLUDES", "LLVM_OVERRIDE_PRODUCER"}) {
    set_env(name, "1");
    const std::string one = key();
    set_env(name, "2");
    const std::string two = key();
    set_env(name, "");
    const std::string empty = key();
    unset_env(name);
    EXPECT_NE(one, first) << name;
    EXPECT_NE(one, two) << name;
    EXPECT_NE(empty, first) << name;
  }
  set_env("UNRELATED", "1");
  EXPECT_EQ(key(), first);
}

TEST_F(Key, is_none_where_the_compiler_is_moved) {
  for (const char* name : {"GCC_EXEC_PREFIX", "COMPILER_PATH", "LD_PRELOAD", "DEPENDENCIES_OUTPUT",
                           "CCC_OVERRIDE_OPTIONS"}) {
    set_env(name, "");
    EXPECT_EQ(key(), "") << name;
    unset_env(name);
  }
  EXPECT_EQ(logged(), Words({"not cached", "-",
                             "a variable of the environment that moves the compiler", "a.o"}));
  set_env("NVCC_PREPEND_FLAGS", "-dc");
  EXPECT_EQ(key(), "");
  unset_env("NVCC_PREPEND_FLAGS");
  EXPECT_EQ(logged(), Words({"not cached", "-", "-dc in the environment", "a.o"}));
}

TEST_F(Key, holds_the_content_of_the_compilers_parts) {
  const std::string first = key();
  later();
  write("part", "two");
  const std::string second = key();
  EXPECT_NE(second, first);
  // The same content at another time is the same compiler.
  later();
  write("part", "one");
  const std::string third = key();
  later();
  write("part", "two");
  EXPECT_EQ(key(), second);
  EXPECT_NE(third, second);
  unlink("part");
  EXPECT_EQ(key(), "");
  EXPECT_EQ(logged()[2], "a part of the compiler is gone");
}

TEST_F(Key, takes_the_fingerprint_of_the_configure_step) {
  Start start;
  start.capture_output = true;
  settings_.add("stamp",
                first_line(run({"stat", "-L", "-c", "%s %.9Y %.9Z %i", "part"}, start).output));
  EXPECT_TRUE(holds(key(), "|configured"));
  write("part", "longer");
  EXPECT_FALSE(holds(key(), "|configured"));
}

TEST_F(Key, holds_another_assembler) {
  const std::string first = key();
  write("first/as", "");
  chmod("first/as", 0755);
  set_env("PATH", directory_ + "/first:" + env("PATH"));
  EXPECT_NE(key(), first);
}

TEST_F(Key, holds_the_place_where_the_object_does) {
  const std::string first = key();
  EXPECT_FALSE(holds(first, directory_));
  const std::string debug = key("-g");
  EXPECT_TRUE(holds(debug, directory_));
  EXPECT_EQ(logged()[2], "debug information belongs to this place");
  EXPECT_TRUE(holds(content("words"), directory_ + "/src/a.cpp"));
  settings_.add("link", "no/such/link");
  EXPECT_TRUE(holds(key(), directory_));
  EXPECT_EQ(logged()[2], "a link of the build tree leads nowhere");
}

TEST_F(Key, holds_prefix_maps) {
  EXPECT_NE(key("-fmacro-prefix-map=/x=y"), key("-fmacro-prefix-map=/x=z"));
}

TEST_F(Key, is_forced_where_a_header_has_come) {
  key();
  write("src/one/v.h", "");
  write("src/two/v.h", "");
  write_script("bin/cache",
               "echo ${CCACHE_RECACHE-no} >>\"" + directory_ + "/asked\"\n" +
                   "echo direct_cache_hit >>\"$CCACHE_STATSLOG\"\necho object >a.o\necho 'a.o: " +
                   directory_ + "/src/a.cpp " + directory_ + "/src/two/v.h' >a.d\n");
  key("-I" + directory_ + "/src/one -I" + directory_ + "/src/two");
  EXPECT_EQ(content("asked"), "no\n1\n");
  unset_env("CCACHE_RECACHE");
  // The compile has shown that it is the same all the same.
  key("-I" + directory_ + "/src/one -I" + directory_ + "/src/two");
  EXPECT_EQ(content("asked"), "no\n1\nno\n");
}

}  // namespace
}  // namespace cudaops
