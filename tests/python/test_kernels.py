# SPDX-License-Identifier: Apache-2.0
"""python -m cudaops kernels: what ptxas says of each kernel, read from the library; planted faults are found by it."""

import json
import os
import re
import shutil
import subprocess

import pytest
from conftest import run_python

# A spill, a stack that is none, static shared memory behind a call, bounds with and without a second figure.
KERNELS = """
namespace {
template <int kSize>
__global__ void __launch_bounds__(1024, 2) spill(float* x, const int* p) {
  float a[kSize];
#pragma unroll
  for (int i = 0; i < kSize; ++i) a[i] = x[i * 37 + threadIdx.x];
#pragma unroll
  for (int k = 0; k < 4; ++k)
#pragma unroll
    for (int i = 0; i < kSize; ++i) a[i] = a[i] * a[(i * 7 + k) % kSize] + p[k];
#pragma unroll
  for (int i = 0; i < kSize; ++i) x[i * 37 + threadIdx.x] = a[i];
}
__device__ __noinline__ float twice(float x) { return x + sinf(x * 1e6f); }
}  // namespace
__global__ void stack(float* x, int n) {
  float a[100];
  for (int i = 0; i < n; ++i) a[i * 3 % 100] = x[i];
  x[n] = a[n % 100];
}
__global__ void __launch_bounds__(256) shared(float* x) {
  __shared__ float s[5000];
  s[threadIdx.x] = twice(x[threadIdx.x]);
  __syncthreads();
  x[threadIdx.x] = s[255 - threadIdx.x];
}
void launch(float* x, int* p) {
  spill<64><<<1, 1024>>>(x, p);
  stack<<<1, 1>>>(x, 1);
  shared<<<1, 256>>>(x);
}
"""
ARCHS = ["sm_80", "sm_90a", "compute_90a"]
MEMBERS = (
    """name mangled arch target file line registers static_shared_bytes stack_bytes spill_store_bytes spill_load_bytes
    constant_bytes max_threads min_blocks occupancy""".split()
)


