# SPDX-License-Identifier: Apache-2.0
"""The reader's command line, and files that are no libraries."""

import json
import os
import random
import re
import subprocess

import pytest
from conftest import NOTE, RUN, execute, run_python

KERNEL = "__global__ void scale(float* a) { a[0] *= 2.f; }\nvoid f(float* a) { scale<<<1, 1>>>(a); }"


def read(*arguments):
    return run_python(*RUN, "inspect_library", *arguments)


@pytest.fixture(scope="module")
def op(build):
    return build.library("op", note=build.note_source())


def test_summary(op):
    assert read(op) == (
        0,
        "%s\n"
        "  op           my_ops of project tests\n"
        "  state        BUILT\n"
        "  abi          STABLE, runs in torch 2.10 and later\n"
        "  built with   torch 2.15.0+cu132, CUDA toolkit 13.0.88, CUDA runtime linked statically, CudaOps 0.1.0\n"
        "  device code  none\n"
        "  links        %s\n" % (op, " ".join(json.loads(read(op, "--json")[1])["needed"])),
        "",
    )


def test_summary_of_others(build):
    path = build.library("no_note", options=["-Wl,-rpath,$ORIGIN/here", "-Wl,-soname,libother.so.1"])
    code, output, error = read(path)
    assert (code, error) == (0, "")
    assert "  note         none: not made by CudaOps' add_torch_op, or stripped\n" in output
    assert "  runpath      $ORIGIN/here\n" in output
    reason = build.note_source(abi="FULL", state="CPU_ONLY", reason="no CUDA toolkit was found", toolkit="")
    output = read(build.library("cpu_only", note=reason))[1]
    assert "  state        CPU_ONLY: no CUDA toolkit was found\n" in output
    assert "  abi          FULL, runs in torch 2.15 only\n" in output
    assert "  built with   torch 2.15.0+cu132, CudaOps 0.1.0\n" in output


def test_json(op):
    code, output, error = read(op, "--json")
    info = json.loads(output)
    assert (code, error) == (0, "")
    assert info["provenance"] == {"project": "tests", "op": "my_ops", **NOTE}
    assert info["path"] == str(op) and info["type"] == "shared library"
    assert info["architectures"] == [] and info["images"] == []


def test_archs_and_check(build):
    path = build.cuda("checked", KERNEL, ["sm_80", "sm_90a", "compute_90"])
    assert read(path, "--archs") == (0, "sm_80,sm_90a,compute_90\n", "")
    assert read(path, "--common-archs") == (0, "80\n", "")
    for wanted in ("sm_80;sm_90a;compute_90", "compute_90,sm_90a,sm_80", "sm_80 sm_90a compute_90"):
        assert read(path, "--check-archs", wanted) == (
            0,
            "libchecked.so holds sm_80 sm_90a compute_90, as asked for.\n",
            "",
        )
    assert read(path, "--check-archs", "sm_80") == (
        0,
        "libchecked.so holds sm_80, as asked for (and sm_90a compute_90).\n",
        "",
    )
    assert read(path, "--check-archs", "sm_120,sm_80,compute_90,sm_90") == (
        1,
        "",
        "architectures(libchecked.so): the library must hold device code for every architecture that was asked for.\n"
        "  missing    sm_90 sm_120\n"
        "  asked for  sm_80 sm_90 sm_120 compute_90\n"
        "  found      sm_80 sm_90a compute_90 in %s\n"
        "Fix: build it again from clean: cmake --build <build directory> --clean-first\n"
        "     still missing: look for a -arch, -gencode or CUDA_ARCHITECTURES that is set for one of its sources or\n"
        "     for the link, in the lines that cmake --build <build directory> --verbose prints\n" % path,
    )


def test_check_without_device_code(op):
    code, _, error = read(op, "--check-archs", "sm_90a")
    assert code == 1 and "\n  missing    sm_90a\n" in error and "\n  found      no device code in " in error


@pytest.mark.parametrize(
    "arguments, text",
    [
        ([], "one library is needed, 0 were given."),
        (["a", "b"], "one library is needed, 2 were given."),
        (["a", "--what"], "unknown option --what: --json, --archs, --common-archs, --check-archs, --needed"),
        (["a", "--json", "--archs"], "--json and --archs: one at a time."),
        (
            ["a", "--check-archs"],
            "--check-archs needs a list such as sm_90a,compute_120 or gfx90a,gfx942:xnack-.",
        ),
        (["a", "--check-archs", "90a"], "'90a' is not an architecture: write sm_90a, compute_120 or gfx90a:xnack-."),
        (["a", "--check-archs", "sm_90af"], "'sm_90af' is not an architecture: write sm_90a, compute_120 or gfx90a:xnack-."),
    ],
)
def test_usage(arguments, text):
    assert read(*arguments) == (2, "", "inspect_library: %s\n" % text)


