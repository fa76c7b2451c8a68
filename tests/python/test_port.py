# SPDX-License-Identifier: Apache-2.0
"""python -m cudaops port: the shapes in which people write setup.py, and what becomes of each."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap

import pytest
from conftest import REPOSITORY, run_python

from cudaops.port import PortError, port

IMPORTS = """
import glob, os, sys
from pathlib import Path
import torch
from setuptools import setup
from torch.utils import cpp_extension
from torch.utils.cpp_extension import BuildExtension, CppExtension, CUDAExtension, CUDA_HOME, load, load_inline
"""
ATEN = "#include <ATen/ATen.h>\n#include <torch/library.h>\n"
PYBIND = "#include <torch/extension.h>\n"
STABLE = "#include <torch/csrc/stable/library.h>\n"


class Project:
    def __init__(self, directory):
        self.directory = directory

    def write(self, name, content=""):
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(content))
        return path

    def port(self, script, name="setup.py", imports=IMPORTS):
        """The CMakeLists.txt, its comments, without the head that is always the same."""
        self.write(name, imports + textwrap.dedent(script))
        content, facts = port(str(self.directory / name))
        self.comments = [line.strip()[2:] for line in content.splitlines() if re.match(r"\s*# \S+:\d+: ", line)]
        assert facts["comments"] == len(self.comments)
        self.facts = facts
        return content

    def line(self, text, name="setup.py"):
        """Where a text stands in the script: comments name lines."""
        lines = (self.directory / name).read_text().splitlines()
        return next(number for number, line in enumerate(lines, 1) if text in line)


@pytest.fixture
def project(tmp_path):
    made = Project(tmp_path / "a project")
    for name in ("csrc/op.cpp", "csrc/op_kernel.cu"):
        made.write(name, ATEN)
    return made


def command(content, name, target="op"):
    """The arguments of one command for a target, as words."""
    found = re.findall(r"^ *%s\(%s(?:\s+PRIVATE)?\s+(.*?)\)$" % (name, target), content, re.MULTILINE | re.DOTALL)
    return [word for text in found for word in text.split()]


def test_the_smallest(project):
    content = project.port("""
        setup(name="my-ops", version="1.2.3", ext_modules=[CUDAExtension("op", ["csrc/op.cpp", "csrc/op_kernel.cu"])],
              cmdclass={"build_ext": BuildExtension})
        """)
    assert content.split("\n\n", 1) == [
        "# From setup.py by `python -m cudaops port`. A comment that begins with a line of it says\n"
        "# what stands there and is not here, or not in the same way.\n"
        "cmake_minimum_required(VERSION 3.25)\n"
        "project(my-ops VERSION 1.2.3 LANGUAGES CXX)",
        "find_package(CudaOps 0.1 REQUIRED)\n"
        "find_package(CudaTorchMatch REQUIRED)\n\n"
        "add_torch_op(op\n  ABI FULL\n  CUDA REQUIRED\n  PYTHON_MODULE op\n  INSTALL .\n"
        "  SOURCES\n    csrc/op.cpp\n  CUDA_SOURCES\n    csrc/op_kernel.cu\n)\n",
    ]
    assert project.comments == []


def test_file_from_windows(project):
    text = IMPORTS + "ext = CppExtension('op', ['csrc/op.cpp'])\n"
    (project.directory / "setup.py").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    (project.directory / "csrc" / "op.cpp").write_bytes(b"\xef\xbb\xbf" + PYBIND.encode())
    assert "ABI PYBIND" in port(str(project.directory / "setup.py"))[0]


def test_nothing_is_run(project, tmp_path):
    mark = tmp_path / "run"
    project.port("""
        open(%r, "w").write("1")
        os.system("touch %s")
        ext = CppExtension("op", ["csrc/op.cpp"])
        """ % (str(mark), mark))
    assert not mark.exists()


@pytest.mark.parametrize("given", ["Build", "Build.with_options(use_ninja=False)", "Build if CUDA_HOME else BuildExtension"])
def test_own_build_ext_is_a_comment(project, given):
    """What it adds to the extensions isn't known."""
    project.port("""
        class Build(BuildExtension):
            def build_extensions(self):
                self.extensions[0].extra_compile_args["cxx"].append("-DMORE")
                super().build_extensions()
        setup(ext_modules=[CUDAExtension("op", ["csrc/op.cpp"])], cmdclass={"build_ext": %s, "test": Build})
        """ % given)
    assert project.comments == ["setup.py:%d: not read: what Build does in build_extensions()" % project.line("class Build")]


@pytest.mark.parametrize(
    "sources",
    [
        "sources = ['csrc/op.cpp'] + ['csrc/op_kernel.cu']",
        "sources = ['csrc/op.cpp']\nsources += ['csrc/op_kernel.cu']",
        "sources = []\nsources.append('csrc/op.cpp')\nsources.extend(['csrc/op_kernel.cu'])",
        "here = os.path.dirname(os.path.abspath(__file__))\n"
        "sources = [os.path.join(here, 'csrc', name) for name in ('op.cpp', 'op_kernel.cu')]",
        "here = Path(__file__).resolve().parent\nsources = [str(here / 'csrc' / 'op.cpp'), here / 'csrc' / 'op_kernel.cu']",
        "sources = glob.glob('csrc/*.cpp') + glob.glob(os.path.join('csrc', '*.cu'))",
        "sources = sorted(str(one) for one in Path('csrc').glob('op*'))",
        "folder = 'csrc'\nsources = [f'{folder}/op.cpp', '%s/op_kernel.cu' % folder]",
        "sources = ['csrc/{}'.format(name) for name in ['op.cpp', 'op_kernel.cu']]",
        "def find(*kinds):\n"
        "    found = []\n"
        "    for root, folders, names in os.walk('csrc'):\n"
        "        found += [os.path.join(root, name) for name in names if os.path.splitext(name)[1] in kinds]\n"
        "    return found\n"
        "sources = find('.cpp', '.cu')",
        "sources = list(dict.fromkeys(['csrc/op.cpp', 'csrc/op_kernel.cu', 'csrc/op.cpp']))",
        "sources = list(map(lambda name: 'csrc/' + name, ['op.cpp', 'op_kernel.cu']))",
        "parts = {'cpu': ['op.cpp'], 'gpu': ['op_kernel.cu']}\n"
        "sources = [os.path.join('csrc', name) for names in parts.values() for name in names]",
    ],
)
def test_ways_to_say_sources(project, sources):
    content = project.port(sources + "\next = CUDAExtension(name='op', sources=sources)\n")
    words = command(content, "add_torch_op")
    assert words[words.index("SOURCES") :] == ["SOURCES", "csrc/op.cpp", "CUDA_SOURCES", "csrc/op_kernel.cu"]
    assert project.comments == []


def test_cuda_branch(project):
    """One op: what only the CUDA branch has is for CUDA, the rest for both."""
    content = project.port("""
        def extensions():
            use_cuda = os.getenv("WITH_CUDA", "1") == "1" and torch.cuda.is_available() and CUDA_HOME is not None
            kind = CUDAExtension if use_cuda else CppExtension
            sources, macros = ["csrc/op.cpp"], [("WITH_OP", None)]
            args = {"cxx": ["-O3"]}
            if use_cuda:
                sources += ["csrc/op_kernel.cu"]
                macros += [("WITH_CUDA", "1")]
                args["nvcc"] = ["-O3", "--use_fast_math"]
            return [kind("pkg._C", sources, define_macros=macros, extra_compile_args=args)]
        setup(name="pkg", ext_modules=extensions())
        """)
    assert command(content, "add_torch_op", "pkg_C") == (
        "ABI FULL PYTHON_MODULE _C INSTALL pkg SOURCES csrc/op.cpp CUDA_SOURCES csrc/op_kernel.cu".split()
    )
    assert "target_compile_definitions(pkg_C PRIVATE WITH_OP)\nif(CudaTorchMatch_CUDA_ENABLED OR" in content
    assert command(content, "target_compile_options", "pkg_C") == ["$<$<COMPILE_LANGUAGE:CUDA>:--use_fast_math>"]
    said = "left out: WITH_CUDA in the environment; -DCUDAOPS_BACKEND=CPU builds without CUDA"
    assert project.comments == ["setup.py:%d: %s" % (project.line("WITH_CUDA"), said)]


