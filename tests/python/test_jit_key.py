# SPDX-License-Identifier: Apache-2.0
"""What a build follows from, and how a difference is told."""

import os
import pathlib
import re
import shutil

import pytest
from conftest import REPOSITORY

from cudaops.jit import key, lock, manifest, memory, stamps, why
from cudaops.jit.project import Project
from cudaops.jit.request import Request
from cudaops.jit.sources import Reading, abi, ops

# Variables of cmake/detail/base/stamps.cmake that change what compilers say, not what they make.
SAID = {"LANG", "LC_ALL", "LC_MESSAGES", "COLLECT_NO_DEMANGLE", "CMAKE_NO_VERBOSE", "LD_PRELOAD"}


def test_environment_is_what_the_cmake_part_counts_as_inputs():
    text = (REPOSITORY / "cmake" / "detail" / "base" / "stamps.cmake").read_text()
    known = set(re.findall(r'"(\w+)=\$ENV\{\1\}', text))
    assert len(known) > 30 and known - SAID <= set(key.ENVIRONMENT)
    assert not SAID & set(key.ENVIRONMENT)


@pytest.mark.parametrize(
    "before, now, said",
    [
        (["a=1"], ["a=1"], "nothing of it is in the store: removed, or the build before did not end"),
        (["cflags=-O1"], ["cflags=-O2"], "extra_cflags changed"),
        ([], ["environment CPATH=/x"], "environment variable CPATH was not set and is /x"),
        (["environment CPATH=/x"], [], "environment variable CPATH was /x and is not set"),
        (["program nvcc=/a/nvcc"], ["program nvcc=/b/nvcc"], "another nvcc is found: /b/nvcc"),
        (["gpu 0=H100"], ["gpu 0=H100", "gpu 1=A100"], "other GPUs are visible"),
        (["toolkit /usr/local/cuda=/a"], ["toolkit /usr/local/cuda=/b"], "the toolkits on this machine changed (/usr/local/cuda)"),
        (["source=/a"], ["source=/a", "source=/b"], "the list of sources changed"),
    ],
)
def test_difference_of_two_keys_is_told(before, now, said):
    assert why.of_lines(before, now) == said


def test_programs_are_told_by_place_and_not_by_path(tmp_path):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    program = tmp_path / "second" / "nvcc"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    places = [str(tmp_path / name) for name in ("first", "second")]
    assert key.programs(":".join(places)) == key.programs(places[1]) == ["program nvcc=%s" % os.path.realpath(program)]


def test_manifest_notices_each_flipped_byte(tmp_path):
    section = manifest.Section(["built", "k", "f.so", "1.2.3.4", "d"], {"abi": "STABLE"}, b"absent /nowhere/at all\n")
    path = tmp_path / "m"
    text = manifest.text_of([section, section])
    path.write_text(text)
    read = manifest.read(path)
    assert [part.text() for part in read] == [section.text()] * 2
    for position in range(len(text)):
        damaged = text[:position] + chr(ord(text[position]) ^ 1) + text[position + 1 :]
        path.write_text(damaged)
        assert manifest.read(path) is None, position


def test_files_of_a_directory_are_compared_by_one_number_and_by_stamps_where_it_differs(tmp_path, monkeypatch):
    paths = [tmp_path / name for name in ("a.h", "b.h")]
    for path in paths:
        path.write_text(path.name)
        os.utime(path, (1, 1))
    later = os.stat(paths[1]).st_ctime_ns + 10**9
    entries = [manifest.file_entry(str(path), later) for path in paths]
    read = []
    monkeypatch.setattr(manifest, "digest_of", lambda path: read.append(path) or key.digest(pathlib.Path(path).read_bytes()))
    data = manifest.data_of(entries)
    section = manifest.Section(["built", "k", "f.so", "1.2.3.4", "d"], {}, data)
    assert len(section.lines) == 4 and section.changed({}) is None and read == []
    assert section.files() == {entry[3]: entry[1:3] for entry in entries}

    number = data.split(b" ")[1]
    other_python = manifest.Section(["built", "k", "f.so", "1.2.3.4", "d"], {}, data.replace(number, b"1", 1))
    assert other_python.changed({}) is None and read == []

    os.utime(paths[1], (2, 2))
    assert section.changed({}) is None and read == [str(paths[1])]
    paths[1].write_text("B.h")
    os.utime(paths[1], (1, 1))  # its size and its date are the old ones
    assert section.changed({}) == ("changed", str(paths[1]))
    paths[1].unlink()
    assert section.changed({}) == ("gone", str(paths[1]))


