#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""attention() beside scaled_dot_product_attention with cuDNN's and FlashAttention's kernels, 16384
tokens in bfloat16: the forward or the backward pass, or the forward pass of float8.

    bench/kernels/attention.py --library build/sm90/kernels/libcudaops_kernels.so --out bench/results
    bench/kernels/attention.py --pass backward --library ... --out bench/results
    bench/kernels/attention.py --pass float8 --library ... --out bench/results

The ways are called in turns, because the clocks of a GPU that computes fall: all are equally hot. A
way's figure is the median of its times; the backward pass counts as 2.5 times the forward pass's
operations. There is no figure where an output (of one sequence and the heads of one group) differs
from float64's by more than twice cuDNN's error (where cuDNN refuses the sizes, FlashAttention's), or
a gradient (of at most 2048 tokens) by more than three times. Of float8 the others get the same numbers in bfloat16, and the error is at most twice
that of weights which are rounded to float8 in float64's arithmetic.
"""

import argparse
import functools
import warnings

import kernels_package
import result_file

TOKENS = 16384
# head_dim, head_dim of v, heads, heads of k and v, sequence lengths.
SHAPES = (
    (128, 128, 16, 16, (1, 16, 64, 100, 128, 256, 300, 512, 1024, 2048, 4096, 8192, 16384)),
    (64, 64, 32, 32, (1, 16, 64, 100, 128, 256, 512, 1024, 2048, 4096, 16384)),
    (256, 256, 8, 8, (16, 64, 100, 128, 256, 512, 1024, 2048, 4096, 16384)),
    (192, 128, 16, 16, (512, 1024, 2048, 4096)),
    (192, 192, 8, 8, (64, 128, 256, 512, 1024, 4096)),
    (96, 96, 16, 16, (64, 128, 256, 512, 1024, 4096)),
    (80, 80, 16, 16, (512, 1024, 4096)),
    (72, 72, 16, 16, (512, 1024, 4096)),
    (40, 40, 32, 32, (512, 1024, 4096)),
    (128, 128, 32, 8, (512, 1024, 4096, 16384)),
)
LENGTHS_FLOAT8 = (512, 1024, 2048, 4096, 8192, 16384)
LENGTHS_BACKWARD = (512, 1024, 2048, 4096, 16384)
WIDTHS_FLOAT8 = ((128, 128), (64, 64), (256, 256), (192, 128))
NAMES = {
    "forward": ("ours", "cudnn", "flash"),
    "backward": ("ours", "cudnn", "flash"),
    "float8": ("ours", "ours_bfloat16", "cudnn"),
}
TITLES = {"ours": "ours", "ours_bfloat16": "ours, bfloat16", "cudnn": "cuDNN", "flash": "FlashAttention"}


def times_ms(torch, ways, repeats):
    """The median of each way's times; they are called in turns."""
    events = {name: [] for name in ways}
    for way in ways.values():
        way()
    for _ in range(repeats):
        # The GPU waits until a round's calls are there: of short ones it would wait for each.
        torch.cuda._sleep(300_000 * len(ways))
        for name, way in ways.items():
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            way()
            end.record()
            events[name].append((begin, end))
    torch.cuda.synchronize()
    return {
        name: sorted(begin.elapsed_time(end) for begin, end in pairs)[len(pairs) // 2]
        for name, pairs in events.items()
    }


def functions(torch, kernels, causal, which):
    """name → function of q, k and v, all [batch, seq, heads, head_dim]."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def sdpa(backend, q, k, v):
        with sdpa_kernel(backend):
            output = torch.nn.functional.scaled_dot_product_attention(
                *(x.transpose(1, 2) for x in (q, k, v)), is_causal=causal, enable_gqa=q.shape[2] != k.shape[2]
            )
            return output.transpose(1, 2)

    ours = functools.partial(kernels.attention, causal=causal)
    every = {
        "ours": ours,
        "ours_bfloat16": ours,
        "cudnn": functools.partial(sdpa, SDPBackend.CUDNN_ATTENTION),
        "flash": functools.partial(sdpa, SDPBackend.FLASH_ATTENTION),
    }
    return {name: every[name] for name in NAMES[which]}


def rounded_to_float8(torch, weights):
    """Weights, relative to 2^8 for the largest of a row."""
    unit = weights.amax(-1, keepdim=True) / 256
    return (weights / unit).float().to(torch.float8_e4m3fn).double() * unit


def exact(torch, causal, q, k, v, rounded=lambda weights: weights):
    """One sequence in the dtype of its tensors, some queries at a time."""
    group = q.shape[2] // k.shape[2]
    q, k, v = (x[0].transpose(0, 1) for x in (q, k, v))
    k, v = k.repeat_interleave(group, 0), v.repeat_interleave(group, 0)
    rows = []
    for first in range(0, q.shape[1], 1024):
        scores = q[:, first : first + 1024] @ k.mT / q.shape[-1] ** 0.5
        if causal:
            own = torch.arange(first, first + scores.shape[1], device=q.device)[:, None]
            scores = scores.masked_fill(torch.arange(k.shape[1], device=q.device) > own, -torch.inf)
        rows.append(rounded(scores.softmax(-1)) @ v)
    return torch.cat(rows, 1).transpose(0, 1)[None]


def output_of(torch, run, tensors):
    """The forward pass, as a function that gives a list."""
    return lambda: [run(*tensors)]


def gradients_of(torch, run, tensors):
    """The backward pass of run(*tensors), as a function."""
    leaves = [x.detach().requires_grad_() for x in tensors]
    output = run(*leaves)
    generator = torch.Generator(output.device).manual_seed(1)
    grad = torch.randn(output.shape, device=output.device, generator=generator)
    return functools.partial(torch.autograd.grad, output, leaves, grad.to(output.dtype), retain_graph=True)


def repeats_and_kernels(doc):
    """What programs that time calls in turns are given: --repeats, and the package with --library's ops."""
    parser = argparse.ArgumentParser(description=doc.split("\n\n")[0])
    kernels_package.add_argument(parser)
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    return arguments.repeats, kernels_package.load(arguments.library)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    kernels_package.add_argument(parser)
    parser.add_argument("--pass", dest="which", choices=tuple(NAMES), default="forward")
    parser.add_argument("--milliseconds", type=float, default=700, help="of GPU time a row")
    parser.add_argument("--out", help="a directory for attention_<pass>_cuda.json")
    result_file.add_commit_argument(parser)
    arguments = parser.parse_args()
    commit = result_file.commit(arguments.commit) if arguments.out else None
    kernels = kernels_package.load(arguments.library)
    import torch

    warnings.simplefilter("ignore")
    is_backward, is_float8 = arguments.which == "backward", arguments.which == "float8"
    names = NAMES[arguments.which]
    measured = gradients_of if is_backward else output_of
    facts, rows = result_file.machine(), []
    print(f"torch {torch.__version__}, {facts.get('name')}, cuDNN {torch.backends.cudnn.version()}, TFLOP/s")
    titles = " | ".join(TITLES[name] for name in names)
    print(f"| head_dim | heads | sequence | mask | {titles} | of the best |\n" + "|---" * (5 + len(names)) + "|")
    for head_dim, head_dim_v, heads, kv_heads, lengths in SHAPES:
        if is_float8 and (head_dim, head_dim_v) not in WIDTHS_FLOAT8:
            continue
        if is_backward:
            lengths = [length for length in lengths if length in LENGTHS_BACKWARD]
        if is_float8:
            lengths = [length for length in lengths if length in LENGTHS_FLOAT8]
        for seq in lengths:
            for causal in (False, True):

                def tensors(batch, seq, heads, kv_heads, sizes=(head_dim, head_dim, head_dim_v)):
                    torch.manual_seed(0)
                    made = [
                        torch.randn(batch, seq, count, size, device="cuda", dtype=torch.bfloat16)
                        for count, size in zip((heads, kv_heads, kv_heads), sizes)
                    ]
                    return [x.to(torch.float8_e4m3fn).bfloat16() for x in made] if is_float8 else made

                def of_way(name, tensors):
                    is_ours = is_float8 and name == "ours"
                    return [x.to(torch.float8_e4m3fn) for x in tensors] if is_ours else tensors

                runs = functions(torch, kernels, causal, arguments.which)
                few = tensors(1, min(seq, 2048) if is_backward else seq, heads // kv_heads, 1)
                reference = functools.partial(exact, torch, causal)
                wanted = measured(torch, reference, [x.double() for x in few])()
                errors = {}
                for name in names:
                    try:
                        found = measured(torch, runs[name], of_way(name, few))()
                    except RuntimeError:  # it doesn't serve these sizes
                        del runs[name]
                        continue
                    errors[name] = [(a.double() - b).abs().max().item() for a, b in zip(found, wanted)]
                if not is_float8:
                    bounds = next(errors[name] for name in names[1:] if name in errors)
                else:
                    wide = [x.double() for x in few]
                    found = reference(*wide, rounded=functools.partial(rounded_to_float8, torch))
                    bounds = [(found - wanted[0]).abs().max().item()]
                for ours, theirs in zip(errors["ours"], bounds):
                    assert ours <= (3 if is_backward else 2) * theirs + 1e-4, errors
                batch = TOKENS // seq
                many = tensors(batch, seq, heads, kv_heads)
                ways = {name: measured(torch, run, of_way(name, many)) for name, run in runs.items()}
                flop = (5 if is_backward else 2) * batch * heads * seq * seq * (head_dim + head_dim_v)
                flop /= 2 if causal else 1
                guess_ms = flop / (300e12 if is_backward else 500e12) * 1e3 * len(ways)
                ms = times_ms(torch, ways, max(9, min(80, int(arguments.milliseconds / guess_ms))))
                tflops = {name: flop / value / 1e9 for name, value in ms.items()}
                rivals = [value for name, value in tflops.items() if name != "ours"]
                ratio = f"{tflops['ours'] / max(rivals):.2f}" if rivals else ""
                size = head_dim if head_dim == head_dim_v else f"{head_dim}/{head_dim_v}"
                group = heads if heads == kv_heads else f"{heads}({kv_heads})"
                cells = " | ".join(f"{tflops[name]:.0f}" if name in tflops else "" for name in names)
                print(f"| {size} | {group} | {seq} | {'causal' if causal else 'full'} | {cells} | {ratio} |", flush=True)
                rows.append(
                    {
                        "head_dim": head_dim,
                        "head_dim_v": head_dim_v,
                        "heads": heads,
                        "kv_heads": kv_heads,
                        "batch": batch,
                        "sequence": seq,
                        "causal": causal,
                        "ms": ms,
                        "tflops": tflops,
                        "errors": errors,
                    }
                )
    if arguments.out:
        result_file.write_rows(
            arguments.out,
            f"attention_{arguments.which}_cuda",
            f"bench/kernels/attention.py --pass {arguments.which}",
            rows,
            commit=commit,
            torch=torch.__version__,
            cudnn=torch.backends.cudnn.version(),
            machine=facts,
            dtype="float8_e4m3fn" if is_float8 else "bfloat16",
            tokens=TOKENS,
        )


if __name__ == "__main__":
    main()
