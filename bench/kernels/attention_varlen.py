#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""attention_varlen() of sequences from 1 to 8192 tokens, forward and backward, beside attention() of as many tokens in
sequences of 4096, and forward beside FlashAttention 2's call for such lengths, in bfloat16.

    bench/kernels/attention_varlen.py --library build/sm90/kernels/libcudaops_kernels.so

There is no figure where an output or a gradient of a sequence differs by more than 2 % of the largest number from what
attention() of that sequence alone gives. The ways are called in turns; TFLOP/s of two products forward, and of five backward.
"""

import functools
import random
import warnings

import attention
import result_file

FIXED = 4096
SHAPES = ((128, 16, 16), (64, 32, 32), (128, 32, 8))  # head_dim, heads, heads of k and v


def powers():
    """8192, 4096 … 1 and one more: 16384 tokens."""
    return [*(1 << i for i in reversed(range(14))), 1]


def uniform():
    """65536 tokens."""
    source, lengths = random.Random(0), []
    while sum(lengths) < 4 * attention.TOKENS:
        lengths.append(min(source.randint(1, 8192), 4 * attention.TOKENS - sum(lengths)))
    return lengths


def check(torch, kernels, run, tensors, lengths, causal):
    leaves = [x.detach().requires_grad_() for x in tensors]
    output = run(*leaves)
    grad = torch.randn_like(output)
    grads = torch.autograd.grad(output, leaves, grad)
    begin = 0
    for length in lengths:
        rows = slice(begin, begin + length)
        begin += length
        own = [x[None, rows].detach().requires_grad_() for x in tensors]
        wanted = kernels.attention(*own, causal=causal)
        of_own = torch.autograd.grad(wanted, own, grad[None, rows])
        for found, expected in zip((output, *grads), (wanted, *of_own)):
            atol = 2e-2 * max(1.0, expected.abs().max().item())
            torch.testing.assert_close(found[rows], expected[0], rtol=2e-2, atol=atol)


def main():
    repeats, kernels = attention.repeats_and_kernels(__doc__)
    import torch

    warnings.simplefilter("ignore")
    print(f"torch {torch.__version__}, {result_file.machine().get('name')}, TFLOP/s")
    titles = ("head_dim", "heads", "lengths", "mask", "pass", "ours", f"ours, all of {FIXED}", "part", "FlashAttention 2")
    print(f"| {' | '.join(titles)} |\n" + "|---" * len(titles) + "|")
    for head_dim, heads, kv_heads in SHAPES:
        for lengths in (powers(), uniform()):
            tokens, longest = sum(lengths), max(lengths)
            offsets = torch.tensor([0, *lengths], device="cuda").cumsum(0, dtype=torch.int32)
            torch.manual_seed(0)
            q, k, v = (
                torch.randn(tokens, count, head_dim, device="cuda", dtype=torch.bfloat16)
                for count in (heads, kv_heads, kv_heads)
            )
            for causal in (False, True):

                def ours(q, k, v):
                    return kernels.attention_varlen(q, k, v, offsets, offsets, longest, longest, causal=causal)

                def flash(q, k, v):
                    lengths_of_call = offsets, offsets, longest, longest
                    return torch.ops.aten._flash_attention_forward(q, k, v, *lengths_of_call, 0.0, causal, False)[0]

                fixed = [x.view(-1, FIXED, *x.shape[1:]) for x in (q, k, v)]
                check(torch, kernels, ours, (q, k, v), lengths, causal)
                of_fixed = functools.partial(kernels.attention, causal=causal)
                calls = {"ours": (ours, (q, k, v)), "fixed": (of_fixed, fixed), "flash": (flash, (q, k, v))}
                for which, measured in (("forward", attention.output_of), ("backward", attention.gradients_of)):
                    # torch differentiates scaled_dot_product_attention, not this call of its kernel.
                    some = {way: call for way, call in calls.items() if way != "flash" or which == "forward"}
                    ways = {way: measured(torch, run, tensors) for way, (run, tensors) in some.items()}
                    ms = attention.times_ms(torch, ways, repeats)
                    products = (4 if which == "forward" else 10) * heads * head_dim / (2 if causal else 1)
                    flop = {way: products * sum(length * length for length in lengths) for way in ways}
                    flop["fixed"] = products * tokens * FIXED
                    rates = {way: flop[way] / ms[way] / 1e9 for way in ways}
                    cells = [
                        head_dim,
                        heads if heads == kv_heads else f"{heads}({kv_heads})",
                        f"{len(lengths)}, {tokens} tokens",
                        "causal" if causal else "full",
                        which,
                        f"{rates['ours']:.0f}",
                        f"{rates['fixed']:.0f}",
                        f"{rates['ours'] / rates['fixed']:.2f}",
                        f"{rates['flash']:.0f}" if "flash" in rates else "–",
                    ]
                    print(f"| {' | '.join(map(str, cells))} |", flush=True)


if __name__ == "__main__":
    main()
