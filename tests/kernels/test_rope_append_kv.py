# SPDX-License-Identifier: Apache-2.0
"""torch.ops.cudaops.rope_append_kv_ against rotations in float64 and copies."""

import random

from kernel_testing import DTYPES, assert_close, kernels, looking_at_numbers, main, normal, opcheck, ops, pytest_generate_tests, refusal  # noqa: F401

import torch

FLOAT8 = torch.float8_e4m3fn
PAGES = 3  # of a sequence


class Case:
    def __init__(
        self,
        device,
        dtype,
        tokens=((0, 1, 2), (5, 30, 9)),
        heads=4,
        kv_heads=2,
        head_dim=64,
        rotary_dim=None,
        page_size=16,
        cache_dtype=None,
        table_dtype=torch.float32,
        position_type=torch.int32,
    ):
        batch, seq = len(tokens), len(tokens[0])
        rotary_dim = head_dim if rotary_dim is None else rotary_dim
        self.q = normal(batch, seq, heads, head_dim, dtype=dtype, device=device, seed=1)
        self.k, self.v = (
            normal(batch, seq, kv_heads, head_dim, dtype=dtype, device=device, seed=i) for i in (2, 3)
        )
        self.cos, self.sin = (
            table.to(device)
            for table in kernels.rotary_cos_sin(PAGES * page_size, max(rotary_dim, 2), dtype=table_dtype)
        )
        if rotary_dim == 0:
            self.cos, self.sin = self.cos[:, :0], self.sin[:, :0]
        blocks = list(range(batch * PAGES + 2))
        random.Random(0).shuffle(blocks)
        self.table = torch.tensor(blocks[: batch * PAGES], dtype=torch.int32, device=device).view(batch, -1)
        self.positions = torch.tensor(tokens, dtype=position_type, device=device)
        shape = (len(blocks), page_size, kv_heads, head_dim)
        cache = normal(*shape, dtype=torch.float32, device=device, seed=4)
        self.k_cache, self.v_cache = (cache.to(cache_dtype or dtype, copy=True) for _ in "kv")

    def arguments(self):
        return (
            self.q,
            self.k,
            self.v,
            self.cos,
            self.sin,
            self.k_cache,
            self.v_cache,
            self.table,
            self.positions,
        )

    def rotated(self, x, interleaved):
        x, result = x.double(), x.double().clone()
        half = self.cos.shape[1]
        positions = self.positions.long().clamp(0, self.cos.shape[0] - 1)
        cos, sin = (table.double()[positions][:, :, None] for table in (self.cos, self.sin))
        if interleaved:
            first, second = (slice(i, 2 * half, 2) for i in (0, 1))
        else:
            first, second = slice(0, half), slice(half, 2 * half)
        a, b = x[..., first], x[..., second]
        result[..., first], result[..., second] = a * cos - b * sin, b * cos + a * sin
        padding = self.positions < 0
        result[padding] = x[padding]
        return result

    def check(self, interleaved=False, k_scale=None, v_scale=None):
        page_size = self.k_cache.shape[1]
        before = [cache.clone() for cache in (self.k_cache, self.v_cache)]
        output = kernels.rope_append_kv_(
            *self.arguments(), interleaved=interleaved, k_scale=k_scale, v_scale=v_scale
        )
        assert_close(output, self.rotated(self.q, interleaved), "q", atol=1e-6)
        for cache, old, new, scale in (
            (self.k_cache, before[0], self.rotated(self.k, interleaved), k_scale),
            (self.v_cache, before[1], self.v.double(), v_scale),
        ):
            written = torch.zeros(cache.shape[:2], dtype=torch.bool, device=cache.device)
            for b, row in enumerate(self.positions.tolist()):
                for i, position in enumerate(row):
                    if position < 0:
                        continue
                    block = self.table[b, position // page_size].item()
                    written[block, position % page_size] = True
                    actual, expected = cache[block, position % page_size], new[b, i]
                    if cache.dtype != FLOAT8:
                        assert_close(actual, expected, (b, i), atol=1e-6)
                        continue
                    if scale is not None:
                        expected = expected / scale.double().expand(len(expected))[:, None]
                    # A step of e4m3 is at most 1/8 of a number, or 2^-9.
                    error = (actual.double() - expected.clamp(-448, 448)).abs()
                    assert (error <= (expected.abs() / 16).clamp_min(2**-10) * 1.0001).all()
            kept = ~written
            assert torch.equal(cache[kept].view(torch.uint8), old[kept].view(torch.uint8))


def test_shapes_and_tables(device):
    for dtype in DTYPES:
        for head_dim, rotary_dim in ((64, 64), (128, 128), (80, 32), (33, 6), (66, 66), (64, 0), (8, 8), (24, 20)):
            for interleaved in (False, True):
                Case(device, dtype, head_dim=head_dim, rotary_dim=rotary_dim).check(interleaved)
        Case(device, dtype, heads=32, kv_heads=1, head_dim=128).check()
        Case(device, dtype, heads=1, kv_heads=1, page_size=7, tokens=((20,), (0,))).check()
        Case(device, dtype, table_dtype=dtype, position_type=torch.int64).check()


def test_float8_cache(device):
    one = torch.tensor([0.5], device=device)
    each = torch.tensor([0.25, 3.0], device=device)
    for dtype in DTYPES:
        for head_dim in (64, 33):
            case = Case(device, dtype, head_dim=head_dim, rotary_dim=32, cache_dtype=FLOAT8)
            case.check()
            case.check(k_scale=one, v_scale=each)


def test_padding_is_left_out(device):
    for dtype in DTYPES:
        Case(device, dtype, tokens=((0, -1, 2), (-1, -7, -1))).check()


def test_what_attention_decode_reads(device):
    """Tokens one at a time give what rope and attention give of the whole sequence."""
    for dtype in DTYPES:
        for cache_dtype, atol in ((None, 2e-2), (FLOAT8, 0.2)):
            case = Case(device, dtype, tokens=(tuple(range(20)),), cache_dtype=cache_dtype)
            q, k = kernels.rope(case.q, case.k, case.cos, case.sin, case.positions)
            expected = torch.nn.functional.scaled_dot_product_attention(
                *(x.double().transpose(1, 2) for x in (q, k.repeat_interleave(2, 2), case.v.repeat_interleave(2, 2))),
                is_causal=True,
            ).transpose(1, 2)
            for i in range(20):
                one = slice(i, i + 1)
                rotated = kernels.rope_append_kv_(
                    *(x[:, one] for x in (case.q, case.k, case.v)),
                    *case.arguments()[3:8],
                    case.positions[:, one],
                )
                lengths = torch.tensor([i + 1], dtype=torch.int32, device=device)
                output = kernels.attention_decode(rotated, case.k_cache, case.v_cache, case.table, lengths)
                torch.testing.assert_close(output.double(), expected[:, one], atol=atol, rtol=atol)


def test_views(device):
    """q, k and v out of one projection, caches in the order of heads first."""
    for dtype in DTYPES:
        wanted = Case(device, dtype)
        q_out = kernels.rope_append_kv_(*wanted.arguments())
        case = Case(device, dtype)
        both = torch.cat([case.q, case.k, case.v], 2)
        case.q, case.k, case.v = both[:, :, :4], both[:, :, 4:6], both[:, :, 6:]
        case.k_cache = case.k_cache.transpose(1, 2).contiguous().transpose(1, 2)
        assert torch.equal(kernels.rope_append_kv_(*case.arguments()), q_out)
        assert torch.equal(case.k_cache, wanted.k_cache) and torch.equal(case.v_cache, wanted.v_cache)


def test_out_of_range_writes_nothing(device):
    case = Case(device, torch.bfloat16, tokens=((3, 48), (2, 1)))
    before = case.k_cache.clone(), case.v_cache.clone()
    with looking_at_numbers():
        assert refusal(lambda: kernels.rope_append_kv_(*case.arguments())) == (
            "rope_append_kv_: wanted positions below 48 (block_table has 3 blocks of 16 keys), found "
            "48 at [0, 1]."
        )
        case.positions[0, 1] = 4
        case.table[1, 0] = 99
        assert refusal(lambda: kernels.rope_append_kv_(*case.arguments())) == (
            "rope_append_kv_: wanted blocks from 0 to 7 (k_cache has 8) for block_table, found 99 at "
            "[1, 0]."
        )
        case.table[1, 0] = 1
        case.cos, case.sin = case.cos[:4], case.sin[:4]
        assert refusal(lambda: kernels.rope_append_kv_(*case.arguments())) == (
            "rope_append_kv_: wanted positions below 4, the rows of cos, found 4 at [0, 1]."
        )
        assert torch.equal(case.k_cache, before[0]) and torch.equal(case.v_cache, before[1])
    if device == "cpu":
        return
    case = Case(device, torch.bfloat16, tokens=((3, 48), (2, 1)))
    case.table[1, 0] = 99
    output = kernels.rope_append_kv_(*case.arguments())
    assert output[0, 1].isnan().all() and not output[0, 0].isnan().any()
    block = case.table[0, 0].item()
    for cache, old in zip((case.k_cache, case.v_cache), before):
        assert not torch.equal(cache[block, 3], old[block, 3])
        cache[block, 3] = old[block, 3]
        assert torch.equal(cache, old)


def test_modes(device):
    case = Case(device, torch.bfloat16)
    opcheck(ops.rope_append_kv_.default, case.arguments())
    expected = kernels.rope_append_kv_(*case.arguments())
    caches = case.k_cache.clone(), case.v_cache.clone()
    for dynamic in (False, True):
        fresh = Case(device, torch.bfloat16)
        compiled = torch.compile(kernels.rope_append_kv_, fullgraph=True, dynamic=dynamic, backend="aot_eager")
        assert torch.equal(compiled(*fresh.arguments()), expected)
        assert torch.equal(fresh.k_cache, caches[0]) and torch.equal(fresh.v_cache, caches[1])
    case.q.requires_grad_()
    assert refusal(lambda: kernels.rope_append_kv_(*case.arguments())) == (
        "rope_append_kv_: wanted q without a gradient, as there is no derivative, found requires_grad."
    )


def test_refusals(device):
    name = "rope_append_kv_: wanted "

    def found(**changes):
        case = Case(device, torch.float16)
        for key, value in changes.items():
            setattr(case, key, value(case))
        return refusal(lambda: kernels.rope_append_kv_(*case.arguments()))

    assert found(q=lambda c: c.q[:, :2]).startswith(
        name + "shapes [batch, seq, heads, head_dim] that differ in heads only for q, k and v, found [2, 2, 4, 64]"
    )
    assert found(v=lambda c: c.v.float()).startswith(name + "one dtype for k and v, found Half and Float")
    assert found(positions=lambda c: c.positions.float()) == (
        name + "int32 (Int) or int64 (Long) for positions, found Float."
    )
    assert found(positions=lambda c: c.positions[:, :1]) == name + "shape [2, 3] for positions, found [2, 1]."
    assert found(cos=lambda c: c.cos[:, :3]).startswith(name + "one shape for cos and sin")
    assert found(table=lambda c: c.table.long()) == name + "int32 (Int) for block_table, found Long."
    assert found(k_cache=lambda c: c.v_cache) == (
        name + "memory of their own for k_cache and v_cache, found that they share some."
    )
    assert found(v=lambda c: c.v[:, :, :1], k=lambda c: c.k[:, :, :1]).startswith(
        name + "one number of heads for k and k_cache, found shapes [2, 3, 1, 64] and ["
    )


if __name__ == "__main__":
    main(globals())
