// SPDX-License-Identifier: Apache-2.0

#include "command_line.h"

#include "test_directory.h"

namespace cudaops {
namespace {

Compile read(const std::string& words) { return read_command(split_blanks(words)); }

const char* const plain_compile = "-c a.cu -o a.o -MD -MF a.d ";

TEST(CommandLine, knows_object_depfile_and_host_compiler) {
  for (const char* words : {"-ccbin g++ -MD -MT x -MF d -c a.cu -o o",
                            "-ccbin=g++ -MD --dependency-output=d --compile a.cu --output-file=o",
                            "--compiler-bindir=g++ --generate-dependencies-with-compile "
                            "--dependency-output d -c a.cu --output-file o"}) {
    Compile compile = read(words);
    EXPECT_EQ(compile.why_not, "") << words;
    EXPECT_EQ(compile.object, "o") << words;
    EXPECT_EQ(compile.depfile, "d") << words;
    EXPECT_EQ(compile.host, "g++") << words;
    EXPECT_FALSE(compile.debug) << words;
  }
}

TEST(CommandLine, wants_one_object_and_its_dependency_file) {
  for (const char* words : {"", "-c a.cu", "-c a.cu -o a.o", "a.cu -o a -MD -MF d",
                            "-c a.cu -MD -MF d", "-c a.cu -o a.o -MD"}) {
    EXPECT_EQ(read(words).why_not, "not a compile of one object with its dependency file") << words;
  }
}

TEST(CommandLine, refuses_what_no_dependency_file_describes) {
  for (const char* word : {"-dc",
                           "--device-c",
                           "-dlink",
                           "-E",
                           "-ptx",
                           "--cubin",
                           "@response",
                           "-Xcompiler=@response",
                           "-MMD",
                           "-M",
                           "-Xcompiler=-MD",
                           "-keep",
                           "--keep-dir",
                           "-save-temps",
                           "-Xcompiler=-save-temps=obj",
                           "--time=x",
                           "-ftime-trace",
                           "-fdevice-time-trace",
                           "-ldir=x",
                           "-fprofile-use",
                           "--coverage",
                           "-fplugin=x",
                           "-specs=x",
                           "-B/x",
                           "-Xcompiler=-B/x",
                           "-Xcompiler=-o,x",
                           "-gsplit-dwarf",
                           "-fmodules-ts",
                           "-Wp,-I/x",
                           "-idirafter/x",
                           "-Xcompiler=-idirafter,/x",
                           "-fembed-bitcode",
                           "-ivfsoverlay",
                           "--config=x",
                           "--ptxas-options=--dump",
                           "-dryrun",
                           "-",
                           "-n",
                           "-###",
                           "-arch=native",
                           "-code=native",
                           "-DX=incbin",
                           "-Xcompiler=-DX=.IncBin",
                           "-noprof",
                           "-fsanitize-ignorelist=x",
                           "-Wa,-adhln=x"}) {
    EXPECT_EQ(read(std::string(plain_compile) + word).why_not, word);
  }
  EXPECT_EQ(read(std::string(plain_compile) + "-D X=.incbin").why_not, "-D X=.incbin");
  EXPECT_EQ(read(std::string(plain_compile) + "-arch native").why_not, "-arch native");
}

TEST(CommandLine, takes_the_rest) {
  for (const char* word :
       {"-DX=-E", "-D -dc", "-I-keep", "-march=native", "-Xcompiler=-march=native", "-O2",
        "--threads=2", "-rdc=true", "--use_fast_math", "-U incbin", "-MT -E", "-g0",
        "--generate-code=arch=compute_80,code=[sm_80]"}) {
    EXPECT_EQ(read(std::string(plain_compile) + word).why_not, "") << word;
  }
  EXPECT_TRUE(read(std::string(plain_compile) + "-march=native").native);
}

TEST(CommandLine, knows_debug_information) {
  for (const char* word : {"-g", "-g2", "-ggdb", "-gdwarf-4", "-G", "-lineinfo", "-Xcompiler=-g",
                           "-Xcompiler=-O1,-g3", "-src-in-ptx"}) {
    EXPECT_TRUE(read(std::string(plain_compile) + word).debug) << word;
  }
  for (const char* word : {"-g0", "-gencode=arch=compute_80,code=sm_80", "-DX=-g", "-O3"}) {
    EXPECT_FALSE(read(std::string(plain_compile) + word).debug) << word;
  }
}

TEST(CommandLine, flags_of_the_environment) {
  bool debug = false;
  EXPECT_EQ(why_not_flags("-DX=1 -ftz=true", debug), "");
  EXPECT_FALSE(debug);
  EXPECT_EQ(why_not_flags("-lineinfo", debug), "");
  EXPECT_TRUE(debug);
  EXPECT_EQ(why_not_flags("-I\"a b\"", debug),
            "quoted places in NVCC_PREPEND_FLAGS or NVCC_APPEND_FLAGS");
  EXPECT_EQ(why_not_flags("-DX='1'", debug), "");
  for (const char* flag : {"-ccbin=x", "@x", "-Xcompiler=@x", "-MD", "-dc", "-optf=x", "--time=x",
                           "-Xcompiler=-Wp,x"}) {
    EXPECT_EQ(why_not_flags(flag, debug), std::string(flag) + " in the environment");
  }
}

class OptionFiles : public InDirectory {};

TEST_F(OptionFiles, stand_for_their_words) {
  write("f", "-I\"/a b\" -DX\n-O2 \"\" über\n");
  Words words;
  for (const Words& given :
       {Words{"-a", "--options-file", "f", "-z"}, Words{"-a", "-optf=f", "-z"}}) {
    words.clear();
    ASSERT_TRUE(expand_option_files(given, words));
    EXPECT_EQ(words, Words({"-a", "-I/a b", "-DX", "-O2", "", "über", "-z"}));
  }
}

TEST_F(OptionFiles, are_refused_where_they_are_more_than_words) {
  int number = 0;
  for (const char* text : {"$X", "`x`", "a\\ b", "'a'", "a;b", "\"a", "a*", "{a,b}", "#x", "~",
                           "a\tb", "--options-file g", "a>b"}) {
    std::string name = "f" + std::to_string(number++);
    write(name, text);
    Words words;
    EXPECT_FALSE(expand_option_files({"-optf", name}, words)) << text;
    EXPECT_EQ(read_command({"-optf=" + name}).why_not, "an option file");
  }
  Words words;
  EXPECT_FALSE(expand_option_files({"-optf", "f,g"}, words));
  EXPECT_FALSE(expand_option_files({"-optf"}, words));
}

TEST(Places, are_said_relative_to_the_build_tree) {
  Places places;
  places.up = "../";
  places.places = {{"/src/venv/torch", "CudaOps/links/torch"}, {"/src/build", ""}, {"/src", ".."}};
  std::string key;
  EXPECT_EQ(places.relative_words(
                {"-c", "/src/a.cu", "-I/src/venv/torch/include", "-isystem", "/src/inc",
                 "-isystem=/src/x", "-o", "/src/build/a.o", "-DX=/src", "-D", "/src", "-I/srcs",
                 "-MT", "/src/x", "-ccbin", "/src/g++", "/src/build", "-I/src"},
                key),
            Words({"-c", "../../a.cu", "-I../CudaOps/links/torch/include", "-isystem", "../../inc",
                   "-isystem=../../x", "-o", "../a.o", "-DX=/src", "-D", "/src", "-I/srcs", "-MT",
                   "/src/x", "-ccbin", "/src/g++", "../", "-I../.."}));
  EXPECT_EQ(key, "");
  EXPECT_EQ(places.relative_words({"-fmacro-prefix-map=/src/=", "-ffile-prefix-map=/other=x"}, key),
            Words({"-fmacro-prefix-map=../../=", "-ffile-prefix-map=/other=x"}));
  EXPECT_EQ(key, "|-fmacro-prefix-map=../../=|-ffile-prefix-map=/other=x");
  // At the top: nothing is left of the tree itself, and an empty name would match everything.
  places.up = "";
  EXPECT_EQ(places.relative_words({"-fmacro-prefix-map=/src/build/=", "/src/build"}, key),
            Words({"."}));
}

TEST(Text, matches_like_a_shell) {
  EXPECT_TRUE(matches("*[=,]@*", "-Xcompiler=@f"));
  EXPECT_TRUE(matches("--device-[cw]", "--device-c"));
  EXPECT_FALSE(matches("--device-[cw]", "--device-x"));
  EXPECT_TRUE(matches("a*b*c", "aXbXbXc"));
  EXPECT_FALSE(matches("a*b*c", "aXbX"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_FALSE(matches("?", ""));
  EXPECT_TRUE(matches("-g[0-9]*", "-g3"));
  EXPECT_FALSE(matches("-g[0-9]*", "-gx"));
  EXPECT_TRUE(matches("*code=[[]*lto_*", "code=[sm_90,lto_90]"));
  EXPECT_TRUE(matches_any("-a* *b -c", "xb"));
  EXPECT_TRUE(matches_any("-a* *b -c", "-c"));
  EXPECT_FALSE(matches_any("-a* *b -c", "*b -c"));
  EXPECT_FALSE(matches_any("-a* *b -c", ""));
}

TEST(CommandLine, empty_build_type_and_release_have_the_same_words) {
  struct {
    const char *empty, *release;
  } pairs[] = {
      {"-DA=1 -DNDEBUG -Iinc -isystem sys -fPIC -std=gnu++17 -O3 -c a.cpp",
       "-DA=1 -Iinc -isystem sys -O3 -DNDEBUG -fPIC -std=gnu++17 -c a.cpp"},
      {"-forward-unknown-to-host-compiler -ccbin=g++ -DNDEBUG -DB --generate-code=x -O3 -c a.cu",
       "-forward-unknown-to-host-compiler -ccbin=g++ -DB -O3 -DNDEBUG --generate-code=x -c a.cu"},
      {"-DNDEBUG -O3 -c a.cpp", "-O3 -DNDEBUG -c a.cpp"},
      {"-DA -D B -DNDEBUG -fPIC -O3 -c a.cpp", "-DA -D B -O3 -DNDEBUG -fPIC -c a.cpp"},
  };
  for (const auto& pair : pairs) {
    const Words release = split_blanks(pair.release);
    EXPECT_EQ(with_build_type_in_place(split_blanks(pair.empty)), release) << pair.empty;
    EXPECT_EQ(with_build_type_in_place(release), release) << pair.release;
  }
}

TEST(CommandLine, build_types_words_stay_where_their_order_counts_or_they_are_values) {
  for (const char* words :
       {"-Iinc -DNDEBUG -O2 -O3 -c a.cpp", "-Iinc -UNDEBUG -O3 -DNDEBUG -c a.cpp",
        "-fPIC -DNDEBUG -O3 -DNDEBUG=2 -c a.cpp", "-fPIC -DNDEBUG -DNDEBUG -O3", "-fPIC -O3",
        "-fPIC -DNDEBUG", "-fPIC -DNDEBUG -Xptxas -O3 -c a.cu",
        "-fPIC -DNDEBUG -ptxas-options -O3 -c a.cu", "-DNDEBUG -fPIC -O 3 -c a.cu",
        "-fPIC -O3 -D NDEBUG -c a.cpp", "-fno-vectorize -O3 -DNDEBUG -c a.cpp",
        "-ffast-math -Ofast -DNDEBUG -c a.cpp"}) {
    EXPECT_EQ(with_build_type_in_place(split_blanks(words)), split_blanks(words)) << words;
  }
}

}  // namespace
}  // namespace cudaops
