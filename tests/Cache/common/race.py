# SPDX-License-Identifier: Apache-2.0
"""Many compiles of one source at once, on an empty cache: each object is right, and afterwards one more is a hit.

race.py <repo> <build tree> <scratch directory> <processes>
"""

import concurrent.futures
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from cache_testing import Tree, content  # noqa: E402


def main():
    repo, build, scratch, processes = sys.argv[1:]
    scratch = pathlib.Path(scratch).resolve()
    scratch.mkdir(parents=True, exist_ok=True)
    tree = Tree(repo, build, os.environ["CCACHE_DIR"])
    wrong = 0
    for kind, count in (("cxx", int(processes)), ("cuda", int(processes) // 4)):
        name = scratch / ("k.cpp" if kind == "cxx" else "k.cu")
        name.write_text(
            "__global__ void kernel(float* x) { x[0] *= 2; }\n" if kind == "cuda" else "int f() { return 1; }\n"
        )
        flags = [f"-ccbin={tree.settings['cuda']['host_compiler']}", "-arch=sm_80"] if kind == "cuda" else []

        def command(output):
            return [*flags, "-MD", "-MT", "k.o", "-MF", f"{output}.d", "-c", str(name), "-o", str(output)]

        tree.plain(kind, command(scratch / "plain.o"))
        right = content(scratch / "plain.o")
        outputs = [scratch / f"{kind}{number}.o" for number in range(count)]
        with concurrent.futures.ThreadPoolExecutor(count) as pool:
            said = list(pool.map(lambda output: tree.cached(kind, command(output)), outputs))
        wrong += sum(content(output) != right for output in outputs)
        wrong += sum(bool(done.stderr) for done in said)
        hits = tree.hits()[0]
        tree.cached(kind, command(scratch / "after.o"))
        if tree.hits()[0] != hits + 1 or content(scratch / "after.o") != right:
            print(f"{kind}: the compile afterwards is no hit, or another object")
            wrong += 1
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