@pytest.fixture(scope="module")
def in_c(tmp_path_factory):
    root = tmp_path_factory.mktemp("store")
    (root / "id").mkdir()
    stamps.make(str(root), shutil.which("cc") or pytest.skip("no cc"))
    return stamps.function(str(root))


def _edit(path):
    path.write_text("B.h")
    os.utime(path, (1, 1))  # its size and its date are the old ones


CHANGES = {
    "nothing": lambda place: None,
    "another date": lambda place: os.utime(place / "b.h", (2, 2)),
    "another text": lambda place: _edit(place / "b.h"),
    "the last file gone": lambda place: (place / "sub" / "c d.h").unlink(),
    "a directory gone": lambda place: shutil.rmtree(place / "sub"),
    "a directory in the place of a file": lambda place: ((place / "a.h").unlink(), (place / "a.h").mkdir()),
    "one that hides another": lambda place: (place / "new.h").touch(),
    "one that was only asked for gone": lambda place: (place / "asked.h").unlink(),
}


@pytest.mark.parametrize("what", CHANGES)
def test_c_and_python_see_the_same_changes(tmp_path, in_c, what):
    place = tmp_path / "ü 1"
    (place / "sub").mkdir(parents=True)
    paths = [place / "a.h", place / "b.h", place / "sub" / "c d.h"]
    for path in [*paths, place / "asked.h"]:
        path.write_text(path.name)
        os.utime(path, (-1, -1) if path.name == "a.h" else (1, 1))
    later = os.stat(place / "asked.h").st_ctime_ns + 10**9
    entries = [manifest.file_entry(str(path), later) for path in paths]
    entries += [("absent", str(place / "new.h")), ("there", str(place / "asked.h"))]
    section = manifest.Section(["built", "k", "f.so", "1.2.3.4", "d"], {}, manifest.data_of(entries))
    assert in_c(section.data) == 0
    CHANGES[what](place)
    # By content nothing has changed where only a date has: that is for Python to say.
    assert (in_c(section.data) == 0) == (what == "nothing")
    assert (section.changed({}, in_c) is None) == (what in ("nothing", "another date"))
    assert section.changed({}, in_c) == section.changed({})


def test_c_leaves_to_python_what_it_cannot_tell(tmp_path, in_c):
    path = tmp_path / "a.h"
    path.write_text("1")
    young = manifest.data_of([manifest.file_entry(str(path), os.stat(path).st_ctime_ns)])
    old = manifest.data_of([manifest.file_entry(str(path), os.stat(path).st_ctime_ns + 10**9)])
    assert in_c(old) == 0 and in_c(b"") == 0
    assert in_c(young) == 1
    assert in_c(b"absent /" + b"a" * 5000 + b"\n") == 1 and in_c(b"files 1 /" + b"a" * 5000 + b"\n\n\n\n") == 1
    for size in range(len(old)):
        in_c(old[:size])  # ends where the text ends
    assert in_c(b"another format\n") == 1


