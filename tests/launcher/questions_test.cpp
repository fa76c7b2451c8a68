// SPDX-License-Identifier: Apache-2.0

#include "questions.h"

#include "test_directory.h"

namespace cudaops {
namespace {

bool asks(const std::string& line) {
  return holds(without_known_questions(line, {"version", "unistd.h", "cuda/std/array"}), "__has_");
}

TEST(Questions, that_have_the_same_answer_everywhere) {
  for (const char* line :
       {"#if __has_include(<version>)", "#if __has_include ( < version>)", "#ifdef __has_include",
        "# ifndef __has_include // x", "#if defined(__has_include)",
        "#if defined __has_include && __has_include(<unistd.h>)", "// __has_include(\"x.h\")",
        "#if defined ( __has_embed )",
        "#elif __has_include(<version>) && __has_include(<cuda/std/array>)"}) {
    EXPECT_EQ(asks(line), line == std::string("#if __has_include ( < version>)")) << line;
  }
}

TEST(Questions, that_count) {
  for (const char* line :
       {"#if __has_include(\"x.h\")", "#if __has_include(<x.h>)", "#define ASKED __has_include",
        "#if __has_include(<versions>)", "#if __has_include_next(<version>)",
        "#if __has_include \\", "#if __has_include /* x */ (<version>)",
        "/* */ // __has_include(\"x.h\")", "#if __has_embed(\"x\")",
        "#if defined(__has_include) && __has_include(NAME)", "#ifdef __has_include_next",
        "#if __has_include(<version>"}) {
    EXPECT_TRUE(asks(line)) << line;
  }
}

TEST(Questions, of_the_assembler) {
  for (const char* text :
       {".incbin \"x\"", "asm(\".INCBIN \\\"x\\\"\")", "incbin", "a b: .include \"x\"",
        "\".include \\\"x\\\"\"", "x\n.incbin", "\"inc\" ; IncBin", ". \"incbin"}) {
    EXPECT_TRUE(reads_by_assembler(text)) << text;
  }
  for (const char* text : {"", "#include \"x\"", "xincbin", "my_incbin", ".include", ".include x",
                           "inc bin", ".included \"x\"", "n", "in"}) {
    EXPECT_FALSE(reads_by_assembler(text)) << text;
  }
}

class Unfit : public InDirectory {
 protected:
  std::string why(const std::string& text, const Words& more = {}) {
    Trees trees;
    trees.source = directory_ + "/";
    trees.build = directory_ + "/build/";
    trees.absent = {"flat_map"};
    trees.standard = {"/usr/include"};
    write("a.cpp", text);
    Words names = {directory_ + "/a.cpp"};
    names.insert(names.end(), more.begin(), more.end());
    IncludeDirectories directories;
    directories.include = {directory_ + "/inc"};
    HeaderSearch search(trees, directories, names);
    return why_unfit(search, trees.absent, {"version"});
  }
};

TEST_F(Unfit, says_why) {
  const std::string asked = "__has_include of a file of the project";
  EXPECT_EQ(why("int x;\n"), "");
  EXPECT_EQ(why("#if __has_include(<version>)\n#endif\n"), "");
  EXPECT_EQ(why("#if __has_include(\"x.h\")\n#endif\n"), asked);
  EXPECT_EQ(why("asm(\".incbin x\");\n"), ".incbin or .include of the assembler");
  // The compiler lacks it, and the project doesn't.
  EXPECT_EQ(why("#if __has_include(<flat_map>)\n#endif\n"), "");
  write("inc/flat_map", "");
  EXPECT_EQ(why("#if __has_include(<flat_map>)\n#endif\n"), asked);
  EXPECT_EQ(why("int x;\n"), "");
  // A file that can't be read may hold anything.
  EXPECT_EQ(why("int x;\n", {directory_ + "/gone.h"}), ".incbin or .include of the assembler");
}

TEST_F(Unfit, toolkit_headers_are_known_where_they_were_read) {
  const std::string text = "#if __has_include(<cuda/std/array>)\n#endif\n";
  EXPECT_NE(why(text), "");
  write("CudaOps/links/toolkit/include/cccl/cuda/std/array", "");
  EXPECT_EQ(why(text, {"CudaOps/links/toolkit/include/cccl/cuda/std/array"}), "");
}

}  // namespace
}  // namespace cudaops
