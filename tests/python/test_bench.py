# SPDX-License-Identifier: Apache-2.0
"""What shows measurements: the tables of docs/measured.md and the plot, from bench/results and from a document with rivals."""

import json
import os
import subprocess
import sys

import pytest
from conftest import REPOSITORY

BENCH = REPOSITORY / "bench" / "kernels"
RESULTS = sorted((REPOSITORY / "bench" / "results").glob("NVIDIA_*.json"))
sys.path[:0] = [str(BENCH), str(BENCH.parent / "build_time")]

import attention_table  # noqa: E402
import attention_tiles  # noqa: E402
import below_table  # noqa: E402
import jit  # noqa: E402
import plot  # noqa: E402
import result_file  # noqa: E402
import table  # noqa: E402

DOCUMENT = {
    "date": "2030-01-02T03:04:05+00:00",
    "machine": {"name": "A GPU", "nvcc": "13.0.88", "driver_version": "580.1"},
    "benchmarks": [
        {
            "name": "%s<BFloat16>/rows:%d/width:%d/iterations:1/manual_time" % (op, rows, width),
            "median_us": 100.0,
            "TB/s": 4.0,
            "copy_TB/s": 4.2,
            "of_copy": 0.95,
        }
        for op in ("swiglu", "swiglu_backward")
        for rows, width in ((64, 4096), (32768, 4096), (32768, 4097))
    ]
    + [{"name": "rms_norm<BFloat16>/rows:32768/width:4096", "error": "wrong result"}],
    "rivals": {
        "date": "2030-01-03T00:00:00+00:00",
        "ops": {
            "swiglu": {
                "date": "2030-01-03T00:00:00+00:00",
                "torch": "2.15.0",
                "cases": [
                    {
                        "name": "swiglu<BFloat16>/rows:32768/width:4096",
                        "bytes": 8e8,
                        "us": {"cudaops": 101.0, "eager": 303.0, "compile": 111.0},
                        "TB/s": {"cudaops": 3.9, "eager": 1.3, "compile": 3.6},
                        "ratio": {"eager": 3.0, "compile": 1.099},
                    },
                    # In a run of their own.
                    {
                        "name": "geglu_tanh<BFloat16>/rows:32768/width:4096",
                        "bytes": 8e8,
                        "us": {"cudaops": 102.0, "eager": 304.0},
                        "TB/s": {"cudaops": 3.8, "eager": 1.2},
                        "ratio": {"eager": 2.98},
                        "failed": {"compile": "failed: ran past 90 s"},
                    },
                    {"name": "swiglu<float>(1, 2)", "failed": {"cudaops": "failed: OutOfMemoryError"}},
                ],
            }
        },
    },
}


def run(program, *arguments, python=sys.executable, path=""):
    command = [python, BENCH / program, *arguments]
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=environment)
    return done.returncode, done.stdout, done.stderr


def test_page_shows_what_the_results_hold():
    assert RESULTS
    page = (REPOSITORY / "docs" / "measured.md").read_text(encoding="utf-8")
    for marks, made in table.TABLES.items():
        assert page.split(marks[0])[1].split(marks[1])[0] == "\n%s\n" % made(result_file.read_all(RESULTS)), (
            "write it anew: bench/kernels/table.py bench/results/NVIDIA_*.json --page docs/measured.md"
        )


def test_page_shows_the_times_of_builds_at_first_use():
    page = (REPOSITORY / "docs" / "measured.md").read_text(encoding="utf-8")
    block = page.split(jit.MARKS[0])[1].split(jit.MARKS[1])[0]
    results = REPOSITORY / "bench" / "results" / "jit.json"
    assert block == "\n%s\n" % jit.table(json.loads(results.read_text())), (
        "write it anew: bench/build_time/jit.py --results bench/results/jit.json --page docs/measured.md"
    )


def test_page_shows_attention_as_measured():
    page = (REPOSITORY / "docs" / "measured_kernels.md").read_text(encoding="utf-8")
    for marks, made in attention_table.TABLES.items():
        block = page.split(marks[0])[1].split(marks[1])[0]
        assert block == "\n%s\n" % made(REPOSITORY / "bench" / "results"), (
            "write it anew: bench/kernels/attention_table.py bench/results --page docs/measured_kernels.md"
        )


def attention_row(head_dim, sequence, ours, theirs, causal=False):
    """Times in ms; a rate that has nothing to do with them."""
    ms = {"ours": ours, "cudnn": theirs, "flash": 9.0}
    shape = {"head_dim": head_dim, "head_dim_v": head_dim, "heads": 32, "kv_heads": 32}
    return {**shape, "sequence": sequence, "causal": causal, "ms": ms, "tflops": {"ours": 100.0 + head_dim}}


