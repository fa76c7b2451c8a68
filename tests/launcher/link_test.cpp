// SPDX-License-Identifier: Apache-2.0

#include "link.h"

#include "test_directory.h"

namespace cudaops {
namespace {

TEST(Link, any_linker) {
  unset_env("LD_RUN_PATH");
  const Words plain = {"-fPIC",
                       "-O3",
                       "-shared",
                       "-Wl,-soname,liba.so",
                       "-o",
                       "liba.so",
                       "a.cpp.o",
                       "-L/x",
                       "/x/libtorch_cpu.so",
                       "libb.a",
                       "-lc10",
                       "libc.so.1",
                       "-Wl,--exclude-libs,a.a:b.a"};
  EXPECT_TRUE(any_linker(plain));
  for (const char* word :
       {"-fuse-ld=mold", "-Wl,-Map=a.map", "-Wl,-T,script", "script.ld", "-flto", "libc.so.x",
        "-Wl,-rpath,/x,--version-script=a", "-Wl,--build-id=sha1,--version-script=a", "@words"}) {
    Words words = plain;
    words.push_back(word);
    EXPECT_FALSE(any_linker(words)) << word;
  }
  set_env("LD_RUN_PATH", "/x");
  EXPECT_FALSE(any_linker(plain));
  unset_env("LD_RUN_PATH");
}

TEST(Link, advice_names_the_library_of_what_is_missing) {
  const std::string source =
      "Fix: add the source that defines it (a .cpp that calls a CUDA launcher belongs to "
      "CUDA_SOURCES),\n     or the library: target_link_libraries(<target> PRIVATE <library>)";
  const std::string libraries = "Fix: target_link_libraries(<target> PRIVATE";
  EXPECT_EQ(advice_for("a.o: undefined reference to `mine(int)'"), source);
  EXPECT_EQ(advice_for("a.o: undefined reference to `cublasLtMatmul'\n"
                       "ld.lld: error: undefined symbol: cublasCreate_v2\n"
                       "a.o: undefined reference to `cuLaunchKernel@v'"),
            libraries + " CudaOps::cublas CudaOps::cublasLt CudaOps::cuda_driver)");
  EXPECT_EQ(advice_for("a.o: undefined reference to `cudaEventQuery'"),
            libraries + " CudaOps::cudart)");
  EXPECT_EQ(advice_for("a.o: undefined reference to 'GOMP_parallel'\n"
                       "a.o: undefined reference to 'cuFileOpen'"),
            libraries + " CudaOps::openmp)\n" + source);
}

// Commands that stand for a linker: what they are given, and what they make.
class Linked : public InDirectory {
 protected:
  void SetUp() override {
    InDirectory::SetUp();
    // Fails where the object asks for more than there is.
    write_script("ld",
                 "echo \"$*\" >>calls\nwhile [ $# -gt 0 ]; do [ \"$1\" = -o ] && out=$2; shift; "
                 "done\n[ ! -e broken ] || { echo \"undefined reference to 'f'\" >&2; exit 1; }\n"
                 "echo made >\"$out\"\n");
    write("torch/libtorch_cpu.so", "torch");
    write("stubs/libtorch_cpu.so", "stub");
    write("stubs/linker", "gold\n");
    settings_.add("link_step", "1");
    settings_.add("stubs", "stubs");
    settings_.add("open", "1");
    settings_.add("uses_python", "may");
    stamp();
  }
  void stamp() {
    struct stat about;
    ASSERT_EQ(stat("torch/libtorch_cpu.so", &about), 0);
    write("stubs/stamp", std::to_string(about.st_size) + " " +
                             std::to_string(about.st_mtim.tv_sec) + " torch/libtorch_cpu.so\n");
  }
  const Words command_ = {"./ld", "-shared", "-o", "a.so", "a.o", "torch/libtorch_cpu.so"};
  Settings settings_;
};

TEST_F(Linked, against_the_stub_while_it_is_of_this_torch) {
  EXPECT_EQ(run_link(settings_, command_).status, 0);
  EXPECT_EQ(content("calls"), "-shared -o a.so a.o stubs/libtorch_cpu.so -fuse-ld=gold\n");
  write("torch/libtorch_cpu.so", "another torch");
  unlink("calls");
  EXPECT_EQ(run_link(settings_, command_).status, 0);
  EXPECT_EQ(content("calls"), "-shared -o a.so a.o torch/libtorch_cpu.so\n");
}

TEST_F(Linked, what_fails_is_linked_as_it_was_given_and_leaves_nothing) {
  write("broken", "");
  write("a.so", "of an earlier link");
  EXPECT_EQ(run_link(settings_, command_).status, 1);
  EXPECT_EQ(
      content("calls"),
      "-shared -o a.so a.o stubs/libtorch_cpu.so -fuse-ld=gold\n"
      "-shared -o a.so a.o stubs/libtorch_cpu.so\n-shared -o a.so a.o torch/libtorch_cpu.so\n");
  EXPECT_FALSE(exists("a.so"));
}

TEST_F(Linked, a_kernel_that_another_object_has_for_itself_is_named) {
  write_script("ld",
               "echo \"a.o: undefined reference to \\`void k<int>(int*)'\" >&2\n"
               "case \"$*\" in *ignore-all*) echo \"hidden symbol \\`_Z1kIiEvPT_' isn't "
               "defined\" >&2 ;; esac\nexit 1\n");
  settings_.add("python_stub", "python.so");
  write("python.so", "");
  const Words command = {"./ld", "-shared", "-o", "a.so", "a.o", "k.o"};
  for (const bool is_there : {false, true}) {
    write("k.o", is_there ? "\177ELF __device_stub__Z1kIiEvPT_\0" : "\177ELF _Z1kIiEvPT_");
    testing::internal::CaptureStderr();
    EXPECT_EQ(run_link(settings_, command).status, 1);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(holds(said, "\nFix: a __global__ template"), is_there) << said;
  }
}

}  // namespace
}  // namespace cudaops
