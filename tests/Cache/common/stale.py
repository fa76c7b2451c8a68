# SPDX-License-Identifier: Apache-2.0
"""Every change that a compiler cache is known to miss, and each variable that the compilers read.

  stale.py <repo> <build tree> <scratch directory> [--all | <name>...]

Each case compiles something twice through the launcher (the second must be a hit where the case says so: else it would
prove nothing), changes one thing, compiles again, and compares the object with what the compiler makes of it alone. Without --all
and names: of CUDA and HIP one row for each hole, and an object that the compiler itself has just made is not made again. In
a tree with HIP: the rows of HIP alone.
"""

import argparse
import concurrent.futures
import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from cache_testing import Failure, Tree, content, headers  # noqa: E402

KERNEL = """
#ifndef VALUE
#define VALUE 1
#endif
__global__ void kernel(float* x) { x[threadIdx.x] = x[0] * VALUE; }
"""
GUARDED = """
#include "always.h"
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#include "new.h"
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#include "old.h"
#endif
#ifdef __CUDA_ARCH__
#include "device.h"
#else
#include "host.h"
#endif
__global__ void kernel(float* x) {
  x[0] = ALWAYS;
#ifdef __CUDA_ARCH__
  x[1] = DEVICE;
  x[2] = ARCH;
#if __CUDA_ARCH__ >= 900
  x[3] = 1;
#endif
#endif
}
#ifndef __CUDA_ARCH__
int host = HOST;
#endif
"""
HEADERS = {
    "always.h": "#define ALWAYS 1\n",
    "new.h": "#define ARCH 90\n",
    "old.h": "#define ARCH 80\n",
    "device.h": "#define DEVICE 3\n",
    "host.h": "#define HOST 4\n",
}
BOTH = [
    "--generate-code=arch=compute_80,code=[compute_80,sm_80]",
    "--generate-code=arch=compute_90,code=[compute_90,sm_90]",
]
ONE = ["--generate-code=arch=compute_80,code=[sm_80]"]
# Each a way of its own through the launcher; the others are more of the same kind, at five compiles each.
HOLES = {
    "cuda": {
        "edit under __CUDA_ARCH__ >= 900",
        "header of one arch",
        "header of the host pass",
        "NVCC_PREPEND_FLAGS=-DVALUE=2",
        "NVCC_APPEND_FLAGS=-DVALUE=2",
        "NVCC_CCBIN",
        "-rdc=true after -c",
        "-dc after -c",
        "--options-file=F",
        "-arch=native",
        "a header before the one that was found",
        "a header in an earlier directory of NVCC_APPEND_FLAGS",
        "a long CPATH",
        "a response file in the environment, -Xcompiler=",
    },
    "hip": {
        "edit under a guard of one arch",
        "header of one arch",
        "header of device passes",
        "header of the host pass",
        "another arch",
        "a header before the one that device passes found",
        "HIP's own headers hit",
        "another place of the device libraries",
        "ROCM_PATH",
    },
}


class Case:
    def __init__(
        self,
        name,
        kind="cuda",
        files=None,
        args=None,
        then=None,
        then_args=None,
        env=None,
        then_env=None,
        cached=True,
        same=False,
        source=None,
    ):
        self.name = name
        self.kind = kind
        self.files = files or {}
        self.args = args if args is not None else []
        self.then = then or {}
        self.then_args = self.args if then_args is None else then_args
        self.env = env or {}
        self.then_env = self.env if then_env is None else then_env
        self.cached = cached  # the first command is answered from the cache when it is given again
        self.same = same  # the change doesn't show in the object
        self.source = source or {"cuda": "k.cu", "hip": "k.hip", "cxx": "k.cpp"}[kind]


