# SPDX-License-Identifier: Apache-2.0
"""The translator's tool: what it makes of a file, which headers it follows, what it refuses, many of it at once.

CUDAOPS_TEST_TORCHES: pythons, separated by colons, whose torch translates; default: this one. Without a torch that has
its translator, these tests are skipped; hipify-perl is a script here that knows a few words.
"""

import glob
import os
import pathlib
import re
import resource
import shutil
import stat
import subprocess
import sys
import textwrap
import time

import pytest
from conftest import PACKAGE, REPOSITORY, RUN

TOOL = [*map(str, RUN), "hipify"]
FAKE = REPOSITORY / "tests" / "fakes" / "hipify"


def torches():
    found = {}
    for python in os.environ.get("CUDAOPS_TEST_TORCHES", sys.executable).split(":"):
        bin_dir = os.path.dirname(python) if os.path.isabs(python) else ""
        for place in glob.glob(bin_dir + "/../lib/python3*/site-packages/torch/utils/hipify"):
            version = (pathlib.Path(place).parents[1] / "version.py").read_text()
            found[re.search(r"__version__ = '(\d+\.\d+)", version).group(1)] = os.path.normpath(place)
    return found


TORCHES = torches()
PERL = """\
    #!%s
    import re, sys
    text = open(sys.argv[1]).read()
    text = re.sub(r"\\bcuda(Stream_t|Error_t|Malloc|GetLastError)\\b", r"hip\\1", text)
    text = text.replace("#include <cuda_runtime.h>", "#include <hip/hip_runtime.h>")
    if "__global__" in text and "hip_runtime.h" not in text:
        sys.stdout.write('#include "hip/hip_runtime.h"\\n')
    sys.stdout.write(text)
"""


class Project:
    """A source tree, its settings and its mirror."""

    def __init__(self, root, kind, translator):
        self.root = root
        self.source_dir = root / "src"
        self.source_dir.mkdir()
        self.mirror = root / "m"
        self.kind, self.translator = kind, translator
        self.roots = [("", self.source_dir)]
        self.outside, self.includes, self.own, self.more = [], [], [], []

    def write(self, name, text, encoding="utf-8"):
        path = self.source_dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(textwrap.dedent(text).encode(encoding))
        return path

    def settings(self):
        lines = ["mirror\t%s" % self.mirror, "translator\t%s\t%s" % (self.kind, self.translator)]
        lines += ["cache\t%s" % (self.root / "cache" / "hipify")]
        lines += ["root\t%s\t%s" % pair for pair in self.roots]
        lines += ["outside\t%s" % directory for directory in self.outside]
        lines += ["include\t%s" % (self.source_dir / directory) for directory in self.includes]
        lines += ["own\t%s\t%s" % pair for pair in self.own]
        lines += ["\t".join(map(str, fields)) for fields in self.more]
        path = self.root / "settings"
        text = "\n".join(lines) + "\n"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
        return path

    def output(self, name):
        return self.mirror / name

    def command(self, name, python=sys.executable):
        source = os.path.normpath(self.source_dir / name)
        arguments = [self.settings(), source, self.output(name), self.mirror / ".hipify" / "depfiles" / (name + ".d")]
        return [python, *TOOL, *map(str, arguments)]

    def run(self, name):
        done = subprocess.run(self.command(name), capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def translate(self, name, stderr=""):
        assert self.run(name) == (0, "", stderr)
        return self.output(name).read_text()

    def refuse(self, name, text):
        """It ends with this text and exit code 1, and leaves no translation of the source."""
        code, output, error = self.run(name)
        expected = textwrap.dedent(text).replace("<src>", str(self.source_dir)).replace("<root>", str(self.root))
        assert (code, output, error) == (1, "", expected)
        assert not self.output(name).exists()
        assert not list(self.mirror.glob(".hipify/tmp.*"))

    def tree(self):
        files = [path for path in self.mirror.rglob("*") if path.is_file() and ".hipify" not in path.parts]
        return {str(path.relative_to(self.mirror)): path.read_bytes() for path in files}

    def times(self):
        return {name: os.stat(self.mirror / name).st_mtime_ns for name in self.tree()}


def fake_perl(directory, text=PERL):
    path = directory / "hipify-perl"
    path.write_text(textwrap.dedent(text % sys.executable if "%s" in text else text))
    path.chmod(0o755)
    return path


@pytest.fixture(params=[*TORCHES, "perl"])
def project(request, tmp_path):
    if request.param == "perl":
        return Project(tmp_path, "perl", fake_perl(tmp_path))
    return Project(tmp_path, "torch", TORCHES[request.param])


@pytest.fixture
def one(tmp_path):
    """A project with the translator that is quickest to start."""
    return Project(tmp_path, "torch", FAKE)


CURES = """\
 Fix: -DCUDAOPS_HIPIFY=<python, or site-packages, of a torch 2.9 or later>
      or -DCUDAOPS_HIPIFY=<hipify-perl>
"""

# What a file becomes ------------------------------------------------------------------------------------------------


def test_words_comments_strings(project):
    project.write(
        "k.cu",
        """\
        cudaError_t first();  // cudaMalloc, don't
        /* cudaMalloc
           #include "nothing.h" */
        const char* a = "cudaMalloc \\" <<<";
        const char* b = R"x(cudaMalloc " )x" "cudaMalloc";
        char c = '"'; int n = 1'000'000; char d = '\\'';
        #if 0
        it's not closed: "
        #endif
        cudaError_t last()""",
    )
    assert project.translate("k.cu") == textwrap.dedent(
        """\
        #include "hip/hip_runtime.h"
        #line 1
        hipError_t first();  // cudaMalloc, don't
        /* cudaMalloc
           #include "nothing.h" */
        const char* a = "cudaMalloc \\" <<<";
        const char* b = R"x(cudaMalloc " )x" "cudaMalloc";
        char c = '"'; int n = 1'000'000; char d = '\\'';
        #if 0
        it's not closed: "
        #endif
        hipError_t last()"""
    )


def test_nothing_to_translate(project):
    text = "int f() { return 1; }\n"
    for name in ("a.cpp", "a.hip", "a.c"):
        project.write(name, text)
        assert project.translate(name) == text
    project.write("a.cu", text)
    assert project.translate("a.cu") == '#include "hip/hip_runtime.h"\n#line 1\n' + text
    project.write("empty.cpp", "")
    assert project.translate("empty.cpp") == ""


def test_line_ends_and_mark(project):
    path = project.write("k.cpp", "")
    path.write_bytes(b"\xef\xbb\xbf// 1\r\ncudaError_t a();\r\n__global__ void k();\n// last\r")
    project.translate("k.cpp")
    expected = b'\xef\xbb\xbf#include "hip/hip_runtime.h"\n#line 1\n// 1\r\nhipError_t a();\r\n__global__ void k();\n// last\r'
    assert project.output("k.cpp").read_bytes() == expected


LAUNCHES = """\
template <class T, bool B> __global__ void k(T* x) { x[0] = 1; }
template <class T> struct A {};
template <class T> struct B {};
template <class T> __global__ void kk(int* x) { x[0] = 1; }
#define LAUNCH(K, ...) K<<<1, 1, 0, 0>>>(__VA_ARGS__)
#define LAUNCH_LINES(K, x) \\
  K<<<1, 1>>> \\
  (x)
void run(float* x, int* y, cudaStream_t s) {
  k<float,(4>2)><<<dim3(1), 64, 0, s>>>(x);
  kk<A<B<int>>><<<1, 2>>>(y);
  void (*kernels[])(int*) = {kk<int>, kk<float>};
  int i = 0;
  kernels[i]<<<1, 1, 0, s>>>(y);
  LAUNCH(kk<char>, y);
  LAUNCH_LINES(kk<short>, y);
  (k<float, true>)<<<1, 1>>>(x);
}
"""


def test_launches(project, build):
    """Each of them breaks torch's own rewriting of launches."""
    project.write("k.cu", LAUNCHES)
    text = project.translate("k.cu")
    assert text == '#include "hip/hip_runtime.h"\n#line 1\n' + LAUNCHES.replace("cudaStream_t", "hipStream_t")
    compile_hip(build, project.output("k.cu"), ())


def compile_hip(build, path, options=("-fsyntax-only",)):
    command = [*build.hip_command(["gfx90a"]), "-std=c++17", "-x", "hip", "-c", *options, str(path), "-o", os.devnull]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not TORCHES, reason="no torch with its translator")