def decode_row(head_dim, batch, keys, way, us):
    shape = {"heads": 32, "kv_heads": 8, "head_dim": head_dim, "batch": batch, "keys": keys, "q_len": 1}
    return {**shape, "cache": "bfloat16", "way": way, "us": us, "cache_bytes": batch * keys * 32 * head_dim}


def test_attention_takes_the_tiles_that_are_measured_to_be_faster():
    def rows(terms, mask, short_of_long):
        kinds = [{"head_dim": a, "head_dim_v": b, "terms": terms, "mask": mask} for a, b in attention_tiles.HEAD_DIMS]
        for kind in kinds:
            for seq, ratio in short_of_long.items():
                yield {**kind, "seq": seq, "tiles": "long", "us": 100.0}
                yield {**kind, "seq": seq, "tiles": "short", "us": 100.0 * ratio}

    measured = {
        ("none", "none"): {256: 0.5, 512: 1.01, 1024: 0.9, 2048: 1.1},
        ("none", "causal"): {256: 1.1, 512: 0.95, 1024: 1.2},
    }
    all_rows = []
    for terms in attention_tiles.TERMS:
        for mask in attention_tiles.MASKS:
            all_rows += rows(terms, mask, measured.get((terms, mask), {256: 0.9, 8192: 0.99}))
    document = {"date": "2030-01-02T03:04:05+00:00", "machine": {"name": "A GPU", "nvcc": "13.0.88"}, "rows": all_rows}
    lines = attention_tiles.limits(document).splitlines()
    assert lines[0] == "// A GPU, CUDA 13.0.88, 2030-01-02, bfloat16, 16384 tokens:"
    assert lines[3:5] == ["    // 64", "    {{{1024, 0}, {kAllQueries, kAllQueries}, {kAllQueries, kAllQueries}}},"]
    assert lines[9] == "    // 192 by 128" and len(lines) == 3 + 2 * 6 + 1


@pytest.mark.parametrize("time", [None, 0.0])
def test_attention_without_a_kernel_writes_no_table(tmp_path, time):
    """Google Benchmark's file where the build has no kernel for sm_90a, and where the GPU has none."""
    name = "attention/head_dim:64/head_dim_v:64/terms:none/mask:none/seq:256/tiles:short/iterations:1/manual_time"
    entries = [{"name": "attention", "error_occurred": True}, {"name": "empty_kernel", "real_time": 2.0}]
    if time is not None:
        entries.append({"name": name, "error_occurred": True, "real_time": time})
    program = tmp_path / "benchmark"
    text = json.dumps({"benchmarks": entries})
    program.write_text(f"#!{sys.executable}\nimport sys\nopen(sys.argv[1].split('=')[1], 'w').write({text!r})\n")
    program.chmod(0o755)
    returncode, out, err = run("attention_tiles.py", "--program", program, "--out", tmp_path, "--commit", "0" * 40)
    rows = "0 rows, 0" if time is None else "1 rows, 1"
    assert (returncode, out) == (1, "")
    assert err == (
        "attention_tiles.py: without figures nothing is written.\n"
        "  rule    the table is made of the times of both tiles, of every kind of calls\n"
        f"  found   {rows} of them without a time, from {program}\n"
        "  wanted  a build and a GPU with the kernel for sm_90a\n"
        "Fix: cmake --preset sm90, and --program build/sm90/bench/kernels/attention_tiles_benchmark on an H100 or H200\n"
    )
    assert list(tmp_path.iterdir()) == [program]


def test_attention_has_the_table_that_was_measured():
    header = open(attention_tiles.HEADER, encoding="utf-8").read()
    block = header.split(attention_tiles.MARKS[0])[1].split(attention_tiles.MARKS[1])[0]
    results = REPOSITORY / "bench" / "results" / "attention_tiles_cuda.json"
    assert block == "\n%s\n" % attention_tiles.limits(json.loads(results.read_text())), (
        "write it anew: bench/kernels/attention_tiles.py bench/results"
    )