def cases():
    def edit(name, file, old, new, **more):
        text = {"k.cu": GUARDED, **HEADERS}[file]
        assert old in text
        return Case(name, files={"k.cu": GUARDED, **HEADERS}, args=BOTH, then={file: text.replace(old, new)}, **more)

    yield edit("edit under __CUDA_ARCH__ >= 900", "k.cu", "x[3] = 1", "x[3] = 2")
    yield edit("header of one arch", "new.h", "90", "91")
    yield edit("header of the other arch", "old.h", "80", "81")
    yield edit("header of device passes", "device.h", "3", "5")
    yield edit("header of the host pass", "host.h", "4", "5")
    yield edit("header of all passes", "always.h", "1", "2")

    for name, value in (
        ("NVCC_PREPEND_FLAGS", "-DVALUE=2"),
        ("NVCC_APPEND_FLAGS", "-DVALUE=2"),
        ("NVCC_APPEND_FLAGS", "-ftz=true"),
        ("OCG_FLAGS", "-O0"),
        ("INCLUDES", "-DVALUE=2"),
        ("SYSTEM_INCLUDES", "-DVALUE=2"),
        ("PTXAS_FLAGS", "-O0"),
        ("NVVM_FLAGS", "-generate-line-info"),
    ):
        files = {"k.cu": KERNEL.replace("x[0] *", "x[0] / x[1] *")}
        yield Case(f"{name}={value}", files=files, args=ONE, then_env={name: value})
    yield Case(
        "CUDAFE_FLAGS",
        files={
            "k.cu": KERNEL + "int __attribute__((used)) f() {\n#if __cplusplus > 201703L\n"
            "return 1;\n#else\nreturn 2;\n#endif\n}\n"
        },
        args=ONE,
        then_env={"CUDAFE_FLAGS": "--diag_suppress=1"},
        same=True,
    )
    yield Case(
        "NVCC_CCBIN",
        files={"k.cu": KERNEL + "int f() { return __GNUC__; }\n"},
        args=ONE,
        then_env={"NVCC_CCBIN": "/usr/bin/g++"},
        cached=False,
        same=True,
    )
    for name, kind in (
        ("CPATH", "cuda"),
        ("CPLUS_INCLUDE_PATH", "cuda"),
        ("CPATH", "cxx"),
        ("CPLUS_INCLUDE_PATH", "cxx"),
    ):
        source = "#include <found.h>\nint value = FOUND;\n"
        yield Case(
            f"{name}, {kind}",
            kind=kind,
            files={"k.cu": source, "k.cpp": source, "a/found.h": "#define FOUND 1\n", "b/found.h": "#define FOUND 2\n"},
            args=ONE if kind == "cuda" else [],
            env={name: "<case>/a"},
            then_env={name: "<case>/b"},
        )
    yield Case(
        "SOURCE_DATE_EPOCH",
        kind="cxx",
        files={"k.cpp": "const char* date = __DATE__;\n"},
        env={"SOURCE_DATE_EPOCH": "1000000000"},
        then_env={"SOURCE_DATE_EPOCH": "1100000000"},
    )
    for name, value in (
        ("GCC_EXEC_PREFIX", "/usr/lib/gcc/"),
        ("COMPILER_PATH", "<case>/"),
        ("LD_PRELOAD", "libdl.so.2"),
    ):
        yield Case(
            name,
            kind="cxx",
            files={"k.cpp": "int x = 1;\n"},
            env={name: value},
            then={"k.cpp": "int x = 2;\n"},
            cached=False,
        )

    yield Case("-rdc=true after -c", files={"k.cu": KERNEL}, args=ONE, then_args=[*ONE, "-rdc=true"])
    yield Case("-dc after -c", files={"k.cu": KERNEL}, args=ONE, then_args=[*ONE, "-dc", "<no -c>"])
    yield Case(
        "-dc",
        files={"k.cu": KERNEL},
        args=[*ONE, "-dc", "<no -c>"],
        then={"k.cu": KERNEL.replace("* VALUE", "+ VALUE")},
        cached=False,
    )
    yield Case(
        "--options-file=F",
        files={"k.cu": KERNEL, "f.txt": "-DVALUE=2\n"},
        args=[*ONE, "--options-file=<case>/f.txt"],
        then={"f.txt": "-DVALUE=3\n"},
    )
    yield Case(
        "--options-file F",
        files={"k.cu": KERNEL, "f.txt": '-DVALUE=2 -I"/usr/include"\n'},
        args=[*ONE, "--options-file", "<case>/f.txt"],
        then={"f.txt": '-DVALUE=3 -I"/usr/include"\n'},
    )
    yield Case(
        "-optf F",
        files={"k.cu": KERNEL, "f.txt": "-DVALUE=2\n"},
        args=[*ONE, "-optf", "<case>/f.txt"],
        then={"f.txt": "-DVALUE=3\n"},
    )
    yield Case(
        "option files in one word",
        files={"k.cu": KERNEL, "f.txt": "-DVALUE=2\n", "g.txt": "-O1\n"},
        args=[*ONE, "--options-file", "<case>/f.txt,<case>/g.txt"],
        then={"f.txt": "-DVALUE=3\n"},
        cached=False,
    )
    yield Case(
        "an option file in an option file",
        files={"k.cu": KERNEL, "f.txt": "--options-file <case>/g.txt\n", "g.txt": "-DVALUE=2\n"},
        args=[*ONE, "--options-file", "<case>/f.txt"],
        then={"g.txt": "-DVALUE=3\n"},
        cached=False,
    )
    yield Case(
        "host option file",
        files={"k.cu": KERNEL, "f.txt": "-DVALUE=2\n"},
        args=[*ONE, "-Xcompiler=@<case>/f.txt"],
        then={"f.txt": "-DVALUE=3\n"},
        cached=False,
    )
    yield Case(
        "response file",
        kind="cxx",
        files={"k.cpp": "int x = VALUE;\n", "f.txt": "-DVALUE=2\n"},
        args=["@<case>/f.txt"],
        then={"f.txt": "-DVALUE=3\n"},
        cached=False,
    )
    yield Case(
        "-arch=native",
        files={"k.cu": KERNEL},
        args=["-arch=native"],
        then={"k.cu": KERNEL.replace("* VALUE", "+ VALUE")},
        cached=False,
    )
    yield Case(
        "-MMD",
        files={"k.cu": "#include <s.h>\n" + KERNEL, "s/s.h": "#define VALUE 2\n"},
        args=[*ONE, "-isystem", "<case>/s", "-MMD", "<no -MD>"],
        then={"s/s.h": "#define VALUE 3\n"},
        cached=False,
    )
    yield Case(
        "-MMD",
        kind="cxx",
        files={"k.cpp": "#include <s.h>\nint x = VALUE;\n", "s/s.h": "#define VALUE 2\n"},
        args=["-isystem", "<case>/s", "-MMD", "<no -MD>"],
        then={"s/s.h": "#define VALUE 3\n"},
        cached=False,
    )
    yield Case(
        "system headers",
        files={"k.cu": "#include <s.h>\n" + KERNEL, "s/s.h": "#define VALUE 2\n"},
        args=[*ONE, "-isystem=<case>/s"],
        then={"s/s.h": "#define VALUE 3\n"},
    )
    for option in ("-keep", "--keep", "-save-temps", "--save-temps", "-Xcompiler=-save-temps=obj"):
        yield Case(
            option,
            files={"k.cu": KERNEL},
            args=[*ONE, option, "-keep-dir", "<case>"][: 2 if "Xcomp" in option else None],
            then={"k.cu": KERNEL.replace("* VALUE", "+ VALUE")},
            cached=False,
        )
    yield Case(
        "-fdevice-time-trace",
        files={"k.cu": KERNEL},
        args=[*ONE, "-fdevice-time-trace", "<case>/trace.json"],
        then={"k.cu": KERNEL.replace("* VALUE", "+ VALUE")},
        cached=False,
    )
    yield Case(
        "--time",
        files={"k.cu": KERNEL},
        args=[*ONE, "--time=<case>/time.csv"],
        then={"k.cu": KERNEL.replace("* VALUE", "+ VALUE")},
        cached=False,
    )
    yield Case(
        "-save-temps",
        kind="cxx",
        files={"k.cpp": "int x = 1;\n"},
        args=["-save-temps"],
        then={"k.cpp": "int x = 2;\n"},
        cached=False,
    )
    yield Case(
        "-libdevice-directory",
        files={"k.cu": KERNEL},
        args=[*ONE, "-ldir", "/usr/local/cuda/nvvm/libdevice"],
        then={"k.cu": KERNEL.replace("* VALUE", "+ VALUE")},
        cached=False,
    )
    for old, new in (
        ("-O3", "-O1"),
        ("-DVALUE=1", "-DVALUE=2"),
        ("-ftz=false", "-ftz=true"),
        ("-Xptxas=-O3", "-Xptxas=-O0"),
        ("-Xcompiler=-O0", "-Xcompiler=-O3"),
        ("--maxrregcount=32", "--maxrregcount=16"),
        ("--compress-mode=default", "--compress-mode=size"),
        ("-std=c++17", "-std=c++20"),
        ("-Xcompiler=-fPIC", "-Xcompiler=-fno-pic"),
    ):
        source = (
            KERNEL.replace("x[0] *", "__cosf(x[0]) / x[1] *")
            + "int f(int n) { int s = __cplusplus; for (int i = 0; i < n; ++i) s += i * i; return s; }\n"
        )
        yield Case(f"{old} to {new}", files={"k.cu": source}, args=[*ONE, old], then_args=[*ONE, new])
    yield Case("one arch, then two", files={"k.cu": KERNEL}, args=ONE, then_args=BOTH)
    yield Case("code without PTX", files={"k.cu": KERNEL}, args=BOTH[:1], then_args=ONE)
    for old, new in (("--threads=1", "--threads=2"), ("--diag-suppress=177", "--diag-suppress=20012")):
        yield Case(f"{old} to {new}", files={"k.cu": KERNEL}, args=[*BOTH, old], then_args=[*BOTH, new], same=True)
    for form in (
        ["--threads", "2"],
        ["-t", "2"],
        ["-t=2"],
        ["--diag-suppress", "177"],
        ["-Xcompiler", "-Wall,-Wextra"],
        ["--split-compile=2"],
        ["--use_fast_math"],
        ["--expt-relaxed-constexpr", "--extended-lambda"],
        ["-lineinfo"],
        ["-isystem", "<case>"],
    ):
        yield Case(
            " ".join(form) + " hits",
            files={"k.cu": KERNEL},
            args=[*BOTH, *form],
            then={"k.cu": KERNEL.replace("* VALUE", "+ VALUE")},
        )

    for option in ("-G", "-g", "-Xcompiler=-g"):
        # Debug information names nvcc's temporary files: no two objects are alike.
        yield Case(
            option + " hits",
            files={"k.cu": KERNEL},
            args=[*ONE, option],
            then={"k.cu": KERNEL.replace("* VALUE", "+ VALUE")},
            same=None,
        )
    for kind, source in (("cuda", "k.cu"), ("cxx", "k.cpp")):
        found = '#include "v.h"\nint value = FOUND;\n'
        here = {source: found, "b/v.h": "#define FOUND 1\n", "a/other.h": ""}
        args = ["-I<case>/a", "-I<case>/b"] + (ONE if kind == "cuda" else [])
        yield Case(
            "a header before the one that was found",
            kind=kind,
            files=here,
            args=args,
            then={"a/v.h": "#define FOUND 2\n"},
        )
        yield Case("a header beside the source", kind=kind, files=here, args=args, then={"v.h": "#define FOUND 2\n"})
        yield Case(
            "a header with a toolkit's name",
            kind=kind,
            args=args,
            files={**here, source: ("#include <cuda_fp16.h>\n" if kind == "cuda" else "#include <limits.h>\n") + found},
            then={"a/cuda_fp16.h": "#define FOUND 3\n#undef FOUND\nint more;\n", "a/limits.h": "int some;\n"},
        )
        yield Case(
            "the same name in a later directory",
            kind=kind,
            files={**here, "a/v.h": "#define FOUND 3\n"},
            args=args,
            then={"a/v.h": "#define FOUND 2\n"},
        )
        yield Case(
            "__has_include of a file that isn't there",
            kind=kind,
            args=args,
            files={source: '#if __has_include("w.h")\nint value = 2;\n#else\nint value = 1;\n#endif\n'},
            then={"b/w.h": ""},
            cached=False,
        )
        yield Case(
            "__has_include of the standard library",
            kind=kind,
            args=args,
            files={source: "#if __has_include(<version>)\n#include <version>\n#endif\nint value = 1;\n"},
            then={source: "int value = 2;\n"},
        )
        yield Case(
            "__has_include of a standard header that the compiler lacks",
            kind=kind,
            args=args,
            files={source: "#if __has_include(<flat_map>)\nint value = 2;\n#else\nint value = 1;\n#endif\n"},
            then={"a/flat_map": ""},
        )
        yield Case(
            "__has_include and a name like the toolkit's",
            kind=kind,
            args=args,
            files={source: "#if __has_include(<cuda/fast>)\nint value = 2;\n#else\nint value = 1;\n#endif\n"},
            then={"a/cuda/fast": ""},
            cached=False,
        )
        angled = {source: "#include <v.h>\nint value = FOUND;\n", "b/v.h": "#define FOUND 1\n", "a/other.h": ""}
        for option in ("CPATH", "CPLUS_INCLUDE_PATH"):
            yield Case(
                f"a header in an earlier directory of {option}",
                kind=kind,
                files=angled,
                args=args[2:],
                env={option: "<case>/a:<case>/b"},
                then={"a/v.h": "#define FOUND 2\n"},
            )
        long = ":/nowhere/" + "a" * 300
        yield Case(
            "a long CPATH",
            kind=kind,
            files={**angled, "a/v.h": "#define FOUND 2\n"},
            args=args[2:],
            env={"CPATH": "<case>/b" + long},
            then_env={"CPATH": "<case>/a" + long},
        )
        yield Case(
            "a file of the assembler, in a definition",
            kind=kind,
            files={source: 'asm(".data\\n.globl b\\nb: " TAKE " \\"<case>/data.bin\\"\\n");\n', "data.bin": "1"},
            args=['-DTAKE=".INCBIN"'],
            then={"data.bin": "2"},
            cached=False,
        )
        yield Case(
            "a file of the assembler, in two parts",
            kind=kind,
            files={source: 'asm(".data\\n.globl b\\nb: ." "incbin \\"<case>/data.bin\\"\\n");\n', "data.bin": "1"},
            then={"data.bin": "2"},
            cached=False,
        )
        yield Case(
            "a header of -I before one of -isystem",
            kind=kind,
            files=angled,
            args=["-isystem", "<case>/b", "-I<case>/a", *args[2:]],
            then={"a/v.h": "#define FOUND 2\n"},
        )
        yield Case(
            "the same name in directories of -I and -isystem",
            kind=kind,
            files={**angled, "a/v.h": "#define FOUND 3\n"},
            args=["-isystem", "<case>/b", "-I<case>/a", *args[2:]],
            then={"a/v.h": "#define FOUND 2\n"},
        )
        yield Case(
            "-idirafter",
            kind=kind,
            files=angled,
            args=[
                *(("-Xcompiler=-idirafter,<case>/a,-idirafter,<case>/b",) if kind == "cuda" else ()),
                *(("-idirafter", "<case>/a", "-idirafter<case>/b") if kind == "cxx" else ()),
                *args[2:],
            ],
            then={"a/v.h": "#define FOUND 2\n"},
            cached=False,
        )
        for name, question in (
            ("a tab", '__has_include\t("w.h")'),
            ("a line's end", '__has_include \\\n ("w.h")'),
            ("a comment", '__has_include /* is it? */ ("w.h")'),
            ("a name without an ending", "__has_include(<local_config>)"),
            ("its next", '__has_include_next("w.h")'),
            ("a macro", 'ASKED("w.h")'),
        ):
            yield Case(
                f"__has_include and {name}",
                kind=kind,
                args=args,
                files={
                    source: "#define ASKED __has_include\n" * (name == "a macro")
                    + f"#if {question}\nint value = 2;\n#else\nint value = 1;\n#endif\n"
                },
                then={"b/w.h": "", "b/local_config": ""},
                cached=False,
            )
        yield Case(
            "directories with headers' names",
            kind=kind,
            files={
                source: "#include <memory>\n#include <queue>\n#include <v.h>\nint value = FOUND;\n",
                "memory/other.h": "",
                "a/queue/other.h": "",
                "b/v.h": "#define FOUND 1\n",
            },
            args=args,
            then={"a/v.h": "#define FOUND 2\n"},
        )
        yield Case(
            "a header in a directory of an earlier one",
            kind=kind,
            files={
                source: "#include <sub/v.h>\nint value = FOUND;\n",
                "a/sub/other.h": "",
                "b/sub/v.h": "#define FOUND 1\n",
            },
            args=args,
            then={"a/sub/v.h": "#define FOUND 2\n"},
        )
        # gcc looks into a directory of CPATH that is a system directory too where the others of these are.
        yield Case(
            "a directory that is named twice",
            kind=kind,
            files={**angled, "a/v.h": "#define FOUND 3\n"},
            args=["-isystem", "<case>/b", "-isystem", "<case>/a", *args[2:]],
            env={"CPATH": "<case>/a"},
            then={"b/v.h": "#define FOUND 2\n"},
        )
        yield Case(
            "NVCC_APPEND_FLAGS come last, and not for C++",
            kind=kind,
            files={**angled, "c/v.h": "#define FOUND 3\n"},
            args=args,
            env={"NVCC_APPEND_FLAGS": "-I<near>/c"},
            then={"b/v.h": "#define FOUND 2\n"},
        )
    angled = {"k.cu": "#include <v.h>\nint value = FOUND;\n", "b/v.h": "#define FOUND 1\n", "a/other.h": ""}
    for name, flags in (
        ("-Xcompiler", ["-Xcompiler=-I<case>/a", "-Xcompiler", "-I<case>/b"]),
        ("-Xcompiler of system headers", ["-Xcompiler=-isystem,<case>/a", "-Xcompiler=-isystem,<case>/b"]),
    ):
        yield Case(
            f"a header in an earlier directory of {name}",
            files=angled,
            args=[*flags, *ONE],
            then={"a/v.h": "#define FOUND 2\n"},
        )
    yield Case(
        "a header in an earlier directory of NVCC_APPEND_FLAGS",
        files=angled,
        args=ONE,
        env={"NVCC_APPEND_FLAGS": "-I<near>/a -I<near>/b"},
        then={"a/v.h": "#define FOUND 2\n"},
    )
    yield Case(
        "a quoted directory of NVCC_APPEND_FLAGS",
        files=angled,
        args=ONE,
        env={"NVCC_APPEND_FLAGS": '-I"<case>/a" -I"<case>/b"'},
        then={"a/v.h": "#define FOUND 2\n"},
        cached=False,
    )
    yield Case(
        "the toolkit's headers in CPATH",
        files={"k.cu": "#include <cuda_fp16.h>\n" + KERNEL},
        args=ONE,
        env={"CPATH": "<toolkit>/include"},
        then={"k.cu": KERNEL.replace("* VALUE", "+ VALUE")},
    )
    for flags in ("-Xcompiler=@<near>/f.txt", "-Xcompiler @<near>/f.txt"):
        yield Case(
            f"a response file in the environment, {flags[:11]}",
            files={"k.cu": KERNEL, "f.txt": "-DVALUE=2\n"},
            args=ONE,
            env={"NVCC_APPEND_FLAGS": flags},
            then={"f.txt": "-DVALUE=3\n"},
            cached=False,
        )
    yield Case(
        "-fmacro-prefix-map",
        kind="cxx",
        files={"k.cpp": "const char* file = __FILE__;\n"},
        args=["-fmacro-prefix-map=<case>/=a/"],
        then_args=["-fmacro-prefix-map=<case>/=b/"],
    )
    yield Case(
        "-march",
        kind="cxx",
        files={"k.cpp": "float f(float* x) { float s = 0; for (int i = 0; i < 64; ++i) s += x[i] * 2; return s; }\n"},
        args=["-O3", "-march=x86-64"],
        then_args=["-O3", "-march=x86-64-v3"],
    )
    yield Case(
        "__FILE__ of another source",
        kind="cxx",
        files={"k.cpp": "const char* file = __FILE__;\n", "other/k.cpp": "const char* file = __FILE__;\n"},
        then_args=["<source other/k.cpp>"],
    )
    yield Case(
        "__TIME__",
        kind="cxx",
        files={"k.cpp": "const char* time = __TIME__;\n"},
        then={"k.cpp": 'const char* time = "" __TIME__ "x";\n'},
        cached=None,
        same=None,
    )
    yield Case(
        "__TIMESTAMP__ in a .cu",
        files={"k.cu": KERNEL + "const char* stamp = __TIMESTAMP__;\n"},
        args=ONE,
        then={"k.cu": KERNEL + 'const char* stamp = "x" __TIMESTAMP__;\n'},
        cached=None,
    )
    yield Case(
        "-march=native hits",
        kind="cxx",
        files={"k.cpp": "int value = 1;\n"},
        args=["-march=native"],
        then={"k.cpp": "int value = 2;\n"},
    )
    yield Case(
        ".incbin",
        kind="cxx",
        files={"k.cpp": 'asm(".data\\n.globl b\\nb: .incbin \\"<case>/data.bin\\"\\n");\n', "data.bin": "1"},
        then={"data.bin": "2"},
        cached=False,
    )
    yield Case(
        ".incbin in a header",
        files={
            "k.cu": '#include "data.h"\n' + KERNEL,
            "data.h": '#ifndef __CUDA_ARCH__\nasm(".data\\n.globl b\\nb: .incbin \\"<case>/data.bin\\"\\n");\n#endif\n',
            "data.bin": "1",
        },
        args=ONE,
        then={"data.bin": "2"},
        cached=False,
    )
    yield Case(
        "-include",
        kind="cxx",
        files={"k.cpp": "int x = VALUE;\n", "i.h": "#define VALUE 2\n"},
        args=["-include", "<case>/i.h"],
        then={"i.h": "#define VALUE 3\n"},
    )
    yield Case(
        "--pre-include",
        files={"k.cu": KERNEL, "i.h": "#define VALUE 2\n"},
        args=[*ONE, "-include", "<case>/i.h"],
        then={"i.h": "#define VALUE 3\n"},
    )
    yield Case(
        "computed include",
        kind="cxx",
        files={"k.cpp": '#define NAME "i.h"\n#include NAME\nint x = VALUE;\n', "i.h": "#define VALUE 2\n"},
        then={"i.h": "#define VALUE 3\n"},
    )
    yield Case(
        "-fprofile-use",
        kind="cxx",
        files={"k.cpp": "int x = 1;\n"},
        args=["--coverage"],
        then={"k.cpp": "int x = 2;\n"},
        cached=False,
    )