@pytest.fixture(scope="module")
def library(build):
    return build.cuda("kernels", KERNELS, ARCHS)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Where the calculator is compiled, once for these tests."""
    return str(tmp_path_factory.mktemp("store"))


def kernels(store, *arguments, **variables):
    return run_python("-m", "cudaops", "kernels", *arguments, CUDAOPS_STORE=store, **variables)


def rows(store, path):
    code, out, err = kernels(store, path, "--json")
    assert (code, err) == (0, "")
    return {(row["name"], row["arch"]): row for row in json.loads(out)["kernels"]}


def said_by_ptxas(build, arch):
    """{kernel: (registers, shared, stack, spill stores, spill loads)}; a call's stack is the kernel's."""
    command = [
        build.nvcc,
        "-Xptxas=-v",
        "-arch=" + arch,
        "-cubin",
        build.directory / "kernels.cu",
        "-o",
        build.directory / "v.cubin",
    ]
    text = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stderr
    said, name = {}, ""
    for line in text.splitlines():
        found = re.search(r"Compiling entry function '(\w+)'", line)
        name = found.group(1) if found else name
        found = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line)
        if found and name not in said:
            said[name] = tuple(map(int, found.groups()))
        used = re.search(r"Used (\d+) registers", line)
        if used:
            amounts = [re.search(r"(\d+) bytes " + what, line) for what in ("smem", "cumulative stack")]
            said[name] = (int(used.group(1)), *(int(found.group(1)) if found else 0 for found in amounts), *said[name])
    return said


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_as_ptxas_says(build, library, store, arch):
    found = {row["mangled"]: row for (_, of), row in rows(store, library).items() if of == arch}
    figures = "registers static_shared_bytes stack_bytes spill_store_bytes spill_load_bytes".split()
    said = said_by_ptxas(build, arch)
    # The name of what is local to a file holds a hash of the command.
    local = re.compile(r"\d+_GLOBAL__N__\w+_cu_[0-9a-f]{8}")
    assert {local.sub("", name): tuple(row[figure] for figure in figures) for name, row in found.items()} == {
        local.sub("", name): amounts for name, amounts in said.items()
    }
    assert sum(row["spill_store_bytes"] > 0 for row in found.values()) == 1


def test_members(library, store):
    found = rows(store, library)
    assert sorted(found) == [
        (name, arch)
        for name in ("(anonymous namespace)::spill<64>(float*, int const*)", "shared(float*)", "stack(float*, int)")
        for arch in ("sm_80", "sm_90a")
    ]
    for row in found.values():
        assert set(MEMBERS) <= set(row)
    bounds = {name.partition("(float")[0]: (row["max_threads"], row["min_blocks"]) for (name, _), row in found.items()}
    assert bounds == {"(anonymous namespace)::spill<64>": (1024, 2), "shared": (256, None), "stack": (None, None)}
    assert [row["block"] for row in found["stack(float*, int)", "sm_80"]["occupancy"]] == [128, 256, 512, 1024]
    assert {row["next"] for row in found.values()} == {"", "__launch_bounds__(1024, 1) leaves 64 registers"}
    [occupied] = found["shared(float*)", "sm_90a"]["occupancy"]
    assert occupied["limited_by"] == "warps" and occupied["occupancy"] == 1.0


def test_dynamic_shared_memory_and_one_kernel(library, store):
    code, out, err = kernels(store, library, "--json", "--kernel", "shared(", "--dynamic-shared", "60000")
    data = json.loads(out)
    assert (code, err) == (0, "") and data["dynamic_shared_bytes"] == 60000
    row = data["kernels"][1]
    assert (len(data["kernels"]), row["name"], row["arch"], row["static_shared_bytes"]) == (2, "shared(float*)", "sm_90a", 20000)
    # 228 KB, of which each block takes 20000 + 60000 bytes and 1 KB that the driver keeps.
    assert row["occupancy"][0]["blocks_per_multiprocessor"] == 2 and row["occupancy"][0]["limited_by"] == "shared memory"
    text = problem(store, library, "--kernel", "shard")
    assert text.startswith("cudaops kernels: no kernel has this in its name.\n  found   shard\n  wanted  part of a name such as\n          shared(float*)\n")
    assert "argument --dynamic-shared: wanted a number of bytes, found -1.\n" in problem(store, library, "--dynamic-shared=-1")


@pytest.mark.parametrize(
    "kernel, expected",
    [
        # kernel: registers, shared bytes, barriers, block. A100 holds 32 blocks, not the 16 of a guide.
        (("sm_90", 40, 0, 1, 256), (6, 0.75, "registers", "32 registers or fewer give 64 warps of 64")),
        (("sm_80", 16, 0, 0, 32), (32, 0.5, "blocks", "blocks of 128 threads give 64 warps of 64")),
        (("sm_86", 16, 0, 0, 32), (16, 0.3333, "blocks", "blocks of 128 threads give 48 warps of 48")),
        (("sm_89", 32, 0, 1, 1024), (1, 0.6667, "warps", "blocks of 512 threads give 48 warps of 48")),
        (("sm_90", 80, 0, 1, 1024), (0, 0.0, "registers", "64 registers or fewer give 32 warps of 64")),
        (
            ("sm_90", 32, 40960, 1, 256),
            (5, 0.625, "shared memory", "37888 bytes of shared memory or fewer give 48 warps of 64"),
        ),
        (("sm_75", 64, 0, 1, 1024), (1, 1.0, "warps, registers", "")),
    ],
)
def test_occupancy(build, tmp_path_factory, kernel, expected):
    from cudaops.kernels import occupancy

    if build.nvcc is None:
        pytest.skip("no nvcc: set CUDACXX")
    cache = tmp_path_factory.getbasetemp() / "calculator"
    calculator = occupancy.Calculator(toolkit(build), str(cache))
    row = calculator.row(*kernel)
    assert tuple(row[name] for name in ("blocks_per_multiprocessor", "occupancy", "limited_by", "next")) == expected


def toolkit(build):
    from cudaops.kernels import occupancy

    root = os.path.dirname(os.path.dirname(os.path.realpath(build.nvcc)))
    return occupancy.Toolkit(os.path.join(root, "include"), os.path.join(root, "bin", "ptxas"), build.cxx)


@pytest.fixture(scope="module", params=["size", "speed"])
def packed(request, build):
    """By zstd, and by LZ4 as releases before 12.8 do."""
    return build.cuda(
        "packed", KERNELS, ["sm_80"], ["--compress-mode=" + request.param, "-Xfatbin=-compress-all"], shared=False
    )


def test_compressed(library, store, packed):
    figures = "registers spill_store_bytes stack_bytes constant_bytes".split()
    found, plain = (
        {key[0]: [row[figure] for figure in figures] for key, row in rows(store, path).items() if key[1] == "sm_80"}
        for path in (packed, library)
    )
    assert found == plain


def code_of(library, arch):
    """The device code of a library for one architecture, as a file of its own would have it."""
    from cudaops.binaries.elf import Elf, File
    from cudaops.binaries.fatbin import cuda_images
    from cudaops.binaries.hip_bundles import hip_images
    from cudaops.binaries.unpack import cuda_image

    with File(library) as file:
        elf = Elf(file)
        sections = list(elf.sections())
        for image in cuda_images(elf, sections, None):
            if image.name == arch and image.has_code:
                return cuda_image(file, image)
        [image] = [image for image in hip_images(elf, sections, [], None, whole=True) if image.name == arch]
        return image.place.read(0, image.size, "code object")


def test_cubin(library, store, tmp_path):
    """nvcc -cubin, Triton's cache: the architecture is in what the compiler was told, or in the header."""
    path = tmp_path / "k.cubin"
    expected = [row for (_, arch), row in rows(store, library).items() if arch == "sm_90a"]
    path.write_bytes(code_of(library, "sm_90a"))
    assert list(rows(store, path).values()) == expected
    content = bytearray(path.read_bytes().replace(b"-arch sm_90a", b"............"))
    for abi, flags, arch in ((7, 0x5A0D5A, "sm_90a"), (7, 0x50055A, "sm_90"), (8, 0x6006402, "sm_100")):
        content[8], content[48:52] = abi, flags.to_bytes(4, "little")
        path.write_bytes(content)
        assert {found for _, found in rows(store, path)} == {arch}
    content[16] = 1  # relocatable
    path.write_bytes(content)
    assert "\n          sm_100: not linked yet (-dc)\n" in problem(store, path)