def test_help():
    code, output, error = read("--help")
    assert (code, error) == (0, "") and "_run.py inspect_library <library>" in output


def test_unreadable_files(tmp_path):
    def text_of(name, content):
        path = tmp_path / name
        path.write_bytes(content)
        code, output, error = read(path)
        assert (code, output) == (2, "")
        return error.replace(str(path), "FILE")

    assert text_of("empty", b"") == "inspect_library: FILE is not an ELF file.\n"
    assert text_of("text", b"hello\n" * 100) == "inspect_library: FILE is not an ELF file.\n"
    assert text_of("lib.a", b"!<arch>\n" + b"x" * 90) == (
        "inspect_library: FILE is a static archive: give the library that was linked from it.\n"
    )
    assert text_of("short", b"\x7fELF\x02\x01\x01") == (
        "inspect_library: FILE is damaged or cut short: its header lies beyond its end.\n"
    )
    assert text_of("elf32", b"\x7fELF\x01\x01\x01" + bytes(80)) == (
        "inspect_library: FILE is not a 64-bit little-endian ELF file.\n"
    )
    missing = tmp_path / "missing.so"
    assert read(missing) == (2, "", "inspect_library: %s can't be read: No such file or directory.\n" % missing)
    assert read(tmp_path) == (2, "", "inspect_library: %s is not a file.\n" % tmp_path)


def test_pipe_is_not_waited_for(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert read(pipe) == (2, "", "inspect_library: %s is not a file.\n" % pipe)


def test_cut_short(build, reader, tmp_path):
    """Whatever is left of a library is read or refused in one sentence."""
    try:
        whole = build.cuda("whole", KERNEL, ["sm_80", "compute_80"]).read_bytes()
    except pytest.skip.Exception:
        whole = build.library("whole", note=build.note_source()).read_bytes()
    path = tmp_path / "cut.so"
    for length in [*range(0, 1024, 61), *range(1024, len(whole), len(whole) // 150)]:
        path.write_bytes(whole[:length])
        with pytest.raises(reader.NotReadable) as caught:
            reader.inspect(path)
        assert str(caught.value).count("\n") == 0 and str(path) in str(caught.value)


def test_damaged(build, reader, tmp_path):
    """Random bytes in a real file: a result or NotReadable, nothing else, and no long loop."""
    random_bytes = random.Random(20240607)
    whole = bytearray(build.library("damaged", note=build.note_source()).read_bytes())
    try:
        device = bytearray(build.cuda("damaged_cuda", KERNEL, ["sm_80", "compute_80"]).read_bytes())
    except pytest.skip.Exception:
        device = whole
    fatbin = bytes(device).find(b"\x50\xed\x55\xba")
    path = tmp_path / "damaged.so"
    refused = 0
    for turn in range(600):
        content = bytearray(whole if turn % 2 else device)
        # Headers are where damage matters: the first 4 KiB, the end with the section table, the fatbin.
        places = [(0, 64), (64, 4096), (len(content) - 4096, len(content))]
        if turn % 2 == 0 and fatbin > 0:
            places.append((fatbin, fatbin + 160))
        first, last = places[turn // 2 % len(places)]
        for _ in range(random_bytes.randrange(1, 9)):
            content[random_bytes.randrange(first, last)] = random_bytes.choice(
                [0, 1, 0x7F, 0xFF, random_bytes.randrange(256)]
            )
        path.write_bytes(content)
        try:
            reader.inspect(path)
            reader.undefined_symbols(path)
        except reader.NotReadable:
            refused += 1
    assert 0 < refused < 600


def test_note_with_odd_characters(build, reader):
    project = 'a;b "c\\d" \n\t\x01 é 日本 $<x> ${y} @z@'
    path = build.library("odd", note=build.note_source(project=project, reason='it\'s \\ "so"'))
    note = reader.provenance(path)
    assert note["project"] == project and note["reason"] == 'it\'s \\ "so"'


def test_damaged_note(build):
    path = build.library("bad_note", note=build.note_source())
    content = path.read_bytes()
    path.write_bytes(content.replace(b'{"project"', b'{"project;'))
    code, output, error = read(path)
    assert (code, error) == (0, "")
    assert "  note         the note of CudaOps in it is damaged (" in output


def test_long_section_table(build, reader):
    """More than 65279 sections: the counts stand in the first entry of the table."""
    assembly = "".join('.section .s%d,"a"\n.byte 1\n' % i for i in range(66000))
    source = build.write("many.s", assembly)
    path = build.directory / "many.o"
    subprocess.run([build.cxx, "-c", str(source), "-o", str(path)], check=True)
    assert reader.architectures(path) == []