@pytest.mark.parametrize(
    "test", ["CUDA_HOME", "torch.cuda.is_available()", "os.environ.get('FORCE_CUDA') or torch.cuda.is_available()"]
)
def test_two_calls_in_two_branches(project, test):
    content = project.port("""
        if %s:
            modules = [CUDAExtension("op", ["csrc/op.cpp", "csrc/op_kernel.cu"])]
        else:
            modules = [CppExtension("op", ["csrc/op.cpp"])]
        setup(ext_modules=modules)
        """ % test)
    assert command(content, "add_torch_op")[-4:] == ["SOURCES", "csrc/op.cpp", "CUDA_SOURCES", "csrc/op_kernel.cu"]
    assert "REQUIRED" not in content.split("add_torch_op")[1]


def test_early_returns_in_two_branches(project):
    """Each is for where it stands, though both branches go on."""
    project.write("csrc/a.cpp", ATEN), project.write("csrc/b.cpp", ATEN)
    content = project.port("""
        def sources():
            if os.getenv("BIG"):
                if os.getenv("A"):
                    return ["csrc/a.cpp"]
            else:
                if os.getenv("B"):
                    return ["csrc/b.cpp"]
            return ["csrc/op.cpp"]
        ext = CppExtension("op", sources())
    """)
    assert "if(BIG AND A)\n  list(APPEND op_sources\n    csrc/a.cpp\n" in content
    assert "if(B AND NOT BIG)\n  list(APPEND op_sources\n    csrc/b.cpp\n" in content
    assert re.search(r"SOURCES\n    csrc/op.cpp\n", content)


def test_modules_of_packages(project):
    """A class in the folder above, by each way of naming it."""
    project.write("builders/__init__.py", "from .base import *\nfrom . import base\n")
    base = """
        from torch.utils.cpp_extension import CppExtension
        class Base:
            def sources(self):
                return ["csrc/op.cpp"]
            def build(self):
                return CppExtension("op", self.sources())
        """
    project.write("builders/base.py", base)
    project.write("builders/cpu/__init__.py")
    for line, name in (
        ("from ..base import Base", "Base"),
        ("from builders.base import Base", "Base"),
        ("from builders import base", "base.Base"),
        ("from .. import Base", "Base"),
        ("from builders import *", "Base"),
        ("import builders.base", "builders.base.Base"),
    ):
        try_ = "try:\n    %s\nexcept ImportError:\n    Base = None\n" % line
        content = project.port("class Op(%s):\n    pass\n" % name, "builders/cpu/op.py", try_)
        assert "    csrc/op.cpp\n" in content, line


def test_module_loaded_by_its_path(project):
    """gsplat: build.py is not imported, its package would need what is built."""
    project.write(
        "build tools/build.py",
        """
        import os
        from types import SimpleNamespace
        PATH = os.path.dirname(os.path.abspath(__file__))
        def parameters():
            return SimpleNamespace(sources=[os.path.join(PATH, "..", "csrc", "op.cpp")], flags=["-Wall"])
        """,
    )
    content = project.port("""
    import importlib.util
    def load_module(name, path):
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    made = load_module("build", os.path.join("build tools", "build.py")).parameters()
    elsewhere = load_module("elsewhere", "/usr/lib/elsewhere.py")
    setup(ext_modules=[CppExtension("op", made.sources, extra_compile_args=made.flags, define_macros=elsewhere.MACROS)])
    """)
    assert "csrc/op.cpp" in command(content, "add_torch_op")
    assert command(content, "target_compile_options") == ["-Wall"]
    assert [comment.split(": ", 1)[1] for comment in project.comments] == ["not read: define_macros=elsewhere.MACROS"]


def test_source_of_both_branches(project):
    """A list that one branch filters has the others' sources in both."""
    for name in ("a", "b", "wrappers"):
        project.write("csrc/%s.cu" % name, ATEN)
    content = project.port("""
    sources = ["csrc/op.cpp", "csrc/wrappers.cu", "csrc/a.cu", "csrc/b.cu"]
    if os.getenv("WRAPPERS", "0") == "1":
        flags = ["-DWRAPPERS"]
    else:
        sources = [one for one in sources if not one.endswith("wrappers.cu")]
    setup(ext_modules=[CUDAExtension("op", sources)])
    """)
    assert command(content, "add_torch_op")[-3:] == ["csrc/a.cu", "csrc/b.cu", "${op_cuda_sources}"]
    assert "if(WRAPPERS)\n  list(APPEND op_cuda_sources\n    csrc/wrappers.cu\n  )" in content

    # Where a branch keeps what isn't known of it, all of them are there, and it is said.
    content = project.port("""
    sources = ["csrc/op.cpp", "csrc/a.cu", "csrc/b.cu"]
    if "ONLY" in os.environ:
        sources = [one for one in sources if os.environ["ONLY"] in one]
    setup(ext_modules=[CUDAExtension("op", sources)])
    """)
    assert command(content, "add_torch_op")[-2:] == ["csrc/a.cu", "csrc/b.cu"]
    assert ["left out: ONLY in the environment"] == [comment.split(": ", 1)[1] for comment in project.comments]


def test_early_return(project):
    content = project.port("""
        def modules():
            if CUDA_HOME is None:
                return [CppExtension("op", ["csrc/op.cpp"])]
            return [CUDAExtension("op", ["csrc/op.cpp", "csrc/op_kernel.cu"])]
        setup(ext_modules=modules())
        """)
    assert command(content, "add_torch_op")[-4:] == ["SOURCES", "csrc/op.cpp", "CUDA_SOURCES", "csrc/op_kernel.cu"]


def test_options_of_the_environment(project):
    content = project.port("""
        modules = []
        flags = ["-O0", "-g"] if os.getenv("DEBUG", "0") == "1" else ["-O3"]
        if os.environ.get("BUILD_OP", "FALSE") == "TRUE":
            modules.append(CUDAExtension("op", ["csrc/op_kernel.cu"], extra_compile_args=flags))
        if "--more" in sys.argv:
            modules.append(CppExtension("more", ["csrc/op.cpp"]))
        if not os.getenv("SKIP_LAST"):
            modules.append(CppExtension("last", ["csrc/op.cpp"]))
        setup(ext_modules=modules)
        """)
    assert 'option(BUILD_OP "setup.py: BUILD_OP in the environment" OFF)' in content
    assert 'option(MORE "setup.py: the argument --more" OFF)' in content
    assert "if(BUILD_OP)\n  add_torch_op(op\n" in content
    assert "  if(DEBUG)\n    target_compile_options(op PRIVATE\n" in content
    assert "if(MORE)\n  add_torch_op(more\n" in content
    said = "# setup.py:%d: left out: SKIP_LAST in the environment" % project.line("SKIP_LAST")
    assert "%s\nadd_torch_op(last\n" % said in content and content.count("SKIP_LAST") == 1


def test_what_stands_under_the_condition_of_its_op_stands_under_none(project):
    """pytorch_scatter: an op for each of a list of kinds, which the environment chooses."""
    content = project.port("""
        kinds = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
        if os.getenv("FORCE_ONLY_CUDA", "0") == "1":
            kinds = ["cuda"]
        for kind in kinds:
            macros = [("WITH_PYTHON", None)]
            if os.getenv("CHECK", "0") == "1":
                macros += [("CHECK", None)]
            extension = CppExtension if kind == "cpu" else CUDAExtension
            extension("op_" + kind, ["csrc/op.cpp"], define_macros=macros)
        """)
    for op in ("op_cpu", "op_cuda"):
        definitions = "target_compile_definitions(%s PRIVATE %s)\n"
        assert definitions % (op, "WITH_PYTHON") + "if(CHECK)\n  " + definitions % (op, "CHECK") + "endif()" in content
    assert "# setup.py:%d: left out: FORCE_ONLY_CUDA in the environment" % project.line("FORCE_ONLY_CUDA") in content
    assert "option(FORCE_ONLY_CUDA" not in content


def test_openmp_of_torchs_parallel_info(project):
    """rusty1s' packages ask torch what it was built with."""
    content = project.port("""
        from torch.__config__ import parallel_info
        info = parallel_info()
        flags = []
        if "backend: OpenMP" in info and "OpenMP not found" not in info:
            flags += ["-DAT_PARALLEL_OPENMP", "-fopenmp"]
        CppExtension("op", ["csrc/op.cpp"], extra_compile_args={"cxx": flags})
        """)
    assert "target_compile_definitions(op PRIVATE AT_PARALLEL_OPENMP)\n" in content
    assert "target_link_libraries(op PRIVATE CudaOps::openmp)" in content and project.comments == []