def test_without_launch_bounds(build, tmp_path_factory):
    """A launch that no multiprocessor can hold is said with the bound that makes it one."""
    from cudaops.binaries.kernel import Kernel
    from cudaops.kernels import occupancy, report
    from cudaops.kernels.build import facts

    if build.nvcc is None:
        pytest.skip("no nvcc: set CUDACXX")
    calculator = occupancy.Calculator(toolkit(build), str(tmp_path_factory.getbasetemp() / "calculator"))
    kernel = Kernel("k", "sm_90", 96, 0, 0, 0, 0, 0, None, "13.0", place=("k.cu", 7))
    [row] = report.rows([kernel], calculator, str)
    assert [(occupied["blocks_per_multiprocessor"], occupied["next"]) for occupied in row["occupancy"][2:]] == [
        (1, "64 registers or fewer give 32 warps of 64"),
        (0, "__launch_bounds__(1024) leaves 64 registers"),
    ]
    said = "k (k.cu:7), sm_90, can't be launched with 1024 threads or more (registers): " + row["occupancy"][3]["next"]
    assert facts([row]) == [said]
    [row] = report.rows([kernel._replace(registers=64)], calculator, str)
    [said] = facts([row])
    assert said.startswith("k (k.cu:7), sm_90, without launch bounds, fills 50 % of a multiprocessor (registers): 56 ")
    step = "96 VGPRs or fewer give 5 waves of 8"
    row.update(occupancy=[], waves_per_simd=4, most_waves_per_simd=8, waves_limited_by="VGPRs", waves_next=step)
    assert facts([row]) == ["k (k.cu:7), sm_90, without launch bounds, fills 50 % of a SIMD (VGPRs): " + step]


def test_what_is_not_compiled_yet(library, tmp_path):
    """A report of a part says so."""
    from cudaops.kernels.build import gather
    from cudaops.kernels.targets import Target

    (tmp_path / "k.txt").write_text("target\tk\nobject\t%s\nobject\t%s\n" % (library, tmp_path / "no.o"))
    found, notes = gather([Target(str(tmp_path / "k.txt"))], None, None, str(tmp_path), str(tmp_path))
    assert len(found) == 6 and "k: 1 of 2 objects not compiled yet" in notes


