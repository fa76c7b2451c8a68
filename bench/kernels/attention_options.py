#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What attention()'s options cost: bias, slopes, softcap, sinks, a window and dropout beside the plain call, and beside the
fastest of scaled_dot_product_attention's kernels that has the same; 16384 tokens in bfloat16, forward.

    bench/kernels/attention_options.py --library build/sm90/kernels/libcudaops_kernels.so

There is no figure where the output of a head differs from float64's by more than a few roundings, or where what dropout keeps of
values of 1 is not 1 on average. TFLOP/s of the two products, whatever a window leaves of them.
"""

import warnings

import attention
import result_file

SHAPES = ((128, 16), (64, 32))  # head_dim, heads
LENGTHS = (1024, 4096)
WINDOW = 1024


def exact(torch, q, k, v, causal, bias=None, alibi_slopes=None, softcap=0.0, window=(-1, -1), sinks=None):
    """The first head of one sequence, in float64."""
    q, k, v = (x[0, :, 0].double() for x in (q, k, v))
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if softcap:
        scores = softcap * torch.tanh(scores / softcap)
    row, column = (torch.arange(len(q), device=q.device).view(shape) for shape in ((-1, 1), (1, -1)))
    if alibi_slopes is not None:
        scores = scores - alibi_slopes[0].double() * (row - column).abs()
    if bias is not None:
        scores = scores + bias[0, 0].double()
    hidden = torch.zeros_like(scores, dtype=torch.bool)
    if window[0] >= 0:
        hidden |= column < row - window[0]
    if causal or window[1] >= 0:
        hidden |= column > row + (0 if causal else window[1])
    scores = scores.masked_fill(hidden, -torch.inf)
    if sinks is not None:
        scores = torch.cat([scores, sinks[0].double().expand(len(q), 1)], 1)
        v = torch.cat([v, v.new_zeros(1, v.shape[1])])
    return scores.softmax(-1) @ v


def main():
    repeats, kernels = attention.repeats_and_kernels(__doc__)
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    warnings.simplefilter("ignore")
    backends = {
        "cuDNN": SDPBackend.CUDNN_ATTENTION,
        "FlashAttention": SDPBackend.FLASH_ATTENTION,
        "efficient": SDPBackend.EFFICIENT_ATTENTION,
    }
    print(f"torch {torch.__version__}, {result_file.machine().get('name')}, TFLOP/s")
    print("| head_dim | heads | sequence | mask | option | ours | the best of torch's | |\n" + "|---" * 8 + "|")
    for head_dim, heads in SHAPES:
        for seq in LENGTHS:
            batch = attention.TOKENS // seq
            torch.manual_seed(0)
            q, k, v = (torch.randn(batch, seq, heads, head_dim, device="cuda", dtype=torch.bfloat16) for _ in "qkv")
            swapped = [x.transpose(1, 2) for x in (q, k, v)]
            bias = torch.randn(1, heads, seq, seq, device="cuda", dtype=torch.bfloat16)
            numbers = torch.rand(heads, device="cuda") / 8
            for causal in (False, True):
                # Our arguments, and torch's where it has the like.
                options = {
                    "none": ({}, {"is_causal": causal}),
                    "bias": ({"bias": bias}, None if causal else {"attn_mask": bias}),
                    "slopes": ({"alibi_slopes": numbers}, None),
                    "softcap": ({"softcap": 30.0}, None),
                    "sinks": ({"sinks": numbers}, None),
                    "dropout": ({"dropout_p": 0.1}, {"is_causal": causal, "dropout_p": 0.1}),
                }
                if WINDOW < seq:
                    options["window"] = ({"window": (WINDOW, 0 if causal else WINDOW)}, None)
                for name, (own, theirs) in options.items():
                    ways = {"ours": lambda: kernels.attention(q, k, v, causal=causal, **own)}
                    if name == "dropout":
                        kept = kernels.attention(q, k, torch.ones_like(v), causal=causal, **own)
                        assert abs(kept.float().mean().item() - 1) < 2e-3, (name, kept.float().mean())
                    else:
                        error = ways["ours"]()[0, :, 0].double() - exact(torch, q, k, v, causal, **own)
                        assert error.abs().max().item() < 2e-2, (name, causal, error.abs().max())
                    for backend in backends if theirs is not None else ():

                        def run(backend=backend):
                            with sdpa_kernel(backends[backend]):
                                return torch.nn.functional.scaled_dot_product_attention(*swapped, **theirs)

                        try:
                            run()
                        except RuntimeError:  # it doesn't serve this
                            continue
                        ways[backend] = run
                    ms = attention.times_ms(torch, ways, repeats)
                    flop = 4 * batch * heads * seq * seq * head_dim / (2 if causal else 1)
                    best = min((way for way in ms if way != "ours"), key=ms.get, default=None)
                    rate = f"{flop / ms[best] / 1e9:.0f} | {best}" if best else "– | "
                    mask = "causal" if causal else "full"
                    print(f"| {head_dim} | {heads} | {seq} | {mask} | {name} | {flop / ms['ours'] / 1e9:.0f} | {rate} |", flush=True)


if __name__ == "__main__":
    main()