def hip_cases():
    """The same of HIP: an object of clang's own device passes and the host's."""
    guarded = GUARDED.replace("__CUDA_ARCH__ >= 900", "defined(__gfx90a__)").replace(
        "__CUDA_ARCH__ < 900", "defined(__gfx906__)"
    )
    guarded = guarded.replace("defined(__CUDA_ARCH__)", "defined(__HIP_DEVICE_COMPILE__)")
    guarded = guarded.replace("__CUDA_ARCH__", "__HIP_DEVICE_COMPILE__").replace(
        "#if defined(__gfx90a__)\n  x[3]", "#ifdef __gfx90a__\n  x[3]"
    )
    # Without HIP's own headers, which are most of a compile.
    declared = (
        "struct dim3 { unsigned x, y, z; };\n"
        'extern "C" int hipLaunchKernel(const void*, dim3, dim3, void**, unsigned long, void*);\n'
    )
    guarded = declared + guarded.replace("__global__", "__attribute__((global))")
    kernel = declared + KERNEL.replace("__global__", "__attribute__((global))").replace("x[threadIdx.x]", "x[1]")
    plain = ["-nogpuinc", "-O2"]
    both = [*plain, "--offload-arch=gfx90a", "--offload-arch=gfx906"]
    one = [*plain, "--offload-arch=gfx90a"]

    def edit(name, file, old, new):
        text = {"k.hip": guarded, **HEADERS}[file]
        assert old in text
        return Case(
            name, "hip", files={"k.hip": guarded, **HEADERS}, args=both, then={file: text.replace(old, new)}
        )

    yield edit("edit under a guard of one arch", "k.hip", "x[3] = 1", "x[3] = 2")
    yield edit("header of one arch", "new.h", "90", "91")
    yield edit("header of the other arch", "old.h", "80", "81")
    yield edit("header of device passes", "device.h", "3", "5")
    yield edit("header of the host pass", "host.h", "4", "5")
    yield edit("header of all passes", "always.h", "1", "2")
    yield Case("one arch, then two", "hip", files={"k.hip": kernel}, args=one, then_args=both)
    yield Case(
        "another arch",
        "hip",
        files={"k.hip": kernel},
        args=one,
        then_args=[*plain, "--offload-arch=gfx906"],
    )
    for old, new in (
        ("-O1", "-O3"),
        ("-DVALUE=1", "-DVALUE=2"),
        ("-fgpu-flush-denormals-to-zero", "-fno-gpu-flush-denormals-to-zero"),
        ("-fno-gpu-rdc", "-fgpu-rdc"),
        ("-munsafe-fp-atomics", "-mno-unsafe-fp-atomics"),
    ):
        same = "atomics" in old
        files = {"k.hip": kernel.replace("x[0] *", "x[0] / x[1] *")}
        yield Case(f"{old} to {new}", "hip", files=files, args=[*one, old], then_args=[*one, new], same=same)
    yield Case(
        "-include",
        "hip",
        files={"k.hip": kernel, "i.h": "#ifdef __HIP_DEVICE_COMPILE__\n#define VALUE 2\n#endif\n"},
        args=[*one, "-include", "<case>/i.h"],
        then={"i.h": "#ifdef __HIP_DEVICE_COMPILE__\n#define VALUE 3\n#endif\n"},
    )
    yield Case(
        "a header that only a header of device passes includes",
        "hip",
        files={**HEADERS, "k.hip": guarded, "device.h": '#include "deeper.h"\n', "deeper.h": "#define DEVICE 3\n"},
        args=both,
        then={"deeper.h": "#define DEVICE 5\n"},
    )
    yield Case(
        "a header before the one that device passes found",
        "hip",
        files={
            **HEADERS,
            "k.hip": guarded.replace('"device.h"', "<v.h>"),
            "b/v.h": "#define DEVICE 1\n",
            "a/other.h": "",
        },
        args=[*both, "-I<case>/a", "-I<case>/b"],
        then={"a/v.h": "#define DEVICE 2\n"},
    )
    yield Case(
        "HIP's own headers hit",
        "hip",
        files={"k.hip": "#include <hip/hip_runtime.h>\n#include <hip/hip_fp16.h>\n" + KERNEL},
        args=["--offload-arch=gfx90a", "-O2"],
        then={"k.hip": "#include <hip/hip_runtime.h>\n" + KERNEL.replace("* VALUE", "+ VALUE")},
    )
    yield Case(
        "-MMD",
        "hip",
        files={"k.hip": "#include <s.h>\n" + kernel, "s/s.h": "#define VALUE 2\n"},
        args=[*one, "-isystem", "<case>/s", "-MMD", "<no -MD>"],
        then={"s/s.h": "#define VALUE 3\n"},
        cached=False,
    )
    yield Case(
        "CPATH",
        "hip",
        files={
            "k.hip": "#ifdef __HIP_DEVICE_COMPILE__\n#include <found.h>\n#endif\n" + kernel,
            "a/found.h": "#define VALUE 2\n",
            "b/found.h": "#define VALUE 3\n",
        },
        args=one,
        env={"CPATH": "<case>/a"},
        then_env={"CPATH": "<case>/b"},
    )
    yield Case(
        "another place of the device libraries",
        "hip",
        files={"k.hip": kernel},
        args=[*one, "--rocm-device-lib-path=<libraries>/."],
        then={"k.hip": kernel.replace("* VALUE", "+ VALUE")},
        cached=False,
    )
    yield Case(
        "ROCM_PATH",
        "hip",
        files={"k.hip": kernel},
        args=one,
        then={"k.hip": kernel.replace("* VALUE", "+ VALUE")},
        env={"ROCM_PATH": "<case>"},
    )
    yield Case(
        "-save-temps",
        "hip",
        files={"k.hip": kernel},
        args=[*one, "-save-temps=obj"],
        then={"k.hip": kernel.replace("* VALUE", "+ VALUE")},
        cached=False,
    )