def test_one_if_a_condition(project):
    """What stands under one condition stands together, whichever commands it takes."""
    content = project.port("""
        debug = os.getenv("DEBUG", "0") == "1"
        ext = CppExtension("op", ["csrc/op.cpp"], define_macros=[("CHECK", None)] if debug else [], libraries=["m"],
            extra_compile_args=["-O0"] if debug else ["-O3"], extra_link_args=["-g"] if debug else [])
        """)
    assert content.endswith(
        "target_link_libraries(op PRIVATE m)\nif(DEBUG)\n  target_compile_definitions(op PRIVATE CHECK)\n"
        "  target_compile_options(op PRIVATE -O0)\n  target_link_options(op PRIVATE -g)\nendif()\n"
    )


def test_values_that_exclude_each_other(project):
    """What stands where an option is off doesn't stand where it is on."""
    content = project.port("""
        flags = ["-DFAST"] if os.getenv("FAST", "1") == "1" else ["-DEXACT"]
        flags += ["-DCHECKED"] if os.getenv("CHECK") else ["-DUNCHECKED"]
        if os.getenv("TRACE"):
            flags += ["-DTRACE_FAST"] if os.getenv("FAST", "1") == "1" else []
        ext = CppExtension("op", ["csrc/op.cpp"], extra_compile_args=flags)
        """)
    assert 'option(FAST "setup.py: FAST in the environment" ON)' in content
    assert 'option(CHECK "setup.py: CHECK in the environment" OFF)' in content
    for condition, macro in (
        ("FAST", "FAST"),
        ("NOT FAST", "EXACT"),
        ("CHECK", "CHECKED"),
        ("NOT CHECK", "UNCHECKED"),
        ("TRACE AND FAST", "TRACE_FAST"),
    ):
        assert "if(%s)\n  target_compile_definitions(op PRIVATE %s)\nendif()\n" % (condition, macro) in content
    assert project.comments == []


def test_what_is_raised_is_caught(project):
    """An op that is for the CPU where a function below raises because there is no CUDA."""
    content = project.port("""
        class NoCuda(Exception):
            pass

        def version():
            if CUDA_HOME is None:
                raise NoCuda("no toolkit")
            return 12

        def check():
            try:
                if not torch.version.hip:
                    version()
                    return "-DWITH_CUDA"
            except NoCuda:
                print("only for the CPU")
            return "-DWITHOUT_CUDA"

        class Builder:
            def extension(self):
                try:
                    check()
                    version()
                    self.for_cpu = False
                except (OSError, NoCuda):
                    self.for_cpu = True
                if self.for_cpu:
                    from torch.utils.cpp_extension import CppExtension as Made
                else:
                    from torch.utils.cpp_extension import CUDAExtension as Made
                link = ["-fopenmp"] if self.for_cpu else ["-lcurand", "-fopenmp"]
                return Made("op", ["csrc/op.cpp"], extra_compile_args={"cxx": [check(), "-DBOTH"]}, extra_link_args=link)
        ext = Builder().extension()
        """)
    assert command(content, "add_torch_op") == "ABI FULL PYTHON_MODULE op INSTALL . SOURCES csrc/op.cpp".split()
    gpu = "CudaTorchMatch_CUDA_ENABLED OR CudaTorchMatch_HIP_ENABLED"
    assert "if(%s)\n  target_compile_definitions(op PRIVATE WITH_CUDA)\nendif()\n" % gpu in content
    assert "if(NOT (%s))\n  target_compile_definitions(op PRIVATE WITHOUT_CUDA)\nendif()\n" % gpu in content
    assert "\ntarget_compile_definitions(op PRIVATE BOTH)\n" in content
    assert "\ntarget_link_libraries(op PRIVATE\n  CudaOps::curand\n  CudaOps::openmp\n)\n" in content


def test_an_op_with_device_code_needs_cuda(project):
    """However its call is chosen: without CUDA nothing compiles a .cu."""
    content = project.port("""
        kind = CUDAExtension if CUDA_HOME else CppExtension
        ext = kind("op", ["csrc/op.cpp", "csrc/op_kernel.cu"])
        """)
    assert command(content, "add_torch_op")[2:4] == ["CUDA", "REQUIRED"]


def test_simd_of_the_machine(project):
    """py-cpuinfo's, or /proc/cpuinfo's: which flags the processor has is asked where it is built."""
    content = project.port("""
        import platform
        from cpuinfo import get_cpu_info
        def arch():
            try:
                info = get_cpu_info()
            except Exception as error:
                return "-march=native"
            if info["arch"].startswith("PPC_"):
                return "-mcpu=native"
            return "-march=native"
        def width():
            info = get_cpu_info()
            if info["arch"] == "X86_64":
                if "avx512" in info["flags"] or "avx512f" in info["flags"]:
                    return "-D__AVX512__"
                elif "avx2" in info["flags"]:
                    return "-D__AVX256__"
            return "-D__SCALAR__"
        flags = [arch(), width()]
        if platform.machine() in ("x86_64", "AMD64") and "avx512_bf16" in open("/proc/cpuinfo").read():
            flags.append("-DBF16")
        if platform.machine() == "aarch64":
            flags.append("-DNEON")
        ext = CppExtension("op", ["csrc/op.cpp"], extra_compile_args=flags)
        """)
    assert content.count("include(CheckCXXSourceCompiles)\nset(CMAKE_REQUIRED_FLAGS -march=native)\n") == 1
    for flag, macro in (("AVX512F", "AVX512F"), ("AVX2", "AVX2"), ("AVX512_BF16", "AVX512BF16")):
        asked = '("#ifndef __%s__\\n#error\\n#endif\\nint main() {}" CPU_HAS_%s)\n' % (macro, flag)
        assert content.count("check_cxx_source_compiles" + asked) == 1
    assert "\ntarget_compile_options(op PRIVATE -march=native)\n" in content
    for condition, macro in (
        ("CPU_HAS_AVX512F", "__AVX512__"),
        ("CPU_HAS_AVX2 AND NOT CPU_HAS_AVX512F", "__AVX256__"),
        ("NOT CPU_HAS_AVX512F AND NOT CPU_HAS_AVX2", "__SCALAR__"),
        ("CPU_HAS_AVX512_BF16", "BF16"),
    ):
        assert "if(%s)\n  target_compile_definitions(op PRIVATE %s)\nendif()\n" % (condition, macro) in content
    assert "NEON" not in content
    assert project.comments == [
        "setup.py:%d: taken as true: info['arch'] == 'X86_64'" % project.line('info["arch"] == '),
        "setup.py:%d: taken as true: platform.machine() in ('x86_64', 'AMD64')" % project.line("platform.machine() in"),
    ]


def test_comments_of_else_branches(project):
    """Which way a condition that isn't known has to turn out."""
    project.port("""
        from tools import probe
        if probe.fast():
            flags = ["-DFAST"]
        elif probe.small():
            flags = ["-DSMALL"]
        else:
            flags = ["-DPLAIN"]
        ext = CppExtension("op", ["csrc/op.cpp"], extra_compile_args=flags)
        """)
    fast, small = project.line("probe.fast"), project.line("probe.small")
    assert sorted(project.comments) == [
        "setup.py:%d: not read: -DFAST, where probe.fast()" % fast,
        "setup.py:%d: not read: -DPLAIN, unless probe.fast() and unless probe.small()" % fast,
        "setup.py:%d: not read: -DSMALL, where probe.small() and unless probe.fast()" % small,
    ]


def test_libraries_that_torch_brings(project):
    """cpp_extension leaves cublas and its like to what torch has loaded; the sources and their headers name them."""
    project.write("csrc/op_kernel.cu", ATEN + '#include <cublas_v2.h>\n#include "blas.h"\n#include <curand_kernel.h>\n')
    lt = "#include <cublasLt.h>\ncublasLtMatmul(); ncclDataType_t type;"
    project.write("include/blas.h", "#include <cusparse.h>\n#include <cuda.h>\n" + lt)
    content = project.port("""
        ext = CUDAExtension("op", ["csrc/op.cpp", "csrc/op_kernel.cu"], include_dirs=["include"], libraries=["cufft"])
        """)
    libraries = ["CudaOps::cufft", "CudaOps::cublas", "CudaOps::cublasLt", "CudaOps::cusparse"]
    assert command(content, "target_link_libraries") == libraries
    assert project.comments == []
    # Without its header: cublasLt.h declares what is cublas', and torch's handle is one of cusparse.
    project.write("csrc/op_kernel.cu", ATEN + "cublasGetStatusString(status); cublasLtMatmul(); cusparseSpMM (handle); // cufftExecC2C()")
    content = project.port('ext = CUDAExtension("op", ["csrc/op.cpp", "csrc/op_kernel.cu"])')
    assert command(content, "target_link_libraries") == ["CudaOps::cublas", "CudaOps::cublasLt", "CudaOps::cusparse"]
    # The runtime, of an op without files for CUDA: DeepSpeed's dc.
    project.write("csrc/op.cpp", "#include <ATen/cuda/CUDAEvent.h>\n")
    assert command(project.port('ext = CppExtension("op", ["csrc/op.cpp"])'), "target_link_libraries") == ["CudaOps::cudart"]


