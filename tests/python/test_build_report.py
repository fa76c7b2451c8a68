# SPDX-License-Identifier: Apache-2.0
"""The report on a build, from logs that are made here: which runs there were, who includes what, what is advised,
what is said of input that can't be read. The compiler is a script that takes as long as the file says."""

import json
import os
import re
import struct
import subprocess
import sys
import textwrap

import pytest
from conftest import REPOSITORY, RUN, run_python
from cudaops import build_jobs

TOOL = [*map(str, RUN), "build_report"]
LAUNCHER = REPOSITORY / "cmake" / "launcher" / "cudaops_launch.cpp"
DAY = 1_790_000_000


class Build:
    """A build directory as CMake and ninja leave one."""

    def __init__(self, root):
        self.source, self.directory = root / "src", root / "src" / "build"
        self.directory.mkdir(parents=True)
        self.log, self.edges, self.deps, self.paths = [], [], [], []
        self.rules = {}
        self.cache("Ninja")

    def cache(self, generator, place=None):
        (self.directory / "CMakeCache.txt").write_text(
            "CMAKE_GENERATOR:INTERNAL=%s\nCMAKE_HOME_DIRECTORY:INTERNAL=%s\nCMAKE_CACHEFILE_DIR:INTERNAL=%s\n"
            % (generator, self.source, place or self.directory)
        )

    def write(self, name, text="", size=0):
        """A file of the project; `size` makes it that large, so that headers can weigh."""
        path = self.source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = textwrap.dedent(text)
        path.write_text(text + "/" * (size - len(text)) if size else text)
        return str(path)

    def compile(
        self,
        source,
        start,
        end,
        run=0,
        language="CXX",
        flags="",
        headers=(),
        compiler="/bin/g++",
        made="start",
    ):
        output = "CMakeFiles/op.dir/%s.o" % source
        rule = "%s_COMPILER__op_Release" % language
        self.rules[rule] = "%s $FLAGS -MD -MT $out -MF $out.d -c $in -o $out" % compiler
        self.edges.append((output, rule, str(self.source / source), {"FLAGS": flags}))
        self.add(output, start, end, run, made)
        self.deps.append((output, [str(self.source / source), *headers]))
        return output

    def link(self, output, start, end, run=0, command="/bin/g++ -shared $in -o $out"):
        self.rules["CXX_SHARED_LIBRARY_LINKER__op_Release"] = command
        self.edges.append((output, "CXX_SHARED_LIBRARY_LINKER__op_Release", "a.o", {}))
        self.add(output, start, end, run)

    def add(self, output, start, end, run=0, made="start"):
        """A line of the log: seconds since the start of ninja, which was `run` seconds after DAY began."""
        moment = {"start": start, "end": end}.get(made, made)
        stamp = int((DAY + run + moment) * 1000) * 1000000 if moment is not None else 0
        self.log.append(
            "%d\t%d\t%d\t%s\t%x" % (round(start * 1000), round(end * 1000), stamp, output, len(self.log) + 1)
        )

    def finish(self, version=5, deps_version=4):
        text = "".join("rule %s\n  command = %s\n" % pair for pair in self.rules.items())
        for output, rule, inputs, values in self.edges:
            text += "build %s: %s %s || order\n" % (escape(output), rule, escape(inputs))
            text += "".join("  %s = %s\n" % pair for pair in values.items())
        (self.directory / "build.ninja").write_text(text)
        (self.directory / ".ninja_log").write_text("# ninja log v%d\n%s\n" % (version, "\n".join(self.log)))
        (self.directory / ".ninja_deps").write_bytes(self.deps_bytes(deps_version))

    def deps_bytes(self, version):
        data, numbers = bytearray(b"# ninjadeps\n" + struct.pack("<i", version)), {}

        def number(path):
            if path not in numbers:
                numbers[path] = len(numbers)
                name = path.encode()
                name += b"\0" * (-len(name) % 4)
                data.extend(struct.pack("<I", len(name) + 4) + name + struct.pack("<i", ~numbers[path]))
            return numbers[path]

        for output, inputs in self.deps:
            ids = [number(output)] + [number(path) for path in inputs]
            body = struct.pack("<i", ids[0]) + struct.pack("<q" if version == 4 else "<i", 1)
            body += struct.pack("<%di" % (len(ids) - 1), *ids[1:])
            data += struct.pack("<I", len(body) | 0x80000000) + body
        return data

    def report(self, *options, code=0):
        done = subprocess.run(
            [sys.executable, *TOOL, *options, str(self.directory)], capture_output=True, text=True
        )
        assert done.returncode == code, done.stdout + done.stderr
        if code:
            assert not done.stdout
            return done.stderr
        assert not done.stderr
        self.said = done.stdout
        self.page = (self.directory / "cudaops-build-report.html").read_text()
        return json.loads((self.directory / "cudaops-build-report.json").read_text())


def escape(path):
    return path.replace("$", "$$").replace(" ", "$ ").replace(":", "$:")


@pytest.fixture
def build(tmp_path):
    return Build(tmp_path)


def advice(data, kind):
    return [one["text"] for one in data["advice"] if one["kind"] == kind]


