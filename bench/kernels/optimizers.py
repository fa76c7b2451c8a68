#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A step of optim.Lion, LAMB and AdamW8bit beside torch's multi-tensor functions that do the same,
and beside bitsandbytes, where it is installed: in turns in one process, the median.

    bench/kernels/optimizers.py --library build/sm90/kernels/libcudaops_kernels.so --out bench/results

On a GPU by events, with gradients that stay where they are; on the CPU by the clock.
"""

import argparse
import importlib.util
import time

import kernels_package
import result_file

# Tensors, elements of each; beyond a GPU's cache, a model's many layers, and mostly launches.
SHAPES = {"cuda": ((1, 1 << 28), (200, 1 << 20), (1000, 4096)), "cpu": ((1, 1 << 22), (200, 1 << 14))}


def composed(torch, name, params, grads, states, step):
    """By torch's multi-tensor functions, as a user would write it."""
    first, second = states
    if name == "Lion":
        updates = torch._foreach_sign(torch._foreach_lerp(first, grads, 0.1))
        torch._foreach_lerp_(first, grads, 0.01)
        torch._foreach_mul_(params, 1 - 1e-4 * 0.1)
        torch._foreach_add_(params, updates, alpha=-1e-4)
        return
    torch._foreach_lerp_(first, grads, 0.1)
    torch._foreach_mul_(second, 0.999)
    torch._foreach_addcmul_(second, grads, grads, 0.001)
    roots = torch._foreach_sqrt(second)
    torch._foreach_div_(roots, (1 - 0.999**step) ** 0.5)
    torch._foreach_add_(roots, 1e-6)
    updates = torch._foreach_div(first, roots)
    torch._foreach_div_(updates, 1 - 0.9**step)
    torch._foreach_add_(updates, params, alpha=0.1)
    ratios = torch._foreach_div(torch._foreach_norm(params), torch._foreach_norm(updates))
    torch._foreach_mul_(updates, ratios)
    torch._foreach_add_(params, updates, alpha=-1e-4)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    kernels_package.add_argument(parser)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--out", help="a directory for optimizers_<device>.json")
    result_file.add_commit_argument(parser)
    arguments = parser.parse_args()
    commit = result_file.commit(arguments.commit) if arguments.out else None
    kernels = kernels_package.load(arguments.library)
    import torch

    device = arguments.device
    bnb = None
    if importlib.util.find_spec("bitsandbytes") is not None:
        import bitsandbytes as bnb

    def make_params(count, size, dtype):
        params = []
        for i in range(count):
            generator = torch.Generator(device).manual_seed(i)
            value = torch.randn(size, device=device, generator=generator, dtype=torch.float32)
            param = torch.nn.Parameter(value.to(dtype))
            param.grad = torch.randn(size, device=device, generator=generator).to(dtype)
            params.append(param)
        return params

    def stepping(name, way, params):
        """A call that makes a step, and what it changed."""
        options = {"lr": 1e-4, "weight_decay": 0.1}
        if way == "ours":
            more = {"max_grad_norm": None} if name == "LAMB" else {}
            return getattr(kernels.optim, name)(params, **options, **more).step
        if way == "bitsandbytes":
            return {"AdamW8bit": bnb.optim.AdamW8bit, "Lion": bnb.optim.Lion}[name](params, **options).step
        grads = [p.grad for p in params]
        states = [[torch.zeros_like(p) for p in params] for _ in range(2)]
        count = [0]

        @torch.no_grad()
        def step():
            count[0] += 1
            composed(torch, name, [p.detach() for p in params], grads, states, count[0])

        return step

    def elapsed_ms(call):
        if device == "cpu":
            begin = time.perf_counter()
            call()
            return 1e3 * (time.perf_counter() - begin)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end)

    facts, rows = result_file.machine(), []
    print(f"torch {torch.__version__}, {facts.get('name') or 'CPU'}, bitsandbytes {getattr(bnb, '__version__', '-')}")
    print("| optimizer | dtype | tensors × elements | way | ms | × ours |\n|---|---|---|---|---|---|")
    for name, bytes_of in (("Lion", 20), ("LAMB", 40), ("AdamW8bit", 16)):
        for dtype in (torch.float32, torch.bfloat16):
            for count, size in SHAPES[device]:
                ways = ["ours"]
                if name != "AdamW8bit" and dtype == torch.float32:
                    ways.append("torch's multi-tensor functions")
                # bitsandbytes has no LAMB without its older states, and on the CPU no step at all of some.
                if bnb is not None and name != "LAMB":
                    ways.append("bitsandbytes")
                steps, before, moved = {}, make_params(count, size, dtype), {}
                for way in ways:
                    params = make_params(count, size, dtype)
                    step = stepping(name, way, params)
                    try:
                        for _ in range(3):
                            step()
                    except Exception as error:
                        if way != "bitsandbytes":
                            raise
                        print(f"{way}: {name} is left out: {str(error).splitlines()[0][:90]}")
                        continue
                    steps[way] = step
                    moved[way] = [(p.detach() - b.detach()).float() for p, b in zip(params, before)]
                for way in steps:  # a figure for the same steps only
                    difference = sum((a - b).norm() for a, b in zip(moved[way], moved["ours"]))
                    whole = sum(a.norm() for a in moved["ours"])
                    assert difference <= (0.1 if "8bit" in name else 0.02) * whole, (name, way, difference / whole)
                del moved, before
                times = {way: [] for way in steps}
                for _ in range(arguments.repeats):
                    for way, step in steps.items():
                        times[way].append(elapsed_ms(step))
                medians = {way: sorted(t)[len(t) // 2] for way, t in times.items()}
                for way, ms in medians.items():
                    shown = f"{str(dtype)[6:]} | {count} × {size}"
                    print(f"| {name} | {shown} | {way} | {ms:.3f} | {ms / medians['ours']:.2f} |", flush=True)
                    rows.append(
                        {
                            "optimizer": name,
                            "dtype": str(dtype),
                            "tensors": count,
                            "elements": size,
                            "way": way,
                            "ms": ms,
                            "float32_bytes_an_element": bytes_of,
                        }
                    )
                del steps
                if device == "cuda":
                    torch.cuda.empty_cache()
    if arguments.out:
        result_file.write_rows(
            arguments.out,
            f"optimizers_{device}",
            f"bench/kernels/optimizers.py --device {device}",
            rows,
            commit=commit,
            torch=torch.__version__,
            bitsandbytes=getattr(bnb, "__version__", None),
            machine=facts,
        )


if __name__ == "__main__":
    main()