def test_operators_of_half(project):
    """cpp_extension switches them off: Apex compares two at::Half in a kernel, which nvcc calls ambiguous beside them."""
    defined = [
        "__CUDA_NO_HALF_OPERATORS__",
        "__CUDA_NO_HALF_CONVERSIONS__",
        "__CUDA_NO_BFLOAT16_CONVERSIONS__",
        "__CUDA_NO_HALF2_OPERATORS__",
    ]
    project.write("csrc/op_kernel.cu", ATEN + '#include "types.h"\n')
    project.write("csrc/types.h", "using scalar_t = at::Half;\n")
    extension = 'ext = CUDAExtension("op", ["csrc/op.cpp", "csrc/op_kernel.cu"], extra_compile_args={"nvcc": [%s]})\n'
    for undone in ([], defined[:2], defined):
        content = project.port(extension % ", ".join('"-U%s"' % name for name in undone))
        wanted = ["$<$<COMPILE_LANGUAGE:CUDA>:%s>" % name for name in defined if name not in undone]
        assert command(content, "target_compile_definitions") == wanted if wanted else "_NO_HALF" not in content
    project.write("csrc/types.h", "using scalar_t = float;\n")
    assert "_NO_HALF" not in project.port(extension % "")
    assert project.comments == []


def test_what_is_not_known_for_another_platform(project):
    """It needs no comment."""
    project.port("""
        from tools import probe
        link = ["-L" + probe.rocm()] if torch.version.hip else ["-lcurand"]
        ext = CUDAExtension("op", ["csrc/op_kernel.cu"], extra_link_args=link,
                            include_dirs=[probe.rocm()] if torch.version.hip else [])
        """)
    assert project.comments == []


def test_compile_arguments(project):
    project.write("include/op.h")
    content = project.port("""
        nvcc = ["-O3", "-std=c++17", "--use_fast_math", "-lineinfo", "-Xptxas", "-v", "-Xptxas", "-warn-spills", "--threads", "4",
                "-Xcompiler", "-fPIC,-Wall", "-gencode", "arch=compute_80,code=sm_80", "-gencode=arch=compute_90a,code=sm_90a",
                "-U__CUDA_NO_HALF_OPERATORS__", "-DON_DEVICE", "-DBOTH=2", "-maxrregcount", "64", "-Iinclude"]
        setup(ext_modules=[CUDAExtension("op", ["csrc/op.cpp", "csrc/op_kernel.cu"],
            include_dirs=["include", os.path.join(CUDA_HOME, "include"), *cpp_extension.include_paths()],
            define_macros=[("NAME", '"text"'), ("LEVEL", 3)], undef_macros=["OLD"],
            extra_compile_args={"cxx": ["-O3", "-std=c++20", "-mavx2", "-march=native", "-fPIC", "-DBOTH=2"], "nvcc": nvcc})])
        """)
    assert command(content, "target_compile_options") == [
        "$<$<COMPILE_LANGUAGE:CXX>:-mavx2>",
        "$<$<COMPILE_LANGUAGE:CXX>:-march=native>",
        "$<$<COMPILE_LANGUAGE:CUDA>:--use_fast_math>",
        "$<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>",
        "$<$<COMPILE_LANGUAGE:CUDA>:-Xptxas=-v>",
        "$<$<COMPILE_LANGUAGE:CUDA>:-Xptxas=-warn-spills>",
        "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall>",
        "$<$<COMPILE_LANGUAGE:CUDA>:-maxrregcount=64>",
        "-UOLD",
    ]
    assert command(content, "target_compile_definitions") == [
        "BOTH=2",
        "$<$<COMPILE_LANGUAGE:CUDA>:ON_DEVICE>",
        '"NAME=\\"text\\""',
        "LEVEL=3",
    ]
    assert command(content, "target_include_directories") == ["include"]
    assert "target_compile_features(op PRIVATE cxx_std_20)" in content
    line = project.line('CUDAExtension("op"')
    assert project.comments == [
        "setup.py:%d: left out: flags for sm_80 sm_90a; CMAKE_CUDA_ARCHITECTURES says what is built" % line
    ]


def test_a_list_of_arguments_is_for_both_compilers(project):
    content = project.port("""
        ext = CUDAExtension("op", ["csrc/op.cpp", "csrc/op_kernel.cu"], extra_compile_args=["-g", "-DDEBUG"])
        """)
    assert command(content, "target_compile_options") == ["-g"]
    assert command(content, "target_compile_definitions") == ["DEBUG"]


def test_link_arguments(project):
    content = project.port("""
        ext = CUDAExtension("op", ["csrc/op.cpp", "csrc/op_kernel.cu"],
            libraries=["cublas", "c10", "cuda", "mylib"], library_dirs=["lib", CUDA_HOME + "/lib64", "/usr/local/cuda/lib64", "/opt/cuda_ext/lib"],
            runtime_library_dirs=["/opt/mylib/lib"], extra_objects=["lib/part.a"],
            extra_link_args=["-lcurand", "-L", "more", "-fopenmp", "-Wl,--gc-sections", "-Wl,-rpath,$ORIGIN/lib"])
        """)
    assert command(content, "target_link_libraries") == [
        "CudaOps::cublas",
        "CudaOps::cuda_driver",
        "mylib",
        "${CMAKE_CURRENT_SOURCE_DIR}/lib/part.a",
        "CudaOps::curand",
        "CudaOps::openmp",
    ]
    assert command(content, "target_link_directories") == ["lib", "/opt/cuda_ext/lib", "more"]
    assert command(content, "target_link_options") == ["-Wl,--gc-sections"]
    assert "set_property(TARGET op APPEND PROPERTY INSTALL_RPATH /opt/mylib/lib $ORIGIN/lib)" in content
    assert project.comments == []


def test_separable_compilation(project):
    content = project.port("""
        ext = CUDAExtension("op", ["csrc/op_kernel.cu"], dlink=True,
            extra_compile_args={"nvcc": ["-rdc=true"], "nvcc_dlink": ["-dlink", "-Xptxas=-v"]})
        """)
    assert content.count("set_target_properties(op PROPERTIES CUDA_SEPARABLE_COMPILATION ON)") == 1
    assert command(content, "target_link_options") == ["$<DEVICE_LINK:-Xptxas=-v>"]


def test_what_is_not_known_becomes_a_comment(project):
    content = project.port("""
        from tools import secret
        import numpy as np
        version = secret.version()
        setup(name="pkg", version=version, ext_modules=[CppExtension("op",
            sources=["csrc/op.cpp", secret.file(), "csrc/gone.cpp"],
            include_dirs=[np.get_include(), "csrc"],
            define_macros=[("A", secret.a)],
            libraries=secret.libraries,
            extra_compile_args=["-O2"] + secret.flags(
                "of the compiler"),
            extra_link_args=secret.link())])
        """)
    line = project.line
    assert [text for text in project.comments if text.startswith("setup.py")] == [
        "setup.py:%d: not read: version=secret.version()" % line("version = secret"),
        "setup.py:%d: not read: sources=secret.file()" % line("secret.file()"),
        "setup.py:%d: not found: csrc/gone.cpp" % line("csrc/gone.cpp"),
        "setup.py:%d: not read: include_dirs=np.get_include()" % line("np.get_include"),
        "setup.py:%d: not read: define_macros=secret.a" % line("secret.a)"),
        "setup.py:%d: not read: extra_compile_args=secret.flags('of the compiler')" % line("secret.flags"),
        "setup.py:%d: not read: libraries=secret.libraries" % line("secret.libraries"),
        "setup.py:%d: not read: extra_link_args=secret.link()" % line("secret.link"),
    ]
    # At its place.
    assert re.search(
        r"# setup.py:\d+: not read: extra_compile_args.*\ntarget_compile_options\(op PRIVATE -O2\)", content
    )
    assert command(content, "add_torch_op")[-2:] == ["SOURCES", "csrc/op.cpp"]


