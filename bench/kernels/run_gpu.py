#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Everything that needs a GPU, on a machine that has one: build, tests, benchmarks, and one JSON file
with device, versions, date and command. CTest runs the tests under compute-sanitizer (CONTRIBUTING.md).

    bench/kernels/run_gpu.py --out bench/results

Needs what a build of this repository needs. No network: where GoogleTest and Google Benchmark are not
installed, --googletest and --googlebenchmark name their source trees. The exit code is 0 when all steps
passed and every target was reached.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time

import result_file
import rivals
from result_file import SOURCE

EXAMPLES = ("vector_add", "square", "sum")
KERNELS = tuple(
    name
    for name in sorted(os.listdir(os.path.join(SOURCE, "kernels")))
    if os.path.exists(os.path.join(SOURCE, "kernels", name, f"{name}.h")) and name not in EXAMPLES
)
OPS = EXAMPLES + KERNELS


def programs(folder, kind):
    """Of the ops that have one: <op>_test, <op>_benchmark."""
    sources = os.path.join(SOURCE, folder, "kernels")
    names = [f"{op}_{kind}" for op in OPS]
    return [name for name in names if os.path.exists(os.path.join(sources, f"{name}.cpp"))]


TARGETS = (
    ["cudaops_examples", "cudaops_kernels", "testing_test", "check_test", "benchmark_test", "spin_benchmark"]
    + programs("tests", "test")
    + programs("bench", "benchmark")
)
STEPS = ("build", "test", "bench", "rivals")
LARGE_BYTES = 64 << 20

# What the ops are to reach: counter, least value, which benchmarks. TB/s are for one H200.
TARGET_FIGURES = (
    ("of_copy", 0.98, r"(vector_add|square)<"),
    ("TB/s", 4.4, r"sum<float>/bytes:1073741824/"),
    ("TB/s", 3.75, r"(rms|layer)_norm<BFloat16>/rows:(32768|16384)/width:(4096|8192)/"),
    ("TB/s", 3.9, r"fused_add_rms_norm<BFloat16>/rows:(32768|16384)/width:(4096|8192)/"),
    ("TB/s", 3.8, r"rms_norm_backward<BFloat16>/rows:(32768|16384)/width:(4096|8192)/"),
    ("TB/s", 3.6, r"rms_norm_backward<BFloat16>/rows:8192/width:16384/"),
    ("TB/s", 3.95, r"fused_add_rms_norm_backward<BFloat16>/rows:(32768|16384)/width:(4096|8192)/"),
    ("TB/s", 3.75, r"fused_add_rms_norm_backward<BFloat16>/rows:8192/width:16384/"),
    ("TB/s", 3.4, r"layer_norm_backward<BFloat16>/rows:(32768|16384|8192)/width:(4096|8192|16384)/"),
    ("of_copy", 0.95, r"softmax<BFloat16>/rows:8192/width:1024/"),
    ("TB/s", 3.75, r"softmax<BFloat16>/rows:4096/width:16384/"),
    ("TB/s", 3.4, r"softmax<BFloat16>/rows:1024/width:131072/"),
    ("TB/s", 3.6, r"softmax<BFloat16>/rows:4096/width:131072/"),
    ("TB/s", 4.0, r"softmax_backward<BFloat16>/rows:(32768|16384|8192)/width:(4096|8192|16384)/"),
    ("TB/s", 3.75, r"cross_entropy_with_gradient<BFloat16>/rows:4096/width:128256/"),
    ("TB/s", 4.1, r"(swiglu|geglu)(?!_quantize)\w*<BFloat16>/rows:32768/width:4096/"),
    ("TB/s", 3.85, r"bias_gelu_tanh<BFloat16>/rows:32768/width:4096/"),
    ("TB/s", 3.6, r"bias_gelu_erf<BFloat16>/rows:32768/width:4096/"),
    ("TB/s", 3.8, r"bias_gelu_(erf|tanh)_backward<BFloat16>/rows:32768/width:4096/"),
    ("TB/s", 3.85, r"rope<BFloat16, (float|BFloat16)>/batch:(4|16)/seq:4096/q:32/"),
    ("of_copy", 0.95, r"transpose<float>/batch:\d+/rows:(1024|8192|16384)/columns:\d*[24]/"),
    ("of_copy", 0.92, r"transpose<BFloat16>/batch:\d+/rows:(8192|16384)/columns:(8192|16384)/"),
    ("TB/s", 3.85, r"quantize_rows_int8<BFloat16>/rows:(32768|16384)/width:(4096|8192)/"),
    ("TB/s", 3.9, r"quantize_groups_float8<BFloat16>/rows:(32768|16384)/width:(4096|8192)/"),
    ("TB/s", 3.8, r"quantize_tensor_float8<BFloat16>/rows:(32768|16384)/width:(4096|8192)/"),
    ("TB/s", 3.7, r"dequantize_\w+<BFloat16>/rows:(32768|16384)/width:(4096|8192)/"),
    ("TB/s", 3.8, r"(rms_norm|swiglu)_quantize\w*<BFloat16>/rows:(32768|16384)/width:(4096|8192)/"),
    ("TB/s", 4.15, r"adamw<float>/tensors:1/elements:536870912/"),
    ("TB/s", 4.1, r"adamw<float>/tensors:1000/elements:524288/"),
    ("TB/s", 4.05, r"adamw<BFloat16>/tensors:(1|1000)/elements:(536870912|524288)/"),
)


