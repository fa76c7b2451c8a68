#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""linear_cross_entropy() at the sizes of a language model's last layer: time and memory of a forward
and a backward pass beside the plain way and torch's own function, where this torch has one.

    bench/kernels/linear_cross_entropy.py --library build/sm90/kernels/libcudaops_kernels.so --out bench/results

Memory is what is allocated at most beyond the inputs and the two gradients that every way returns; on
the CPU it isn't counted, and the time is the processor's.
A result that differs from the plain way's prints no figure.
"""

import argparse
import math
import time

import kernels_package
import result_file

CLASSES = 128256
# Rows, features.
SHAPES = {"cuda": ((8192, 4096), (4096, 4096), (2048, 2048)), "cpu": ((320, 128),)}


def median_ms(torch, call, repeats, device):
    times = []
    for _ in range(3 if device == "cuda" else 1):
        call()
    for _ in range(repeats):
        if device == "cpu":
            begin = time.process_time()
            call()
            times.append(1e3 * (time.process_time() - begin))
            continue
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return sorted(times)[len(times) // 2]


def memory_of(torch, call, leaves):
    """What is allocated at most beside the leaves' gradients."""
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    call()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() - before - sum(leaf.grad.nbytes for leaf in leaves)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    kernels_package.add_argument(parser)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--out", help="a directory for linear_cross_entropy_<device>.json")
    result_file.add_commit_argument(parser)
    arguments = parser.parse_args()
    commit = result_file.commit(arguments.commit) if arguments.out else None
    kernels = kernels_package.load(arguments.library)
    import torch
    import torch.nn.functional as F

    def plain(x, w, target):
        return F.cross_entropy(F.linear(x, w).float(), target)

    def plain_of_16_bits(x, w, target):
        return F.cross_entropy(F.linear(x, w), target)

    ways = {
        "ours": lambda x, w, target: kernels.linear_cross_entropy(x, w, target),
        "plain": plain_of_16_bits,
        "plain, float32 logits": plain,
    }
    if hasattr(F, "linear_cross_entropy"):
        ways["torch"] = lambda x, w, target: F.linear_cross_entropy(x, w, target)

    device = arguments.device
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    facts, rows = result_file.machine(), []
    print(f"torch {torch.__version__}, {facts.get('name') or 'CPU'}, {CLASSES} classes, {dtype}")
    print("| rows × features | way | ms | × plain | memory MB | of plain |\n|---|---|---|---|---|---|")
    for num_rows, features in SHAPES[device]:
        torch.manual_seed(0)
        x = torch.randn(num_rows, features, device=device, dtype=dtype)
        w = torch.randn(CLASSES, features, device=device, dtype=dtype) / features**0.5
        x, w = x.requires_grad_(), w.requires_grad_()
        target = torch.randint(CLASSES, (num_rows,), device=device)
        target[::7] = -100
        figures, wanted = {}, None
        for name in ("plain, float32 logits", *(n for n in ways if n != "plain, float32 logits")):

            def both(way=ways[name]):
                x.grad = w.grad = None
                loss = way(x, w, target)
                loss.backward()
                return loss.detach()

            loss = both()
            found = (loss.float(), x.grad.clone(), w.grad.clone())
            if wanted is None:
                wanted = found
            for a, b in zip(found, wanted):
                assert (a.float() - b.float()).norm() <= 0.02 * b.float().norm(), name
            del found, loss
            x.grad = w.grad = None
            memory = memory_of(torch, both, (x, w)) if device == "cuda" else math.nan
            figures[name] = (median_ms(torch, both, arguments.repeats, device), memory)
        del wanted
        for name, (ms, memory) in figures.items():
            of_time, of_memory = (a / b for a, b in zip((ms, memory), figures["plain"]))
            print(
                f"| {num_rows} × {features} | {name} | {ms:.2f} | {of_time:.3f} | {memory / 1e6:.0f} | "
                f"{of_memory:.3f} |",
                flush=True,
            )
            rows.append(
                {
                    "rows": num_rows,
                    "features": features,
                    "way": name,
                    "ms": ms,
                    "memory_bytes": None if math.isnan(memory) else memory,
                }
            )
    if arguments.out:
        result_file.write_rows(
            arguments.out,
            f"linear_cross_entropy_{device}",
            f"bench/kernels/linear_cross_entropy.py --device {device}",
            rows,
            commit=commit,
            torch=torch.__version__,
            machine=facts,
            classes=CLASSES,
            dtype=str(dtype)[6:],
        )


if __name__ == "__main__":
    main()