@pytest.mark.parametrize("version", TORCHES)
class TestTorch:
    """What torch's tables hold, and what of it is left out."""

    @pytest.fixture
    def torch(self, tmp_path, version):
        return Project(tmp_path, "torch", TORCHES[version])

    def test_names_of_every_kind(self, torch):
        torch.write(
            "k.cu",
            """\
            #include <cub/block/block_reduce.cuh>
            #  include  <cuda_fp16.h>
            #include<cooperative_groups.h>
            #include <driver_types.h>
            #define RUNTIME "cuda_runtime.h"
            #include RUNTIME
            #if __has_include(<curand_kernel.h>)
            #endif
            using R = cub::BlockReduce<float, 64>;
            """,
        )
        assert torch.translate("k.cu") == textwrap.dedent(
            """\
            #include "hip/hip_runtime.h"
            #line 1
            #include <hipcub/hipcub.hpp>
            #  include  <hip/hip_fp16.h>
            #include<hip/hip_cooperative_groups.h>
            #include <hip/driver_types.h>
            #define RUNTIME "hip/hip_runtime.h"
            #include RUNTIME
            #if __has_include(<hiprand/hiprand_kernel.h>)
            #endif
            using R = hipcub::BlockReduce<float, 64>;
            """
        )

    def test_names_of_torch(self, torch, version):
        """torch 2.9 and 2.10 have HIP names of their own, later ones keep CUDA's. (pytorch#174087)"""
        old = tuple(map(int, version.split("."))) < (2, 11)
        torch.write(
            "op.cpp",
            """\
            #include <ATen/cuda/CUDAContext.h>
            #include <c10/cuda/CUDAStream.h>
            #include <c10/cuda/CUDAGuard.h>
            void f(c10::Device d) {
              c10::cuda::CUDAGuard guard(d);
              auto s = at::cuda::getCurrentCUDAStream();
              auto old = c10::hip::getCurrentHIPStreamMasqueradingAsCUDA();
            }
            STABLE_TORCH_LIBRARY_IMPL(ns, CUDA, m) { m.impl("cudaMalloc", &f); }
            """,
        )
        text = torch.translate("op.cpp")
        assert "#include <ATen/hip/HIPContext.h>\n" in text
        assert "auto old = c10::hip::getCurrentHIPStreamMasqueradingAsCUDA();" in text
        assert 'STABLE_TORCH_LIBRARY_IMPL(ns, CUDA, m) { m.impl("cudaMalloc", &f); }' in text
        if old:
            assert "#include <ATen/hip/impl/HIPStreamMasqueradingAsCUDA.h>" in text
            assert "at::hip::getCurrentHIPStreamMasqueradingAsCUDA();" in text
            assert "c10::hip::HIPGuardMasqueradingAsCUDA guard(d);" in text
        else:
            assert "#include <c10/hip/HIPStream.h>\n#include <c10/hip/HIPGuard.h>\n" in text
            assert "at::cuda::getCurrentCUDAStream();" in text
            assert "c10::cuda::CUDAGuard guard(d);" in text

    def test_tables_that_are_not_for_us(self, torch):
        """Torch's translator makes hip/GpuDefs, ::max, hipLibraryMajorVersion and 64 blocks of these."""
        text = """\
        #define MAX_NUM_BLOCKS 200
        #if MAJOR_VERSION > 1
        #endif
        namespace mixed_utils { struct GpuDefs {}; }
        #define HIP_CHECK(x) x
        long a(long x) { return std::max(x, 1L) + ::std::floor(1.5) + mystd::exp(2); }
        """
        torch.write("k.cuh", text)
        torch.write("k.cpp", '#include "k.cuh"\n')
        torch.translate("k.cpp")
        assert torch.output("k.cuh").read_text() == textwrap.dedent(text)
        torch.write("p.cpp", "libraryPropertyType p = MAJOR_VERSION;\n")
        assert torch.translate("p.cpp") == "hipLibraryPropertyType_t p = hipLibraryMajorVersion;\n"

    def test_same_as_torchs_own_pattern(self, torch, version):
        """Our table finds what the pattern of torch's module finds, in a text of all its words."""
        script = """
import sys, types, warnings
warnings.simplefilter("ignore")
package = types.ModuleType("torchs"); package.__path__ = [sys.argv[1]]; sys.modules["torchs"] = package
from torchs import hipify_python as h
sys.path.insert(0, sys.argv[2])
from cudaops.hipify import translators
words = h.PYTORCH_MAP
text = "\\n".join(sep + word + end for word in words for sep, end in (("", ""), ("x", ""), ("(", "_"), (" ", "(")))
text = "\\n" + text + " libraryPropertyType \\n"
theirs = h.RE_PYTORCH_PREPROCESSOR.sub(lambda m: words[m.group(0)], text)
table = translators.Table(translators.Table.build(words))
ours = table.sub(None, text)
for a, b in zip(theirs.split("\\n"), ours.split("\\n")):
    if a != b and "hip/hip/" not in a:
        print(a, "|", b)
print(len(words))
"""
        command = [sys.executable, "-B", "-c", script, TORCHES[version], str(PACKAGE.parent)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert re.fullmatch(r"\d{4}\n", done.stdout), done.stdout

    def test_reference_library(self, torch):
        """Every kernel: translated twice it is the same, and all of it costs little. The preset hip compiles it."""
        shutil.rmtree(torch.source_dir)
        shutil.copytree(REPOSITORY / "kernels", torch.source_dir)
        torch.includes = ["."]
        sources = sorted(
            str(path.relative_to(torch.source_dir))
            for pattern in ("*/*.cu", "*/*_torch_cuda.cpp", "*/*_cpu.cpp")
            for path in torch.source_dir.glob(pattern)
        )
        assert len(sources) >= 9
        seconds = {}
        for name in sources:
            before = cpu_seconds()
            subprocess.run([sys.executable, "-I", "-S", "-B", "-c", "pass"], check=True)
            start = cpu_seconds()
            torch.translate(name)
            seconds[name] = cpu_seconds() - start - (start - before)
        print({name: round(value, 3) for name, value in seconds.items()})
        # The first one learns torch's tables. Twice what all take: a busy machine takes half as much again, or more.
        assert sum(seconds.values()) <= 0.5 + 0.2 * len(sources)
        assert sorted(seconds.values())[-2] <= 0.6

        once = torch.tree()
        (torch.root / "again").mkdir()
        again = Project(torch.root / "again", "torch", torch.translator)
        shutil.rmtree(again.source_dir)
        shutil.copytree(torch.mirror, again.source_dir, ignore=shutil.ignore_patterns(".hipify"))
        again.includes = ["."]
        for name in sources:
            again.translate(name)
        assert again.tree() == once
        assert all(str(torch.root).encode() not in text for text in once.values())


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def test_architecture_conditions(one):
    path = one.write(
        "k.cu",
        """\
        #if __CUDA_ARCH__ >= 700
        #endif
        #ifdef __CUDA_ARCH__
        #endif
        #if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
        #endif
        #if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
        #endif
        #ifdef USE_ROCM
        #elif __CUDA_ARCH__ >= 800
        #endif
        #if defined(__CUDA_ARCH__) && \\
            !defined(X)
        #else
        #endif
        // #if __CUDA_ARCH__
        """,
    )
    warning = (
        "%s:%d: warning: HIP's compiler doesn't define __CUDA_ARCH__.\n  found   %s\n"
        " Fix: add what holds for HIP: || defined(__HIP_DEVICE_COMPILE__), or && !defined(USE_ROCM)\n"
    )
    expected = [
        (1, "#if __CUDA_ARCH__ >= 700"),
        (3, "#ifdef __CUDA_ARCH__"),
        (12, "#if defined(__CUDA_ARCH__) && \\ !defined(X)"),
    ]
    one.translate("k.cu", "".join(warning % (path, *line) for line in expected))


def test_compiler_names_lines_of_the_source(one, build):
    one.write("k.cu", "__global__ void k() {}\n\n#error here\n")
    one.translate("k.cu")
    done = subprocess.run([*build.hip_command(["gfx90a"]), "-x", "hip", "-c", one.output("k.cu")], capture_output=True, text=True)
    assert re.search(r"k\.cu:3:2: error: here", done.stderr)


# Headers ------------------------------------------------------------------------------------------------------------


def test_headers_as_a_compiler_finds_them(project):
    project.includes = ["include", "other"]
    project.write(
        "a/k.cu",
        """\
        #include "beside.h"
        #include <proj/angled.cuh>
        #include "proj/quoted.h"
        #include "../up.h"
        # include "ATen/cuda/mine.h"   // the project's own
        #include <cuda_runtime.h>
        #define IMPL "impl.inc"
        #include IMPL
        #if __has_include("optional.h")
        #endif
        /* */ #include "after_comment.h"
        // #include "in_comment.h"
        int not_first; #include "not_first.h"
        """,
    )
    for name in (
        "a/beside.h include/proj/angled.cuh include/proj/quoted.h up.h include/ATen/cuda/mine.h other/cuda_runtime.h "
        "a/impl.inc a/optional.h a/after_comment.h a/in_comment.h a/not_first.h include/proj/deep.h include/unused.h"
    ).split():
        project.write(name, "cudaError_t f();\n")
    project.write("include/proj/angled.cuh", '#include "deep.h"\n#include "angled.cuh"\n')
    text = project.translate("a/k.cu")
    original = (project.source_dir / "a/k.cu").read_text()
    assert text.replace('#include "hip/hip_runtime.h"\n#line 1\n', "") == original
    tree = project.tree()
    found = "up.h a/beside.h a/impl.inc a/optional.h a/after_comment.h include/proj/angled.cuh include/proj/quoted.h "
    found += "include/ATen/cuda/mine.h other/cuda_runtime.h include/proj/deep.h"
    assert sorted(tree) == sorted(["a/k.cu", *found.split()])
    assert tree["include/proj/deep.h"] == b"hipError_t f();\n"
    # The depfile holds the originals.
    depfile = (project.mirror / ".hipify/depfiles/a/k.cu.d").read_text()
    for name in found.split():
        assert " %s/%s" % (project.source_dir, name) in depfile
    assert str(project.mirror / "up.h") not in depfile


def test_macro_defined_after_its_use_and_elsewhere(one):
    one.includes = ["include"]
    one.write("k.cu", '#include "config.h"\n#include IMPL\n')
    one.write("config.h", "#define IMPL <impl/k.cuh>\n#define NAME \"cudaMalloc\"\n")
    one.write("include/impl/k.cuh", "cudaError_t f();\n")
    one.translate("k.cu")
    assert one.output("include/impl/k.cuh").read_text() == "hipError_t f();\n"
    assert one.output("config.h").read_text() == '#define IMPL <impl/k.cuh>\n#define NAME "cudaMalloc"\n'


def test_paths_that_would_lead_elsewhere_are_rewritten(one):
    """Includes that hold for the original's place, not for the mirror's."""
    generated = one.root / "build" / "deep"
    generated.mkdir(parents=True)
    one.roots.append((".generated", one.root / "build"))
    one.write("k.cuh", "cudaError_t f();\n")
    outside = one.root / "outside"
    outside.mkdir()
    (outside / "plain.h").write_text("")
    (generated / "g.cu").write_text(
        '#include "../../src/k.cuh"\n#include "%s"\n#include "../../outside/plain.h"\n' % (one.source_dir / "k.cuh")
    )
    output = one.mirror / ".generated" / "deep" / "g.cu"
    command = one.command("x")
    command[-3:-1] = [str(generated / "g.cu"), str(output)]
    subprocess.run(command, check=True)
    lines = output.read_text().splitlines()[2:]
    assert lines == ['#include "../../k.cuh"', '#include "../../k.cuh"', '#include "../../../outside/plain.h"']
    for line in lines:
        assert (output.parent / line.split('"')[1]).exists()


def test_include_next(one):
    one.includes = ["first", "second"]
    one.write("k.cu", "#include <x.h>\n")
    one.write("first/x.h", "#include_next <x.h>\n")
    one.write("second/x.h", "#include_next <x.h>\n")
    one.refuse(
        "k.cu",
        """\
        <src>/second/x.h:1: error: #include_next would lead from the translation to the file itself.
          found   <src>/second/x.h is translated
          wanted  a header of the project, or none after it
         Fix: SYSTEM for the include directory <src>/second: its headers are then used as they are
        """,
    )
    one.outside = [one.source_dir / "second"]
    one.refuse(
        "k.cu",
        """\
        <src>/first/x.h:1: error: #include_next would lead from the translation to the file itself.
          found   <src>/first/x.h is translated
          wanted  a header of the project, or none after it
         Fix: SYSTEM for the include directory <src>/first: its headers are then used as they are
        """,
    )
    one.outside.append(one.source_dir / "first")
    assert one.translate("k.cu").endswith("#include <x.h>\n")
    assert list(one.tree()) == ["k.cu"]


def test_directories_that_an_expression_gave(one):
    """Their mirrors are include directories below the first root only, and never where the name separates expressions."""
    built = one.root / "built"
    one.roots.append((".generated", built))
    one.more = [("base", one.source_dir)]
    for directory in ("plain", "inc", "a,b", built / "gen", "system", ""):
        one.more.append(("evaluated", "include", directory))
    one.more += [("evaluated", "system", "system"), ("imported", one.source_dir / "imported"), ("project", "plain")]
    one.more.append(("include", one.source_dir / "imported"))
    one.write("plain/plain.h", "cudaError_t plain();\n")
    one.write("inc/inc.h", "#include_next <comma.h>\n")
    one.write("a,b/comma.h", "cudaError_t comma();\n")
    one.write("../built/gen/made.h", "cudaError_t made();\n")
    one.write("system/system.h", "cudaError_t system_();\n")
    one.write("imported/imported.h", "cudaError_t imported();\n")
    names = ("plain", "inc", "made", "system", "imported")
    one.write("k.cu", "".join("#include <%s.h>\n" % name for name in names) + "#define MADE <made.h>\n")
    assert one.translate("k.cu").split("#line 1\n")[1] == (
        "#include <plain.h>\n#include <inc.h>\n#include \".generated/gen/made.h\"\n#include <system.h>\n"
        '#include <imported.h>\n#define MADE "%s/.generated/gen/made.h"\n' % one.mirror
    )
    assert one.output("inc/inc.h").read_text() == '#include "../a,b/comma.h"\n'
    assert sorted(one.tree()) == [".generated/gen/made.h", "a,b/comma.h", "inc/inc.h", "k.cu", "plain/plain.h"]
    # A compiler may warn of an include directory that isn't there.
    assert (one.mirror / "system").is_dir() and (one.mirror / "imported").is_dir()


def test_system_directories_are_searched_last(one):
    one.includes = ["system", "inc"]
    one.write("system/x.h", "#error\n")
    one.write("inc/x.h", "cudaError_t x();\n")
    one.write("k.cu", "#include <x.h>\n")
    one.more = [("system", one.source_dir / "system")]
    one.translate("k.cu")
    assert one.tree()["inc/x.h"] == b"hipError_t x();\n"
    # What the target itself names is the project's, whoever else calls it SYSTEM.
    one.more.append(("project", one.source_dir / "system"))
    code, _, error = one.run("k.cu")
    assert code == 1 and "x.h is found twice, with different content." in error


def test_macro_of_the_command_line(one):
    one.includes = ["inc"]
    one.more = [("define", 'A="a.h"'), ("define", "B=<b.h>"), ("define", "C=1"), ("define", "D=<none.h>")]
    for name in "ab":
        one.write("inc/%s.h" % name, "cudaError_t %s();\n" % name)
    one.write("k.cu", "#include A\n#include B\n#include D\n")
    assert one.translate("k.cu").endswith("#include A\n#include B\n#include D\n")
    assert sorted(one.tree()) == ["inc/a.h", "inc/b.h", "k.cu"]


def test_settings_of_two_languages(one):
    """A header that two languages include by the same directories is translated once."""
    one.includes = ["inc"]
    one.write("inc/x.h", "cudaError_t x();\n")
    for name in ("a.cu", "b.cpp"):
        one.write(name, "#include <x.h>\n")
    one.translate("a.cu")
    memo = next((one.mirror / ".hipify" / "memo").iterdir())
    before = os.stat(memo).st_ino
    first = one.settings()
    command = one.command("b.cpp")
    second = first.with_name("settings of C++")
    shutil.copy(first, second)
    command[command.index(str(first))] = str(second)
    assert subprocess.run(command, capture_output=True).returncode == 0
    assert os.stat(memo).st_ino == before
    # Of other directories it is not the same translation.
    second.write_text(first.read_text() + "include\t%s\n" % (one.source_dir / "more"))
    assert subprocess.run(command, capture_output=True).returncode == 0
    assert os.stat(memo).st_ino != before


def test_interface_source(one):
    one.write("k.cu", "")
    path = one.write("i.cu", "")
    one.more = [("evaluated", "interface_source", path)]
    one.refuse(
        "k.cu",
        """\
        <src>/i.cu: error: a .cu file among the INTERFACE sources of a linked library can't be translated.
          wanted  a source of the target itself
         Fix: target_sources(<target> PRIVATE <src>/i.cu), or an OBJECT library
        """,
    )


def test_outside_is_searched_and_left_alone(one):
    one.includes = ["include"]
    one.write("third_party/cuda_fp16.h", "cudaError_t f();\n")
    one.includes.append("third_party")
    one.outside = [one.source_dir / "third_party"]
    one.write("k.cpp", '#include <cuda_fp16.h>\n#include "third_party/cuda_fp16.h"\n')
    assert one.translate("k.cpp") == '#include <hip/hip_fp16.h>\n#include "../src/third_party/cuda_fp16.h"\n'
    assert list(one.tree()) == ["k.cpp"]


def test_own_directories_come_first(one):
    path = one.write("k.cu", "#include <x.h>\n")
    one.write("own/x.h", "")
    one.own = [(path, one.source_dir / "own")]
    one.translate("k.cu")
    assert sorted(one.tree()) == ["k.cu", "own/x.h"]


def test_header_found_twice(one):
    one.includes = ["a", "b"]
    one.write("k.cu", "\n#include <x.h>\n")
    one.write("a/x.h", "int a;\n")
    one.write("b/x.h", "int b;\n")
    one.refuse(
        "k.cu",
        """\
        <src>/k.cu:2: error: x.h is found twice, with different content.
          found   <src>/a/x.h
          found   <src>/b/x.h
         Fix: include it by a path that only one of them has: #include "<directory>/x.h"
              or take one of the two directories out of the include directories
        """,
    )
    one.outside = [one.source_dir / "a"]
    one.refuse(
        "k.cu",
        """\
        <src>/k.cu:2: error: x.h is found in the project and outside of it, with different content.
          found   <src>/a/x.h
          found   <src>/b/x.h
         Fix: include it by a path that only one of them has: #include "<directory>/x.h"
              or take one of the two directories out of the include directories
        """,
    )
    one.outside = []
    one.write("b/x.h", "int a;\n")
    one.translate("k.cu")
    # Beside the file that includes it: no accident.
    one.write("b/x.h", "int b;\n")
    one.write("b/k.cu", '#include "x.h"\n')
    one.translate("b/k.cu")


def test_deleted_and_moved_headers(one):
    one.includes = ["a", "b"]
    one.write("k.cu", '#include "x.h"\n#include "gone.h"\n')
    one.write("a/x.h", "int a;\n")
    one.write("a/gone.h", "\n")
    one.translate("k.cu")
    assert sorted(one.tree()) == ["a/gone.h", "a/x.h", "k.cu"]
    (one.source_dir / "a/x.h").unlink()
    (one.source_dir / "a/gone.h").unlink()
    one.write("b/x.h", "int b;\n")
    one.write("k.cu", '#include "x.h"\n')
    one.translate("k.cu")
    assert sorted(one.tree()) == ["b/x.h", "k.cu"]
    # Another source has left a header that is gone by now.
    one.write("other.cu", '#include "y.h"\n')
    one.write("a/y.h", "")
    one.translate("other.cu")
    (one.source_dir / "a/y.h").unlink()
    one.write("k.cu", "#include <y.h>\n")
    one.write("b/y.h", "")
    one.translate("k.cu")
    assert sorted(one.tree()) == ["b/x.h", "b/y.h", "k.cu", "other.cu"]


# When what is written -----------------------------------------------------------------------------------------------


def test_times_move_with_content_only(one):
    one.write("a.cu", '#include "x.h"\n')
    one.write("b.cu", '#include "x.h"\n')
    header = one.write("x.h", "cudaError_t f();\n")
    one.translate("a.cu")
    first = one.times()
    one.translate("b.cu")
    one.translate("a.cu")
    assert {name: one.times()[name] for name in first} == first
    # Touched: the source is written again, so that a build system finds it newer, the header isn't.
    time.sleep(0.02)
    os.utime(header)
    one.translate("a.cu")
    second = one.times()
    assert second["x.h"] == first["x.h"] and second["a.cu"] > first["a.cu"]
    time.sleep(0.02)
    header.write_text("cudaStream_t f();\n")
    one.translate("a.cu")
    third = one.times()
    assert third["x.h"] > second["x.h"] and third["a.cu"] > third["x.h"]
    one.translate("b.cu")
    assert one.times()["b.cu"] > third["x.h"] and one.times()["x.h"] == third["x.h"]


def test_source_that_another_includes(one):
    """Both commands write it: whichever comes second must not move its time."""
    one.write("all.cu", '#include "part.cu"\n')
    one.write("part.cu", "cudaError_t f();\n")
    one.translate("all.cu")
    first = one.times()
    one.translate("part.cu")
    one.translate("all.cu")
    assert one.times() == first


def test_many_at_once(one):
    """Many processes at once: the same bytes, no time moves, no half-written file is ever there. (vllm#43329)"""
    one.includes = ["include"]
    names = ["s%d.cu" % number for number in range(16)]
    for number, name in enumerate(names):
        includes = "".join("#include <h%d.h>\n" % ((number + step) % 8) for step in range(4))
        one.write(name, includes + "cudaError_t f%d();\n" % number)
    for number in range(8):
        one.write("include/h%d.h" % number, "#pragma once\n#include <h%d.h>\ncudaStream_t s%d;\n" % ((number + 1) % 8, number))
    expected = None
    for _ in range(2):
        shutil.rmtree(one.mirror, ignore_errors=True)
        commands = [one.command(name) for name in names] * 3
        running = [subprocess.Popen(command, stderr=subprocess.PIPE) for command in commands]
        for process in running:
            assert process.communicate()[1] == b"" and process.returncode == 0
        tree, times = one.tree(), one.times()
        assert expected is None or tree == expected
        expected = tree
        assert len(tree) == 24
        for name in names:
            one.translate(name)
        assert one.times() == times
        assert not list(one.mirror.glob(".hipify/tmp.*"))


def test_header_edited_while_it_is_translated(one, tmp_path):
    """A slow command that has read the old header must not write it over the new one."""
    slow = fake_perl(
        tmp_path,
        """\
        #!%s
        import os, sys, time
        text = open(sys.argv[1]).read()
        if "old" in text:
            open("{0}/waiting", "w").close()
            while not os.path.exists("{0}/go"):
                time.sleep(0.01)
        sys.stdout.write(text)
        """.replace("{0}", str(tmp_path)),
    )
    one.kind, one.translator = "perl", slow
    one.write("k.cpp", '#include "x.h"\n')
    header = one.write("x.h", "old\n")
    process = subprocess.Popen(one.command("k.cpp"))
    while not (tmp_path / "waiting").exists():
        assert process.poll() is None
        time.sleep(0.01)
    header.write_text("new\n")
    (tmp_path / "go").write_text("")
    assert process.wait() == 0
    assert one.output("x.h").read_text() == "new\n"


def test_killed(one, tmp_path):
    """What a killed command leaves is swept by the next."""
    one.write("k.cpp", "int a;\n")
    one.translate("k.cpp")
    done = subprocess.Popen([sys.executable, "-c", "pass"])
    done.wait()
    (one.mirror / ".hipify" / ("tmp.%d.d" % done.pid)).mkdir()
    (one.mirror / ".hipify" / ("tmp.%d.d" % done.pid) / "text.cu").write_text("")
    (one.mirror / ".hipify" / ("tmp.%d" % done.pid)).write_text("")
    one.translate("k.cpp")
    assert not list(one.mirror.glob(".hipify/tmp.*"))


@pytest.mark.skipif(not TORCHES, reason="no torch with its translator")
def test_damaged_cache(tmp_path):
    project = Project(tmp_path, "torch", list(TORCHES.values())[0])
    project.write("k.cpp", "cudaError_t f();\n")
    project.translate("k.cpp")
    for damage in (b"", b"x", b"\xe9\x00\x00"):
        (tmp_path / "cache" / "hipify").write_bytes(damage)
        assert project.translate("k.cpp") == "hipError_t f();\n"


def test_read_only_sources_and_blanks(tmp_path):
    root = tmp_path / "a b"
    root.mkdir()
    project = Project(root, "torch", FAKE)
    project.includes = ["in clude"]
    project.write("s rc/k $1#.cu", '#include "x y.h"\n')
    project.write("in clude/x y.h", "cudaError_t f();\n")
    for path in [*project.source_dir.rglob("*"), project.source_dir]:
        path.chmod(path.stat().st_mode & ~stat.S_IWUSR & ~stat.S_IWGRP & ~stat.S_IWOTH)
    try:
        project.translate("s rc/k $1#.cu")
        assert project.output("in clude/x y.h").read_text() == "hipError_t f();\n"
        depfile = (project.mirror / ".hipify/depfiles/s rc/k $1#.cu.d").read_text()
        assert depfile.startswith(str(project.mirror).replace(" ", "\\ ") + "/s\\ rc/k\\ $$1\\#.cu:")
    finally:
        for path in [project.source_dir, *project.source_dir.rglob("*")]:
            path.chmod(path.stat().st_mode | stat.S_IWUSR)


NAMES = [
    "accumulate.cu",
    "cpp_ops/gemm.cu",
    "x.cuda.cu",
    "cuda/x.cu",
    "hip/x.cu",
    "foo.cu",
    "foo.cpp",
    "a/k.cu",
    "b/k.cu",
    "with blank/k k.cu",
    "PowKernel.cu",
    "text.cu",
]


def test_names(project, build):
    project.write("foo.cuh", "#pragma once\n#include <cuda_runtime.h>\ninline cudaError_t last() { return cudaGetLastError(); }\n")
    for number, name in enumerate(NAMES):
        up = "../" * name.count("/")
        project.write(name, '#include "%sfoo.cuh"\nint f%d() { return last(); }\n' % (up, number))
    for number, name in enumerate(NAMES):
        text = project.translate(name)
        assert "int f%d() { return last(); }" % number in text
    everything = project.root / "all.cu"
    everything.write_text("".join('#include "%s"\n' % project.output(name) for name in NAMES))
    compile_hip(build, everything)
    assert sorted(project.tree()) == sorted([*NAMES, "foo.cuh"])


# What is refused ----------------------------------------------------------------------------------------------------


def test_unreadable(one):
    if os.geteuid() == 0:
        (one.source_dir / "x.h").mkdir()
        one.write("k.cu", "")
        (one.source_dir / "k.cu").unlink()
        (one.source_dir / "k.cu").symlink_to("k.cu")
        one.refuse("k.cu", "<src>/k.cu: error: there is no such file.\n")
        return
    one.write("k.cu", '#include "x.h"\n')
    one.write("x.h", "").chmod(0)
    one.refuse(
        "k.cu",
        """\
        <src>/x.h: error: it can't be read: Permission denied.
         Fix: make it readable for this user
        """,
    )


def test_not_utf8(one):
    one.write("k.cu", '#include "x.h"\n')
    one.write("x.h", "int a;\n")
    one.translate("k.cu")
    one.write("x.h", "int a;\n// \u00e9\n", encoding="latin-1")
    one.refuse(
        "k.cu",
        """\
        <src>/x.h:2: error: not UTF-8, which the translator needs.
          found   byte 0xe9
         Fix: iconv -f ISO-8859-1 -t UTF-8, or whatever its encoding is
        """,
    )


def test_source_in_no_root(one):
    other = one.root / "other.cu"
    other.write_text("")
    command = one.command("x.cu")
    command[-3] = str(other)
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "%s: error: it lies in no directory that is translated.\n" % other)


