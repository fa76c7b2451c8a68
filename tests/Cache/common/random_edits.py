# SPDX-License-Identifier: Apache-2.0
"""Random edits of a small project, each compiled through the launcher and without: the objects must be alike.

  random_edits.py <repo> <build tree> <scratch directory> <rounds> [<seed>]

A round changes one to three things: values, guards and includes in the source and its headers, headers that come, go
and get in front of each other, option files, flags, archs, nvcc's environment; or goes back to an earlier state, which is
where a cache answers. File times go anywhere, as checkouts and clocks make them. Device code and host code are compared
byte by byte, the dependency files by the files they name.
"""

import os
import pathlib
import random
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from cache_testing import Tree, content, headers  # noqa: E402

GUARDS = [
    "1",
    "defined(__CUDA_ARCH__)",
    "!defined(__CUDA_ARCH__)",
    "defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900",
    "defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900",
    "defined(MODE) && MODE > 1",
    '__has_include("extra.h")',
    "defined(__CUDACC_RDC__)",
]
# Rarely: a source that asks for a file in vain isn't kept in the cache.
WEIGHTS = [8, 8, 8, 8, 8, 8, 1, 8]
NAMES = ["a.h", "b.h", "c.h", "sub/d.h", "extra.h"]
DIRECTORIES = ["", "first/", "second/"]
FLAGS = {
    "optimisation": [[], ["-O1"], ["-O3"]],
    "mode": [[], ["-DMODE=1"], ["-DMODE=2"]],
    "math": [[], ["--use_fast_math"], ["-fmad=false"]],
    "archs": [["80"], ["90"], ["80", "90"], ["90", "80"]],
    "rdc": [[], ["-rdc=true"]],
    "threads": [[], ["--threads=2"]],
    "host": [[], ["-Xcompiler=-O2"], ["-Xcompiler=-fPIC"]],
    "order": [["first", "second"], ["second", "first"]],
    "file": [[], ["--options-file", "flags.txt"], ["--options-file=flags.txt"]],
}
ENVIRONMENT = {
    "NVCC_PREPEND_FLAGS": [None, "-DPREPENDED=1", "-DPREPENDED=2"],
    "NVCC_APPEND_FLAGS": [None, "-DAPPENDED=1", "-prec-div=false"],
    "PTXAS_FLAGS": [None, "-O1"],
}


class State:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.files = {"flags.txt": "-DFROM_FILE=1\n"}
        self.flags = {name: choices[0] for name, choices in FLAGS.items()}
        self.environment = {name: None for name in ENVIRONMENT}
        self.blocks = [(self.guard(), self.random.randrange(5)) for _ in range(3)]
        for name in NAMES[:-1]:
            self.files[DIRECTORIES[1] + name] = self.header()
        self.values = [1, 2]

    def guard(self):
        return self.random.choices(GUARDS, WEIGHTS)[0]

    def header(self):
        guard = self.guard()
        value = self.random.randrange(100)
        # Values only: whatever is there compiles.
        return f"#undef V\n#if {guard}\n#define V {value}\n#else\n#define V {self.random.randrange(100)}\n#endif\n"

    def source(self):
        lines = ["#define V 0", "#ifndef FROM_FILE", "#define FROM_FILE 0", "#endif"]
        body = []
        host = []
        for number, (guard, which) in enumerate(self.blocks):
            name = NAMES[which]

            include = f'#include "{name}"' if self.found(name) else ""
            lines += [
                f"#if {guard}",
                include,
                f"__device__ const int v{number} = V + {self.values[0]};",
                "#else",
                f"__device__ const int v{number} = {self.values[1]};",
                "#endif",
            ]
            lines = [line for line in lines if line]
            body.append(f"x[{number}] = x[{number}] / x[4] + v{number};")
            host += [f"#if {guard}", f"int host{number} = {self.values[0]};", "#endif"]
        body.append(
            "x[5] = FROM_FILE;\n#ifdef PREPENDED\nx[6] = PREPENDED;\n#endif\n#ifdef APPENDED\nx[7] = APPENDED;\n#endif"
        )
        return "\n".join([*lines, "__global__ void kernel(float* x) {", *body, "}", *host, ""])

    def found(self, name):
        return any(directory + name in self.files for directory in DIRECTORIES)

    def edit(self):
        kind = self.random.choice(
            [
                "guard",
                "value",
                "header",
                "header",
                "new",
                "shadow",
                "shadow",
                "remove",
                "flag",
                "flag",
                "environment",
                "option file",
                "include",
            ]
        )
        if kind == "guard":
            at = self.random.randrange(len(self.blocks))
            self.blocks[at] = (self.guard(), self.blocks[at][1])
        elif kind == "include":
            at = self.random.randrange(len(self.blocks))
            self.blocks[at] = (self.blocks[at][0], self.random.randrange(len(NAMES)))
        elif kind == "value":
            self.values[self.random.randrange(2)] = self.random.randrange(100)
        elif kind == "header":
            there = [name for name in self.files if name.endswith(".h")]
            if there:
                self.files[self.random.choice(there)] = self.header()
        elif kind in ("new", "shadow"):
            self.files[self.random.choice(DIRECTORIES) + self.random.choice(NAMES)] = self.header()
        elif kind == "remove":
            there = [name for name in self.files if name.endswith(".h")]
            if there:
                del self.files[self.random.choice(there)]
        elif kind == "flag":
            name = self.random.choice(list(FLAGS))
            self.flags[name] = self.random.choice(FLAGS[name])
        elif kind == "environment":
            name = self.random.choice(list(ENVIRONMENT))
            self.environment[name] = self.random.choice(ENVIRONMENT[name])
        else:
            self.files["flags.txt"] = f"-DFROM_FILE={self.random.randrange(4)}\n"
        return kind

    def snapshot(self):
        return (dict(self.files), dict(self.flags), dict(self.environment), list(self.blocks), list(self.values))

    def restore(self, saved):
        self.files, self.flags, self.environment, self.blocks, self.values = (type(part)(part) for part in saved)


