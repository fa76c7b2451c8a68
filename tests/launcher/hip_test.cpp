// SPDX-License-Identifier: Apache-2.0

#include "hip.h"

#include "test_directory.h"

namespace cudaops {
namespace {

class Hip : public InDirectory {};

TEST_F(Hip, the_dependency_file_gets_the_headers_of_all_passes) {
  write("d", "a.o: a.hip host.h\n");
  write("list", "host.h\n./device.h\n<built-in>\n\ndevice.h\na b.h\n");
  ASSERT_TRUE(complete_depfile("d", "list"));
  EXPECT_EQ(content("d"), "a.o: a.hip host.h \\\n  device.h \\\n  a\\ b.h\n");
}

TEST_F(Hip, a_list_that_says_nothing_is_none) {
  write("list", "");
  write("d", "a.o: a.hip host.h\n");
  EXPECT_FALSE(complete_depfile("d", "list"));
  // No header at all.
  write("d", "a.o: a.hip\n");
  EXPECT_TRUE(complete_depfile("d", "list"));
  EXPECT_FALSE(complete_depfile("gone", "list"));
  EXPECT_FALSE(complete_depfile("d", "gone"));
}

TEST_F(Hip, a_compile_leaves_word_where_there_is_no_list) {
  write_script(
      "compiler",
      "echo 'a.o: a.hip host.h' >d\n[ -z \"$1\" ] || echo device.h >\"$CC_PRINT_HEADERS_FILE\"\n");
  EXPECT_EQ(run_hip({"./compiler", "", "-MF", "d"}).status, 0);
  EXPECT_TRUE(exists("d.passes"));
  EXPECT_EQ(run_hip({"./compiler", "list", "-MF", "d"}).status, 0);
  EXPECT_FALSE(exists("d.passes"));
  EXPECT_TRUE(holds(content("d"), "device.h"));
  write_script("compiler", "exit 3\n");
  EXPECT_EQ(run_hip({"./compiler", "-MF", "d"}).status, 3);
  EXPECT_FALSE(exists("d.passes"));
}

}  // namespace
}  // namespace cudaops
