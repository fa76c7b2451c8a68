# SPDX-License-Identifier: Apache-2.0
"""torch.ops.cudaops.attention_decode against attention in float64."""

import math
import random

from kernel_testing import DTYPES, generated_calls, kernels, looking_at_numbers, main, normal, opcheck, ops, pytest_generate_tests, refusal  # noqa: F401

import torch

FLOAT8 = torch.float8_e4m3fn


class Case:
    """Caches whose blocks are in no order, with NaN wherever no sequence has a key."""

    def __init__(
        self,
        device,
        dtype,
        lengths,
        q_len=1,
        heads=4,
        kv_heads=2,
        head_dim=64,
        page_size=16,
        cache_dtype=None,
        seed=0,
        spare=2,
    ):
        shuffle = random.Random(seed)
        self.blocks_each = max(1, max(-(-length // page_size) for length in lengths))
        count = len(lengths) * self.blocks_each + spare
        order = list(range(count))
        shuffle.shuffle(order)
        table = torch.tensor(order[: len(lengths) * self.blocks_each], dtype=torch.int32)
        table = table.view(len(lengths), self.blocks_each)
        self.block_table = table.to(device)
        self.seq_lens = torch.tensor(lengths, dtype=torch.int32, device=device)
        self.q = normal(len(lengths), q_len, heads, head_dim, dtype=dtype, device=device, seed=seed)
        shape = (count, page_size, kv_heads, head_dim)
        self.k, self.v = (normal(*shape, dtype=dtype, device="cpu", seed=seed + i) for i in (1, 2))
        is_used = torch.zeros(count, page_size, dtype=torch.bool)
        for blocks, length in zip(table, lengths):
            tokens = torch.arange(length)
            is_used[blocks[tokens // page_size], tokens % page_size] = True
        for cache in (self.k, self.v):
            cache[~is_used] = math.nan
        if cache_dtype is not None:
            self.k, self.v = self.k.float().to(cache_dtype), self.v.float().to(cache_dtype)
        self.k, self.v = self.k.to(device), self.v.to(device)
        self.arguments = (self.q, self.k, self.v, self.block_table, self.seq_lens)

    def run(self, **options):
        return kernels.attention_decode(*self.arguments, return_lse=True, **options)

    def expected(
        self, scale=None, window=(-1, -1), softcap=0.0, sinks=None, k_scale=None, v_scale=None, **_
    ):
        """In float64: output, lse, and the largest |v| that a row sees."""
        batch, q_len, heads, head_dim = self.q.shape
        kv_heads = self.k.shape[2]
        scale = 1 / math.sqrt(head_dim) if scale is None else scale
        output = torch.zeros(self.q.shape, dtype=torch.float64)
        lse = torch.full((batch, heads, q_len), -math.inf, dtype=torch.float64)
        for b, length in enumerate(self.seq_lens.tolist()):
            blocks = self.block_table[b].tolist()
            k, v = (
                torch.cat([cache[block].cpu().double() for block in blocks])[:length]
                for cache in (self.k, self.v)
            )
            for cache, factor in ((k, k_scale), (v, v_scale)):
                if factor is not None:
                    cache *= factor.cpu().double().expand(kv_heads)[None, :, None]
            for h in range(heads):
                kv = h // (heads // kv_heads)
                for i in range(q_len):
                    position = length - q_len + i
                    first = 0 if window[0] < 0 else max(0, position - window[0])
                    scores = k[first : max(position + 1, 0), kv] @ self.q[b, i, h].cpu().double() * scale
                    if softcap:
                        scores = softcap * torch.tanh(scores / softcap)
                    values = v[first : max(position + 1, 0), kv]
                    if sinks is not None:
                        scores = torch.cat([scores, sinks[h].cpu().double().view(1)])
                        values = torch.cat([values, values.new_zeros(1, head_dim)])
                    if scores.numel():
                        output[b, i, h] = torch.softmax(scores, 0) @ values
                        lse[b, h, i] = torch.logsumexp(scores, 0)
        return output, lse

    def check(self, **options):
        output, lse = self.run(**options)
        expected, expected_lse = self.expected(**options)
        # An output is a mean of values around 1: weights are rounded to 16 bits on a GPU, the
        # result once.
        atol = {torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 2e-2}[self.q.dtype]
        if options.get("v_scale") is not None:
            atol *= max(1.0, options["v_scale"].max().item())
        torch.testing.assert_close(output.cpu().double(), expected, atol=atol, rtol=atol)
        torch.testing.assert_close(lse.cpu().double(), expected_lse, atol=2e-4, rtol=1e-4)


def test_lengths_and_shapes(device):
    for dtype in DTYPES:
        for head_dim in (64, 128, 256, 80, 96, 8, 33):
            Case(device, dtype, [37, 1, 0, 130], head_dim=head_dim).check()
        for q_len in (1, 2, 5, 16, 33):
            Case(device, dtype, [70, q_len, max(0, q_len - 2), 300], q_len=q_len).check()
        for heads, kv_heads in ((1, 1), (8, 8), (8, 1), (6, 2), (32, 1)):
            Case(device, dtype, [65, 200], q_len=3, heads=heads, kv_heads=kv_heads).check()
        for page_size in (16, 32, 48, 64, 256, 7, 1):
            Case(device, dtype, [100, 3, 257], page_size=page_size).check()
        # A page a sequence.
        for q_len in (1, 3):
            Case(device, dtype, [1007, 3, 500], q_len=q_len, page_size=1007).check()


def generated(source):
    kv_heads, group = source.choice(((1, 1), (2, 1), (1, 4), (2, 3)))
    q_len = source.choice((1, 1, 2, 5, 16, 20))
    page_size = source.choice((1, 7, 16, 64))
    return {
        "dtype": source.choice(DTYPES),
        "lengths": [source.choice((0, 1, 15, 16, 17, 65, 130)) for _ in range(source.randrange(1, 4))],
        "sizes": {
            "q_len": q_len,
            "heads": kv_heads * group,
            "kv_heads": kv_heads,
            "head_dim": source.choice((8, 33, 64, 80, 128)),
            "page_size": page_size,
            "seed": source.randrange(10**6),
        },
        "window": source.choice(((-1, -1), (source.randrange(70), 0))),
        "softcap": source.choice((0.0, 0.0, 3.0)),
        "scale": source.choice((None, 0.1)),
        "sinks": source.random() < 0.3,
    }


def check_generated(device, case):
    options = {key: case[key] for key in ("window", "softcap", "scale")}
    if case["sinks"]:
        options["sinks"] = normal(case["sizes"]["heads"], dtype=torch.float32, device=device, seed=5)
    Case(device, case["dtype"], case["lengths"], **case["sizes"]).check(**options)


GENERATED = generated_calls(generated, check_generated, few=40, many=300, long=3_000)


def test_generated_calls(device):
    GENERATED(device)


def test_many_lengths_at_once(device):
    """More sequences than a warp has lanes; on a GPU more than its lanes read lengths of at once (128)."""
    for count in (70, 150) if device != "cpu" else (70,):
        lengths = [(37 * i * i) % 500 for i in range(count)]
        for dtype in DTYPES:
            Case(device, dtype, lengths, head_dim=32, kv_heads=1, heads=2).check()


def test_sequences_of_one_length(device):
    """Keys are divided between sequences, or into equal pieces of them, where that suits all
    multiprocessors (an H100 has 132)."""
    for lengths in ([2080] * 32, [4200] * 16) if device != "cpu" else ([130] * 5,):
        Case(device, torch.bfloat16, lengths, heads=8, kv_heads=8, head_dim=16).check()
    for count in (128, 130) if device != "cpu" else (40,):
        Case(device, torch.bfloat16, [4200 if device != "cpu" else 65] * count, heads=1, kv_heads=1, head_dim=16).check()


def test_long_sequence(device):
    lengths = [20000, 3] if device != "cpu" else [3000, 3]
    for dtype in DTYPES:
        Case(device, dtype, lengths, page_size=64).check()
    # So few keys in all that a block has a multiprocessor for itself (an H100 has 132).
    lengths = [4000, 9] if device != "cpu" else [400, 9]
    Case(device, torch.bfloat16, lengths, heads=8, kv_heads=4, head_dim=128, page_size=64).check()


def test_window_softcap_sinks(device):
    # With room for more than 2048 keys a sequence's parts are put together by a second kernel, with less
    # by a cluster of blocks where there are any.
    many = [[300, 40, 0, 5]] + [[2200, 300, 0, 5]] * (device != "cpu")
    sizes = [(lengths, q_len) for lengths in many for q_len in (1, 4)]
    for dtype in DTYPES:
        sinks = normal(4, dtype=torch.float32, device=device, seed=9)
        for lengths, q_len in sizes:
            case = Case(device, dtype, lengths, q_len=q_len)
            for options in (
                {"window": (0, 0)},
                {"window": (17, -1)},
                {"window": (100, 5)},
                {"softcap": 1.5},
                {"sinks": sinks},
                {"scale": 0.5, "sinks": sinks + 20},
                {"window": (33, 0), "softcap": 5.0, "sinks": sinks},
            ):
                case.check(**options)


def test_float8_cache(device):
    one = torch.tensor([0.5], device=device)
    each = torch.tensor([0.25, 3.0], device=device)
    for dtype in DTYPES:
        for head_dim in (64, 128, 256, 16, 80, 24):
            case = Case(device, dtype, [130, 0, 33], q_len=2, head_dim=head_dim, cache_dtype=FLOAT8)
            case.check()
            case.check(k_scale=one, v_scale=each)
    # Numbers beyond float16's.
    case = Case(device, torch.bfloat16, [130, 33], cache_dtype=FLOAT8)
    case.q *= 1e6
    case.check(scale=1e-7)
    case.q *= 1e-14
    case.check(scale=1e7)


def test_views(device):
    """Caches in the order of heads first, keys and values of one tensor, q out of a projection."""
    for dtype in DTYPES:
        case = Case(device, dtype, [77, 20], q_len=2)
        heads_first = [cache.transpose(1, 2).contiguous().transpose(1, 2) for cache in (case.k, case.v)]
        both = torch.stack([case.k, case.v], 1)
        wide = torch.cat([case.q, case.q], 2)[:, :, :4]
        apart = torch.stack([case.q, case.q], -1)[..., 0]
        expected = case.run()
        for k, v in (heads_first, (both[:, 0], both[:, 1])):
            for q in (case.q, wide, apart):
                case.arguments = (q, k, v, case.block_table, case.seq_lens)
                for actual, wanted in zip(case.run(), expected):
                    torch.testing.assert_close(actual, wanted, atol=0, rtol=0)


def test_block_that_is_far_from_the_next(device):
    """Further than 32 bits of bytes say: there is one block."""
    case = Case(device, torch.bfloat16, [60], page_size=64, spare=0)
    wanted = case.run()
    k, v = (cache.as_strided(cache.shape, (1 << 31, *cache.stride()[1:])) for cache in (case.k, case.v))
    case.arguments = (case.q, k, v, *case.arguments[3:])
    for ours, other in zip(case.run(), wanted):
        torch.testing.assert_close(ours, other, rtol=1e-2, atol=1e-2)


def test_nan_reaches_only_what_sees_it(device):
    for dtype in DTYPES:
        case = Case(device, dtype, [256, 40], page_size=64, spare=0)
        block = case.block_table[0, 0].item()
        case.k[block] = math.nan
        output, lse = case.run()
        assert output[0].isnan().all() and lse[0].isnan().all()
        assert not output[1].isnan().any()
        # Whole tiles out of the window.
        output, lse = case.run(window=(100, 0))
        assert not output.isnan().any() and not lse.isnan().any()


def test_block_that_is_none_is_not_read(device):
    case = Case(device, torch.bfloat16, [64, 40])
    case.block_table[0, 1] = 10**6
    case.block_table[0, 2] = -3
    with looking_at_numbers():
        assert refusal(case.run) == (
            "attention_decode: wanted blocks from 0 to 9 (k_cache has 10) for block_table, found "
            "1000000 at [0, 1]."
        )
    if device == "cpu":
        return
    output, _ = case.run()
    kept = Case(device, torch.bfloat16, [64, 40])
    blocks = kept.block_table[0].tolist()
    keys, values = (
        torch.cat([cache[blocks[0]], cache[blocks[3]]]).double() for cache in (kept.k, kept.v)
    )
    for head in range(4):
        scores = keys[:, head // 2] @ kept.q[0, 0, head].double() / 8
        torch.testing.assert_close(
            output[0, 0, head].double(),
            torch.softmax(scores, 0) @ values[:, head // 2],
            atol=2e-2,
            rtol=2e-2,
        )


def test_same_bits_from_run_to_run(device):
    for dtype in DTYPES:
        case = Case(device, dtype, [2000, 31, 500], q_len=3)
        first = case.run()
        for _ in range(3):
            for actual, wanted in zip(case.run(), first):
                assert torch.equal(actual, wanted)


def test_graph_with_other_lengths(device):
    """A captured graph reads lengths, tables and caches when it runs."""
    if device == "cpu":
        return
    for dtype in DTYPES:
        case = Case(device, dtype, [500, 500, 500], q_len=2)
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            case.run()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            captured = case.run()
        for lengths in ([500, 500, 500], [1, 0, 499], [0, 0, 0], [17, 300, 64]):
            case.seq_lens.copy_(torch.tensor(lengths, dtype=torch.int32))
            graph.replay()
            torch.cuda.synchronize()
            for actual, wanted in zip(captured, case.run()):
                assert torch.equal(actual, wanted), lengths


def test_calls_one_behind_the_other(device):
    """A call reads ahead while the one before it ends: its own lengths, tables and keys."""
    cases = [
        Case(device, torch.bfloat16, lengths, heads=heads, kv_heads=2, seed=seed)
        for seed, (lengths, heads) in enumerate((([700, 30, 400], 8), ([1], 2), ([90] * 40, 4), ([0, 500], 8)))
    ]
    alone = []
    for case in cases:
        alone.append(case.run())
        if device != "cpu":
            torch.cuda.synchronize()
    together = [case.run() for _ in range(4) for case in cases]
    for results, wanted in zip(together, alone * 4):
        for actual, expected in zip(results, wanted):
            assert torch.equal(actual, expected)


def test_many_streams_and_graphs(device):
    """Calls that run beside each other share nothing that they write."""
    if device == "cpu":
        return
    case = Case(device, torch.bfloat16, [700, 3000, 100], heads=8, kv_heads=2)
    wanted = case.run()
    streams = [torch.cuda.Stream() for _ in range(8)]
    torch.cuda.synchronize()
    results = []
    for _ in range(5):
        for stream in streams:
            with torch.cuda.stream(stream):
                results.append(case.run())
    torch.cuda.synchronize()
    assert all(torch.equal(output, wanted[0]) for output, _ in results)
    with torch.cuda.stream(streams[0]):
        for _ in range(4):
            graph = torch.cuda.CUDAGraph()
            graph.capture_begin()
            captured = case.run()
            graph.capture_end()
            for _ in range(2):
                captured[0].fill_(math.nan)
                graph.replay()
                assert torch.equal(captured[0], wanted[0])


def test_modes(device):
    case = Case(device, torch.bfloat16, [70, 20], q_len=2)
    arguments = (*case.arguments, 0.125)
    opcheck(ops.attention_decode.default, arguments)
    expected = case.run()

    def step(*tensors):
        return kernels.attention_decode(*tensors, return_lse=True)

    for dynamic in (False, True):
        compiled = torch.compile(step, fullgraph=True, dynamic=dynamic, backend="aot_eager")
        for actual, wanted in zip(compiled(*case.arguments), expected):
            assert torch.equal(actual, wanted)
    q = case.q.clone().requires_grad_()
    assert refusal(lambda: kernels.attention_decode(q, *case.arguments[1:])) == (
        "attention_decode: wanted q without a gradient, as there is no derivative, found requires_grad."
    )
    with torch.no_grad():
        output = kernels.attention_decode(q, *case.arguments[1:])
        assert torch.equal(output, expected[0]) and not output.requires_grad
    q = case.q
    nothing = kernels.attention_decode(q[:0], *case.arguments[1:3], case.block_table[:0], case.seq_lens[:0])
    assert nothing.shape == (0, 2, 4, 64)


def test_autocast(device):
    """q becomes what the cache is, which isn't cast; beside float8 it becomes autocast's dtype."""
    for cache_dtype, wanted in ((None, torch.float16), (FLOAT8, torch.bfloat16)):
        case = Case(device, torch.float16, [70, 20], cache_dtype=cache_dtype)
        caches = case.arguments[1:3]
        q = case.q.float()
        with torch.autocast(device, torch.bfloat16):
            output = kernels.attention_decode(q, *case.arguments[1:])
        assert output.dtype == wanted
        assert torch.equal(output, kernels.attention_decode(q.to(wanted), *case.arguments[1:]))
        new = normal(2, 1, 2, 64, dtype=torch.float32, device=device)
        cos = sin = torch.ones(80, 32, device=device)
        positions = case.seq_lens[:, None] - 1
        again = [cache.clone() for cache in caches]
        with torch.autocast(device, torch.bfloat16):
            turned = kernels.rope_append_kv_(
                q, new, new.half(), cos, sin, *caches, case.block_table, positions
            )
        assert turned.dtype == wanted
        kernels.rope_append_kv_(
            q.to(wanted), new.to(wanted), new.half().to(wanted), cos, sin, *again, case.block_table, positions
        )
        for found, expected in zip(caches, again):
            assert torch.equal(found.float().nan_to_num(7.0), expected.float().nan_to_num(7.0))


def test_refusals(device):
    case = Case(device, torch.float16, [70, 20], q_len=2)
    q, k, v, table, lengths = case.arguments

    def found(*arguments, **options):
        return refusal(lambda: kernels.attention_decode(*arguments, **options))

    name = "attention_decode: wanted "
    assert found(q[0], k, v, table, lengths) == (
        name + "shape [batch, q_len, heads, head_dim] for q, found [2, 4, 64]."
    )
    assert found(q, k.float(), v.float(), table, lengths) == (
        name + "q's dtype or float8_e4m3fn (Float8_e4m3fn) for k_cache, found Float."
    )
    assert found(q, k, v[:1], table, lengths).startswith(name + "one shape for k_cache and v_cache")
    assert found(q, k, v, table.long(), lengths) == (
        name + "int32 (Int) for block_table, found Long."
    )
    assert found(q, k, v, table, lengths.long()) == name + "int32 (Int) for seq_lens, found Long."
    assert found(q, k, v, table[:1], lengths) == (
        name + "shape [2, blocks], the blocks of each sequence of q, for block_table, found [1, 5]."
    )
    assert found(q, k, v, table, lengths[:1]) == (
        name + "shape [2], a length for each sequence of q, for seq_lens, found [1]."
    )
    assert found(q[:, :, :3], k, v, table, lengths) == (
        name + "[batch, q_len, heads, head_dim] with a multiple of k_cache's 2 heads for q, "
        "found shape [2, 2, 3, 64]."
    )
    assert found(q[..., :32], k, v, table, lengths) == (
        name + f"shape [blocks, page_size, kv_heads, 32] for k_cache, found {list(k.shape)}."
    )
    assert found(q, k, v, table, lengths, k_scale=torch.ones(1, device=device)) == (
        name + "caches of float8_e4m3fn (Float8_e4m3fn) with k_scale, found a cache of q's dtype."
    )
    assert found(q, k, v, table, lengths, sinks=torch.ones(3, device=device)) == (
        name + "shape [4], a number for each head of q, for sinks, found [3]."
    )
    assert found(q, k, v, table, lengths, softcap=-1.0) == (
        name + "a finite float32 number from 0 on for softcap, found -1."
    )
    assert found(q, k, v, table, lengths, window=(-2, 0)) == (
        name + "-1 (no bound) or more for window, found (-2, 0)."
    )
    apart = torch.stack([k, k], -1)[..., 0]
    assert found(q, apart, v, table, lengths).startswith(
        name + "a stride of 1 for the last dimension of k_cache (a cache isn't copied), found shape"
    )
    with looking_at_numbers():
        assert found(q, k, v, table, lengths + 100) == (
            name + "lengths from 0 to 80 (5 blocks of 16 keys) for seq_lens, found 170 at index 0."
        )


if __name__ == "__main__":
    main(globals())