def test_every_row_of_attention_below_its_aim_is_listed(tmp_path):
    common = {"date": "2030-01-02T03:04:05+00:00", "torch": "2.15.0+cu132", "machine": {"name": "A GPU"}}
    rows = {
        "forward": [
            attention_row(128, 512, 1.0, 0.9996),
            attention_row(128, 4096, 1.0, 0.95),
            attention_row(40, 4096, 1.0, 2.0),
            attention_row(64, 4096, 1.0, 0.5),
        ],
        "backward": [attention_row(128, 1024, 1.0, 1.1, causal=True)],
        "decode": [
            *(decode_row(128, 1, 16384, way, us) for way, us in (("ours", 20.0), ("cuDNN", 22.0))),
            *(decode_row(128, 1, 4096, way, us) for way, us in (("ours", 10.0), ("cuDNN", 9.0))),
            decode_row(128, 32, 4096, "ours", 150.0),
        ],
    }
    for name, some in rows.items():
        (tmp_path / f"attention_{name}_cuda.json").write_text(json.dumps({**common, "rows": some}))
    assert attention_table.aims_table(tmp_path).splitlines()[2:-2] == [
        "| forward, more than 512 tokens | 0.9: 2 of 3 | 1: 1 | 64, 32 heads, 4096 full: 0.50 |",
        "| forward, up to 512 tokens | 1: 0 of 1 | 1.2: 0 | 128, 32 heads, 512 full: 0.99 |",
        "| backward | 0.75: 1 of 1 | 0.95: 1 | – |",
        "| backward, causal, 1024 tokens of head_dim 128 | 1: 1 of 1 | 1.2: 0 | – |",
        "| forward: the rate of the size whose kernel serves this one | 0.7: 1 of 1 |  | – |",
        "| backward: the rate of the size whose kernel serves this one | 0.7: 0 of 0 |  | – |",
        "| decode beside cuDNN | 1: 1 of 2 |  | 128, 32(8) heads, 1 × 4096: 0.90 |",
        "| decode beside reading alone, 268 MB and more of keys and values | 0.92: 0 of 1 |  | 128, 32(8) heads, 32 × 4096: 0.79 |",
        "| decode, 1 × 16384, of 3.0 TB/s | 1: 1 of 1 |  | – |",
        "| decode, 1 × 4096, of 9 µs | 1: 0 of 1 |  | 10.0 µs: 0.90 |",
    ]


def test_pages_show_all_that_is_below_the_aim():
    documents = result_file.read_all(RESULTS)
    for page, tables in (("docs/measured_kernels.md", "kernels"), ("docs/measured.md", "measured")):
        text = (REPOSITORY / page).read_text(encoding="utf-8")
        for name, made in below_table.TABLES[tables].items():
            marks = below_table.MARKS[name]
            assert text.split(marks[0])[1].split(marks[1])[0] == "\n%s\n" % made(documents), (
                "write it anew: bench/kernels/below_table.py bench/results/NVIDIA_*.json "
                "--kernels docs/measured_kernels.md --measured docs/measured.md"
            )


def entry(name, part):
    figures = {"median_us": 1.0, "TB/s": 4 * part, "copy_TB/s": 4.0, "of_copy": part}
    return {"name": name + "/iterations:1/manual_time", **figures}


def test_every_row_below_the_aim_is_listed(tmp_path):
    """Of two devices, and the newest of two files."""
    sizes = "rms_norm<float>/rows:%d/width:%d"
    benchmarks = [
        entry(sizes % (64, 4096), 0.7999),
        entry(sizes % (64, 4097), 0.6399),
        entry(sizes % (64, 127), 0.5),  # nothing aligned is as long
        entry(sizes % (128, 4096), 0.8),
        entry("square<float>/bytes:1048576", 1.0),
        entry("square_unaligned<float>/bytes:1048576", 0.81),
        {"name": "empty_kernel/iterations:1/manual_time", "median_us": 1.3},
    ]
    old = [entry(sizes % (64, 4096), 0.1), entry(sizes % (256, 4096), 0.9)]
    old = {"date": "2030-01-01T00:00:00", "machine": {"name": "A"}, "benchmarks": old}
    new = {"date": "2030-01-02T00:00:00", "machine": {"name": "A"}, "benchmarks": benchmarks}
    other = {"date": "2030-01-02T00:00:00", "machine": {"name": "B"}, "benchmarks": benchmarks[3:4]}
    assert below_table.below_copy([old, new, other]).splitlines() == [
        "One A, 2030-01-01 and 2030-01-02: 3 of 7 rows are below 0.8 of a copy.",
        "",
        "| op | sizes | part of a copy |",
        "|---|---|---|",
        "| `rms_norm<float>` | rows × width | 64 × 4096: 0.79; 64 × 4097: 0.63; 64 × 127: 0.50 |",
        "",
        "One B, 2030-01-02: 0 of 1 rows are below 0.8 of a copy.",
    ]
    assert below_table.below_aligned([new]).splitlines()[0::4] == [
        "One A, 2030-01-02: 1 of 2 rows are below 0.8 of the aligned case.",
        "| `rms_norm<float>` | rows × width | 64 × 4097: 0.79 |",
    ]
    assert below_table.odd([new]).splitlines()[2:] == [
        "| op | 4097 |",
        "|---|---|",
        "| `rms_norm<float>` | 0.79 |",
    ]
    assert below_table.odd([other]) == below_table.below_rivals([new]) == "No results hold such rows yet."