def test_conditions_that_are_not_known(project):
    content = project.port("""
        version = cuda_version()
        flags = ["--use_fast_math"]
        if version >= Version("11.8"):
            flags += ["-DNEW"]
        if version < Version("9"):
            flags += ["-DOLD"]
        if os.path.exists(os.path.join(torch.__path__[0], "include", "Gone.h")):
            flags += ["-DGONE"]
        if sys.platform == "win32":
            flags += ["/O2"]
        ext = CUDAExtension("op", ["csrc/op_kernel.cu"], extra_compile_args={"nvcc": flags})
        """)
    assert command(content, "target_compile_options") == ["$<$<COMPILE_LANGUAGE:CUDA>:--use_fast_math>"]
    assert command(content, "target_compile_definitions") == ["$<$<COMPILE_LANGUAGE:CUDA>:NEW>"]
    assert project.comments == [
        "setup.py:%d: taken as true: version >= Version('11.8')" % project.line("11.8"),
        "setup.py:%d: not read: -DGONE, where os.path.exists(os.path.join(torch.__path__[0], 'include', 'Gone.h'))"
        % project.line("Gone.h"),
    ]


def test_whether_a_list_is_empty(project):
    content = project.port("""
        sources = ["csrc/op.cpp"] if os.getenv("WITH_CPU", "0") == "1" else []
        kernels = ["csrc/op_kernel.cu"]
        modules = []
        if len(sources) > 0:
            modules.append(CppExtension("cpu_op", sources))
        if len(kernels) == 0 and len(kernels) + 1 > 0:
            modules.append(CppExtension("no_op", ["csrc/op.cpp"]))
        setup(name="pkg", ext_modules=modules)
        """)
    assert "if(WITH_CPU)\n  add_torch_op(cpu_op" in content
    assert "no_op" not in content and project.comments == []


def test_op_whose_sources_all_stand_under_conditions(project):
    script = """
        sources = [%s]
        if os.getenv("WITH_CPU", "0") == "1":
            sources.append("csrc/op.cpp")
        setup(name="pkg", ext_modules=[%s("op", sources)])
        """
    project.write("tests/test_op.py", "import op\n")
    content = project.port(script % ("", "CppExtension"))
    assert "if(TARGET op)\n  cudaops_add_python_test(test_op OP op SCRIPT tests/test_op.py PYTEST)\nendif()" in content
    assert 'endif()\nif(op_sources)\n  add_torch_op(op\n' in content and "    SOURCES\n      ${op_sources}\n" in content
    # Of two lists, an empty one has no keyword.
    content = project.port(script % ('"csrc/op_kernel.cu"', "CUDAExtension"))
    assert "if(op_sources)\n  list(PREPEND op_sources SOURCES)\nendif()\nadd_torch_op(op\n" in content
    assert "if(TARGET" not in content
    assert command(content, "add_torch_op")[-3:] == ["${op_sources}", "CUDA_SOURCES", "csrc/op_kernel.cu"]


def test_what_torch_and_python_say_of_the_platform(project):
    content = project.port("""
        import sysconfig
        from torch.utils.cpp_extension import IS_WINDOWS
        cxx = ["/O2"] if IS_WINDOWS else ["-DPOSIX", "-std=c++20"]
        if not bool(sysconfig.get_config_var("Py_GIL_DISABLED")):
            cxx.append("-DWITH_GIL")
        ext = CppExtension("op", ["csrc/op.cpp"], extra_compile_args={"cxx": cxx})
        """)
    assert command(content, "target_compile_definitions") == ["POSIX", "WITH_GIL"]
    assert command(content, "target_compile_features") == ["cxx_std_20"]
    assert project.comments == []


def test_devices_of_other_kinds(project):
    """open-mmlab/mmcv"""
    project.write("csrc/npu/op_npu.cpp", ATEN)
    content = project.port("""
        sources = ["csrc/op.cpp"]
        if torch.cuda.is_available():
            kind, sources = CUDAExtension, sources + ["csrc/op_kernel.cu"]
        elif hasattr(torch, "is_mlu_available") and torch.is_mlu_available():
            from torch_mlu.utils.cpp_extension import MLUExtension as kind
        elif torch.backends.mps.is_available() or torch.xpu.is_available():
            sources = []
        elif hasattr(torch, "npu"):
            sources.append("csrc/npu/op_npu.cpp")
        else:
            kind = CppExtension
        ext = kind("op", sources)
        """)
    assert command(content, "add_torch_op")[-4:] == ["SOURCES", "csrc/op.cpp", "CUDA_SOURCES", "csrc/op_kernel.cu"]
    assert project.comments == []


def test_text_of_torchs_cuda_version(project):
    """casper-hansen/AutoAWQ_kernels"""
    content = project.port("""
        version = os.getenv("CUDA_VERSION", None) or torch.version.cuda
        if version:
            version = "".join(version.split("."))[:3]
        flags = ["-DWITH_LOG"] if version else []
        ext = CUDAExtension("op", ["csrc/op.cpp", "csrc/op_kernel.cu"], extra_compile_args=flags)
        """)
    assert "CUDA REQUIRED" in content
    assert command(content, "target_compile_definitions") == ["WITH_LOG"]
    assert project.comments == []


def test_a_macro_that_is_computed(project):
    """IST-DASLab/qutlass"""
    project.write("csrc/op.cpp", STABLE)
    project.write("csrc/op_kernel.cu")
    content = project.port("""
        from torch import cuda
        version = f"0x{(2 << 56) | (11 << 48):016X}ULL"
        ext = CUDAExtension("op", ["csrc/op.cpp", "csrc/op_kernel.cu"], extra_compile_args={
            "cxx": [f"-DTORCH_TARGET_VERSION={version}"], "nvcc": cuda.get_gencode_flags().replace("compute=", "arch=").split()})
        """)
    assert command(content, "add_torch_op")[:5] == ["CUDA", "REQUIRED", "TORCH_TARGET", "2.11", "PYTHON_MODULE"]
    assert [re.sub(r"^\S+ ", "", text) for text in project.comments] == [
        "left out: flags for architectures; CMAKE_CUDA_ARCHITECTURES says what is built"
    ]


def test_kinds_and_sources_of_a_table(project):
    """NVIDIA/MinkowskiEngine"""
    project.write("csrc/only_cpu.cpp", ATEN)
    content = project.port("""
        from sys import argv
        def flag(pattern, argv, value=False):
            if value:
                found = [one for one in argv if one.startswith(pattern)]
                return (False, argv) if not found else (found[0], argv)
            found = pattern in argv
            if found:
                argv.remove(pattern)
            return found, argv
        CPU_ONLY, argv = flag("--cpu_only", argv)
        BLAS, argv = flag("--blas", argv, True)
        LOG, argv = flag("--log", argv)
        CPU_ONLY = CPU_ONLY or not torch.cuda.is_available()
        SETS = {
            "cpu": [CppExtension, ["op.cpp", "only_cpu.cpp"], ["-DCPU_ONLY"]],
            "gpu": [CUDAExtension, ["op.cpp", "op_kernel.cu"], []],
        }
        chosen = SETS["cpu" if CPU_ONLY else "gpu"]
        flags = [*(["-DLOG"] if LOG else []), *chosen[-1]]
        ext = chosen[0]("op", [f"csrc/{name}" for name in chosen[1]], extra_compile_args=flags)
        """)
    assert 'list(APPEND op_sources\n    csrc/only_cpu.cpp\n  )' in content
    assert command(content, "add_torch_op")[-5:] == ["SOURCES", "csrc/op.cpp", "${op_sources}", "CUDA_SOURCES", "csrc/op_kernel.cu"]
    assert "if(LOG)\n  target_compile_definitions(op PRIVATE LOG)\nendif()" in content
    without = "if(NOT (CudaTorchMatch_CUDA_ENABLED OR CudaTorchMatch_HIP_ENABLED))\n"
    assert without + "  target_compile_definitions(op PRIVATE CPU_ONLY)\nendif()" in content


def test_include_directories(project):
    """Those of setup() itself, those of a project that this one is a part of, those that aren't there."""
    project.write("include/op.h")
    project.write("bindings/torch/op.cpp", ATEN)
    script = """
        here = os.path.dirname(os.path.realpath(__file__))
        root = os.path.abspath(os.path.join(here, "../.."))
        setup(include_dirs=[f"{root}/include"], ext_modules=[CppExtension("op", ["op.cpp"],
            include_dirs=[root + "/third_party/cutlass", "/opt/none/include", False])])
        """
    project.write("bindings/torch/ops/README")
    project.write(".git")
    project.write("bindings/torch/setup.py", IMPORTS + textwrap.dedent(script))
    setup = project.directory / "bindings" / "torch" / "setup.py"
    for out, up in ((None, "../.."), (str(setup.parent / "ops" / "CMakeLists.txt"), "../../..")):
        content, facts = port(str(setup), out)
        assert command(content, "target_include_directories") == [
            up + "/third_party/cutlass",
            "/opt/none/include",
            up + "/include",
        ]
        assert content.count(": not found: ") == facts["comments"] == 2


