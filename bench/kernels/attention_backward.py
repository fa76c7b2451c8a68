#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""attention()'s backward pass beside those of scaled_dot_product_attention with cuDNN's and
FlashAttention's kernels, 16384 tokens in bfloat16.

    bench/kernels/attention_backward.py --library build/sm90/kernels/libcudaops_kernels.so --out bench/results

The ways are called in turns, because the clocks of a GPU that computes fall: all are equally hot. A
way's figure is the median of its times, of 2.5 times the forward pass's operations. Where a gradient
of one sequence, of at most 2048 tokens and the heads of one group, differs from float64's by more than
three times cuDNN's error, there is no figure.
"""

import argparse
import functools
import json
import os
import warnings

import attention
import kernels_package
import result_file

LENGTHS = (512, 1024, 4096, 16384)


def gradients(torch, run, tensors):
    """The backward pass of run(*tensors), as a function."""
    leaves = [x.detach().requires_grad_() for x in tensors]
    output = run(*leaves)
    grad = torch.randn(output.shape, device="cuda", generator=torch.Generator("cuda").manual_seed(1))
    return functools.partial(
        torch.autograd.grad, output, leaves, grad.to(output.dtype), retain_graph=True
    )


def plain(torch, causal, q, k, v):
    """In the dtype of the tensors, all scores stored."""
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if causal:
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).tril()
        scores = scores.masked_fill(~seen, -torch.inf)
    return (scores.softmax(-1) @ v).transpose(1, 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    kernels_package.add_argument(parser)
    parser.add_argument("--milliseconds", type=float, default=700, help="of GPU time a row")
    parser.add_argument("--out", help="a directory for attention_backward_cuda.json")
    arguments = parser.parse_args()
    kernels = kernels_package.load(arguments.library)
    import torch
    import torch.nn.functional as F
    from torch.nn.attention import SDPBackend, sdpa_kernel

    warnings.simplefilter("ignore")
    facts, rows = result_file.machine(), []
    print(f"torch {torch.__version__}, {facts.get('name')}, cuDNN {torch.backends.cudnn.version()}, TFLOP/s")
    print("| head_dim | heads | sequence | mask | ours | cuDNN | FlashAttention | of the best |\n" + "|---" * 8 + "|")
    for head_dim, head_dim_v, heads, kv_heads, lengths in attention.SHAPES:
        for seq in (length for length in lengths if length in LENGTHS):
            for causal in (False, True):

                def sdpa(backend, q, k, v, causal=causal):
                    with sdpa_kernel(backend):
                        turned = (x.transpose(1, 2) for x in (q, k, v))
                        output = F.scaled_dot_product_attention(
                            *turned, is_causal=causal, enable_gqa=q.shape[2] != k.shape[2]
                        )
                        return output.transpose(1, 2)

                def tensors(batch, seq, heads, kv_heads, sizes=(head_dim, head_dim, head_dim_v)):
                    torch.manual_seed(0)
                    return [
                        torch.randn(batch, seq, count, size, device="cuda", dtype=torch.bfloat16)
                        for count, size in zip((heads, kv_heads, kv_heads), sizes)
                    ]

                runs = {
                    "ours": functools.partial(kernels.attention, causal=causal),
                    "cudnn": functools.partial(sdpa, SDPBackend.CUDNN_ATTENTION),
                    "flash": functools.partial(sdpa, SDPBackend.FLASH_ATTENTION),
                }
                few = tensors(1, min(seq, 2048), heads // kv_heads, 1)
                exact = functools.partial(plain, torch, causal)
                wanted = gradients(torch, exact, [x.double() for x in few])()
                errors = {}
                for name in list(runs):
                    try:
                        found = gradients(torch, runs[name], few)()
                    except RuntimeError:  # it doesn't serve these sizes
                        del runs[name]
                        continue
                    errors[name] = [(a.double() - b).abs().max().item() for a, b in zip(found, wanted)]
                if "cudnn" in errors:
                    for ours, theirs in zip(errors["ours"], errors["cudnn"]):
                        assert ours <= 3 * theirs + 1e-4, errors
                batch = attention.TOKENS // seq
                many = tensors(batch, seq, heads, kv_heads)
                ways = {name: gradients(torch, run, many) for name, run in runs.items()}
                flop = 5 * batch * heads * seq * seq * (head_dim + head_dim_v) / (2 if causal else 1)
                guess_ms = flop / 300e12 * 1e3 * len(ways)
                repeats = max(9, min(80, int(arguments.milliseconds / guess_ms)))
                ms = attention.times_ms(torch, ways, repeats)
                tflops = {name: flop / value / 1e9 for name, value in ms.items()}
                rivals = [value for name, value in tflops.items() if name != "ours"]
                ratio = tflops["ours"] / max(rivals) if rivals else float("nan")
                size = head_dim if head_dim == head_dim_v else f"{head_dim}/{head_dim_v}"
                group = heads if heads == kv_heads else f"{heads}({kv_heads})"
                cells = " | ".join(f"{tflops[name]:.0f}" if name in tflops else "" for name in ("ours", "cudnn", "flash"))
                print(
                    f"| {size} | {group} | {seq} | {'causal' if causal else 'full'} | {cells} | {ratio:.2f} |", flush=True
                )
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
        result = {
            "date": result_file.now(),
            "command": "bench/kernels/attention_backward.py",
            "torch": torch.__version__,
            "cudnn": torch.backends.cudnn.version(),
            "machine": facts,
            "dtype": "bfloat16",
            "tokens": attention.TOKENS,
            "rows": rows,
        }
        with open(os.path.join(arguments.out, "attention_backward_cuda.json"), "w") as file:
            json.dump(result, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