@pytest.mark.parametrize("made", ["start", "end"])
@pytest.mark.parametrize("version", [5, 6, 7])
def test_runs(build, version, made):
    """Ninja's two ways of noting a time of day; runs in any order of lines, as after ninja has tidied its log."""
    build.compile("a.cpp", 0.0, 4.0, run=0, made=made)
    build.compile("b.cpp", 0.001, 2.0, run=0, made=made)
    build.compile("c.cpp", 2.0, 3.0, run=0, made=made)
    build.compile("d.cpp", 0.0, 9.0, run=100, made=made)
    build.compile("e.cpp", 1.0, 8.0, run=100, made=made)
    build.log.append(build.log.pop(1))
    build.log.insert(0, build.log.pop(3))
    build.finish(version=version)
    data = build.report()
    assert [run["jobs"] for run in data["builds"]] == [3, 2]
    assert [run["seconds"] for run in data["builds"]] == [4.0, 9.0]
    assert [run["most_at_once"] for run in data["builds"]] == [2, 2]
    assert data["builds"][1]["started"] > data["builds"][0]["started"]
    assert data["ninja_log_version"] == version
    jobs = {job["name"]: job for job in data["jobs"]}
    assert [jobs[name]["slot"] for name in ("a.cpp", "b.cpp", "c.cpp")] == [0, 1, 1]
    assert jobs["d.cpp"]["share"] == pytest.approx(9 / 23, abs=1e-3)
    assert data["seconds"] == 22.999


def test_runs_without_times_of_day(build):
    for name, start, end in (("a", 0, 5), ("b", 0, 6), ("c", 0, 1), ("d", 1, 2)):
        build.compile(name + ".cpp", start, end, made=None)
    build.finish()
    assert [run["jobs"] for run in build.report()["builds"]] == [2, 2]


def test_last_line_of_an_output_counts(build):
    build.compile("a.cpp", 0.0, 4.0)
    build.add("CMakeFiles/op.dir/a.cpp.o", 0.0, 1.5, run=50)
    build.finish()
    data = build.report()
    assert [job["seconds"] for job in data["jobs"]] == [1.5]
    assert len(data["builds"]) == 1


def test_restat_and_edges_with_several_outputs(build):
    """What a restat job didn't write keeps an old time of day; it belongs to its neighbour's run."""
    build.compile("a.cpp", 0.0, 4.0, run=100)
    build.edges.append(("gen.h gen.cpp", "CUSTOM_COMMAND", "gen.in", {}))
    build.rules["CUSTOM_COMMAND"] = "$COMMAND\n  restat = 1"
    build.add("gen.h", 1.0, 2.0, run=0)
    build.add("gen.cpp", 1.0, 2.0, run=0)
    build.compile("b.cpp", 4.0, 5.0, run=100)
    build.finish()
    text = (build.directory / "build.ninja").read_text().replace("gen.h$ gen.cpp", "gen.h gen.cpp")
    (build.directory / "build.ninja").write_text(text)
    data = build.report()
    assert len(data["builds"]) == 1 and len(data["jobs"]) == 3
    command = next(job for job in data["jobs"] if job["kind"] == "command")
    assert command["outputs"] == ["gen.h", "gen.cpp"]


def test_what_is_no_job(build):
    """Outputs that are gone, this report itself, CMake's runs."""
    build.compile("a.cpp", 0.0, 4.0)
    for name, rule in (
        ("CMakeFiles/cudaops_build_report", "CUSTOM_COMMAND"),
        ("CMakeFiles/test.util", "CUSTOM_COMMAND"),
        ("build.ninja", "RERUN_CMAKE"),
    ):
        build.rules[rule] = "x"
        build.edges.append((name, rule, "", {}))
        build.add(name, 0, 2, run=500)
    build.add("old.o", 0.0, 9.0)
    build.finish()
    data = build.report()
    assert [job["name"] for job in data["jobs"]] == ["a.cpp"]
    assert data["notes"] == ["1 output that this build makes no longer left out."]


def test_longest_job_first(build):
    build.compile("short.cpp", 0.0, 1.0, headers=[])
    build.compile("long.cpp", 1.0, 4.0, headers=[])
    build.finish()
    build.report()
    assert re.findall(r"(\d)\. (\S+) takes (\S+ \w+), (\d+) %", build.said) == [
        ("1", "long.cpp", "3.0 s", "75"),
        ("2", "short.cpp", "1.0 s", "25"),
    ]


def heavy(build, name, spelled, line_before=""):
    """A project file whose only heavy include is `spelled`, in a directory of somebody else's."""
    header = build.write("deps/site-packages/include/" + spelled, size=9000)
    more = build.write("deps/site-packages/include/more.h", size=80000)
    build.write(name, '#include "op.h"\n/*\n#include <%s>\n*/\n#include <%s>\n%s' % (spelled, spelled, line_before))
    return [build.write("op.h", size=1000), header, more]