def main():
    repo, build, scratch, rounds = sys.argv[1:5]
    seed = int(sys.argv[5]) if len(sys.argv) > 5 else 1
    scratch = pathlib.Path(scratch).resolve()
    project = scratch / "project"
    tree = Tree(repo, build, os.environ["CCACHE_DIR"])
    state = State(seed)
    past = []
    wrong = 0
    hits_before = tree.hits()[0]
    host = tree.settings["cuda"]["host_compiler"]
    for number in range(int(rounds)):
        if past and state.random.random() < 0.35:
            state.restore(state.random.choice(past))
            done = ["back"]
        else:
            done = [state.edit() for _ in range(state.random.randint(1, 3))]
        past.append(state.snapshot())
        shutil.rmtree(project, ignore_errors=True)
        for name, text in {**state.files, "k.cu": state.source()}.items():
            path = project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            if state.random.random() < 0.5:
                time = state.random.choices([1_000_000_000, 1_700_000_000, 1_700_000_001, 4_000_000_000], [8, 8, 8, 1])[
                    0
                ]
                os.utime(path, (time, time))
        args = [f"-ccbin={host}"]
        for name, value in state.flags.items():
            if name == "archs":
                args += [f"--generate-code=arch=compute_{arch},code=[compute_{arch},sm_{arch}]" for arch in value]
            elif name == "order":
                args += [f"-I{project / directory}" for directory in value]
            else:
                args += [flag.replace("flags.txt", str(project / "flags.txt")) for flag in value]
        environment = {name: value for name, value in state.environment.items() if value is not None}
        results = {}
        for way, compile_one in (("cached", tree.cached), ("plain", tree.plain)):
            output = scratch / f"{way}.o"
            for file in (output, scratch / f"{way}.d"):
                file.unlink(missing_ok=True)
            command = [
                *args,
                "-MD",
                "-MT",
                "k.o",
                "-MF",
                str(scratch / f"{way}.d"),
                "-x",
                "cu",
                "-c",
                str(project / "k.cu"),
                "-o",
                str(output),
            ]
            result = compile_one("cuda", command, environment, check=False)
            if result.returncode == 0:
                named = {os.path.realpath(os.path.join(tree.build, name)) for name in headers(scratch / f"{way}.d")}
                results[way] = (0, content(output), sorted(named))
            else:
                results[way] = (result.returncode, "", [])
        if results["cached"] != results["plain"]:
            wrong += 1
            differ = [
                name
                for name, a, b in zip(("exit code", "object", "dependencies"), results["cached"], results["plain"])
                if a != b
            ]
            keep = scratch / f"wrong{number}"
            shutil.copytree(project, keep, dirs_exist_ok=True)
            print(
                f"round {number} (seed {seed}): {', '.join(differ)} differ after {', '.join(done)}; {args} {environment}; kept in {keep}",
                flush=True,
            )
    hits = tree.hits()[0] - hits_before
    print(f"{rounds} rounds, seed {seed}: {wrong} wrong, {hits} answered by the cache")
    # Without an answer from the cache nothing was tested.
    return 1 if wrong or hits < max(1, int(rounds) // 10) else 0


if __name__ == "__main__":
    sys.exit(main())
