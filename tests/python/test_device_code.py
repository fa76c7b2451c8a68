# SPDX-License-Identifier: Apache-2.0
"""What the reader finds in .nv_fatbin, for everything that nvcc can put there."""

import shutil
import subprocess
import time

import pytest

KERNEL = """
__global__ void scale(float* a) { a[threadIdx.x] *= 2.f; }
extern "C" void launch(float* a) { scale<<<1, 32>>>(a); }
"""


@pytest.mark.parametrize(
    "archs",
    [
        ["sm_80"],
        ["sm_75", "sm_80", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_120", "compute_120"],
        ["sm_100f", "sm_103a", "sm_120f"],
        ["compute_90a", "compute_100f"],
    ],
    ids=["one", "mixed", "family", "ptx only"],
)
def test_architectures(build, reader, archs):
    path = build.cuda("archs_" + "_".join(archs), KERNEL, archs)
    assert reader.architectures(path) == archs
    assert _cuobjdump(path) in (None, sorted(arch.rstrip("f") for arch in archs))


@pytest.mark.parametrize("mode", ["size", "speed", "balance", "none"])
def test_compression(build, reader, mode):
    if "--compress-mode" not in subprocess.run([str(build.nvcc), "--help"], capture_output=True, text=True).stdout:
        pytest.skip("this nvcc has no --compress-mode")
    archs = ["sm_80", "sm_90a", "compute_90"]
    path = build.cuda("compress_" + mode, KERNEL, archs, ["--compress-mode=" + mode])
    assert reader.architectures(path) == archs


def test_empty_kernel_is_code(build, reader):
    path = build.cuda("empty", "__global__ void nothing() {}\nvoid f() { nothing<<<1, 1>>>(); }", ["sm_75", "sm_90"])
    assert reader.architectures(path) == ["sm_75", "sm_90"]


def test_variables_are_code(build, reader):
    path = build.cuda("variables", "__device__ int counter;\n__constant__ int table[4];", ["sm_75", "sm_90"])
    assert reader.architectures(path) == ["sm_75", "sm_90"]


@pytest.mark.parametrize("options", [[], ["--compress-mode=size"]], ids=["plain", "compressed"])
def test_link_line_alone_brings_no_code(build, reader, options):
    """nvcc's link step adds empty cubins for the archs of the link line: they serve nobody."""
    code = build.cuda("only75", KERNEL, ["sm_75"], shared=False)
    path = build.cuda("link_line%d" % len(options), "", ["sm_90"], [*options, code])
    assert reader.architectures(path) == ["sm_75"]
    assert [image["without_code"] for image in reader.inspect(path)["images"] if image["architecture"] == "sm_90"]


def test_relocatable(build, reader):
    """RDC: the linked cubins and the PTX count; the relocatable cubins beside them can't be run."""
    archs = ["sm_80", "sm_90a", "sm_100f", "compute_100"]
    path = build.cuda("rdc", KERNEL, ["sm_80", "sm_90a", "sm_100f"], ["-rdc=true"])
    assert reader.architectures(path) == archs[:3]
    unlinked = build.cuda("rdc_object", KERNEL, ["sm_80", "compute_80"], ["-rdc=true"], shared=False)
    assert reader.architectures(unlinked) == ["compute_80"]
    assert [image["relocatable"] for image in reader.inspect(unlinked)["images"]] == [True, True]


def test_rdc_linked_for_another_arch(build, reader):
    """The fault that the audit is there for: raw options that never reached the device link."""
    code = build.cuda("rdc80", KERNEL, ["sm_80", "sm_90"], ["-rdc=true"], shared=False)
    path = build.cuda("rdc_lost", "", ["sm_80"], ["-rdc=true", code])
    assert reader.architectures(path) == ["sm_80"]


def test_two_sources_with_other_archs(build, reader):
    first = build.cuda(
        "first", KERNEL.replace("launch", "launch_first").replace("scale", "scale_first"), ["sm_80"], shared=False
    )
    path = build.cuda("two_sources", KERNEL, ["sm_90a"], [first])
    assert reader.architectures(path) == ["sm_80", "sm_90a"]
    assert reader.common_architectures(path) == []


def test_object_file(build, reader):
    assert reader.architectures(build.cuda("object", KERNEL, ["sm_80", "sm_90"], shared=False)) == ["sm_80", "sm_90"]


def test_stripped(build, reader):
    path = build.cuda("stripped", KERNEL, ["sm_80", "compute_80"])
    subprocess.run(["strip", "--strip-all", str(path)], check=True)
    assert reader.architectures(path) == ["sm_80", "compute_80"]


def test_no_device_code(build, reader):
    assert reader.architectures(build.library("host_only")) == []


def test_torchs_own_archs(reader, torch_dir):
    """A library of a gigabyte, of which only headers may be read."""
    path = torch_dir / "lib" / "libtorch_cuda.so"
    if not path.exists():
        pytest.skip("a torch without CUDA")
    reader.common_architectures(path)
    start = time.perf_counter()
    archs = reader.common_architectures(path)
    seconds = time.perf_counter() - start
    assert {"80", "90"} <= set(archs)
    assert archs == sorted(archs, key=int) and all(arch.isdigit() for arch in archs)
    assert set(archs) <= {arch[3:] for arch in reader.architectures(path)}
    assert seconds < 0.1


def _cuobjdump(path):
    """The archs that NVIDIA's own tool lists (it calls sm_100f sm_100), or None without that tool."""
    tool = shutil.which("cuobjdump")
    if tool is None:
        return None
    names = set()
    for option, prefix in (("--list-elf", "sm_"), ("--list-ptx", "compute_")):
        output = subprocess.run([tool, option, str(path)], capture_output=True, text=True).stdout
        for line in output.splitlines():
            parts = line.split(".")
            if parts[-1] in ("cubin", "ptx"):
                names.add(prefix + parts[-2].replace("sm_", "").rstrip("f"))
    return sorted(names)