def test_rows_in_which_a_rival_takes_less_time():
    document = json.loads(json.dumps(DOCUMENT))
    cases = document["rivals"]["ops"]["swiglu"]["cases"]
    cases[0]["ratio"]["compile"], cases[0]["us"]["compile"] = 0.979, 98.9
    assert below_table.below_rivals([document]).splitlines() == [
        "One A GPU, 2030-01-03: in 1 of 2 rows the best rival takes less than 0.98 of our time.",
        "",
        "| op | size | ours, µs | the best rival, µs | part of our time | measured, of commit |",
        "|---|---|---|---|---|---|",
        "| `swiglu<BFloat16>` | 32768 × 4096 | 101.0 | `torch.compile` 98.9 | 0.97 | 2030-01-03 |",
    ]


def test_table_with_rivals():
    lines = table.table([DOCUMENT]).splitlines()
    assert lines[0] == (
        "| op | size | µs | TB/s | copy of as many bytes, TB/s | ratio | torch eager | `torch.compile` "
        "| `torch.compile`, max-autotune | on the host, µs | the least of the others |"
    )
    assert lines[2:5] == [
        "| `swiglu` | 32768 × 4096 | 100 | 4.00 | 4.20 | 0.95 | 303 (3.00 ×) | 111 (1.10 ×) | – | – | – |",
        "| `swiglu`, backward | 32768 × 4096 | 100 | 4.00 | 4.20 | 0.95 | – | – | – | – | – |",
        "| `geglu` by tanh | 32768 × 4096 | 102 | 3.80 | – | – | 304 (2.98 ×) | failed | – | – | – |",
    ]
    assert "One A GPU (CUDA 13.0.88, driver 580.1, 2030-01-02)" in lines[-1]
    assert "Rivals: A GPU, torch 2.15.0, 2030-01-03, µs and" in lines[-1]
    assert "Not tried in these runs: Liger, flash-attn, FlashInfer, quack, Apex, TransformerEngine, vLLM." in lines[-1]


def few_report(date, ours, missing):
    us = {"cudaops": ours, "eager": 4.0, "compile": 3.0, "compile_max": 2.5, "quack": 2.2}
    case = {
        "name": "rms_norm<BFloat16>/rows:128/width:4096",
        "bytes": 2 << 20,
        "us": us,
        "TB/s": {way: 2.1 / time for way, time in us.items()},
        "host_us": {"cudaops": 6.54, "eager": 7.0, "compile": 21.0, "quack": 5.0},
        "ratio": {way: time / ours for way, time in us.items() if way != "cudaops"},
    }
    large = {**case, "name": "rms_norm<BFloat16>/rows:1025/width:4096"}
    versions = {"quack": "0.6.5", "apex": "0.1"}
    return {"date": date, "torch": "2.15.0", "versions": versions, "missing": missing, "cases": [case, large]}


def test_table_of_few_rows():
    """The newest run of a case counts, each device has its own table, and what was not measured is said."""
    missing = {"vllm": "ModuleNotFoundError: No module named 'vllm'"}
    new = few_report("2030-02-02T00:00:00", 2.0, missing)
    old = few_report("2030-02-01T00:00:00", 8.0, {})
    document = {"rivals": {"machine": {"name": "B"}, "ops": {"rms_norm": new, "rms_norm, few": old}}}
    text = table.few_table([DOCUMENT, document])
    lines = text.splitlines()
    assert lines[0] == (
        "| op | rows × width | µs | torch eager | `torch.compile` | `torch.compile`, max-autotune | quack "
        "| on the host, µs | the least of the others |"
    )
    assert lines[2:4] == [
        "| `rms_norm<BFloat16>` | 128 × 4096 | 2.00 | 4.00 (2.00 ×) | 3.00 (1.50 ×) | 2.50 (1.25 ×) | 2.20 (1.10 ×) "
        "| 6.5 | 5.0 (quack) |",
        "",
    ]
    assert lines[4].startswith("Rivals: B, torch 2.15.0, 2030-02-02, ")
    assert " Versions: quack 0.6.5. " in lines[4]
    assert "Could not be had: vLLM (ModuleNotFoundError: No module named 'vllm')." in lines[4]
    assert " Installed, and not called for these: Apex. " in lines[4]
    assert lines[4].endswith("Not tried in these runs: Liger, flash-attn, FlashInfer, TransformerEngine.")
    assert len(lines) == 5
    new["cases"][0]["name"] = "rms_norm<BFloat16>/rows:32768/width:4096"
    assert "| `rms_norm` | 32768 × 4096 | 2 | 1.05 | – | – | 4 (2.00 ×) |" in table.table([document])
    assert table.few_table([DOCUMENT]).startswith("No results hold few rows yet: ")