def test_packed_in_a_way_that_is_not_known(store, packed, tmp_path):
    content = packed.read_bytes()
    [flags] = [flags for flags in (b"\x11\x80\0\0", b"\x11\x20\0\0") if flags in content]
    path = tmp_path / "packed.o"
    path.write_bytes(content.replace(flags, b"\x11\0\x04\0"))
    assert problem(store, path).startswith(
        "cudaops kernels: %s: its device code for sm_80 is packed in a way that isn't known (flags 0x40011), perhaps by a "
        "newer nvcc; -Xfatbin -no-compress leaves it plain.\n Fix: " % path
    )


def test_architecture_that_the_toolkit_does_not_know(build, store):
    """As of a newer nvcc: all that the library says, and a sentence in place of the blocks."""
    path = build.cuda("newer", "__global__ void k(float* x) { *x = 1; }", ["sm_80"], shared=False)
    content = path.read_bytes()
    header = content.index(b"\x02\0\x01\x01\x40\0\0\0")  # of a cubin in a fatbin: 64 bytes, the architecture at 28
    assert content[header + 28] == 80
    path.write_bytes(content[: header + 28] + bytes([135]) + content[header + 29 :])
    code, out, err = kernels(store, path)
    assert (code, err) == (0, "") and re.search(r"^ +8 .* k\(float\*\)  sm_135$", out, re.M)
    said = "blocks a multiprocessor of sm_135: this toolkit's cuda_occupancy.h or ptxas doesn't know it"
    assert out.splitlines()[-1] == "not counted  " + said


def test_text_and_difference(library, store, tmp_path):
    code, out, err = kernels(store, library)
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert re.match(
        r"\s+32\s+0\s+\d+\s+\d+ \+ \d+\s+\d+\s+1024\s+2\s+100%  warps, registers +\(anonymous namespace\)::spill<64>",
        lines[1],
    )
    assert lines[-1] == "not counted  compute_90a: PTX, which the driver compiles when the library is loaded"
    old = tmp_path / "old.json"
    old.write_text(kernels(store, library, "--json")[1])
    assert kernels(store, library, "--diff", old) == (0, "6 kernels: no difference\n", "")
    data = json.loads(old.read_text())
    data["kernels"][0]["registers"] -= 1
    data["kernels"][2]["name"] = "other(float*)"
    old.write_text(json.dumps(data))
    assert kernels(store, library, "--diff", old)[1].splitlines() == [
        "changed  (anonymous namespace)::spill<64>(float*, int const*)  sm_80: registers 31 -> 32",
        "gone     other(float*)  sm_80",
        "new      shared(float*)  sm_80",
    ]


@pytest.mark.parametrize("options", [["-lineinfo"], ["-lineinfo", "-rdc=true"]], ids=["compiled", "linked"])
def test_lines(build, store, options):
    """The line of each kernel, and of what spills in it: the first loop or the second; none without -lineinfo."""
    path = build.cuda("lines", KERNELS, ["sm_80"], options)
    found = {row["name"]: row for row in rows(store, path).values()}
    text = KERNELS.splitlines()
    for row in found.values():
        assert row["file"] == str(build.directory / "lines.cu")
        assert (
            "__global__" in text[row["line"] - 1]
            and re.search(r"\w+(?=[<(])", row["name"].split("::")[-1]).group() in text[row["line"] - 1]
        )
    places = found["(anonymous namespace)::spill<64>(float*, int const*)"]["spilled_at"]
    assert places and all("a[i]" in text[int(place.rpartition(":")[2]) - 1] for place in places)
    out = kernels(store, path)[1].splitlines()[1]
    assert ";  spills at " + ", ".join(places) in out


