// SPDX-License-Identifier: Apache-2.0

#include "cubin_part.h"
#include "nvcc_plan.h"
#include "test_directory.h"

namespace cudaops {
namespace {

// As nvcc 13.0 says it, shortened.
const char* const dryrun =
    "#$ _NVVM_BRANCH_=nvvm\n"
    "#$ _SPACE_= \n"
    "#$ PATH=/cuda/bin:/usr/bin\n"
    "#$ CICC_PATH=/cuda/nvvm/bin\n"
    "#$ TOP=/cuda\n"
    "#$ gcc -D__CUDA_ARCH__=800 -E -x c++ \"-I/cuda/include\" \"a.cu\" -o "
    "\"$_cudaops_d/a.compute_80.cpp1.ii\" \n"
    "#$ \"$CICC_PATH/cicc\" --c++17 -arch compute_80 -m64 --module_id_file_name "
    "\"$_cudaops_d/a.module_id\" "
    "\"$_cudaops_d/a.compute_80.cpp1.ii\" -o \"$_cudaops_d/a.compute_80.ptx\" > /tmp/x_stdout "
    "2>/tmp/x_stderr\n"
    "#$ ptxas -m64 -arch=sm_80 \"$_cudaops_d/a.compute_80.ptx\" -o "
    "\"$_cudaops_d/a.compute_80.cubin\"\n"
    "#$ gcc -E -x c++ \"a.cu\" -o \"$_cudaops_d/a.cpp4.ii\"\n"
    "#$ cudafe++ --c++17 --gen_module_id_file --module_id_file_name \"$_cudaops_d/a.module_id\" "
    "\"$_cudaops_d/a.cpp4.ii\"\n"
    "#$ fatbinary -64 --embedded-fatbin=\"$_cudaops_d/a.fatbin.c\"\n"
    "#$ gcc -O3 -c -x c++ -DX \"$_cudaops_d/a.compute_80.cudafe1.cpp\" -o \"a.o\"\n"
    "#$ rm \"$_cudaops_d/x\"\n";

TEST(Plan, of_nvcc) {
  Plan plan;
  ASSERT_TRUE(plan.parse(dryrun));
  EXPECT_EQ(plan.variables,
            Words({"PATH=/cuda/bin:/usr/bin", "CICC_PATH=/cuda/nvvm/bin", "TOP=/cuda"}));
  ASSERT_EQ(plan.archs.size(), 1u);
  EXPECT_EQ(plan.archs[0].name, "compute_80");
  EXPECT_EQ(plan.archs[0].commands.size(), 2u);
  // What several threads write is no part of the command.
  EXPECT_FALSE(holds(plan.archs[0].commands[0], "_stdout"));
  EXPECT_EQ(plan.host.size(), 2u);
  EXPECT_EQ(plan.end.size(), 2u);
  EXPECT_EQ(plan.arch("compute_90"), nullptr);
}

TEST(Plan, that_isnt_understood) {
  for (const char* more : {"a line of nobody\n", "#$ nvlink x\n", "#$ lower=1\n",
                           "nvcc warning : x\n", "#$ ptxas \"$_cudaops_d/a.compute_90.ptx\"\n",
                           "#$ gcc -E $(x) -o \"$_cudaops_d/b.compute_90.cpp1.ii\"\n"}) {
    Plan plan;
    EXPECT_FALSE(plan.parse(std::string(dryrun) + more)) << more;
  }
  Plan empty;
  EXPECT_FALSE(empty.parse(""));
}

TEST(Command, is_split_as_by_a_shell) {
  Words words;
  const Words variables = {"TOP=/cu da", "_cudaops_d=/d"};
  ASSERT_TRUE(split_command(
      "gcc  -DX=\\\"a\\\" \"-DY=\\\"b c\\\"\" \"$TOP/x\" -I\"$_cudaops_d\"/y \"\" a\\ b", variables,
      words));
  EXPECT_EQ(words, Words({"gcc", "-DX=\"a\"", "-DY=\"b c\"", "/cu da/x", "-I/d/y", "", "a b"}));
  for (const char* line :
       {"a; b", "a | b", "a > b", "a `b`", "$(a)", "a $TOP", "\"a", "a 'b'", "# a", "", "a \\"}) {
    EXPECT_FALSE(split_command(line, variables, words)) << line;
  }
}

TEST(Preprocessed, names_its_files) {
  Words names;
  add_named_files(
      "# 0 \"a.cu\"\n# 0 \"<built-in>\"\n# 1 \"/build//\"\n# 1 \"a b\\\\c.h\" 1 3\nint x; # 1 "
      "\"no.h\"\n#1 \"no.h\"\n# 2 \"a.cu\" 2\n# 1 \"\\303\\274.h\"\n",
      names);
  EXPECT_EQ(names, Words({"a.cu", "a b\\c.h", "\xc3\xbc.h"}));
}

TEST(Preprocessed, lines_count_where_something_asks_for_them) {
  EXPECT_FALSE(needs_lines({"cicc -arch compute_80"}, "int x;"));
  EXPECT_TRUE(needs_lines({"cicc -g -arch compute_80"}, "int x;"));
  EXPECT_TRUE(needs_lines({"cicc -generate-line-info x"}, "int x;"));
  EXPECT_TRUE(needs_lines({}, "__builtin_LINE()"));
  EXPECT_TRUE(needs_lines({}, "R\"(\n\n)\""));
  EXPECT_EQ(without_lines("# 1 \"a.cu\"\n\n  \nint x;\n#pragma x\n# 12 \"b\"\nint y;"),
            "int x;\n#pragma x\nint y;\n");
}

TEST(Part, is_read_as_it_was_written) {
  std::vector<Entry> read;
  ASSERT_TRUE(
      unpack(packed({{"one", "a\nb\t"}, {"two", ""}, {"three", std::string("\0x", 2)}}), read));
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(read[0].content, "a\nb\t");
  EXPECT_EQ(read[2].content, std::string("\0x", 2));
}

TEST(Part, that_is_damaged_is_none) {
  const std::string whole = packed({{"one", "content"}});
  std::vector<Entry> read;
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(unpack(whole.substr(0, size), read)) << size;
  EXPECT_FALSE(unpack("no archive", read));
  EXPECT_FALSE(unpack("cudaops part 1\n../x\t1\nyend\t0\n", read));
  EXPECT_FALSE(unpack(whole + "more", read));
}

}  // namespace
}  // namespace cudaops