def run(command, log, timeout=540, **extra_environment):
    """Runs a command, its output to the log; (exit code, output, seconds)."""
    environment = dict(os.environ, CUDAOPS_REQUIRE_GPU="1", PYTHONDONTWRITEBYTECODE="1")
    environment.update(extra_environment)
    shown = shlex.join(command)
    print(f"+ {shown}", flush=True)
    log.write(f"\n+ {shown}\n")
    begin = time.monotonic()
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=timeout,
            env=environment,
        )
        code, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired as error:
        output = error.stdout or ""
        output = output if isinstance(output, str) else output.decode(errors="replace")
        code, output = 124, output + f"\nran past {timeout} s\n"
    except OSError as error:
        code, output = 127, f"{error}\n"
    log.write(output + f"\n(exit code {code})\n")
    log.flush()
    return code, output, round(time.monotonic() - begin, 1)


def build(arguments, log):
    configure = ["cmake", "-S", SOURCE, "-B", arguments.build, "-DCMAKE_BUILD_TYPE=Release"]
    configure += [f"-DCMAKE_CUDA_ARCHITECTURES={arguments.architectures}"]
    configure += [f"-DPython_EXECUTABLE={sys.executable}"]
    if shutil.which("ninja"):
        configure += ["-G", "Ninja"]
    provide = []
    for package, folder in (
        ("GTEST", arguments.googletest),
        ("BENCHMARK", arguments.googlebenchmark),
    ):
        if folder:
            name = "GOOGLETEST" if package == "GTEST" else "GOOGLEBENCHMARK"
            configure += [f"-DFETCHCONTENT_SOURCE_DIR_{name}={os.path.abspath(folder)}"]
            provide.append(package)
    if provide:
        configure += [f"-DCUDAOPS_PROVIDE={';'.join(provide)}"]
    jobs = str(os.cpu_count() or 2)
    steps = []
    for command in (
        configure,
        ["cmake", "--build", arguments.build, "-j", jobs, "--target", *TARGETS],
    ):
        code, output, seconds = run(command, log)
        steps.append({"command": shlex.join(command), "passed": code == 0, "seconds": seconds})
        if code != 0:
            print(output[-6000:])
            break
    return steps


def program(arguments, name):
    for folder in ("tests/kernels", "bench/kernels"):
        path = os.path.join(arguments.build, folder, name)
        if os.path.exists(path):
            return path
    return name


def library(arguments, target):
    for folder, _, files in os.walk(os.path.join(arguments.build, "kernels")):
        for name in files:
            if name.startswith(f"lib{target}.") and not name.endswith(".a"):
                return os.path.join(folder, name)
    return ""


def cases():
    """(name, arguments → command) of every test that touches the GPU."""
    for name in ("testing_test", "check_test", "benchmark_test", *programs("tests", "test")):
        yield name, lambda a, name=name: [program(a, name), "--gtest_filter=*Gpu*"]
    for name in (*OPS, "llama_block"):
        script = os.path.join(SOURCE, "tests", "kernels", f"test_{name}.py")
        yield f"{name}_python", lambda a, s=script: [sys.executable, s, "--device", "cuda"]


def gtest_counts(output):
    counts = {}
    for word in ("PASSED", "FAILED", "SKIPPED"):
        found = re.search(rf"\[  {word} +\] (\d+) tests?", output)
        counts[f"num_{word.lower()}"] = int(found.group(1)) if found else 0
    return counts


def test(arguments, log):
    results = []
    variables = {
        f"CUDAOPS_{target.upper()}_LIBRARY": library(arguments, target)
        for target in ("cudaops_examples", "cudaops_kernels")
    }
    for name, command in cases():
        code, output, seconds = run(command(arguments), log, CUDAOPS_TEST_LARGE="1", **variables)
        result = {"name": name, "passed": code == 0, "seconds": seconds}
        if name.endswith("_test"):
            result.update(gtest_counts(output))
        else:
            result["num_passed"] = len(re.findall(r"^PASSED ", output, re.MULTILINE))
        results.append(result)
        print(f"  {'passed' if result['passed'] else 'FAILED'} in {seconds} s", flush=True)
        if not result["passed"]:
            print(output[-4000:])
    return results