def translator_that(tmp_path, body):
    return fake_perl(tmp_path, "#!%s\nimport sys, re\ntext = open(sys.argv[1]).read()\n" % sys.executable + body + "\nsys.stdout.write(text)\n")


@pytest.mark.parametrize(
    "body, text",
    [
        (
            "text = re.sub(r'k<<<(.*)>>>\\(', r'hipLaunchKernelGGL(k, \\1, ', text)",
            """\
            <src>/k.cu:3: error: the translator rewrote a kernel launch, which HIP's compiler reads as it is.
              found   hipLaunchKernelGGL(k, 1, 1, );
            """,
        ),
        (
            "text = text.replace('int', 'int int')",
            """\
            <src>/k.cu: error: translating the translation again would change it.
              before  int int a;
              after   int int int int a;
            """,
        ),
        (
            "text = '// new\\n' + text",
            """\
            <src>/k.cu: error: the translator added or removed lines.
              before
              after   // new
            """,
        ),
        (
            "text = re.sub('\\n.*/[*].*', '\\n', text)",
            """\
            <src>/k.cu: error: the translator changed what was hidden from it.
            """,
        ),
        (
            "sys.exit('line 7: no such table')",
            """\
            <src>/k.cu: error: the translator failed.
              found   RuntimeError: line 7: no such table
            """,
        ),
    ],
)
def test_wrong_translations(tmp_path, body, text):
    project = Project(tmp_path, "perl", fake_perl(tmp_path))
    project.write("k.cu", "/* 1\n*/\nk<<<1, 1>>>();\nint a;\n")
    project.translate("k.cu")
    translator_that(tmp_path, body)
    text = textwrap.dedent(text).replace("  before\n", "  before  \n")
    project.refuse("k.cu", text + "  by      <root>/hipify-perl\n" + CURES)


