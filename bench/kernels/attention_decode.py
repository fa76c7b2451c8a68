#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""attention_decode beside torch's scaled_dot_product_attention with its cuDNN and flash backends on
the same keys and values, contiguous there, in pages here; FlashInfer where it is installed.

    bench/kernels/attention_decode.py --library build/sm90/kernels/libcudaops_kernels.so --out bench/results

Each way's calls are in a CUDA graph, over as many caches as are larger than the GPU's cache; graphs
are replayed in turns, and the median is shown. Before it, results are compared.
"""

import argparse
import importlib.util
import math

import kernels_package
import result_file

PAGE = 64
# query heads, kv heads, head_dim, batch, keys, q_len, cache
CASES = [
    (32, 8, 128, batch, keys, 1, "bfloat16")
    for batch, keys in ((1, 1024), (1, 4096), (1, 16384), (1, 65536), (8, 1024), (8, 4096), (32, 1024), (32, 4096), (128, 4096))
]
CASES += [(32, 8, 64, batch, keys, 1, "bfloat16") for batch, keys in ((1, 4096), (8, 1024), (8, 4096), (32, 4096))]
CASES += [(16, 8, 256, 8, 4096, 1, "bfloat16")]
CASES += [(32, 32, 128, 8, 4096, 1, "bfloat16"), (64, 4, 128, 8, 4096, 1, "bfloat16")]
CASES += [(32, 8, 128, 8, 4096, 4, "bfloat16"), (32, 8, 128, 8, 4096, 16, "bfloat16"), (32, 8, 64, 32, 4096, 16, "bfloat16")]
CASES += [(32, 8, 128, batch, keys, 1, "float8_e4m3fn") for batch, keys in ((1, 16384), (8, 4096), (32, 4096))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    kernels_package.add_argument(parser)
    parser.add_argument("--repeats", type=int, default=25)
    parser.add_argument("--calls", type=int, default=20, help="of a graph")
    parser.add_argument("--only", type=int, nargs="*", help="cases by number")
    parser.add_argument("--out", help="a directory for attention_decode_cuda.json")
    result_file.add_commit_argument(parser)
    arguments = parser.parse_args()
    commit = result_file.commit(arguments.commit) if arguments.out else None
    kernels = kernels_package.load(arguments.library)
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    flashinfer = None
    if importlib.util.find_spec("flashinfer") is not None:
        import flashinfer

    facts, rows = result_file.machine(), []
    print(f"torch {torch.__version__}, {facts.get('name')}, FlashInfer {getattr(flashinfer, '__version__', '-')}")
    print("| heads | head_dim | batch × keys | q_len | cache | way | µs | TB/s | × ours |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)

    def captured(calls):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for call in calls[:2]:
                call()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for i in range(arguments.calls):
                calls[i % len(calls)]()
        return graph

    for number, (heads, kv_heads, head_dim, batch, keys, q_len, cache) in enumerate(CASES):
        if arguments.only is not None and number not in arguments.only:
            continue
        dtype = getattr(torch, cache)
        size = 2 * batch * keys * kv_heads * head_dim * dtype.itemsize
        sets = max(2, min(arguments.calls, math.ceil(3e8 / size)))
        blocks = batch * keys // PAGE
        generator = torch.Generator("cuda").manual_seed(number)

        def normal(*shape):
            return torch.randn(shape, device="cuda", generator=generator).bfloat16()

        q = normal(batch, q_len, heads, head_dim)
        table = torch.randperm(blocks, device="cuda", generator=generator).int().view(batch, -1)
        lengths = torch.full((batch,), keys, dtype=torch.int32, device="cuda")
        ways, results = {}, {}
        caches = [
            tuple(normal(blocks, PAGE, kv_heads, head_dim).to(dtype) for _ in "kv") for _ in range(sets)
        ]
        ours = [
            lambda k=k, v=v: kernels.attention_decode(q, k, v, table, lengths) for k, v in caches
        ]
        results["ours"] = ours[0]()
        ways["ours"] = captured(ours)
        if dtype == torch.bfloat16:
            dense = [
                tuple(c[table.long()].reshape(batch, keys, kv_heads, head_dim).transpose(1, 2) for c in pair)
                for pair in caches
            ]
            mask = None
            if q_len > 1:
                mask = torch.ones(q_len, keys, dtype=torch.bool, device="cuda").tril(keys - q_len)
            for way, backend in (("cuDNN", SDPBackend.CUDNN_ATTENTION), ("flash", SDPBackend.FLASH_ATTENTION)):

                def call(k, v):
                    with sdpa_kernel(backend):
                        return torch.nn.functional.scaled_dot_product_attention(
                            q.transpose(1, 2), k, v, attn_mask=mask, enable_gqa=heads != kv_heads
                        ).transpose(1, 2)

                try:
                    calls = [lambda k=k, v=v: call(k, v) for k, v in dense]
                    results[way] = calls[0]()
                    ways[way] = captured(calls)
                except RuntimeError as error:
                    torch.cuda.synchronize()
                    print(f"{way} is left out: {str(error).splitlines()[0][:100]}")
        if flashinfer is not None:
            pages = torch.arange(batch + 1, dtype=torch.int32, device="cuda") * (keys // PAGE)
            last = torch.full((batch,), PAGE, dtype=torch.int32, device="cuda")
            if q_len == 1:
                workspace = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
                wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(workspace, "NHD", use_tensor_cores=True)
                wrapper.plan(
                    pages, table.view(-1), last, heads, kv_heads, head_dim, PAGE, q_data_type=q.dtype, kv_data_type=dtype
                )
                calls = [lambda k=k, v=v: wrapper.run(q[:, 0], (k, v))[:, None] for k, v in caches]
                results["FlashInfer"] = calls[0]()
                ways["FlashInfer"] = captured(calls)
        for way, result in results.items():
            difference = (result.float() - results["ours"].float()).abs().max().item()
            assert difference < 0.02, (way, difference)
        times = {way: [] for way in ways}
        for _ in range(arguments.repeats):
            for way, graph in ways.items():
                begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                begin.record()
                graph.replay()
                end.record()
                end.synchronize()
                times[way].append(1e3 * begin.elapsed_time(end) / arguments.calls)
        medians = {way: sorted(t)[len(t) // 2] for way, t in times.items()}
        for way, us in medians.items():
            print(
                f"| {heads}({kv_heads}) | {head_dim} | {batch} × {keys} | {q_len} | {cache} | {way} | {us:.1f} "
                f"| {size / us / 1e6:.2f} | {us / medians['ours']:.2f} |",
                flush=True,
            )
            rows.append(
                {
                    "heads": heads,
                    "kv_heads": kv_heads,
                    "head_dim": head_dim,
                    "batch": batch,
                    "keys": keys,
                    "q_len": q_len,
                    "cache": cache,
                    "way": way,
                    "us": us,
                    "cache_bytes": size,
                }
            )
        del ways, results, caches
        torch.cuda.empty_cache()
    if arguments.out:
        result_file.write_rows(
            arguments.out,
            "attention_decode_cuda",
            "bench/kernels/attention_decode.py",
            rows,
            commit=commit,
            torch=torch.__version__,
            flashinfer=getattr(flashinfer, "__version__", None),
            machine=facts,
        )


if __name__ == "__main__":
    main()