def bench(arguments, log):
    results, steps, context = [], [], None
    names = programs("bench", "benchmark")
    if arguments.ops:
        names = [f"{op}_benchmark" for op in arguments.ops.split(",")]
    for name in ("spin_benchmark", *names):
        out = os.path.join(arguments.build, f"{name}.json")
        if os.path.exists(out):
            os.remove(out)
        command = [program(arguments, name), f"--benchmark_out={out}"]
        code, output, seconds = run([*command, "--benchmark_out_format=json"], log)
        steps.append({"name": name, "passed": code == 0, "seconds": seconds})
        if code != 0:
            print(output[-4000:])
        if not os.path.exists(out):
            continue
        with open(out, encoding="utf-8") as stream:
            document = json.load(stream)
        context = context or document["context"]
        for entry in document["benchmarks"]:
            figures = {
                key: entry[key]
                for key in ("min_us", "max_us", "TB/s", "copy_TB/s", "of_copy", "TFLOP/s")
                if key in entry
            }
            error = entry.get("error_message") or entry.get("skip_message")
            results.append(
                {
                    "name": entry["name"],
                    "median_us": entry.get("real_time"),
                    **figures,
                    **({"error": error} if error else {}),
                }
            )
    return results, steps, context


def judge(results):
    """The targets, each with what was reached."""
    judged = []
    for entry in results:
        size = re.search(r"bytes:(\d+)", entry["name"])
        for counter, least, pattern in TARGET_FIGURES:
            if not re.match(pattern, entry["name"]) or counter not in entry:
                continue
            if size and int(size.group(1)) < LARGE_BYTES:
                continue
            reached = entry[counter]
            judged.append(
                {
                    "benchmark": entry["name"],
                    "counter": counter,
                    "target": least,
                    "reached": round(reached, 4),
                    "passed": reached >= least,
                }
            )
        if re.match(r"spin/us:1000/", entry["name"]) and entry["median_us"]:
            judged.append(
                {
                    "benchmark": entry["name"],
                    "counter": "us",
                    "target": "1000 ± 5 %",
                    "reached": round(entry["median_us"], 2),
                    "passed": abs(entry["median_us"] - 1000) <= 50,
                }
            )
    return judged


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--out", default=os.environ.get("OUT") or "bench/results")
    parser.add_argument("--build", default=os.path.join(SOURCE, "build", "gpu"))
    parser.add_argument("--architectures", default="native")
    parser.add_argument("--googletest", help="source tree, where GoogleTest isn't installed")
    parser.add_argument("--googlebenchmark", help="source tree, where it isn't installed")
    parser.add_argument("--steps", default=",".join(STEPS), help="some of " + ",".join(STEPS))
    parser.add_argument("--ops", help="some of those that have a benchmark, as rms_norm,swiglu: of the step bench")
    result_file.add_commit_argument(parser)
    arguments = parser.parse_args()
    steps = arguments.steps.split(",")
    unknown = [step for step in steps if step not in STEPS]
    if unknown:
        parser.error(f"--steps: found {', '.join(unknown)}, wanted some of {', '.join(STEPS)}")
    measured = [name.removesuffix("_benchmark") for name in programs("bench", "benchmark")]
    unknown = [op for op in arguments.ops.split(",") if op not in measured] if arguments.ops else []
    if unknown:
        parser.error(f"--ops: found {', '.join(unknown)}, wanted some of {', '.join(measured)}")
    os.makedirs(arguments.out, exist_ok=True)

    # One file over several calls, so that steps can be run apart.
    facts = result_file.machine()
    path = result_file.device_path(arguments.out, facts)
    document = result_file.read(path) if set(steps) != set(STEPS) else {}
    document.update(
        date=result_file.now(),
        command=shlex.join(["bench/kernels/run_gpu.py", *sys.argv[1:]]),
        commit=result_file.commit(arguments.commit),
        machine=facts,
    )

    def write():
        result_file.write(path, document, build=arguments.build, out=arguments.out)

    with open(f"{os.path.splitext(path)[0]}.log", "a", encoding="utf-8") as log:
        if "build" in steps:
            document["build"] = build(arguments, log)
        if all(step["passed"] for step in document.get("build", [])):
            if "test" in steps:
                document["tests"] = test(arguments, log)
            if "bench" in steps:
                results, bench_steps, context = bench(arguments, log)
                document["benchmarks"] = results
                document["benchmark_programs"] = bench_steps
                document["benchmark_context"] = context
                document["targets"] = judge(results)
            if "rivals" in steps:
                write()  # it ends here where torch sees no GPU
                options = ["--library", library(arguments, "cudaops_kernels")]
                options = rivals.parser().parse_args(options)
                rivals.measure(options, document, write, document["commit"])

    write()
    for entry in document.get("benchmarks", []):
        figures = "  ".join(
            f"{key} {entry[key]:.3f}" for key in ("TB/s", "copy_TB/s", "of_copy") if key in entry
        )
        name, time_us = result_file.short_name(entry["name"]), entry.get("median_us") or 0
        print(f"{name:45} {time_us:10.2f} us  {figures}{entry.get('error', '')}")
    lists = ("build", "tests", "benchmark_programs", "targets")
    failed = [entry for key in lists for entry in document.get(key, []) if not entry["passed"]]
    failed += rivals.failures(document.get("rivals", {}))
    for entry in failed:
        print("FAILED " + json.dumps(entry))
    print(f"{path}: {len(failed)} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
