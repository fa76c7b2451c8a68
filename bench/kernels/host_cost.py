#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a call costs on the host: µs of each function of cudaops_kernels beside torch's, in one
process, in turns, the best of many rounds; CPU time on the CPU.

    bench/kernels/host_cost.py --library build/cpu/kernels/libcudaops_kernels.so
    bench/kernels/host_cost.py --library <library> --device cuda --out bench/results

On a GPU it is the time to enqueue a call: the tensors are so small that it never waits.
"""

import argparse
import platform
import time

import kernels_package
import result_file

ROWS, WIDTH = 8, 64
WARM_UP, CALLS = 200, 300


def cases(torch, kernels, device):
    """name → (ours, torch's, tensors with gradients); both take those."""
    F = torch.nn.functional

    def some(*shape, seed):
        generator = torch.Generator().manual_seed(seed)
        return torch.randn(shape, generator=generator).to(device)

    x, y = some(ROWS, WIDTH, seed=0), some(ROWS, WIDTH, seed=1)
    w, b = some(WIDTH, seed=2), some(WIDTH, seed=3)
    q = some(1, ROWS, 4, WIDTH, seed=4)
    cos, sin = kernels.rotary_cos_sin(ROWS, WIDTH, device=device)
    full = [torch.cat((table, table), -1)[:, None] for table in (cos, sin)]
    target = torch.arange(ROWS, device=device)

    def rotated(q, k):
        def one(x):
            first, second = x.chunk(2, -1)
            return x * full[0] + torch.cat((-second, first), -1) * full[1]

        return one(q), one(k)

    def added(x, y, w):
        total = x + y
        return F.rms_norm(total, (WIDTH,), w, 1e-5), total

    def quantized(x):
        scale = x.abs().amax(-1, keepdim=True) / 127
        return (x / scale).round().to(torch.int8), scale

    return {
        "layer_norm": (
            lambda x, w, b: kernels.layer_norm(x, WIDTH, w, b),
            lambda x, w, b: F.layer_norm(x, (WIDTH,), w, b),
            (x, w, b),
        ),
        "rms_norm": (
            lambda x, w: kernels.rms_norm(x, WIDTH, w, 1e-5),
            lambda x, w: F.rms_norm(x, (WIDTH,), w, 1e-5),
            (x, w),
        ),
        "softmax": (kernels.softmax, lambda x: F.softmax(x, -1), (x,)),
        "cross_entropy": (
            lambda x: kernels.cross_entropy(x, target),
            lambda x: F.cross_entropy(x, target),
            (x,),
        ),
        "bias_gelu": (kernels.bias_gelu, lambda x, b: F.gelu(x + b), (x, b)),
        "fused_add_rms_norm": (
            lambda x, y, w: kernels.fused_add_rms_norm(x, y, WIDTH, w, 1e-5),
            added,
            (x, y, w),
        ),
        "swiglu": (kernels.swiglu, lambda x, y: F.silu(x) * y, (x, y)),
        "rope": (lambda q, k: kernels.rope(q, k, cos, sin), rotated, (q, q + 1)),
        "quantize": (lambda x: kernels.quantize(x, torch.int8, (1, -1)), quantized, (x,)),
        "rms_norm_quantize": (
            lambda x, w: kernels.rms_norm_quantize(x, w, 1e-5, dtype=torch.int8),
            lambda x, w: quantized(F.rms_norm(x, (WIDTH,), w, 1e-5)),
            (x, w),
        ),
    }


def same(torch, ours, theirs):
    """A figure is printed only for equal results."""
    for a, b in zip(*(o if isinstance(o, tuple) else (o,) for o in (ours, theirs))):
        if b.dtype == torch.int8:
            assert (a.int() - b.int()).abs().max() <= 1
        else:
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


def microseconds(calls, rounds, synchronize, clock):
    """The best of each, taken in turns."""
    best = [float("inf")] * len(calls)
    for call in calls:
        for _ in range(WARM_UP):
            call()
    for _ in range(rounds):
        for place, call in enumerate(calls):
            synchronize()
            begin = clock()
            for _ in range(CALLS):
                call()
            best[place] = min(best[place], (clock() - begin) / CALLS)
    return [1e6 * seconds for seconds in best]


def modes(torch, function, tensors, has_gradient):
    """name → a call."""
    leaves = [tensor.detach().clone().requires_grad_() for tensor in tensors]

    def without():
        with torch.no_grad():
            function(*tensors)

    def inference():
        with torch.inference_mode():
            function(*tensors)

    result = {"no_grad": without, "inference": inference}
    if not has_gradient:
        return result
    output = function(*leaves)
    output = output[0] if isinstance(output, tuple) else output
    grad = torch.ones_like(output)

    def both():
        output = function(*leaves)
        output = output[0] if isinstance(output, tuple) else output
        output.backward(grad)
        for leaf in leaves:
            leaf.grad = None

    return {**result, "forward": lambda: function(*leaves), "forward + backward": both}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    kernels_package.add_argument(parser)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", help="names that contain this")
    parser.add_argument("--compiled", action="store_true", help="both under torch.compile")
    parser.add_argument("--out", help="a directory for host_cost_<device>.json")
    result_file.add_commit_argument(parser)
    arguments = parser.parse_args()
    commit = result_file.commit(arguments.commit) if arguments.out else None
    kernels = kernels_package.load(arguments.library)
    import torch

    torch.set_num_threads(1)
    # A GPU's backward passes are enqueued by a thread of their own, for which the caller waits.
    synchronize, clock = lambda: None, time.thread_time
    if arguments.device == "cuda":
        synchronize, clock = torch.cuda.synchronize, time.perf_counter
    name_of_device = platform.processor() or platform.machine()
    if arguments.device == "cuda":
        name_of_device = torch.cuda.get_device_name()
    print(f"torch {torch.__version__}, {name_of_device}, {ROWS} × {WIDTH}, µs a call")
    print("| function | mode | ours | torch | ratio |\n|---|---|---|---|---|")
    rows = []
    for name, (ours, theirs, tensors) in cases(torch, kernels, arguments.device).items():
        if arguments.only not in name:
            continue
        same(torch, ours(*tensors), theirs(*tensors))
        has_gradient = "quantize" not in name
        functions = [ours, theirs]
        if arguments.compiled:
            torch._dynamo.reset()
            functions = [torch.compile(function, fullgraph=True) for function in functions]
        both = [modes(torch, function, tensors, has_gradient) for function in functions]
        for mode in both[0]:
            a, b = microseconds([calls[mode] for calls in both], arguments.rounds, synchronize, clock)
            print(f"| `{name}` | {mode} | {a:.1f} | {b:.1f} | {a / b:.2f} |", flush=True)
            rows.append({"function": name, "mode": mode, "ours_us": a, "torch_us": b})
    if arguments.out:
        command = f"bench/kernels/host_cost.py --device {arguments.device}"
        command += " --compiled" * arguments.compiled + f" --rounds {arguments.rounds}"
        command += f" --only {arguments.only}" if arguments.only else ""
        kind = arguments.device + ("_compiled" if arguments.compiled else "")
        result_file.write_rows(
            arguments.out,
            f"host_cost_{kind}",
            command,
            rows,
            commit=commit,
            torch=torch.__version__,
            device=name_of_device,
            shape=[ROWS, WIDTH],
        )


if __name__ == "__main__":
    main()