def test_hip_branch(project):
    project.write("csrc/op_hip.cpp", ATEN)
    content = project.port("""
        is_rocm = bool(torch.version.hip)
        sources = ["csrc/op.cpp", "csrc/op_kernel.cu"]
        if is_rocm:
            sources.append("csrc/op_hip.cpp")
            nvcc = ["-DUSE_ROCM=1"]
        else:
            nvcc = ["--use_fast_math"]
        ext = CUDAExtension("op", sources, extra_compile_args={"nvcc": nvcc})
        if is_rocm:
            other = CUDAExtension("hip_only", sources)
        """)
    assert command(content, "add_torch_op")[-4:] == ["SOURCES", "csrc/op.cpp", "CUDA_SOURCES", "csrc/op_kernel.cu"]
    assert command(content, "target_compile_options") == ["$<$<COMPILE_LANGUAGE:CUDA>:--use_fast_math>"]
    assert [re.sub(r"^\S+ ", "", text) for text in project.comments] == [
        "left out, for HIP: csrc/op_hip.cpp",
        "left out, for HIP: -DUSE_ROCM=1",
        "left out, for HIP, where hipify translates the CUDA sources: CUDAExtension(hip_only)",
    ]


def test_several_extensions(project):
    content = project.port("""
        def extension(name, *sources, **more):
            return CUDAExtension(name=name, sources=[f"csrc/{one}" for one in sources], **more)
        common = dict(include_dirs=["csrc"], extra_compile_args={"cxx": ["-O3"], "nvcc": ["-O3", "-lineinfo"]})
        setup(name="pkg", ext_modules=[
            extension("pkg.a._C", "op.cpp", "op_kernel.cu", **common),
            extension("pkg.b._C", "op_kernel.cu", **common),
            extension("test", "op.cpp"),
        ])
        """)
    assert re.findall(r"add_torch_op\((\w+)", content) == ["pkg_a_C", "pkg_b_C", "test_ops"]
    assert re.findall(r"INSTALL (\S+)", content) == ["pkg/a", "pkg/b", "."]
    # No .cu: its files are CUDA's all the same, with the toolkit's headers.
    assert command(content, "add_torch_op", "test_ops")[-2:] == ["CUDA_SOURCES", "csrc/op.cpp"]


@pytest.mark.parametrize(
    ("source", "header", "abi"),
    [
        (STABLE, "", ""),
        (ATEN, "", "FULL"),
        (PYBIND, "", "PYBIND"),
        ('#include "op.h"\n', STABLE + "#include <torch/headeronly/util/Exception.h>\n", ""),
        ('#include "op.h"\n' + STABLE, "#include <c10/util/Half.h>\n", "FULL"),
        ("#include <op.h>\n" + ATEN, "#include <pybind11/pybind11.h>\n", "PYBIND"),
        ("// #include <torch/extension.h>\n" + ATEN, "", "FULL"),
    ],
)
def test_abi(project, source, header, abi):
    project.write("csrc/op.cpp", source)
    project.write("include/op.h", header)
    content = project.port("""
        ext = CppExtension("op", ["csrc/op.cpp"], include_dirs=["include"], py_limited_api=True)
        """)
    words = command(content, "add_torch_op")
    assert (words[words.index("ABI") + 1] if "ABI" in words else "") == abi
    assert len(project.comments) == (abi == "PYBIND")


def test_stable_target(project):
    project.write("csrc/op.cpp", STABLE)
    content = project.port("""
        args = ["-DTORCH_TARGET_VERSION=0x020b000000000000", "-DPy_LIMITED_API=0x03090000", "-DUSE_CUDA"]
        ext = CppExtension("op", ["csrc/op.cpp"], extra_compile_args=args)
        """)
    assert command(content, "add_torch_op")[:2] == ["TORCH_TARGET", "2.11"]
    assert "target_compile_definitions" not in content


def test_load(project):
    """A file that calls load(), in a function that nobody calls here, below the directory its paths begin in."""
    content = project.port(
        """
        def get():
            return load(name="op", sources=["csrc/op.cpp", "csrc/op_kernel.cu"], extra_cflags=["-O3", "-mavx2"],
                        extra_cuda_cflags=["--use_fast_math"], extra_include_paths=["csrc"],
                        extra_ldflags=["-L/opt/x -lx", "-lcurand"], verbose=True)
        """,
        name="pkg/ops/loader.py",
    )
    assert "INSTALL" not in content
    assert command(content, "add_torch_op")[-4:] == ["SOURCES", "csrc/op.cpp", "CUDA_SOURCES", "csrc/op_kernel.cu"]
    assert command(content, "target_include_directories") == ["csrc"]
    assert command(content, "target_link_libraries") == ["x", "CudaOps::curand"]
    assert command(content, "target_link_directories") == ["/opt/x"]
    assert "# This is the CMakeLists.txt of the directory that the paths of pkg/ops/loader.py begin in.\n" in content


@pytest.mark.parametrize("module", ("_C", "pkg._C", "from pkg import _C", "from . import _C"))
def test_load_where_the_module_is_not_built(project, module):
    """The module that was built ahead of time, else the one that load() builds; under the module's own name or another."""
    project.write("pkg/__init__.py", "from .loader import _C\n")
    project.write("pkg/flags.py", "FLAGS = ['-O3', '-DA=1']\n")
    statement = module if module.startswith("from") else "import " + module
    content = project.port(
        f"""
        import torch.utils.cpp_extension as jit
        try:
            from .flags import FLAGS
        except ImportError:
            FLAGS = []
        missing = False
        try:
            {statement}
        except (ImportError, OSError):
            missing = True

        def build():
            return jit.load("op", ["csrc/op.cpp"], extra_cflags=FLAGS)

        if missing:
            _C = build()
        """,
        name="pkg/loader.py",
        imports="",
    )
    assert command(content, "add_torch_op")[-2:] == ["SOURCES", "csrc/op.cpp"]
    assert command(content, "target_compile_definitions") == ["A=1"]


def test_load_in_a_function_by_another_name_of_its_module(project):
    content = project.port(
        """
        def build():
            from torch.utils import cpp_extension as jit
            return jit.load("op", ["csrc/op.cpp"])
        """,
        name="loader.py",
        imports="",
    )
    assert command(content, "add_torch_op")[-2:] == ["SOURCES", "csrc/op.cpp"]


def test_load_without_a_module(project):
    content = project.port("load('op', ['csrc/op.cpp'], is_python_module=False)\n", name="run.py")
    assert "PYTHON_MODULE" not in content


def test_load_inline(project):
    content = project.port("""
        source = '''
        torch::Tensor twice(torch::Tensor x) { return x + x; }
        '''
        module = load_inline(name="op", cpp_sources=[source], functions=["twice"])
        """)
    line = project.line("source = ")
    assert project.comments == ["setup.py:%d: not read: sources of op are text in Python: write them to files" % line]
    assert "# No source of op was read:\n# add_torch_op(op\n" in content