def test_newest_file_wins(tmp_path):
    for name, date, time_us in (("a", "2030-01-02", 5.0), ("b", "2030-01-01T00:00:00+00:00", 6.0)):
        entry = {"name": "square<float>/bytes:1", "median_us": time_us}
        (tmp_path / name).write_text(json.dumps({"date": date, "benchmarks": [entry]}))
    documents = result_file.read_all([tmp_path / "a", tmp_path / "b"])
    assert result_file.benchmarks(documents)["square<float>/bytes:1"]["median_us"] == 5.0


def test_table_writes_its_block_only(tmp_path):
    results, page = tmp_path / "results.json", tmp_path / "page.md"
    results.write_text(json.dumps(DOCUMENT))
    page.write_text("before\n%s\nold\n%s\n%s\n%s\nafter\n" % (*table.MARKS, *table.FEW_MARKS))
    assert run("table.py", results, "--page", page)[0] == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n<!--") and text.endswith("-->\nafter\n") and "\nold\n" not in text
    page.write_text("no block")
    code, _, error = run("table.py", results, "--page", page)
    assert code == 1 and error.startswith("table.py: %s has no block" % page)
    assert page.read_text() == "no block"


def test_panels():
    drawn = plot.panels([DOCUMENT])
    assert list(drawn) == ["swiglu", "swiglu_backward", "geglu_tanh"]
    assert drawn["swiglu"]["rivals"] == {"eager": [(8e8, 1.3, True)], "compile": [(8e8, 3.6, True)]}
    assert [point[2] for point in drawn["swiglu"]["ours"]] == [True, True, False]
    assert drawn["geglu_tanh"]["ours"] == [(8e8, 3.8, True)]
    for name, parsed in (
        ("rms_norm<float>/rows:3/width:4", ("rms_norm", "float", True)),
        ("adamw<BFloat16>/tensors:1000/elements:4095", ("adamw", "BFloat16", False)),
        ("square<BFloat16>/bytes:1048576", ("square", "BFloat16", True)),
        ("rope<BFloat16, float>/dim:128/rotary:66", ("rope", "BFloat16, float", False)),
        ("empty_kernel", None),
        ("swiglu<float>(1, 2)", None),
    ):
        assert plot.parse(name) == parsed
    assert set(plot.panels(result_file.read_all(RESULTS))) >= {"vector_add", "rms_norm_backward", "adamw"}


def test_plot(tmp_path):
    python = os.environ.get("CUDAOPS_TEST_PLOT_PYTHON", sys.executable)
    path = os.environ.get("CUDAOPS_TEST_PLOT_PATH", "")
    if subprocess.run([python, "-c", "import matplotlib"], env={**os.environ, "PYTHONPATH": path}).returncode != 0:
        pytest.skip("no matplotlib")
    with_rivals = tmp_path / "rivals.json"
    with_rivals.write_text(json.dumps(DOCUMENT))
    for number, results in enumerate((RESULTS, [with_rivals])):
        image = tmp_path / ("%d.png" % number)
        assert run("plot.py", *results, "--out", image, python=python, path=path) == (0, "", "")
        assert image.read_bytes().startswith(b"\x89PNG")
    code, _, error = run("plot.py", tmp_path / "missing.json", "--out", image, python=python, path=path)
    assert code == 1 and "plot.py: no benchmark in these files" in error


@pytest.mark.parametrize("program", ["attention_table.py", "below_table.py", "plot.py", "table.py", "rivals.py", "run_gpu.py"])
def test_help(program):
    code, output, error = run(program, "--help")
    assert (code, error) == (0, "") and output.startswith("usage: %s" % program)