def test_hip(build, store):
    """VGPRs, SGPRs, LDS, scratch and spilled registers of a code object's metadata; no blocks."""
    source = "#include <hip/hip_runtime.h>\n" + KERNELS.replace(
        "spill<64><<<1, 1024>>>", "spill<96><<<1, 1024>>>"
    ).replace("sinf(x * 1e6f)", "x")
    path = build.hip("kernels_hip", source, ["gfx906"])
    found = rows(store, path)
    assert {arch for _, arch in found} == {"gfx906"}
    spill = found["(anonymous namespace)::spill<96>(float*, int const*)", "gfx906"]
    assert spill["next"] == "__launch_bounds__ of fewer than 1024 threads leaves more registers"
    assert spill["spilled_registers"] > 100 and spill["spill_store_bytes"] is None and spill["stack_bytes"] > 0
    shared = found["shared(float*)", "gfx906"]
    assert (shared["static_shared_bytes"], shared["max_threads"], shared["spill_store_bytes"], shared["occupancy"]) == (
        20000,
        256,
        0,
        [],
    )
    assert shared["registers"] > 0 and shared["scalar_registers"] > 0 and shared["spilled_registers"] == 0
    text = kernels(store, path)[1]
    assert " %d registers " % spill["spilled_registers"] in text and ";  4 waves of 10 a SIMD (VGPRs)" in text
    code = build.directory / "kernels_hip.co"
    code.write_bytes(code_of(path, "gfx906"))
    assert rows(store, code) == found


def test_waves(build, store):
    """As the compiler says them of the kernels that it compiles: the two without LDS, which old compilers count wrongly."""
    source = "#include <hip/hip_runtime.h>\n" + KERNELS.replace("spill<64><<<1, 1024>>>", "spill<96><<<1, 256>>>")
    file = build.write("waves.hip", source.replace("(1024, 2)", "(256)").replace("sinf(x * 1e6f)", "x"))
    for arch, most in (("gfx90a", 8), ("gfx1030", 16)):
        path = build.directory / ("waves_%s.o" % arch)
        command = [*build.hip_command([arch]), "-Rpass-analysis=kernel-resource-usage", "-x", "hip", "-c", file, "-o", path]
        said = subprocess.run(list(map(str, command)), capture_output=True, text=True).stderr
        wanted = dict(re.findall(r"Function Name: (\w+) .*?Occupancy \[waves/SIMD\]: (\d+) ", said, re.DOTALL))
        found = rows(store, path)
        compared = {row["mangled"]: str(row["waves_per_simd"]) for row in found.values() if not row["static_shared_bytes"]}
        assert len(compared) == 2 and compared.items() <= wanted.items()
        spill = found["(anonymous namespace)::spill<96>(float*, int const*)", arch]
        assert (spill["most_waves_per_simd"], spill["waves_limited_by"]) == (most, "VGPRs")
        fewer, waves = map(int, re.fullmatch(r"(\d+) VGPRs or fewer give (\d+) waves of %d" % most, spill["waves_next"]).groups())
        assert fewer < spill["registers"] and waves > spill["waves_per_simd"]

    from cudaops.kernels import report
    from cudaops.kernels.waves import Waves

    notes = []
    unknown = Waves(["/bin/false"], store)
    assert not any("waves_per_simd" in row for row in report.report(path, None, notes, unknown)["kernels"])
    assert notes == ["waves of gfx1030: /bin/false can't compile for it (HIPCXX, ROCM_PATH, PATH)"]


def test_place_in_the_sources(tmp_path):
    """Without -lineinfo: the line of the name behind __global__, in the files that the compile's dependency file names."""
    from cudaops.kernels.sources import Sources

    (tmp_path / "one.cuh").write_text(
        "// __global__ void scale(int);\ntemplate <class T>\n__global__ void __launch_bounds__(32 * (1 + 1), 2)\n    scale(T* x) {}\n"
    )
    (tmp_path / "two.cu").write_text(
        'extern "C" __global__ BOUNDS(64) void twice(int);\nconst char* s = "__global__ void s(";\n'
    )
    (tmp_path / "other.cu").write_text("__global__ void twice(float*) {}\n")
    (tmp_path / "build").mkdir()
    paths = []
    for name, read in (("two", "two.cu one.cuh"), ("other", "other.cu one.cuh")):
        paths.append(str(tmp_path / "build" / (name + ".o")))
        inputs = " ".join(str(tmp_path / file) for file in [*read.split(), "/usr/include/stdio.h"])
        (tmp_path / "build" / (name + ".o.d")).write_text("%s.o: %s\n" % (name, inputs))
    sources = Sources(str(tmp_path / "build"), str(tmp_path))
    assert sources.place(paths[:1], "void a::(anonymous namespace)::scale<b::C<int> >(b::C<int>*)"[5:]) == (
        str(tmp_path / "one.cuh"),
        4,
    )
    assert sources.place(paths[:1], "twice") == (str(tmp_path / "two.cu"), 1)
    # Of which file isn't known.
    assert sources.place(paths, "twice") is None
    assert sources.place(paths, "s(int)") is None