def substitute(value, directory):
    if isinstance(value, dict):
        return {key: substitute(entry, directory) for key, entry in value.items()}
    if isinstance(value, list):
        return [substitute(entry, directory) for entry in value]
    return value.replace("<case>", str(directory))


def write(directory, files):
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def arguments(tree, case, directory, args, output):
    source = case.source
    take = ["-c", "-MD"]
    rest = []
    for arg in substitute(args, directory):
        if arg.startswith("<source "):
            source = arg[len("<source ") : -1]
        elif arg == "<no -c>":
            take.remove("-c")
        elif arg == "<no -MD>":
            take.remove("-MD")
        else:
            rest.append(arg)
    if case.kind == "cuda":
        host = tree.settings["cuda"]["host_compiler"]
        front = ["-forward-unknown-to-host-compiler"] + ([] if "NVCC_CCBIN" in case.name else [f"-ccbin={host}"])
        return [
            *front,
            *rest,
            *take,
            "-MT",
            "k.o",
            "-MF",
            str(output) + ".d",
            "-x",
            "cu",
            str(directory / source),
            "-o",
            str(output),
        ]
    if case.kind == "hip":
        rocm = [flag for flag in tree.settings["hip"]["rocm"].split("|") if flag]
        take += ["-MT", "k.o", "-MF", str(output) + ".d", "-x", "hip"]
        libraries = next(flag for flag in rocm if "device-lib" in flag).split("=")[1]
        rest = [arg.replace("<libraries>", libraries) for arg in rest]
        return [*rocm, *rest, "-o", str(output), *take, str(directory / source)]
    return [*rest, *take, "-MT", "k.o", "-MF", str(output) + ".d", "-o", str(output), str(directory / source)]


