#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""attention()'s forward pass beside scaled_dot_product_attention with cuDNN's and FlashAttention's
kernels, 16384 tokens in bfloat16.

    bench/kernels/attention.py --library build/sm90/kernels/libcudaops_kernels.so --out bench/results

The ways are called in turns, because the clocks of a GPU that computes fall: all are equally hot. A
way's figure is the median of its times. A result that differs from float64's, of one sequence and the
heads of one group, by more than twice cuDNN's error prints no figure.
"""

import argparse
import functools
import json
import os
import warnings

import kernels_package
import result_file

TOKENS = 16384
# head_dim, head_dim of v, heads, heads of k and v, sequence lengths.
SHAPES = (
    (128, 128, 16, 16, (512, 1024, 2048, 4096, 8192, 16384)),
    (64, 64, 32, 32, (512, 1024, 4096, 16384)),
    (256, 256, 8, 8, (512, 1024, 4096, 16384)),
    (192, 128, 16, 16, (1024, 4096)),
    (192, 192, 8, 8, (1024, 4096)),
    (96, 96, 16, 16, (1024, 4096)),
    (80, 80, 16, 16, (1024, 4096)),
    (128, 128, 32, 8, (1024, 4096, 16384)),
)


def times_ms(torch, ways, repeats):
    """The median of each way's times; they are called in turns."""
    events = {name: [] for name in ways}
    for way in ways.values():
        way()
    for _ in range(repeats):
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


def exact(torch, q, k, v, causal):
    """Of the first heads that share a key head, of the first sequence."""
    group = q.shape[2] // k.shape[2]
    q, k, v = q[0, :, :group].transpose(0, 1), k[0, :, 0], v[0, :, 0]
    rows = []
    for first in range(0, q.shape[1], 1024):
        some = q[:, first : first + 1024].double()
        scores = some @ k.double().T / q.shape[-1] ** 0.5
        if causal:
            own = torch.arange(first, first + some.shape[1], device=q.device)[:, None]
            scores.masked_fill_(torch.arange(k.shape[0], device=q.device) > own, -torch.inf)
        rows.append(scores.softmax(-1) @ v.double())
    return torch.cat(rows, 1).transpose(0, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    kernels_package.add_argument(parser)
    parser.add_argument("--milliseconds", type=float, default=700, help="of GPU time a row")
    parser.add_argument("--out", help="a directory for attention_forward_cuda.json")
    arguments = parser.parse_args()
    kernels = kernels_package.load(arguments.library)
    import torch
    import torch.nn.functional as F
    from torch.nn.attention import SDPBackend, sdpa_kernel

    warnings.simplefilter("ignore")
    facts, rows = result_file.machine(), []
    print(f"torch {torch.__version__}, {facts.get('name')}, cuDNN {torch.backends.cudnn.version()}, TFLOP/s")
    print("| head_dim | heads | sequence | mask | ours | cuDNN | FlashAttention | of the best |\n" + "|---" * 8 + "|")
    for head_dim, head_dim_v, heads, kv_heads, lengths in SHAPES:
        for seq in lengths:
            for causal in (False, True):
                torch.manual_seed(0)
                batch = TOKENS // seq
                q, k, v = (
                    torch.randn(batch, seq, count, size, device="cuda", dtype=torch.bfloat16)
                    for count, size in ((heads, head_dim), (kv_heads, head_dim), (kv_heads, head_dim_v))
                )

                def sdpa(backend, q=q, k=k, v=v, causal=causal):
                    with sdpa_kernel(backend):
                        turned = (x.transpose(1, 2) for x in (q, k, v))
                        output = F.scaled_dot_product_attention(
                            *turned, is_causal=causal, enable_gqa=q.shape[2] != k.shape[2]
                        )
                        return output.transpose(1, 2)

                ways = {
                    "ours": functools.partial(kernels.attention, q, k, v, causal=causal),
                    "cudnn": functools.partial(sdpa, SDPBackend.CUDNN_ATTENTION),
                    "flash": functools.partial(sdpa, SDPBackend.FLASH_ATTENTION),
                }
                wanted = exact(torch, q, k, v, causal)
                errors = {}
                for name in list(ways):
                    try:
                        found = ways[name]()
                    except RuntimeError:  # it doesn't serve these sizes
                        del ways[name]
                        continue
                    errors[name] = (found[0, :, : wanted.shape[1]].double() - wanted).abs().max().item()
                assert errors["ours"] <= 2 * errors["cudnn"] + 1e-4, errors
                flop = 2 * batch * heads * seq * seq * (head_dim + head_dim_v) / (2 if causal else 1)
                guess_ms = flop / 500e12 * 1e3 * len(ways)
                ms = times_ms(torch, ways, max(9, min(80, int(arguments.milliseconds / guess_ms))))
                tflops = {name: flop / value / 1e9 for name, value in ms.items()}
                ratio = tflops["ours"] / max(value for name, value in tflops.items() if name != "ours")
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
                        "error": errors,
                    }
                )
    if arguments.out:
        result = {
            "date": result_file.now(),
            "command": "bench/kernels/attention.py",
            "torch": torch.__version__,
            "cudnn": torch.backends.cudnn.version(),
            "machine": facts,
            "dtype": "bfloat16",
            "tokens": TOKENS,
            "rows": rows,
        }
        with open(os.path.join(arguments.out, "attention_forward_cuda.json"), "w") as file:
            json.dump(result, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