def test_builder_classes(project):
    """DeepSpeed's way: a class an op, its base in another file, which makes the extension."""
    project.write(
        "op_builder/base.py",
        """
        import os
        from abc import ABC

        class Builder(ABC):
            def __init__(self, name):
                self.name = name
                self.half = False

            def sources(self):
                return []

            def cxx_args(self):
                return ["-O3", "-Wno-reorder"]

            def nvcc_args(self):
                return ["-O3", "--use_fast_math"] + self.archs()

            def archs(self):
                return ["-gencode=arch=compute_80,code=sm_80"]

            def strip(self, values):
                return [one for one in values if len(one) > 0]

            def builder(self):
                from torch.utils.cpp_extension import CUDAExtension as Made
                args = {"cxx": self.strip(self.cxx_args()), "nvcc": self.strip(self.nvcc_args())}
                if self.half:
                    args["nvcc"].append("-DHALF")
                return Made(name=self.absolute_name(), sources=self.strip(self.sources()),
                            include_dirs=[os.path.abspath(one) for one in self.include_paths()],
                            extra_compile_args=args, extra_link_args=self.strip(self.ldflags()))

            def ldflags(self):
                return ["", "-lcurand"]

            def jit(self):
                from torch.utils.cpp_extension import load
                return load(name=self.name, sources=self.sources())
        """,
    )
    content = project.port(
        """
        from .base import Builder

        class Scale(Builder):
            NAME = "scale"

            def __init__(self):
                super().__init__(name=self.NAME)
                self.half = True

            def absolute_name(self):
                return f"pkg.ops.{self.NAME}_op"

            def sources(self):
                return ["csrc/op.cpp", "csrc/op_kernel.cu"]

            def include_paths(self):
                return ["csrc"]

            def cxx_args(self):
                return super().cxx_args() + ["-DSCALE"]
        """,
        name="op_builder/scale.py",
        imports="",
    )
    assert project.facts["ops"] == 1
    assert command(content, "add_torch_op", "scale_op") == (
        "ABI FULL CUDA REQUIRED PYTHON_MODULE scale_op INSTALL pkg/ops "
        "SOURCES csrc/op.cpp CUDA_SOURCES csrc/op_kernel.cu".split()
    )
    assert command(content, "target_include_directories", "scale_op") == ["csrc"]
    assert command(content, "target_compile_definitions", "scale_op") == [
        "$<$<COMPILE_LANGUAGE:CXX>:SCALE>",
        "$<$<COMPILE_LANGUAGE:CUDA>:HALF>",
    ]
    assert command(content, "target_link_libraries", "scale_op") == ["CudaOps::curand"]
    assert [re.sub(":.*", "", text) for text in project.comments] == ["op_builder/base.py"]


def test_tests_of_the_project(project):
    project.write("tests/test_op.py", "import op\n")
    project.write("tests/test_pkg.py", "import pkg\n")
    project.write("pkg/__init__.py")
    content = project.port('ext = CppExtension("op", ["csrc/op.cpp"])\n')
    assert content.endswith(
        "include(CTest)\ncudaops_add_python_test(test_op OP op SCRIPT tests/test_op.py PYTEST)\n"
        "# tests/test_pkg.py imports the package pkg: install it, then run pytest.\n"
    )


def test_package_in_the_build_tree(project):
    project.write("src/pkg/__init__.py")
    project.write("tests/test_pkg.py", "import pkg\n")
    content = project.port("""
        modules = [CppExtension("pkg._C", ["csrc/op.cpp"]), CppExtension("pkg._D", ["csrc/op.cpp"])]
        """)
    assert "  PYTHON_MODULE _C\n  PYTHON_PACKAGE src/pkg\n  INSTALL pkg\n" in content
    assert content.count("PYTHON_PACKAGE") == 1
    assert content.endswith("cudaops_add_python_test(test_pkg OP pkg_C pkg_D SCRIPT tests/test_pkg.py PYTEST)\n")


def test_tests_of_a_package_run_where_its_modules_for_cuda_are_not_built(project):
    """pytorch_scatter has a module for the CPU and one for CUDA, and imports what is there."""
    project.write("pkg/__init__.py")
    project.write("tests/test_pkg.py", "import pkg\n")
    content = project.port("""
        modules = [CppExtension("pkg._cpu", ["csrc/op.cpp"])]
        if CUDA_HOME is not None:
            modules += [CUDAExtension("pkg._cuda", ["csrc/op.cpp", "csrc/op_kernel.cu"])]
        """)
    assert content.endswith("cudaops_add_python_test(test_pkg OP pkg_cpu SCRIPT tests/test_pkg.py PYTEST)\n")


def test_tests_of_an_op_that_became_a_comment(project):
    """gsplat's sources are known to a module that setup.py loads by its path."""
    project.write("pkg/__init__.py")
    project.write("tests/test_pkg.py", "import pkg\n")
    content = project.port('ext = CUDAExtension("pkg._C", loaded().sources)\n')
    assert "# add_torch_op(pkg_C\n" in content
    assert content.endswith("# tests/test_pkg.py imports the package pkg: install it, then run pytest.\n")
    assert "cudaops_add_python_test" not in content
    assert run_python("-m", "cudaops", "port", project.directory / "setup.py")[2] == (
        "cudaops port: setup.py: 1 extension (1 without sources that could be read: comments, too), 1 comment to look at\n"
    )


def test_include_directory_of_one_compiler(project):
    """diff-gaussian-rasterization: CMake makes no path absolute that stands in a generator expression."""
    content = project.port("""
        here = os.path.dirname(os.path.abspath(__file__))
        ext = CUDAExtension("op", ["csrc/op.cpp", "csrc/op_kernel.cu"], include_dirs=["include"], extra_compile_args={
            "cxx": ["-Iboth"], "nvcc": ["-I" + os.path.join(here, "glm/"), "-I/opt/x", "-Iboth", "-Iinclude"]})
        """)
    nvcc = "$<$<COMPILE_LANGUAGE:CUDA>:%s>"
    included = ["both", nvcc % "${CMAKE_CURRENT_SOURCE_DIR}/glm", nvcc % "/opt/x", "include"]
    assert command(content, "target_include_directories") == included


KNOWN = {  # expression: its value as Python has it, in a directory with csrc/op.cpp and csrc/op_kernel.cu
    "os.path.basename('a/b.cu')": "b.cu",
    "os.path.splitext('a/b.cu')[1]": ".cu",
    "os.path.normpath('a/../b')": "b",
    "os.path.relpath('csrc/op.cpp', 'csrc')": "op.cpp",
    "os.path.relpath('csrc')": "csrc",
    "int(os.path.exists('csrc')) + os.path.isdir('csrc/op.cpp') + os.path.isfile('csrc/op.cpp')": "2",
    "','.join(os.listdir('csrc'))": "op.cpp,op_kernel.cu",
    "[files for _, _, files in os.walk('csrc')][0][1]": "op_kernel.cu",
    "Path('csrc', 'op.cpp').with_suffix('.o').name": "op.o",
    "Path('csrc/op.cpp').with_name('x.cpp').stem": "x",
    "str(Path('csrc').joinpath('a', 'b').parent.as_posix())": "csrc/a",
    "int(Path('csrc/op.cpp').exists()) + int(Path('csrc').is_dir())": "2",
    "Path('csrc/op.cpp').relative_to('csrc').suffix": ".cpp",
    "len([path for path in Path('.').rglob('op*')])": "2",
    "open('csrc/op.cpp').readlines()[0].strip().upper()": "#INCLUDE <ATEN/ATEN.H>",
    # Beside the project, whose name it begins with.
    "int(os.path.exists('../a project 2/op.cpp'))": None,
    "open('../a project 2/op.cpp').read()": None,
    "max([1, 5, 2]) - min(3, 2) * 2 // 3": "4",
    "sum([[1], [2, 3]], [])[2]": "3",
    "len(list(itertools.product('ab', [1, 2, 3])))": None,
    "len(list(itertools.product(['a', 'b'], [1, 2, 3])))": "6",
    "list(itertools.chain([1], (2, 3)))[-1]": "3",
    "list(map(lambda x: x + 1, [1, 2]))[1]": "3",
    "list(filter(None, ['', 'a']))[0]": "a",
    "list(reversed(sorted(['b', 'a'])))[0]": "b",
    "dict(a=1, b=2)['b']": "2",
    "[*{'a': 1, 'b': 2}.items()][1][0]": "b",
    "{'a': 1}.setdefault('c', 7)": "7",
    "copy.copy([1, 2])[0]": "1",
    "[i * j for i, j in zip(range(3), [4, 5, 6])][2]": "12",
    "[i for i, _ in enumerate('abc')][2]": "2",
    "'a-b'.replace('-', '_').title().split('_')[1]": "B",
    "'{}:{x}'.format(1, x=2)": "1:2",
    "(1 < 2) and 2 in (1, 2) and 'x' not in 'abc' and 1 is not None and 5": "5",
    "({'a': 1} | {'a': 2})['a']": "2",
    "platform.system() + os.sep + os.curdir": "Linux/.",
    "-(3 - 1)": "-2",
    "'abc'[1:]": "bc",
    "1 // 0": None,
    "int('x')": None,
    "'a' + 1": None,
    "[1, 2][5]": None,
    "os.path.join(1)": None,
    "'x'.join(1, 2, 3)": None,
    "os.listdir('nowhere')": None,
    "subprocess.check_output(['git'])": None,
}