def test_torch_in_cuda(build):
    build.compile(
        "k.cu", 0.0, 48.0, language="CUDA", headers=heavy(build, "k.cu", "torch/extension.h"), compiler="/cuda/bin/nvcc"
    )
    build.finish()
    data = build.report()
    assert advice(data, "header") == [
        "k.cu:5 includes torch/extension.h: 99 % of what the compiler reads for this file (48 s); "
        "torch/types.h would do for what is named here; move the binding to a .cpp"
    ]
    assert data["advice"][0]["line"] == 5 and data["advice"][0]["file"] == "k.cu"
    row = data["headers"][0]
    assert (row["header"], row["files"], row["bytes"], row["seconds"]) == ("torch/extension.h", 1, 89000, None)
    assert "  1. k.cu:5 includes torch/extension.h" in build.said
    # The job itself would be the same fact again.
    assert "k.cu takes" not in build.said


def test_torch_through_a_header_of_the_projects(build):
    """One line to change, however many files it reaches; what isn't there when the compiler reads it is not named."""
    inner = heavy(build, "shared.h", "ATen/ATen.h")
    build.write("shared.h", "#pragma once\n#include <no_such.h>\n#include <ATen/ATen.h>\n")
    for number, name in enumerate(("a.cu", "b.cu", "c.cu")):
        build.write(name, '\n#include "shared.h"\n')
        build.compile(
            name, number, number + 10.0, language="CUDA", headers=[str(build.source / "shared.h")] + inner[1:]
        )
    build.finish()
    data = build.report()
    assert advice(data, "header") == [
        "shared.h:3, which a.cu includes, includes ATen/ATen.h: 100 % of what the compiler reads for this file (10 s); "
        "move the binding to a .cpp (and 2 files more, 30 s in all)"
    ]
    assert [(row["header"], row["files"]) for row in data["headers"][:2]] == [("shared.h", 3), ("ATen/ATen.h", 3)]


@pytest.mark.parametrize("seconds, share", [(0.5, 9000), (20.0, 10)])
def test_cheap_headers_are_no_advice(build, seconds, share):
    header = build.write("deps/site-packages/include/torch/extension.h", size=share)
    build.write("k.cu", "#include <torch/extension.h>\n", size=1000)
    build.compile("k.cu", 0.0, seconds, language="CUDA", headers=[header])
    build.finish()
    assert build.report()["advice"] == []


def test_bindings(build):
    build.compile("a.cpp", 0.0, 19.0, headers=heavy(build, "a.cpp", "torch/extension.h", "PYBIND11_MODULE(x, m) {}\n"))
    build.compile("b.cpp", 19.0, 38.0, headers=heavy(build, "b.cpp", "torch/extension.h"))
    build.finish()
    found = advice(build.report(), "header")
    assert any(
        text.startswith("a.cpp:5 ")
        and "for tensors, sizes and the stream, STABLE_TORCH_LIBRARY (ABI STABLE) would do" in text
        for text in found
    )
    assert any(
        text.startswith("b.cpp:5 ") and "torch/csrc/stable/library.h (ABI STABLE) would do" in text for text in found
    )
    assert len(found) == 2


@pytest.mark.parametrize(
    "used, less",
    [
        ("torch::Tensor f(torch::Tensor x) { return torch::zeros({2}, torch::kFloat32); }", "torch/types.h"),
        ("TORCH_LIBRARY(x, m) {} // torch::nn::Linear", "torch/types.h"),
        ("auto s = at::cuda::getCurrentCUDAStream(); c10::cuda::CUDAGuard g(0);", "torch/types.h"),
        ("PYBIND11_MODULE(x, m) { m.def(1); }", "torch/types.h with torch/csrc/utils/pybind.h"),
        ("py::object f();", "torch/types.h with torch/csrc/utils/pybind.h"),
        ("torch::nn::Linear l;", None),
        ("using namespace torch;\nnn::Linear l;", None),
        ("struct F : torch::autograd::Function<F> {};", None),
        ("auto mode = torch::kReflect;", None),
        ("bool b = torch::cuda::is_available();", None),
        ("PyObject* p = THPVariable_Wrap(t);", None),
    ],
)
def test_less_than_all_of_torch(build, used, less):
    build.compile("a.cpp", 0.0, 19.0, headers=heavy(build, "a.cpp", "torch/extension.h", used + "\n"))
    build.finish()
    (text,) = advice(build.report(), "header")
    said = re.search(r"; (\S+(?: with \S+)?) would do for what is named here; ", text)
    assert (said and said.group(1)) == less


@pytest.mark.parametrize(
    "used, cure", [("cub::BlockReduce<int, 32>", "cub/block/block_reduce.cuh"), ("cub::BlockNoSuch", None)]
)
def test_cub(build, used, cure):
    headers = heavy(build, "k.cu", "cub/cub.cuh", used)
    build.write("deps/site-packages/include/cub/block/block_reduce.cuh")
    build.compile("k.cu", 0.0, 7.0, language="CUDA", headers=headers)
    build.finish()
    found = advice(build.report(), "header")
    assert found == ([] if cure is None else [
        "k.cu:5 includes cub/cub.cuh: 99 % of what the compiler reads for this file (7.0 s); "
        "cub/block/block_reduce.cuh would do for cub::BlockReduce"
    ])  # fmt: skip