def test_comparison_in_c_is_made_again_where_its_file_is_damaged(tmp_path, monkeypatch):
    root, compiler = str(tmp_path), shutil.which("cc") or pytest.skip("no cc")
    (tmp_path / "id").mkdir()
    assert stamps.function(root) is None
    stamps.make(root, "/nowhere/cc")
    assert stamps.function(root) is None and not list((tmp_path / "id").iterdir())
    stamps.make(root, compiler)
    assert stamps.function(root)(b"") == 0
    library = next((tmp_path / "id").glob("*.so"))
    damaged = bytearray(library.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    library.unlink()  # this process has it open
    library.write_bytes(damaged)
    monkeypatch.setattr(stamps, "_functions", {})
    assert stamps.function(root) is None
    stamps.make(root, compiler)
    assert stamps.function(root)(b"") == 0 and library.read_bytes() != damaged


def test_file_written_within_a_tick_is_compared_by_content(tmp_path):
    path = tmp_path / "a.h"
    path.write_text("1")
    now = os.stat(path).st_ctime_ns
    assert manifest.file_entry(str(path), now)[:2] == ("file", "-")
    later = manifest.file_entry(str(path), now + 10**9)
    assert later[1] == manifest.stamp_of(os.stat(path))
    assert manifest.file_entry(str(path), now - 1) is None  # it changed after the build began


def test_ops_are_read_from_the_texts():
    text = """
    // TORCH_LIBRARY(no, m) { m.def("no() -> ()"); }
    STABLE_TORCH_LIBRARY(first, m) { m.def("add(Tensor a) -> Tensor"); m.def("mul.out(Tensor a) -> Tensor"); }
    TORCH_LIBRARY_FRAGMENT(TORCH_EXTENSION_NAME, m) { m.def(torch::schema("sub(Tensor a) -> Tensor")); }
    TORCH_LIBRARY_IMPL(first, CPU, m) { m.impl("add", &add); }
    """
    assert ops([text], "ext") == ["ext::sub", "first::add", "first::mul"]


@pytest.mark.parametrize(
    "names, kind, expected",
    [
        (["torch/csrc/stable/library.h", "cuda_runtime.h"], "module", "STABLE"),
        (["torch/csrc/stable/library.h", "torch/headeronly/core/ScalarType.h"], "library", "STABLE"),
        (["torch/csrc/stable/library.h", "torch/csrc/inductor/aoti_torch/c/shim.h"], "library", "STABLE"),
        (["torch/csrc/stable/library.h", "ATen/ATen.h"], "library", "FULL"),
        (["torch/extension.h"], "module", "PYBIND"),
        (["torch/library.h"], "library", "FULL"),
        (["Python.h"], "module", "PYBIND"),
        (["pybind11/pybind11.h", "torch/csrc/stable/tensor.h"], "module", "PYBIND"),
    ],
)
def test_abi_follows_from_the_includes(names, kind, expected):
    assert abi(names, kind) == expected


def test_reading_follows_includes_as_a_compiler_does(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    (tmp_path / "b" / "x.h").write_text('#include "y.h"\n/* #include "z.h" */\n#if __has_include(<w.h>)\n#endif\n')
    (tmp_path / "b" / "y.h").write_text("")
    source = tmp_path / "s.cpp"
    source.write_text('# include <x.h>\n// #include "no.h"\nconst char* t = "#include <no.h>";\n')
    reading = Reading([str(tmp_path / "a"), str(tmp_path / "b")])
    reading.add(str(source))
    assert sorted(os.path.basename(path) for path in reading.files) == ["s.cpp", "x.h", "y.h"]
    assert reading.absent == {str(tmp_path / place) for place in ("a/x.h", "a/w.h", "b/w.h")}


def test_reading_of_a_file_from_windows(tmp_path):
    source = tmp_path / "s.cpp"
    source.write_bytes(b'\xef\xbb\xbf#include <torch/csrc/stable/library.h>\r\n#include "y.h" // \xff\r\n')
    reading = Reading([])
    reading.add(str(source))
    assert reading.names == {"torch/csrc/stable/library.h", "y.h"}


def test_jobs_of_all_builds_together_stay_within_the_limit(tmp_path):
    first = lock.Slots(str(tmp_path), 3, 2)
    second = lock.Slots(str(tmp_path), 3, 2)
    assert (first.count, second.count) == (2, 1)
    first.release()
    third = lock.Slots(str(tmp_path), 3, 5)
    assert third.count == 2


def test_jobs_are_the_users_or_what_cores_and_memory_allow(monkeypatch):
    monkeypatch.setenv("MAX_JOBS", "7")
    assert lock.jobs_wanted() == 7
    monkeypatch.setattr(lock, "cores", lambda: 16)
    for odd, gib, jobs in (("", 64, 16), ("0", 64, 16), ("many", 64, 16), ("", 6, 4), ("", 1, 1), ("9", 1, 9)):
        monkeypatch.setenv("MAX_JOBS", odd)
        monkeypatch.setattr(memory, "free_bytes", lambda gib=gib: gib << 30)
        assert lock.jobs_wanted() == jobs
    monkeypatch.setattr(memory, "free_bytes", lambda: None)
    monkeypatch.delenv("MAX_JOBS")
    assert lock.jobs_wanted() == 16


@pytest.mark.parametrize(
    "version, group, files, free",
    [
        (2, "/", {}, 8 << 30),
        (2, "/a/b", {"a/b/memory.max": "max", "a/memory.max": 4 << 30, "a/memory.current": 3 << 30}, 1 << 30),
        (2, "/told/from/outside", {"memory.max": 4 << 30, "memory.current": 1 << 30}, 3 << 30),
        (
            2,
            "/a",
            {"a/memory.max": 2 << 30, "a/memory.current": 2 << 30, "a/memory.stat": "anon 5\ninactive_file 70\nactive_file 7\n"},
            77,
        ),
        (1, "/a", {"a/memory.limit_in_bytes": 2 << 30, "a/memory.usage_in_bytes": 1 << 29}, 3 << 29),
        (1, "/", {"memory.limit_in_bytes": (1 << 63) - 4096, "memory.usage_in_bytes": 1}, 8 << 30),
    ],
)
def test_free_memory_is_what_control_groups_leave(tmp_path, version, group, files, free):
    (tmp_path / "proc" / "self").mkdir(parents=True)
    (tmp_path / "proc" / "meminfo").write_text("MemTotal: 1 kB\nMemAvailable: %d kB\n" % (8 << 20))
    line = "0::%s\n" % group if version == 2 else "9:cpu:/no\n8:memory:%s\n" % group
    (tmp_path / "proc" / "self" / "cgroup").write_text(line)
    for name, value in files.items():
        place = tmp_path / "sys/fs/cgroup" / ("" if version == 2 else "memory") / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("%s\n" % value)
    assert memory.free_bytes(str(tmp_path)) == free


def test_waiting_says_once_for_whom(tmp_path, monkeypatch, capsys):
    holder = lock.Lock(str(tmp_path), "key")
    assert holder.try_acquire()
    monkeypatch.setattr(lock, "WAITING_S", 0)
    tries = []

    def sleep(_):
        tries.append(1)
        if len(tries) == 3:
            holder.release()

    monkeypatch.setattr(lock.time, "sleep", sleep)
    lock.Lock(str(tmp_path), "key").acquire("my_ext").release()
    text = capsys.readouterr().err
    assert text == "cudaops: waiting for my_ext, which process %d on %s builds.\n" % (os.getpid(), os.uname().nodename)


def test_without_flock_everybody_builds(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(lock.fcntl, "flock", refuse)
    first, second = lock.Lock(str(tmp_path), "key"), lock.Lock(str(tmp_path), "key")
    assert first.try_acquire() and second.try_acquire() and not second.works


def test_device_code_with_aten_has_no_half_operators_as_in_torch(tmp_path):
    (tmp_path / "own.h").write_text("#include <ATen/ATen.h>\n")
    for name, include in (("bind.cpp", "<torch/extension.h>"), ("aten.cu", '"own.h"'), ("plain.cu", "<cuda_fp16.h>")):
        (tmp_path / name).write_text("#include %s\n" % include)
    request = Request("half", "module")
    request.set_flags(None, ["-U__CUDA_NO_HALF_OPERATORS__"], None, None)
    request.set_paths([tmp_path / name for name in ("bind.cpp", "aten.cu", "plain.cu")])
    project = Project(request, str(tmp_path / "project"), "auto")
    assert project.abi == "PYBIND"
    lines = (tmp_path / "project" / "CMakeLists.txt").read_text().splitlines()
    (line,) = [line for line in lines if "__CUDA_NO_HALF2_OPERATORS__" in line]
    assert str(tmp_path / "aten.cu") in line and line.endswith(
        '"__CUDA_NO_HALF_OPERATORS__;__CUDA_NO_HALF_CONVERSIONS__;__CUDA_NO_HALF2_OPERATORS__;__CUDA_NO_BFLOAT16_CONVERSIONS__")'
    )
    # A definition comes before an option in CMake's commands.
    assert any("-U__CUDA_NO_HALF_OPERATORS__" in line and "target_compile_options" in line for line in lines)