def check(tree, case, directory, whole):
    # Its own cache where there is no server: no row profits from another one's entries, and hits can be counted.
    tree = Tree(tree.repo, tree.build, directory / "ccache", tree.env)
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    files = substitute(case.files, directory)
    for name in list(files):
        if name.endswith((".cu", ".hip", ".cpp")):
            files[name] += f"// {case.name}\n"
    write(directory, files)
    env = substitute(case.env, directory)
    then_env = substitute(case.then_env, directory)
    if "cuda" in tree.settings:
        toolkit = pathlib.Path(tree.settings["cuda"]["compiler"]).resolve().parent.parent
        for variables in (env, then_env):
            variables.update({name: value.replace("<toolkit>", str(toolkit)) for name, value in variables.items()})
    # Words of these variables end at blanks.
    near = os.path.relpath(directory, tree.build)
    for variables in (env, then_env):
        variables.update({name: value.replace("<near>", near) for name, value in variables.items()})

    def compile_both(args, env, stem, plain=True):
        tree.cached(case.kind, arguments(tree, case, directory, args, directory / f"{stem}.o"), env)
        if not plain:
            return content(directory / f"{stem}.o"), content(directory / f"{stem}.o")
        tree.plain(case.kind, arguments(tree, case, directory, args, directory / f"{stem}_plain.o"), env)
        return content(directory / f"{stem}.o"), content(directory / f"{stem}_plain.o")

    # What the compiler itself made of a miss is right, if anything is.
    first, first_plain = compile_both(case.args, env, "first", whole)
    if first != first_plain and case.cached is not None and case.same is not None:
        raise Failure("the first object is not the compiler's")
    cached = case.cached
    if tree.settings["cxx"]["engine"] == "sccache":
        # What sccache doesn't keep, or makes otherwise; and what it counts as a hit though the launcher doesn't take it.
        if case.name in ("SOURCE_DATE_EPOCH", "--diag-suppress 177 hits", "-G hits"):
            cached = False
        elif ".incbin" in case.name or "assembler" in case.name or "isn't there" in case.name or "__has_include and" in case.name:
            cached = None
    before = tree.hits()
    (directory / "again.o").unlink(missing_ok=True)
    tree.cached(case.kind, arguments(tree, case, directory, case.args, directory / "again.o"), env)
    hit = tree.hits()[0] - before[0]
    if cached and not hit:
        raise Failure("the same command again is no hit")
    if cached is False and hit:
        raise Failure("the same command again is a hit, and must not be one")
    if hit and tree.settings["cxx"]["engine"] == "ccache":
        said = (tree.build / "CudaOps/cache/log").read_text().splitlines()
        if not [line for line in said if line.startswith("hit\t") and line.endswith(f"\t{directory}/again.o")]:
            raise Failure("the same command again was a hit and is compiled all the same")
    if hit and content(directory / "again.o") != first and case.same is not None:
        raise Failure("the hit is another object")
    write(
        directory,
        {
            name: text + (f"// {case.name}\n" if name.endswith((".cu", ".hip", ".cpp")) else "")
            for name, text in substitute(case.then, directory).items()
        },
    )
    before = tree.hits()
    then, then_plain = compile_both(case.then_args, then_env, "then", False)
    came_from_cache = tree.hits()[0] != before[0] or then == first
    if whole or came_from_cache or tree.settings["cxx"]["engine"] == "sccache":
        tree.plain(case.kind, arguments(tree, case, directory, case.then_args, directory / "then_plain.o"), then_env)
        then_plain = content(directory / "then_plain.o")
    if case.same is False and then_plain == first_plain:
        raise Failure("the change doesn't show in the compiler's object: the case proves nothing")
    if case.same is None and then == first:
        raise Failure("STALE: the object is the first one")
    if then != then_plain and case.same is not None:
        raise Failure("STALE: the object is not the compiler's" + (", it is the first one" if then == first else ""))
    if (directory / "then.o.d").exists():
        missing = [name for name in headers(directory / "then.o.d") if not (tree.build / name).exists()]
        if missing:
            raise Failure(f"the dependency file names what isn't there: {missing[:3]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("repo")
    parser.add_argument("build")
    parser.add_argument("scratch")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    scratch = pathlib.Path(options.scratch).resolve()
    tree = Tree(options.repo, options.build, os.environ.get("CCACHE_DIR", scratch / "ccache"))
    table = list(enumerate([*cases(), *hip_cases()]))
    unknown = set(options.names) - {case.name for _, case in table}
    for kind, names in HOLES.items():
        unknown |= names - {case.name for _, case in table if case.kind == kind}
    if unknown:
        parser.error(f"no such case: {sorted(unknown)}")

    def wanted(case):
        if case.kind not in tree.settings or ("hip" in tree.settings and case.kind == "cxx"):
            return False
        if options.names:
            return case.name in options.names
        return options.all or case.name in HOLES.get(case.kind, {case.name})

    chosen = [(number, case) for number, case in table if wanted(case)]

    def one(numbered):
        number, case = numbered
        try:
            check(tree, case, scratch / f"{number:03}", options.all or bool(options.names))
            print(f"ok      {case.kind}: {case.name}", flush=True)
            return 0
        except Failure as failure:
            print(f"FAILED  {case.kind}: {case.name}: {failure}", flush=True)
            return 1

    # A server counts for all its clients.
    alone = next(iter(tree.settings.values()))["engine"] == "sccache"
    with concurrent.futures.ThreadPoolExecutor(1 if alone else 2) as pool:
        failed = sum(pool.map(one, chosen))
    print(f"{len(chosen)} cases, {failed} failed")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