@pytest.mark.parametrize(
    "change, text",
    [
        (
            ("hip_clang_launch,", ""),
            """\
            <root>/old/hipify_python.py: error: this translator is too old: it can't keep kernel launches as they are.
              wanted  the translator of torch 2.9 or later
            """,
        ),
        (
            ("import enum", "import enum, nothing_of_this_name"),
            """\
            <root>/old/hipify_python.py: error: torch's translator can't be loaded.
              found   ModuleNotFoundError: No module named 'nothing_of_this_name'
              python  <python>
            """,
        ),
        (
            ("def preprocessor", "def processor"),
            """\
            <root>/old/hipify_python.py: error: torch's translator can't be loaded.
              found   AttributeError: module '_cudaops_hipify.hipify_python' has no attribute 'preprocessor'
              python  <python>
            """,
        ),
        (
            ('with open(source, encoding="utf-8")', 'raise ValueError("broken")\n    with open(source, encoding="utf-8")'),
            """\
            <src>/k.cu: error: the translator failed.
              found   ValueError: broken
              by      <root>/old/hipify_python.py
            """,
        ),
    ],
)
def test_other_translators(tmp_path, change, text):
    old = tmp_path / "old"
    shutil.copytree(FAKE, old)
    module = old / "hipify_python.py"
    assert change[0] in module.read_text()
    module.write_text(module.read_text().replace(*change))
    project = Project(tmp_path, "torch", old)
    project.write("k.cu", "int a;\n")
    python = "%s %d.%d" % (sys.executable, *sys.version_info[:2])
    project.refuse("k.cu", textwrap.dedent(text).replace("<python>", python) + CURES)


