// SPDX-License-Identifier: Apache-2.0

#include "header_search.h"

#include "test_directory.h"

namespace cudaops {
namespace {

class Headers : public InDirectory {
 protected:
  void SetUp() override {
    InDirectory::SetUp();
    trees_.source = directory_ + "/src/";
    trees_.build = directory_ + "/build/";
    trees_.from = "../src/";
    trees_.standard = {"/usr/include/c++/12", "/usr/local/include", "/usr/include"};
    trees_.absent = {"flat_map", "experimental/simd"};
    write("build/x", "");
    ASSERT_EQ(chdir("build"), 0);
  }
  // As a compile in the build tree says them.
  IncludeDirectories directories(const std::string& words, bool cuda = false) {
    return IncludeDirectories::of(split_blanks(words), cuda);
  }
  Words shadows(const std::string& words, const Words& names, bool cuda = false) {
    IncludeDirectories all = directories(words, cuda);
    HeaderSearch search(trees_, all, names);
    Words found = search.shadows();
    for (std::string& path : found) {
      if (begins(path, directory_)) path.erase(0, directory_.size() + 1);
    }
    return found;
  }
  Trees trees_;
};

TEST_F(Headers, a_file_in_an_earlier_directory) {
  write("../src/a.cpp", "");
  write("../src/two/v.h", "");
  const Words names = {"../src/a.cpp", "../src/two/v.h"};
  EXPECT_EQ(shadows("-I../src/one -I../src/two", names), Words());
  write("../src/one/v.h", "");
  EXPECT_EQ(shadows("-I../src/one -I../src/two", names), Words({"src/one/v.h"}));
  // Behind it: not found before.
  EXPECT_EQ(shadows("-I../src/two -I../src/one", names), Words());
}

// Debug information belongs to its place: such a compile names torch itself, not the links to it.
TEST_F(Headers, torch_by_its_own_name) {
  Settings settings;
  for (const char* word : {"source", "build"})
    settings.add(word, directory_ + "/" + (*word == 's' ? "src" : "build"));
  settings.add("source_name", "CudaOps/links/source");
  settings.add("absent", "pybind11/gil_simple.h");
  for (const char* word : {"src", "src/venv/torch/include", "toolkit"}) {
    settings.add("place", directory_ + "/" + word);
    settings.add("place_name",
                 std::string("CudaOps/links/") + (std::string(word) == "src" ? "source" : word));
  }
  trees_ = Trees::of(settings);
  EXPECT_EQ(trees_.source, directory_ + "/src/");
  write("../src/venv/torch/include/pybind11/gil_simple.h", "");
  write("../src/one/a.h", "");
  const std::string words =
      "-I" + directory_ + "/src/one -I" + directory_ + "/src/venv/torch/include";
  EXPECT_EQ(shadows(words, {directory_ + "/src/a.cpp"}), Words());
  HeaderSearch search(trees_, {}, {});
  EXPECT_FALSE(search.own(directory_ + "/src/venv/torch/include"));
  EXPECT_FALSE(search.own(directory_ + "/toolkit/include/cuda.h"));
  EXPECT_TRUE(search.own(directory_ + "/src/venv/mine.h"));
  write("../src/one/pybind11/gil_simple.h", "");
  EXPECT_EQ(shadows(words, {directory_ + "/src/a.cpp"}), Words({"src/one/pybind11/gil_simple.h"}));
  // A project in a toolkit's directory is a project.
  trees_.others = {directory_ + "/"};
  EXPECT_TRUE(HeaderSearch(trees_, {}, {}).own(directory_ + "/src/a.h"));
}

TEST_F(Headers, a_file_beside_the_source_or_a_header) {
  write("../src/two/v.h", "");
  write("../src/v.h", "");
  EXPECT_EQ(shadows("-I../src/two", {"../src/a.cpp", "../src/two/v.h"}), Words({"src/v.h"}));
}

TEST_F(Headers, a_directory_of_that_name_is_none) {
  write("../src/one/v.h/x", "");
  write("../src/two/v.h", "");
  EXPECT_EQ(shadows("-I../src/one -I../src/two", {"../src/a.cpp", "../src/two/v.h"}), Words());
}

TEST_F(Headers, names_with_directories) {
  write("../src/two/sub/v.h", "");
  write("../src/one/sub/other.h", "");
  const Words names = {"../src/a.cpp", "../src/two/sub/v.h"};
  EXPECT_EQ(shadows("-I../src/one -I../src/two", names), Words());
  write("../src/one/sub/v.h", "");
  EXPECT_EQ(shadows("-I../src/one -I../src/two", names), Words({"src/one/sub/v.h"}));
}

TEST_F(Headers, the_compilers_and_the_toolkits) {
  write("../src/one/vector", "");
  write("../src/one/cuda_fp16.h", "");
  write("../src/one/cub/cub.cuh", "");
  EXPECT_EQ(shadows("-I../src/one",
                    {"../src/a.cu", "/usr/include/c++/12/vector", "/usr/include/c++/12/bits/x.h"}),
            Words({"src/one/vector"}));
  EXPECT_EQ(shadows("-I../src/one",
                    {"../src/a.cu", "/cuda/bin/../targets/x86_64-linux/include/cuda_fp16.h"}),
            Words({"src/one/cuda_fp16.h"}));
  EXPECT_EQ(shadows("-I../src/one", {"../src/a.cu", "/cuda/bin/../include/cccl/cub/cub.cuh"}),
            Words({"src/one/cub/cub.cuh"}));
  // -isystem comes behind the toolkit's own, but not behind cccl.
  EXPECT_EQ(shadows("-isystem ../src/one", {"../src/a.cu", "/cuda/bin/../include/cuda_fp16.h"}),
            Words());
  EXPECT_EQ(
      shadows("-isystem ../src/one", {"../src/a.cu", "/cuda/bin/../include/cccl/cub/cub.cuh"}),
      Words({"src/one/cub/cub.cuh"}));
}

TEST_F(Headers, directories_of_others_hold_nothing_of_the_projects) {
  // The compiler's directories are not looked through.
  EXPECT_EQ(shadows("-I/usr/include", {"../src/a.cpp", "/usr/include/c++/12/vector"}), Words());
  IncludeDirectories none;
  HeaderSearch search(trees_, none, {"../src/a.cpp"});
  EXPECT_TRUE(search.own(directory_ + "/src/a.h"));
  EXPECT_TRUE(search.own(directory_ + "/src"));
  EXPECT_TRUE(search.own("generated.h"));
  EXPECT_FALSE(search.own("/usr/include/stdio.h"));
  EXPECT_FALSE(search.own("CudaOps/links/torch/include/x.h"));
  EXPECT_FALSE(search.own("../CudaOps/links/torch/include/x.h"));
  trees_.system = "/opt/rocm/";
  EXPECT_FALSE(search.own("/opt/rocm/include/hip/hip_runtime.h"));
}

TEST_F(Headers, what_the_compiler_lacks) {
  EXPECT_EQ(shadows("-I../src/one", {"../src/a.cpp"}), Words());
  write("../src/one/flat_map", "");
  write("../src/one/experimental/simd", "");
  EXPECT_EQ(shadows("-I../src/one", {"../src/a.cpp"}),
            Words({"src/one/flat_map", "src/one/experimental/simd"}));
  // It was read: nothing new.
  EXPECT_EQ(shadows("-I../src/one", {"../src/a.cpp", "../src/one/flat_map"}),
            Words({"src/one/experimental/simd"}));
}

TEST_F(Headers, where_the_compiler_runs) {
  write("v.h", "");
  write("../src/two/v.h", "");
  const Words names = {"../src/a.cu", "../src/two/v.h"};
  EXPECT_EQ(shadows("-I../src/two", names), Words());
  EXPECT_EQ(shadows("-I../src/two -include x.h", names), Words({"v.h"}));
  EXPECT_EQ(shadows("-I../src/two", names, true), Words({"v.h"}));
}

TEST_F(Headers, a_directory_that_may_not_be_listed) {
  write("../src/one/v.h", "");
  write("../src/two/v.h", "");
  chmod("../src/one", 0111);
  EXPECT_EQ(shadows("-I../src/one -I../src/two", {"../src/a.cpp", "../src/two/v.h"}),
            Words({"src/one/v.h"}));
  chmod("../src/one", 0755);
}

TEST_F(Headers, words_of_include_directories) {
  IncludeDirectories all = directories(
      "-Ia,b/ -I c -isystem d -isystem=e -isystemf --include-path=g -iquoteh -iquote i -Xcompiler "
      "-Ij,-isystem,k -Xcompiler=-iquote,l");
  EXPECT_EQ(all.include, Words({"a,b", "a", "b", "c", "g"}));
  EXPECT_EQ(all.system, Words({"d", "e", "f"}));
  EXPECT_EQ(all.quote, Words({"h", "i", "l"}));
  EXPECT_EQ(all.include_through, Words({"j"}));
  EXPECT_EQ(all.system_through, Words({"k"}));
  EXPECT_FALSE(all.here);
  Settings settings;
  all.write(settings);
  IncludeDirectories again;
  again.read(settings);
  EXPECT_EQ(again.include, all.include);
  EXPECT_EQ(again.system_through, all.system_through);
}

TEST_F(Headers, directories_of_the_environment) {
  set_env("CPATH", "a::b/");
  set_env("CPLUS_INCLUDE_PATH", "c");
  set_env("NVCC_PREPEND_FLAGS", "-Id");
  set_env("NVCC_APPEND_FLAGS", "-Ie");
  IncludeDirectories all = directories("-If", true);
  EXPECT_EQ(all.path, Words({"a", ".", "b"}));
  EXPECT_EQ(all.cplus_path, Words({"c"}));
  EXPECT_EQ(all.include, Words({"d", "f", "e"}));
  for (const char* name :
       {"CPATH", "CPLUS_INCLUDE_PATH", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"})
    unset_env(name);
}

TEST(Plain, leaves_out_detours) {
  EXPECT_EQ(plain("/a/b/../c"), "/a/c");
  EXPECT_EQ(plain("/a/b/../../c"), "/c");
  EXPECT_EQ(plain("/cuda/bin/../targets/x/include/a.h"), "/cuda/targets/x/include/a.h");
  EXPECT_EQ(plain("a/../b"), "a/../b");
  EXPECT_EQ(plain("/a..b/c"), "/a..b/c");
}

}  // namespace
}  // namespace cudaops