def test_values_of_pythons_library(project):
    project.write("../a project 2/op.cpp", ATEN)
    macros = ["('V%d', %s)" % pair for pair in enumerate(KNOWN)]
    content = project.port("""
        import copy, itertools, platform, subprocess
        setup(ext_modules=[CppExtension("op", ["csrc/op.cpp"], define_macros=[
        %s
        ])])
        """.replace("\n        ", "\n") % ",\n".join(macros))
    found = dict(re.findall(r"\bV(\d+)=(.*?)\"?$", content, re.MULTILINE))
    assert {text: found.get(str(number)) for number, text in enumerate(KNOWN)} == KNOWN
    assert len(project.comments) == list(KNOWN.values()).count(None)


def test_flag_without_its_value_is_no_error(project):
    content = project.port("""
        setup(ext_modules=[CUDAExtension("op", ["csrc/op.cpp", "csrc/op_kernel.cu"], extra_link_args=["-Xlinker"],
              extra_compile_args={"cxx": [], "nvcc": ["--use_fast_math", "-Xcompiler"]})])
        """)
    assert command(content, "target_compile_options") == ["$<$<COMPILE_LANGUAGE:CUDA>:--use_fast_math>"]
    assert "target_link_options" not in content and project.comments == []


def test_endless_code_ends(project):
    content = project.port(
        """
        def again(n):
            return again(n + 1)
        again(0)
        names = []
        for a in range(1000):
            for b in range(1000):
                names.append(a)
        ext = CppExtension("op", ["csrc/op.cpp"])
        """.replace("ext = ", "ext0 = "),
        imports=IMPORTS + 'first = CppExtension("op", ["csrc/op.cpp"])\n',
    )
    assert "add_torch_op(op\n" in content


def test_modules_that_are_not_used_are_not_read(project):
    """A large package names much more than a builder needs: this one would take all that is followed of a project."""
    project.write("big.py", "names = []\nfor a in range(1000):\n    for b in range(1000):\n        names.append(a)\n")
    project.write("small.py", "import big\nfrom big import names\nSOURCES = ['csrc/op.cpp']\n")
    content = project.port("""
        from small import SOURCES
        import big
        if os.getenv("X"):
            from torch.utils.cpp_extension import CUDAExtension as Made
        else:
            from torch.utils.cpp_extension import CppExtension as Made
        ext = Made("op", SOURCES)
        """)
    assert command(content, "add_torch_op")[-2:] == ["SOURCES", "csrc/op.cpp"]


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("setup(ext_modules=[CMakeExtension('a')])", "found   CMakeExtension('a') (line 1)"),
        ("def broken(:\n", "this is no Python."),
        (None, "found   No such file or directory\nFix: python -m cudaops port <setup.py, or a file that calls load()>"),
        (
            "import torch\nif torch.version.hip: a = torch.utils.cpp_extension.CUDAExtension('a', ['b.cu'])",
            "every extension here is for another platform.",
        ),
        (
            # GPTQModel: built at first use
            "import setuptools\nsetuptools.setup(name='gptq')",
            "found   torch.utils.cpp_extension in ops/loader.py\n",
        ),
        (
            # xformers without its submodules
            "import os\nif not os.path.isdir('cutlass'):\n    raise OSError('git submodule update')\n"
            "torch.utils.cpp_extension.CUDAExtension('a', ['b.cu'])",
            "found   raise OSError('git submodule update') (line 3)",
        ),
    ],
)
def test_errors(tmp_path, script, said):
    path = tmp_path / "setup.py"
    if script is not None:
        path.write_text(script)
        if "gptq" in script:
            (tmp_path / "ops").mkdir()
            (tmp_path / "ops" / "loader.py").write_text("from torch.utils.cpp_extension import load\n")
            (tmp_path / "ops" / "gone.py").symlink_to("nowhere.py")
            said += "  wanted  CUDAExtension, CppExtension, load() or load_inline() of torch.utils.cpp_extension\n"
            said += "Fix: python -m cudaops port %s/ops/loader.py" % tmp_path
    with pytest.raises(PortError) as raised:
        port(str(path))
    assert said in str(raised.value)
    assert str(raised.value).startswith("port(")


def test_command_line(project, tmp_path):
    project.write("setup.py", IMPORTS + 'ext = CppExtension("op", ["csrc/op.cpp"], libraries=names())\n')
    setup = project.directory / "setup.py"
    code, output, error = run_python("-m", "cudaops", "port", setup)
    assert (code, error) == (0, "cudaops port: setup.py: 1 extension, 1 comment to look at\n")
    assert "add_torch_op(op\n" in output
    out = project.directory / "sub" / "CMakeLists.txt"
    out.parent.mkdir()
    code, printed, error = run_python("-m", "cudaops", "port", setup, "-o", out)
    assert (code, printed, error) == (0, "", "cudaops port: ../setup.py: 1 extension, 1 comment to look at\n")
    assert "    ../csrc/op.cpp\n" in out.read_text()
    assert run_python("-m", "cudaops", "port", setup, "-o", out) == (
        2,
        "",
        "cudaops port: -o doesn't overwrite a file.\n  found   %s\nFix: -o <directory>/CMakeLists.txt (paths are then relative to it), or without -o to see it\n" % out,
    )
    assert run_python("-m", "cudaops", "port", setup, "-o", "-")[1] == output
    nowhere = tmp_path / "nowhere"
    assert run_python("-m", "cudaops", "port", setup, "-o", nowhere / "CMakeLists.txt")[2].endswith(
        "found   %s/CMakeLists.txt: No such file or directory\nFix: mkdir -p %s\n" % (nowhere, nowhere)
    )
    assert run_python("-m", "cudaops", "port", setup.parent)[2].endswith("\nFix: python -m cudaops port %s\n" % setup)
    out.write_text("find_package(Torch REQUIRED)\n")
    assert "Fix: what each line of it becomes: docs/porting.md" in run_python("-m", "cudaops", "port", out)[2]
    code, output, error = run_python("-m", "cudaops", "port", "--help")
    assert (code, error) == (0, "") and "docs/porting.md" in output


def test_it_configures_and_builds(project, torch_dir):
    """With the real torch, as it was printed."""
    cmake = shutil.which("cmake")
    if cmake is None or shutil.which("ninja") is None:
        pytest.skip("no cmake, or no ninja")
    if not (torch_dir / "include" / "torch" / "csrc" / "stable" / "library.h").exists():
        pytest.skip("this torch has no stable ABI headers")
    project.write(
        "csrc/op.cpp",
        STABLE + """
        #include <torch/csrc/stable/tensor.h>
        #include "level.h"
        static_assert(LEVEL == 3 && TWICE(2) == 4);
        torch::stable::Tensor same(const torch::stable::Tensor& t) { return t; }
        STABLE_TORCH_LIBRARY(port_test, m) { m.def("same(Tensor t) -> Tensor"); }
        STABLE_TORCH_LIBRARY_IMPL(port_test, CPU, m) { m.impl("same", TORCH_BOX(&same)); }
        """,
    )
    project.write("include/level.h", "#define TWICE(x) (2 * (x))\n")
    project.write("tests/test_op.py", "import op\nimport torch\n")
    content = project.port("""
        here = Path(__file__).parent
        sources = [str(here / "csrc" / "op.cpp")]
        if CUDA_HOME:
            sources += glob.glob("csrc/*.cu")
        kind = CUDAExtension if CUDA_HOME else CppExtension
        setup(name="port test", version="0.1.dev1", ext_modules=[kind("op", sources, include_dirs=[here / "include"],
            define_macros=[("LEVEL", "3")], extra_compile_args={"cxx": ["-Wall", "-Werror"], "nvcc": ["-lineinfo"]},
            extra_link_args=["-Wl,--gc-sections"])])
        """)
    project.write("csrc/op_kernel.cu", "__global__ void nothing() {}\n")
    project.write("CMakeLists.txt", content)
    build = project.directory / "build"
    root = "-DCudaOps_ROOT=%s" % REPOSITORY
    settings = ["-DPython_EXECUTABLE=" + sys.executable, "-DCUDAOPS_BACKEND=CPU", "-DCUDAOPS_CACHE=OFF"]
    for words in (
        ["-G", "Ninja", "-S", project.directory, "-B", build, root, *settings],
        ["--build", build],
    ):
        done = subprocess.run([cmake, *map(str, words)], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    report = json.loads((build / "cudaops-report.json").read_text())
    assert "op" in json.dumps(report)
    built = next(build.glob("op*.so"))
    code = "import torch, sys; sys.path.insert(0, %r); import op; print(torch.ops.port_test.same(torch.ones(2)))"
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code % str(built.parent)], capture_output=True, text=True, env=environment
    )
    assert (done.returncode, done.stdout) == (0, "tensor([1., 1.])\n"), done.stderr