def test_translator_gone(tmp_path):
    project = Project(tmp_path, "torch", tmp_path / "nothing")
    project.write("k.cu", "")
    project.refuse("k.cu", "<root>/nothing/hipify_python.py: error: torch's translator isn't there.\n" + CURES)
    (tmp_path / "perl").mkdir()
    project = Project(tmp_path / "perl", "perl", tmp_path / "nothing")
    project.write("k.cu", "")
    project.refuse("k.cu", "%s/nothing: error: the translator isn't there.\n" % tmp_path + CURES)


def test_a_later_translator_that_needs_its_tables(tmp_path):
    """Then it is loaded as it is: slower, and as right."""
    later = tmp_path / "later"
    shutil.copytree(FAKE, later)
    module = later / "hipify_python.py"
    text = module.read_text().replace("\nPYTORCH_MAP", "\nassert CUDA_TO_HIP_MAPPINGS\nPYTORCH_MAP", 1)
    module.write_text(text)
    project = Project(tmp_path, "torch", later)
    project.write("k.cpp", "cudaError_t f();\n")
    for _ in range(2):
        assert project.translate("k.cpp") == "hipError_t f();\n"


def test_usage():
    done = subprocess.run([sys.executable, *TOOL], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "usage: python -I -S _run.py hipify <settings> <source> <translation> <depfile>\n")
