// SPDX-License-Identifier: Apache-2.0

#include "depfile.h"

#include <gtest/gtest.h>

namespace cudaops {
namespace {

Depfile parsed(const std::string& text) {
  Depfile depfile;
  EXPECT_TRUE(depfile.parse(text));
  return depfile;
}

TEST(Depfile, reads_what_compilers_write) {
  EXPECT_EQ(parsed("a.o: a.cpp b.h\n").names(), Words({"a.cpp", "b.h"}));
  EXPECT_EQ(parsed("dir/a.o : a.cpp \\\n  b.h \\\n  c.h\n").names(),
            Words({"a.cpp", "b.h", "c.h"}));
  EXPECT_EQ(parsed("a.o: a.cpp \\\r\n b.h\r\n").names(), Words({"a.cpp", "b.h"}));
  EXPECT_EQ(parsed("a\\ b.o: a\\ b.cpp x\\#y.h z$$.h\n").names(),
            Words({"a b.cpp", "x#y.h", "z$.h"}));
  EXPECT_EQ(parsed("C:/a.o: C:/a.cpp\n").names(), Words({"C:/a.cpp"}));
  EXPECT_EQ(parsed("a.o:\n").names(), Words());
  EXPECT_EQ(parsed("a.o: a.cpp").names(), Words({"a.cpp"}));
  // A backslash before anything else is one.
  EXPECT_EQ(parsed("a.o: a\\b.h\n").names(), Words({"a\\b.h"}));
}

TEST(Depfile, stops_at_the_end_of_the_first_rule) {
  EXPECT_EQ(parsed("a.o: a.cpp b.h\n\nb.h:\n").names(), Words({"a.cpp", "b.h"}));
}

TEST(Depfile, refuses_what_is_none) {
  Depfile depfile;
  EXPECT_FALSE(depfile.parse(""));
  EXPECT_FALSE(depfile.parse("no rule\n"));
  EXPECT_FALSE(depfile.read("/nowhere"));
}

TEST(Depfile, writes_other_names_of_the_same_files) {
  EXPECT_EQ(parsed("a.o: ../a.cpp \\\n  x/../b.h ../c\\ d.h\n").renamed("../", "/my src/"),
            "a.o: /my\\ src/a.cpp \\\n  x/../b.h /my\\ src/c\\ d.h\n");
  EXPECT_EQ(parsed("a.o: a.cpp\n").renamed("../", "/src/"), "");
}

TEST(Depfile, takes_more_names) {
  EXPECT_EQ(parsed("a.o: a.hip b.h\n").with({"b.h", "c d.h", "c d.h"}),
            "a.o: a.hip b.h \\\n  c\\ d.h\n");
  // -MP's empty rules.
  EXPECT_EQ(parsed("a.o: a.hip b.h\n\nb.h:\n").with({"c.h"}),
            "a.o: a.hip b.h \\\n  c.h\n\nb.h:\nc.h:\n");
}

TEST(Depfile, reads_what_it_writes) {
  for (const char* name : {"a b", "a#b", "$a", "a\\b", "\xc3\xbc"}) {
    EXPECT_EQ(parsed("x: " + Depfile::escaped(name) + "\n").names(), Words({name}));
  }
}

}  // namespace
}  // namespace cudaops