def test_place_of_a_translated_source(tmp_path):
    """Of HIP: where it was written, not what hipify has made of it."""
    from cudaops import depfile
    from cudaops.kernels.sources import Sources

    translation, note = tmp_path / "build/k.hipified/sub/a b.cu", tmp_path / "build/k.hipified/.hipify/depfiles/sub/a b.cu.d"
    for path in (translation, note):
        path.parent.mkdir(parents=True)
    (tmp_path / "a b.cu").write_text("\n__global__ void scale() {}\n")
    translation.write_text("#include <hip/hip_runtime.h>\n#line 1\n\n__global__ void scale() {}\n")
    note.write_text(depfile.rule(str(translation), [str(tmp_path / "a b.cu"), "/usr/bin/hipify"]))
    (tmp_path / "build/k.o.d").write_text(depfile.rule("k.o", [str(translation)]))
    place = Sources(str(tmp_path / "build"), str(tmp_path)).place([str(tmp_path / "build/k.o")], "scale()")
    assert place == (str(tmp_path / "a b.cu"), 2)


def test_without_a_toolkit(library, store, tmp_path):
    """The figures are in the library; blocks are not known, and it says why."""
    code, out, _ = kernels(store, library, "--json", CUDA_HOME=str(tmp_path), CUDA_PATH="", CXX="/no/compiler")
    data = json.loads(out)
    assert code == 0 and data["kernels"][0]["occupancy"] == [] and data["kernels"][0]["registers"] > 0
    assert "no C++ compiler" in data["notes"][0]


def test_store_that_cannot_be_written(build, library):
    if build.nvcc is None:
        pytest.skip("no nvcc: set CUDACXX")
    assert problem("/dev/null", library).splitlines() == [
        "cudaops kernels: the occupancy calculator can't be made.",
        "  found   [Errno 20] Not a directory: '/dev/null/occupancy'",
        " Fix: remove /dev/null/occupancy, or set CUDAOPS_STORE to a directory that can be written",
    ]