ARCHS = "--generate-code=arch=compute_80,code=[compute_80,sm_80] --generate-code=arch=compute_90a,code=[sm_90a]"


def test_architectures_and_threads(build):
    build.compile("a.cu", 0.0, 10.0, language="CUDA", flags=ARCHS)
    build.compile("b.cu", 0.0, 10.0, language="CUDA", flags=ARCHS + " --threads=2")
    build.compile("c.cu", 0.0, 10.0, language="CUDA", flags="-gencode arch=compute_75,code=sm_75")
    build.compile("d.cpp", 0.0, 10.0, language="HIP", flags="--offload-arch=gfx90a --offload-arch=gfx942")
    build.finish()
    data = build.report()
    jobs = {job["name"]: job for job in data["jobs"]}
    assert jobs["a.cu"]["architectures"] == ["compute_80", "sm_80", "sm_90a"]
    assert (jobs["a.cu"]["threads"], jobs["b.cu"]["threads"]) == (None, 2)
    assert jobs["c.cu"]["architectures"] == ["sm_75"]
    assert jobs["d.cpp"]["architectures"] == ["gfx90a", "gfx942"]
    assert advice(data, "threads") == [
        "a.cu is compiled for 2 architectures one after the other: 10 s; nvcc's --threads=0 compiles them at once"
    ]


def test_cubins(build):
    """A step of CUDA_CUBINS is one architecture of the source that its launcher knows, or the host's part of it."""
    torch = "/usr/lib/python3/site-packages/torch/include/torch/extension.h"
    source = build.write("k.cu", "#include <torch/extension.h>\n")
    folder = build.directory / "CudaOps/cubins/op"
    folder.mkdir(parents=True)
    table = "cubins\t1\n"
    for known in (("other_000000", "/elsewhere.cu"), ("k_123456", source)):
        table += "stand_in\t%s\nstands_for\t%s\n" % known
    (folder / "settings").write_text(table)
    launcher = "%s/CudaOps/cudaops-launch %s/settings /bin/nvcc" % (build.directory, folder)
    log = ""
    for step, part in ((".compute_80", ".part"), (".compute_90a", ".part"), ("", "")):
        name = "build/CudaOps/cubins/op/k_123456%s.cu" % step
        build.write(name)
        output = build.compile(
            name, 0.0, 4.0, language="CUDA", flags=ARCHS, compiler=launcher, headers=[source, torch]
        )  # fmt: skip
        log += "miss\t-\t4000\t\t%s%s\n" % (output, part)
    (build.directory / "CudaOps/cache").mkdir()
    (build.directory / "CudaOps/cache/compiles").write_text(log)
    build.finish()
    data = build.report()
    assert {(job["name"], job["source"], tuple(job["architectures"])) for job in data["jobs"]} == {
        ("k.cu (compute_80)", "k.cu", ("compute_80", "sm_80")),
        ("k.cu (compute_90a)", "k.cu", ("sm_90a",)),
        ("k.cu (host code)", "k.cu", ()),
    }
    assert "; cache: 3 misses" in build.said
    assert advice(data, "threads") == []
    assert [header["files"] for header in data["headers"]] == [1]


def test_tail(build):
    build.compile("light.cu", 0.0, 4.0, language="CUDA")
    build.compile("heavy.cu", 0.0, 40.0, language="CUDA")
    build.finish()
    assert advice(build.report(), "tail") == [
        "heavy.cu ran alone for 36 s of the build's 40 s, while the other slot stood idle, and other CUDA files take "
        "from 4.0 s on; split it (a file for each group of kernels)"
    ]


def test_no_tail_where_all_files_take_as_long(build):
    build.compile("a.cu", 0.0, 30.0, language="CUDA")
    build.compile("b.cu", 10.0, 50.0, language="CUDA")
    build.finish()
    assert advice(build.report(), "tail") == []