def test_toolkit_of_wheels(tmp_path, monkeypatch):
    """A Python with torch for CUDA has ptxas and the header by Triton; a toolkit comes first."""
    from cudaops.kernels import occupancy

    for name in ("bin/ptxas", "include/cuda_occupancy.h"):
        file = tmp_path / "triton" / "backends" / "nvidia" / name
        file.parent.mkdir(parents=True)
        file.touch()
    (tmp_path / "triton" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("CUDA_HOME", "/first")
    roots = occupancy.find_roots()
    assert roots[0] == "/first" and roots[-1] == str(tmp_path / "triton" / "backends" / "nvidia")
    monkeypatch.setattr(occupancy, "find_roots", lambda: roots[-1:])
    monkeypatch.setenv("CXX", "sh")
    assert occupancy.find_toolkit() == (roots[-1] + "/include", roots[-1] + "/bin/ptxas", shutil.which("sh"))


def problem(store, *arguments):
    code, out, err = kernels(store, *arguments)
    assert (code, out) == (2, "")
    return err


def test_no_device_code(build, store):
    path = build.library("plain")
    assert problem(store, path).splitlines() == [
        "cudaops kernels: there is no device code with figures in it.",
        "  found   %s" % path,
        " Fix: the library of an op with CUDA sources, built for an architecture such as 90-real",
    ]
    ptx = build.cuda("only_ptx", "__global__ void k() {}", ["compute_80"], shared=False)
    assert "compute_80: PTX, which the driver compiles when the library is loaded\n" in problem(store, ptx)


@pytest.mark.parametrize(
    "then, now, failures, notes",
    [
        ([40, 0, 0, 0, 4], [40, 0, 0, 0, None], ["no launch bound, one with 4 blocks a multiprocessor in the budget"], []),
        ([40, 0, 0, 0, None], [40, 0, 0, 0, 4], [], ["a launch bound, none in the budget"]),
        ([40, 0, 0, 0, 4], [40, 0, 0, 0, 5], [], ["less than in the budget"]),
        ([40, 0, None, 0, 4], [40, 0, 8, 0, 4], [], ["8 bytes of spill stores, not known in the budget"]),
    ],
)
def test_budget(then, now, failures, notes):
    from cudaops.kernels.budget import compare

    lines = [["k(int), sm_80: " + line for line in part] for part in (failures, notes)]
    found = {"13.0": {"sm_80": {"k(int)": now}}}
    assert compare({"13.0": {"sm_80": {"k(int)": then}}}, found) == (*lines, 1)
    said = "not in the budget: 1 kernel for sm_80 of nvcc 13.0"
    assert compare({"13.0": {"sm_86": {"k(int)": then}}}, found) == ([], [said], 0)


@pytest.mark.parametrize("row", ['["40", 0, 0, 0, 4]', "[null, 0, 0, 0, 4]", "[40, 0, 0, 0]", "4"])
def test_rows_that_are_none_of_a_budget(tmp_path, row):
    from cudaops.kernels.budget import read_budget
    from cudaops.problem import Problem

    path = tmp_path / "budget.json"
    path.write_text('{"format": 1, "nvcc": {"13.0": {"sm_80": {"k": %s}}}}' % row)
    with pytest.raises(Problem) as caught:
        read_budget(str(path), "make k.update_kernels")
    assert caught.value.facts[0].endswith("format 1, with entries that are none of that format")
    assert caught.value.fix == ["remove it, then make k.update_kernels"]


def test_no_library(store, tmp_path):
    wanted = " Fix: a library, a program or an object file with device code, or a .cubin\n"
    text = tmp_path / "k.ptx"
    text.write_text(".version 8.0\n")
    for path, said in ((text, "is not an ELF file"), (tmp_path, "is not a file"), (tmp_path / "no", "can't be read")):
        err = problem(store, path)
        assert err.startswith("cudaops kernels: %s %s" % (path, said)) and err.endswith(wanted)


def test_without_sections(build, store):
    """Without the table device code can't be told from none."""
    content = bytearray(build.library("plain").read_bytes())
    content[40:48], content[60:64] = bytes(8), bytes(4)
    path = build.directory / "libnosections.so"
    path.write_bytes(content)
    assert "its table of sections, by which device code is found, was stripped off\n" in problem(store, path)


def test_stripped(build, library, store):
    """strip takes the host's symbols; those of the device code lie in a section of their own."""
    strip = shutil.which("strip")
    if strip is None:
        pytest.skip("no strip")
    path = build.directory / "libstripped.so"
    subprocess.run([strip, "-s", str(library), "-o", str(path)], check=True)
    assert rows(store, path) == rows(store, library)


def test_damaged(library, store, tmp_path):
    """Cut short, attributes of a form that isn't known: a sentence, no traceback."""
    whole = library.read_bytes()
    path = tmp_path / "lib damaged.so"
    path.write_bytes(whole[: len(whole) // 2])
    assert re.fullmatch(r"cudaops kernels: .*lib damaged\.so is damaged or cut short: [^\n]*\n Fix: build or copy again what is damaged; [^\n]*\n", problem(store, path))
    info = whole.index(b"\x04\x2f\x08\x00")
    path.write_bytes(whole[:info] + b"\x04\x2f\x05\x00" + whole[info + 4 :])
    assert (
        "are described in a way that isn't known, perhaps by a newer nvcc; a newer CudaOps may read them."
        in problem(store, path)
    )


def test_wrong_reports(library, store, tmp_path):
    old = tmp_path / "old.json"
    assert "the report to compare with can't be read." in problem(store, library, "--diff", old)
    old.write_text("{")
    assert "the report to compare with is no JSON." in problem(store, library, "--diff", old)
    for row in ("1", "{}", '{"name": "k", "arch": "sm_80", "occupancy": [{}]}'):
        old.write_text('{"format": 1, "kernels": [%s]}' % row)
        assert ", format 1, with entries that are none of that format\n" in problem(store, library, "--diff", old)
    old.write_text('{"format": 2, "kernels": []}')
    assert problem(store, library, "--diff", old).splitlines() == [
        "cudaops kernels: the file to compare with is no report of kernels.",
        "  found   %s, format 2" % old,
        "  wanted  format 1",
        " Fix: python -m cudaops kernels <library> --json > <file>",
    ]