@pytest.mark.parametrize("command, expected", [("/bin/g++ $in -o $out", 1), ("/bin/g++ -fuse-ld=lld $in -o $out", 0)])
def test_linker(build, tmp_path, monkeypatch, command, expected):
    for name, text in (("ld", "echo 'GNU ld (GNU Binutils) 2.40'"), ("ld.lld", "true")):
        (tmp_path / name).write_text("#!/bin/sh\n%s\n" % text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    build.link("libop.so", 0.0, 3.0, command=command)
    build.finish()
    assert (
        advice(build.report(), "linker")
        == [
            "linking takes 3.0 s (libop.so alone 3.0 s) with GNU ld, and ld.lld is here; "
            "target_link_options(<target> PRIVATE -fuse-ld=lld)"
        ][:expected]
    )


def test_no_cache(build):
    build.compile("a.cpp", 0.0, 20.0)
    build.finish()
    report = {"cache": {"launcher": "", "problem": "neither ccache nor sccache on PATH"}}
    (build.directory / "cudaops-report.json").write_text(json.dumps(report))
    assert advice(build.report(), "cache") == [
        "no compiler cache (neither ccache nor sccache on PATH): 20 s of compiles were made anew; apt-get install ccache"
    ]
    report["cache"]["problem"] += "; CXX: /bin/ccache (yours)"
    (build.directory / "cudaops-report.json").write_text(json.dumps(report))
    assert advice(build.report(), "cache") == []


def test_header_that_came_with_another(build):
    """In the list of a dependency file <limits> lies inside of big.h, which includes it: it is big.h's."""
    big = build.write("deps/site-packages/big.h", "#include <limits>\n", size=1000)
    limits = build.write("deps/site-packages/limits", size=2000)
    rest = build.write("deps/site-packages/rest.h", size=4000)
    small = build.write("deps/site-packages/small.h", size=500)
    build.write("a.cpp", "#include <big.h>\n#include <limits>\n#include <small.h>\n")
    build.compile("a.cpp", 0.0, 3.0, headers=[big, limits, rest, small])
    build.finish()
    rows = {row["header"]: row["bytes"] for row in build.report()["headers"]}
    assert rows == {"big.h": 7000, "small.h": 500}


def test_depfiles_where_ninja_kept_none(build):
    output = build.compile("a b.cpp", 0.0, 3.0)
    build.deps.clear()
    build.write("a b.cpp", '#include "x y.h"\n')
    header = build.write("x y.h", size=70)
    build.rules["CXX_COMPILER__op_Release"] += "\n  depfile = $out.d"
    build.finish()
    path = build.directory / (output + ".d")
    path.parent.mkdir(parents=True)
    path.write_text(
        "a.o: %s \\\n  %s\n" % (str(build.source / "a b.cpp").replace(" ", "\\ "), header.replace(" ", "\\ "))
    )
    assert [(row["header"], row["bytes"]) for row in build.report()["headers"]] == [("x y.h", 70)]


def compiler(tmp_path):
    """Works 0.4 s and waits another for <slow.h>, fails for <bad.h>; notes how it was called."""
    work = tmp_path / "work.py"
    work.write_text("import time\nwhile time.process_time() < 0.4:\n    pass\ntime.sleep(0.4)\n")
    path = tmp_path / "g++"
    path.write_text(
        '#!/bin/sh\necho "$@" >> %s/calls\nfor word; do case $word in *.cpp) file=$word;; esac; done\n'
        'if grep -q slow.h "$file"; then %s -I -S %s; fi\n'
        'if grep -q bad.h "$file"; then echo "$file:1: error: no" >&2; exit 1; fi\n' % (tmp_path, sys.executable, work)
    )
    path.chmod(0o755)
    return path


def test_measured_headers(build, tmp_path):
    slow, bad = (
        build.write("deps/site-packages/" + name, size=size) for name, size in (("slow.h", 500), ("bad.h", 300))
    )
    for name, start in (("a.cpp", 0.0), ("b.cpp", 1.0)):
        build.write(name, "#include <slow.h>\n#include <bad.h>\n")
        build.compile(
            name,
            start,
            start + 1,
            headers=[slow, bad],
            flags="-DX=1",
            compiler="${LAUNCHER}%s" % compiler(tmp_path),
        )
        build.edges[-1][3]["LAUNCHER"] = "/bin/sh 'a launcher' set "
    build.finish()
    rows = {row["header"]: row for row in build.report("--measure-headers")["headers"]}
    assert 0.35 < rows["slow.h"]["seconds_each"]["CXX"] < 0.7
    assert rows["slow.h"]["seconds"] == pytest.approx(2 * rows["slow.h"]["seconds_each"]["CXX"], abs=0.01)
    assert rows["bad.h"]["seconds"] is None
    assert rows["bad.h"]["not_measured"] == {"CXX": "does not compile alone: header.cpp:1: error: no"}
    calls = (tmp_path / "calls").read_text().splitlines()
    # The empty file once, each header once; nothing of the build is written.
    assert len(calls) == 3
    assert all(re.match(r"-DX=1 -c (-I\S+ )?\S+/header\.cpp -o \S+/header\.o$", call) for call in calls)


def test_measuring_ends_in_time(build, tmp_path):
    slow = build.write("deps/site-packages/slow.h", size=500)
    build.write("a.cpp", "#include <slow.h>\n")
    build.compile("a.cpp", 0.0, 1.0, headers=[slow], compiler=compiler(tmp_path))
    build.finish()
    data = build.report("--measure-headers", "--header-seconds", "0")
    assert data["notes"] == [
        "0 of the 1 dearest headers were measured, then the 0 seconds were over (--header-seconds)."
    ]


PHASES = """\
source file name , phase name , phase input files , phase output file , arch , tool, metric , unit
a,b.cu , cicc ,  /tmp/x , /tmp/y.ptx , compute_80 , nvcc , 2500.5 , ms
a,b.cu , ptxas ,  /tmp/y.ptx , /tmp/y.cubin , sm_80 , nvcc , 500 , ms
a,b.cu , cicc ,  /tmp/x , /tmp/z.ptx , compute_90a , nvcc , 4000 , ms
"""


def trace_base(build, output):
    import hashlib

    folder = build.directory / "CudaOps" / "trace"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / hashlib.sha1(os.path.realpath(build.directory / output).encode()).hexdigest()[:20]


def test_traces(build):
    output = build.compile("a,b.cu", 5.0, 15.0, language="CUDA", flags=ARCHS)
    old = build.compile("old.cpp", 5.0, 16.0)
    broken = build.compile("broken.cpp", 5.0, 17.0)
    record = "started_ns\t%d\npeak_memory_bytes\t2900000000\ncpu_seconds\t9.5\n"
    record += "result\tmiss\nreason\tchanged since the compile before: x.h\nend\t\n"
    began = int((DAY + 5.1) * 1e9)
    base = trace_base(build, output)
    base.with_suffix(".record").write_text(record % began)
    base.with_suffix(".csv").write_text(PHASES)
    # Of a compile an hour before, which the log knows no more; and of a write that was cut.
    trace_base(build, old).with_suffix(".record").write_text(record % (began - 3600 * 10**9))
    trace_base(build, broken).with_suffix(".record").write_text((record % began)[:-5])
    build.finish()
    data = build.report()
    jobs = {job["name"]: job for job in data["jobs"]}
    assert jobs["a,b.cu"]["peak_memory_bytes"] == 2900000000
    assert jobs["a,b.cu"]["cache"]["reason"] == "changed since the compile before: x.h"
    assert jobs["a,b.cu"]["phases"] == [
        {"phase": "cicc", "architecture": "compute_80", "seconds": 2.5005},
        {"phase": "ptxas", "architecture": "sm_80", "seconds": 0.5},
        {"phase": "cicc", "architecture": "compute_90a", "seconds": 4.0},
    ]
    assert jobs["old.cpp"]["cache"] is None and jobs["old.cpp"]["peak_memory_bytes"] is None
    assert data["notes"] == ["1 file of CudaOps/trace can't be read and left out."]
    assert "cache: 1 miss" in build.said
    assert advice(data, "threads") == [
        "a,b.cu is compiled for 2 architectures one after the other: 10 s, of which 3.0 s could run beside the rest; "
        "nvcc's --threads=0 compiles them at once"
    ]


def test_memory_measured_for_the_number_of_jobs(build):
    for number, name in enumerate(("a.cu", "b c.cu", "hit.cu")):
        build.compile(name, number, number + 2.0, language="CUDA")
    build.finish()
    (build.directory / "CudaOps" / "jobs").mkdir(parents=True)
    lines = ["9000000 %s" % (build.source / "a.cu"), "100000 ../b c.cu", "200000 %s" % (build.source / "a.cu")]
    (build.directory / "CudaOps" / "jobs" / "memory").write_text("\n".join(lines + ["7000 ../hit.cu", "x"]))
    found = {job["name"]: job["peak_memory_bytes"] for job in build.report()["jobs"]}
    assert found == {"a.cu": 200000 << 10, "b c.cu": 100000 << 10, "hit.cu": None}


def test_page(build):
    """One file, nothing from elsewhere, and names can't break out of it."""
    name = "a</script><b>&.cpp"
    build.compile(name.replace("/", ""), 0.0, 3.0)
    build.write("x", "")
    build.finish()
    build.report()
    assert not re.search(r"(src|href)=|https?://|@import", build.page)
    assert "<b>" not in build.page and build.page.count("</script>") == 2
    embedded = re.search(r'<script type="application/json" id="data">(.*?)</script>', build.page, re.S).group(1)
    assert json.loads(embedded)["jobs"][0]["name"] == "a<script><b>&.cpp"
    assert build.page.count("<rect") == 1 and "prefers-color-scheme: dark" in build.page


def test_two_thousand_files(build):
    import time

    headers = [build.write("deps/site-packages/h%d.h" % i, size=50) for i in range(500)]
    for i in range(2000):
        build.write("f%d.cu" % i, "#include <h0.h>\n#include <h250.h>\n")
        build.compile("f%d.cu" % i, i * 0.5, i * 0.5 + 3.9, language="CUDA", headers=headers)
    build.finish()
    began = time.monotonic()
    data = build.report()
    assert time.monotonic() - began < 60
    assert len(data["jobs"]) == 2000 and data["builds"][0]["most_at_once"] == 8
    # In the page the rows are made when they are shown: the table's body is empty.
    assert re.search(r'<table id="jobs"></table>', build.page)


def test_multi_config(build):
    build.compile("a.cpp", 0.0, 3.0)
    build.finish()
    (build.directory / "build.ninja").rename(build.directory / "build-Debug.ninja")
    (build.directory / "build.ninja").write_text("include nothing.ninja\n")
    assert [job["name"] for job in build.report()["jobs"]] == ["a.cpp"]


def said(text):
    return re.sub(r"\s+", " ", text).strip()


def test_not_a_build_directory(build, tmp_path):
    text = subprocess.run([sys.executable, *TOOL, str(tmp_path)], capture_output=True, text=True)
    assert text.returncode == 2
    assert said(text.stderr) == (
        "cudaops_build_report: this is no build directory. found %s wanted a directory that CMake or ninja has built in "
        "Fix: python -m cudaops build-report <build directory>" % tmp_path
    )
    text = subprocess.run([sys.executable, *TOOL, str(tmp_path / "none")], capture_output=True, text=True)
    assert text.returncode == 2 and said(text.stderr).startswith(
        "cudaops_build_report: there is no such directory. found "
    )


def test_wrong_calls(launcher):
    done = subprocess.run([sys.executable, *TOOL, "a", "b"], capture_output=True, text=True)
    assert done.returncode == 2 and "unrecognized arguments: b" in done.stderr
    done = subprocess.run([sys.executable, *TOOL, "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and "What the figures mean" in done.stdout
    done = subprocess.run([str(launcher)], capture_output=True, text=True)
    assert done.returncode == 2


def test_command_line(build):
    """python -m cudaops build-report does what the target does; --json prints the report and writes nothing."""
    build.compile("a.cpp", 0.0, 3.0)
    build.finish()
    page = build.directory / "cudaops-build-report.html"
    code, output, error = run_python("-m", "cudaops", "build-report", build.directory, "--json")
    assert (code, error) == (0, "") and not page.exists()
    printed = json.loads(output)
    assert [job["name"] for job in printed["jobs"]] == ["a.cpp"]
    code, output, error = run_python("-m", "cudaops", "build-report", build.directory)
    assert (code, error) == (0, "")
    assert said(output) == (
        "cudaops build-report: %s (and .json) 1 job, 3.0 s of work in 3.0 s, at most 1 at once "
        "1. a.cpp takes 3.0 s, 100 %% of the work" % page
    )
    written = page.read_text()
    assert json.loads(page.with_suffix(".json").read_text()) == printed
    assert build.report() == printed and build.page == written
    assert sorted(path.name for path in build.directory.glob("*report*")) == [
        "cudaops-build-report.html",
        "cudaops-build-report.json",
    ]


def test_command_line_in_the_build_directory(build, monkeypatch):
    build.finish()
    monkeypatch.chdir(build.directory)
    code, output, error = run_python("-m", "cudaops", "build-report", "--json")
    assert (code, output) == (2, "")
    assert said(error) == (
        "cudaops build-report: no job has succeeded here yet. found no job in %s/.ninja_log Fix: cmake --build %s"
        % (build.directory, build.directory)
    )


def test_makefiles(build):
    build.cache("Unix Makefiles")
    assert said(build.report(code=2)) == (
        "cudaops_build_report: only Ninja notes how long its jobs take. found %s, built with Unix Makefiles "
        "Fix: cmake -S <source> -B <another directory> -G Ninja" % build.directory
    )


def test_nothing_built(build):
    assert said(build.report(code=2)) == (
        "cudaops_build_report: no job has succeeded here yet. missing %s/.ninja_log Fix: cmake --build %s"
        % (build.directory, build.directory)
    )
    build.finish()
    assert said(build.report(code=2)).startswith(
        "cudaops_build_report: no job has succeeded here yet. found no job in "
    )


def test_unknown_log(build):
    build.compile("a.cpp", 0.0, 1.0)
    build.finish(version=4)
    assert said(build.report(code=2)) == (
        "cudaops_build_report: the format of this ninja log is not known. found version 4 in %s/.ninja_log wanted 5 to 7 "
        "Fix: another release of ninja, then build again" % build.directory
    )
    (build.directory / ".ninja_log").write_bytes(b"\x7fELF")
    assert "this is not a log of ninja's." in build.report(code=2)


def test_cut_files(build):
    """A build that was killed: what can be read is used, and that something is left out is said."""
    header = build.write("x.h", size=50)
    for name in ("a.cpp", "b.cpp"):
        build.write(name, '#include "x.h"\n')
        build.compile(name, 0.0, 2.0, headers=[header])
    build.finish()
    log = build.directory / ".ninja_log"
    log.write_text(log.read_text() + "12\t40")
    deps = build.directory / ".ninja_deps"
    deps.write_bytes(deps.read_bytes()[:-5])
    data = build.report()
    assert [job["name"] for job in data["jobs"]] == ["a.cpp", "b.cpp"]
    assert data["headers"][0]["files"] == 1
    assert data["notes"] == [
        "1 line of ninja's log can't be read (a build that was killed?) and left out.",
        "The end of .ninja_deps can't be read (a build that was killed?); it is left out.",
    ]


@pytest.mark.parametrize("content", [b"", b"# ninja", b"# ninjadeps\n\x09\0\0\0", b"\xff" * 100])
def test_unknown_deps(build, content):
    build.compile("a.cpp", 0.0, 2.0)
    build.finish()
    (build.directory / ".ninja_deps").write_bytes(content)
    data = build.report()
    assert data["headers"] == [] and data["notes"][0].startswith("Headers are unknown: ")


def test_old_deps(build):
    build.write("a.cpp", '#include "x.h"\n')
    build.compile("a.cpp", 0.0, 2.0, headers=[build.write("x.h", size=50)])
    build.finish(deps_version=3)
    assert build.report()["headers"][0]["bytes"] == 50


def test_moved_build_directory(build):
    build.compile("a.cpp", 0.0, 2.0)
    build.cache("Ninja", "/somewhere/else")
    build.finish()
    assert build.report()["notes"] == [
        "This build directory was made as /somewhere/else: sources and headers may be those of another place."
    ]


def test_unreadable_and_unwritable(build, tmp_path):
    build.compile("a.cpp", 0.0, 2.0)
    build.finish()
    (build.directory / "build.ninja").unlink()
    assert "build.ninja can't be read." in build.report(code=2)
    build.finish()
    assert said(build.report("--output", str(tmp_path / "none" / "x.html"), code=2)) == (
        "cudaops_build_report: the report can't be written. found %s/none/x.json: No such file or directory "
        "Fix: --output <file.html> in a directory that can be written" % tmp_path
    )
    assert "the page is an .html file." in build.report("--output", str(tmp_path / "x.json"), code=2)
    (build.directory / ".ninja_log").unlink()
    (build.directory / ".ninja_log").mkdir()
    assert "ninja's log can't be read." in build.report(code=2)


# The launcher of traced targets.


@pytest.fixture(scope="module")
def launcher(tmp_path_factory):
    program = tmp_path_factory.mktemp("launcher") / "cudaops-launch"
    compiler = os.environ.get("CXX", "c++")
    subprocess.run([compiler, "-std=c++17", "-O0", "-fno-exceptions", str(LAUNCHER), "-o", str(program)], check=True)
    return program


@pytest.fixture
def traced(tmp_path, launcher):
    (tmp_path / "settings").write_text("trace\t%s\n" % (tmp_path / "trace"))

    def run(*command, **environment):
        return subprocess.run(
            [str(launcher), str(tmp_path / "settings"), *command],
            cwd=tmp_path, capture_output=True, text=True, env={**os.environ, **environment},
        )  # fmt: skip

    return run


def record(tmp_path):
    (path,) = (tmp_path / "trace").glob("*.record")
    return build_jobs.read_record(path.read_text())


def cache_script(tmp_path, counters):
    """Stands for ccache: says what it did in the log that ccache has for that, and writes object and depfile."""
    path = tmp_path / "ccache"
    path.write_text(
        '#!/bin/sh\nprintf "# a.cpp\\n%s" >> "$CCACHE_STATSLOG"\necho "a.o: a.cpp" > a.d\necho > a.o\n'
        % "".join(c + "\\n" for c in counters)
    )
    path.chmod(0o755)
    return str(path)


def test_trace(tmp_path, traced):
    (tmp_path / "a.cpp").write_text("1")
    command = [
        cache_script(tmp_path, ["cache_miss", "local_storage_write"]),
        "g++",
        "-MF",
        "a.d",
        "-c",
        "a.cpp",
        "-o",
        "a.o",
    ]
    assert traced(*command).returncode == 0
    first = record(tmp_path)
    assert first["object"] == str(tmp_path / "a.o") and int(first["peak_memory_bytes"]) > 100000
    assert float(first["seconds"]) > 0 and first["input"].endswith(" a.cpp") and first["word"] == "a.o"
    assert (first["result"], first["reason"]) == ("miss", "first compile of this file in this build tree")
    (tmp_path / "a.cpp").write_text("22")
    traced(*command)
    assert record(tmp_path)["reason"] == "changed since the compile before: a.cpp"
    traced(*command)
    assert record(tmp_path)["reason"].startswith("neither the files nor the command are new")
    traced(*command[:2], "-DX", *command[2:])
    assert record(tmp_path)["reason"] == "other command: + -DX"
    cache_script(tmp_path, ["direct_cache_hit", "local_storage_hit"])
    traced(*command)
    assert (record(tmp_path)["result"], record(tmp_path)["reason"]) == ("hit", "")
    cache_script(tmp_path, ["unsupported_compiler_option"])
    traced(*command)
    assert (record(tmp_path)["result"], record(tmp_path)["reason"]) == ("not cached", "unsupported compiler option")
    assert not list((tmp_path / "trace").glob("*.stats"))


def test_trace_is_never_in_the_way(tmp_path, traced):
    """The command's exit code and output; no record of a failed compile; a trace that is broken or can't be written."""
    done = traced("sh", "-c", "echo out; echo err >&2; exit 3", "-o", "x.o")
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "err\n")
    assert not list((tmp_path / "trace").glob("*.record"))
    assert traced("no-such-compiler", "-o", "x.o").returncode == 127
    done = traced("sh", "-c", "kill -TERM $$", "-o", "x.o")
    assert done.returncode == -15
    assert traced("true", "-o", "x.o").returncode == 0
    (path,) = (tmp_path / "trace").glob("*.record")
    for text in ("[]", "word", "word\ttrue\ninput\t1\n", "end\t\ninput\t \n"):
        path.write_text(text)
        assert traced("true", "-o", "x.o").returncode == 0
    path.unlink()
    (tmp_path / "trace").rmdir()
    (tmp_path / "trace").write_text("a file")
    done = traced("true", "-o", "x.o")
    assert (done.returncode, done.stderr) == (0, "")
    # One's own log of ccache's statistics stays one's own.
    done = traced("sh", "-c", "echo $CCACHE_STATSLOG", CCACHE_STATSLOG="/mine")
    assert done.stdout == "/mine\n"
