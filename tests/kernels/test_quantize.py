# SPDX-License-Identifier: Apache-2.0
"""torch.ops.cudaops.quantize against float64 and torch."""

from kernel_testing import DTYPES, kernels, main, normal, opcheck, ops, refusal
from kernel_testing import pytest_generate_tests  # noqa: F401
from quantized_testing import (
    CASES,
    FLOAT8,
    SMALLEST_SCALE,
    assert_nearest,
    assert_scales,
    bits,
    by_blocks,
    finite,
    per_element,
    symmetric_scales,
)

import torch

QUANTIZED = (torch.int8, FLOAT8)


def spread_out(shape, dtype, device):
    """Normal numbers of several magnitudes, a row of zeros."""
    x = normal(*shape, dtype=torch.float32, device=device)
    x = x * torch.exp2(normal(*shape, dtype=torch.float32, device=device, seed=1).round())
    if x.dim() > 1:
        x[..., -1, :] = 0
    return x.to(dtype)


def test_symmetric(device):
    for dtype in DTYPES:
        for shape, block_size in CASES:
            x = spread_out(shape, dtype, device)
            for quantized in QUANTIZED:
                case = (shape, block_size, dtype, quantized)
                output, scale, zero_point = ops.quantize(x, quantized, block_size)
                assert output.dtype == quantized and output.shape == x.shape
                assert zero_point.dtype == torch.int32 and zero_point.numel() == 0
                assert output.is_contiguous() and scale.is_contiguous()
                assert_scales(scale, symmetric_scales(x, quantized, block_size), case)
                spread = per_element(scale.double(), shape, block_size)
                assert_nearest(output, x.double() / spread, quantized, case)
                assert output.double().abs().max() <= (127 if quantized == torch.int8 else 448)


def test_asymmetric(device):
    for dtype in DTYPES:
        for shape, block_size in CASES:
            for shift in (0.0, 4.0, -30.0):
                x = (spread_out(shape, torch.float32, device) + shift).to(dtype)
                output, scale, zero_point = ops.quantize(
                    x, torch.int8, block_size, symmetric=False
                )
                blocks = by_blocks(x.double(), block_size)
                high, low = blocks.amax(-1).clamp(min=0), blocks.amin(-1).clamp(max=0)
                wanted = ((high - low) / 255).clamp(min=SMALLEST_SCALE)
                wanted = wanted if x.dim() > 1 else wanted.squeeze(0)
                case = (shape, block_size, dtype, shift)
                assert_scales(scale, wanted, case)
                assert zero_point.shape == scale.shape and zero_point.dtype == torch.int32
                low = low if x.dim() > 1 else low.squeeze(0)
                exact_zero = -128 - low / scale.double()
                assert ((zero_point - exact_zero).abs() <= 0.5 + 1e-4).all(), case
                assert -128 <= zero_point.min() and zero_point.max() <= 127
                spread = per_element(scale.double(), shape, block_size)
                zero = per_element(zero_point.double(), shape, block_size)
                exact = x.double() / spread
                bracket = [(exact * f).round() + zero for f in (1 - 1e-6, 1 + 1e-6)]
                bracket = [b.clamp(-128, 127) for b in bracket]
                found = output.double()
                assert (found >= torch.minimum(*bracket)).all(), case
                assert (found <= torch.maximum(*bracket)).all(), case


def test_power_of_two_scales_and_bound(device):
    for shape, block_size in CASES:
        x = spread_out(shape, torch.bfloat16, device)
        for quantized in QUANTIZED:
            case = (shape, block_size, quantized)
            plain = ops.quantize(x, quantized, block_size)[1]
            output, scale, _ = ops.quantize(x, quantized, block_size, ue8m0=True)
            # On the CPU, where log2 of a power of two is exact.
            powers = torch.exp2(torch.log2(plain.double().cpu()).ceil()).float()
            assert torch.equal(scale.cpu(), powers), case
            spread = per_element(scale.double(), shape, block_size)
            assert_nearest(output, x.double() / spread, quantized, case)
            bound = torch.tensor([0.75], device=device)
            output, scale, _ = ops.quantize(x, quantized, block_size, scale_ub=bound)
            assert_scales(scale, symmetric_scales(x, quantized, block_size, 0.75), case)
            spread = per_element(scale.double(), shape, block_size)
            assert_nearest(output, x.double() / spread, quantized, case)


def test_given_scale(device):
    for shape, block_size in CASES:
        x = spread_out(shape, torch.bfloat16, device)
        for quantized in QUANTIZED:
            own = ops.quantize(x, quantized, block_size)
            scale = (own[1] * 0.7).clamp(min=torch.finfo(torch.float32).tiny)
            output, returned, _ = ops.quantize(x, quantized, block_size, scale)
            assert returned.numel() == 0
            spread = per_element(scale.double(), shape, block_size)
            assert_nearest(output, x.double() / spread, quantized, (shape, block_size))
            again = ops.quantize(x, quantized, block_size, own[1])[0]
            assert torch.equal(bits(again), bits(own[0]))
            if scale.dim() > 1:
                transposed = scale.transpose(-1, -2).contiguous().transpose(-1, -2)
                assert torch.equal(
                    bits(ops.quantize(x, quantized, block_size, transposed)[0]), bits(output)
                )
    x = normal(4, 6, dtype=torch.float32, device=device)
    for shape in ((), (1,), (1, 1)):
        scale = torch.full(shape, 0.5, device=device)
        output = ops.quantize(x, torch.int8, (-1, -1), scale)[0]
        assert torch.equal(output.float(), (x * 2).round())
    output, same, zero_point = kernels.quantize(x, torch.int8, (-1, -1), scale)
    assert same is scale and zero_point is None


def test_column_major_scales(device):
    for shape, block_size in CASES:
        if len(shape) == 1:
            continue
        x = spread_out(shape, torch.bfloat16, device)
        for options in ({}, {"symmetric": False}):
            plain = ops.quantize(x, torch.int8, block_size, **options)
            found = ops.quantize(x, torch.int8, block_size, scales_column_major=True, **options)
            assert found[1].transpose(-1, -2).is_contiguous()
            for a, b in zip(plain, found):
                assert torch.equal(a, b), (shape, block_size)


def float8_numbers(device):
    """All numbers of float8 in float32, and what lies in the middle between two."""
    values = torch.arange(-128, 128, dtype=torch.int8).view(FLOAT8).float()
    values = values[~values.isnan()].unique()
    return torch.cat([values, (values[1:] + values[:-1]) / 2]).to(device)


def test_float8_rounds_as_torch(device):
    x = float8_numbers(device)
    near = torch.cat([torch.nextafter(x, x.new_tensor(s)) for s in (-500.0, 500.0)])
    for x in (x, near[near.abs() <= 448]):
        for scale in (1.0, 0.25):
            output = ops.quantize(x * scale, FLOAT8, (-1,), x.new_tensor([scale]))[0]
            assert torch.equal(output.float(), x.to(FLOAT8).float())
    far = x.new_tensor([448.1, 464.0, 465.0, 1e30, float("inf")])
    output = ops.quantize(torch.cat([far, -far]), FLOAT8, (-1,), x.new_tensor([1.0]))[0]
    assert output.float().tolist() == [448.0] * 5 + [-448.0] * 5
    zeros = ops.quantize(x.new_tensor([0.0, -0.0]), FLOAT8, (-1,))[0]
    assert bits(zeros).tolist() == [0, -128]


def test_int8_rounds_ties_to_even(device):
    x = torch.arange(-300, 301, device=device) / 2
    output = ops.quantize(x, torch.int8, (-1,), x.new_tensor([1.0]))[0]
    assert torch.equal(output.float(), x.round().clamp(-127, 127))


def test_nan_infinity_and_zeros(device):
    nan, infinity = float("nan"), float("inf")
    for dtype in DTYPES:
        for block_size in ((1, -1), (1, 32), (1, 24), (16, 32), (7, 9)):
            x = normal(33, 64, dtype=dtype, device=device)
            x[0, 3], x[0, 5] = nan, -nan
            x[1, 3], x[2, 40] = infinity, -infinity
            x[4] = nan
            x[8] = 0
            for quantized in QUANTIZED:
                case = (dtype, block_size, quantized)
                output, scale, _ = ops.quantize(x, quantized, block_size)
                assert scale.isfinite().all() and (scale > 0).all(), case
                assert_scales(scale, symmetric_scales(x, quantized, block_size), case)
                values = output.float()
                if quantized == FLOAT8:
                    assert torch.equal(values.isnan(), x.isnan()), case
                    assert (bits(output)[x.isnan()] == 0x7F).all()
                else:
                    assert (values[x.isnan()] == 0).all(), case
                spread = per_element(scale.double(), x.shape, block_size)
                wanted = (finite(x) / spread).where(~x.isnan(), 0.0)
                assert_nearest(values.nan_to_num(nan=0.0), wanted, quantized, case)
            output, scale, zero_point = ops.quantize(x, torch.int8, block_size, symmetric=False)
            assert scale.isfinite().all() and (scale > 0).all(), case
            zero = per_element(zero_point, x.shape, block_size)
            assert torch.equal(output[x.isnan()].int(), zero[x.isnan()])
            assert torch.equal(output[8].int(), zero[8].int())
    tiny = torch.full((2, 8), 1e-44, device=device)
    for quantized in QUANTIZED:
        output, scale, _ = ops.quantize(tiny, quantized, (1, -1))
        assert (scale == SMALLEST_SCALE).all() and (output.float() == 0).all()


def philox(seed, counter):
    """Philox4x32-10 with Python's whole numbers."""
    key, words = [seed % 2**32, seed >> 32], [counter % 2**32, counter >> 32, 0, 0]
    for _ in range(10):
        high_0, low_0 = divmod(0xD2511F53 * words[0], 2**32)
        high_1, low_1 = divmod(0xCD9E8D57 * words[2], 2**32)
        words = [high_1 ^ words[1] ^ key[0], low_1, high_0 ^ words[3] ^ key[1], low_0]
        key = [(key[0] + 0x9E3779B9) % 2**32, (key[1] + 0xBB67AE85) % 2**32]
    return words


def random_word(seed, element):
    """Half element % 8 of a call, above the other half of its word."""
    word = philox(seed, element // 8)[element % 8 // 2]
    return word if element % 2 else (word << 16 | word >> 16) % 2**32


def test_random_rounding_is_philox(device):
    assert philox(0, 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    for width in (16, 13):
        seed = 0x123456789ABCDEF
        x = normal(5, width, dtype=torch.float32, device=device) * 20
        output = ops.quantize(x, torch.int8, (-1, -1), x.new_tensor(1.0), seed=seed)[0]
        words = [random_word(seed, i) / 2**32 for i in range(x.numel())]
        wanted = (x.double().cpu() + torch.tensor(words, dtype=torch.float64).view(x.shape)).floor()
        # The op has 22 bits of them.
        sure = ((x.double().cpu() + torch.tensor(words).view(x.shape)) % 1 - 0.5).abs() < 0.499
        assert torch.equal(output.double().cpu()[sure], wanted.clamp(-127, 127)[sure])
        assert sure.float().mean() > 0.9


def test_random_rounding(device):
    for quantized in QUANTIZED:
        for shape, block_size in (((8, 64), (1, -1)), ((4, 256), (1, 128)), ((5, 33), (-1, -1))):
            x = normal(*shape, dtype=torch.bfloat16, device=device)
            x[0] = torch.linspace(-1e-3, 1e-3, shape[-1])  # subnormal in float8
            scale = None
            total, num_seeds = 0, 400
            first = ops.quantize(x, quantized, block_size, seed=0)
            for seed in range(num_seeds):
                output, scale, _ = ops.quantize(x, quantized, block_size, seed=seed)
                total = total + output.double()
            assert torch.equal(scale, first[1])
            spread = per_element(scale.double(), shape, block_size)
            exact = x.double() / spread
            step = torch.exp2(torch.floor(torch.log2(exact.abs().clamp(min=2.0**-6))) - 3)
            step = step if quantized == FLOAT8 else torch.ones_like(exact)
            # A mean of so many: at most 1/2 step of deviation each.
            allowed = 5 * 0.5 * step / num_seeds**0.5 + 1e-5
            assert ((total / num_seeds - exact).abs() <= allowed).all(), (quantized, shape)
            other = ops.quantize(x, quantized, block_size, seed=1)[0]
            again = ops.quantize(x, quantized, block_size, seed=0)[0]
            assert torch.equal(bits(again), bits(first[0]))
            assert not torch.equal(bits(other), bits(first[0]))
            # No element is further away than its neighbours.
            assert ((first[0].double() - exact).abs() <= step * 1.001).all()
    x = normal(4, 32, dtype=torch.float32, device=device) + 3
    output, scale, zero_point = ops.quantize(x, torch.int8, (1, -1), symmetric=False, seed=3)
    error = ((output.int() - zero_point).double() * scale.double() - x.double()).abs()
    assert (error <= scale * 1.51).all()  # the zero point is rounded too
    numbers = float8_numbers(device)[:253]
    output = ops.quantize(numbers, FLOAT8, (-1,), numbers.new_tensor([1.0]), seed=5)[0]
    assert torch.equal(output.float(), numbers)  # nothing to round


def test_strided_and_misaligned_rows(device):
    for dtype in DTYPES:
        wide = normal(20, 1300, dtype=dtype, device=device)
        views = (wide[:, :512], wide[:, 1:513], wide[::2, 3:700], wide.t()[:, :16], wide[:1])
        for x in (*views, wide[0, 5:805], wide[:, :128].expand(3, 20, 128), wide.view(4, 5, 1300)):
            for block in (-1, 128, 24):
                for block_size in ((block,),) if x.dim() == 1 else ((1, block), (4, block)):
                    for quantized in QUANTIZED:
                        for seed in (None, 7):
                            found = ops.quantize(x, quantized, block_size, seed=seed)
                            want = ops.quantize(x.contiguous(), quantized, block_size, seed=seed)
                            assert torch.equal(bits(found[0]), bits(want[0]))
                            assert torch.equal(found[1], want[1])
                            assert found[0].is_contiguous()


def test_same_bits_on_all_devices(device):
    """On the CPU: whatever the threads."""
    threads = torch.get_num_threads()
    for dtype in DTYPES:
        for shape, block_size in CASES:
            x = spread_out(shape, dtype, "cpu")
            x.view(-1)[0] = float("nan")
            x.view(-1)[-1] = -float("inf")
            for quantized in QUANTIZED:
                for options in (
                    {},
                    {"ue8m0": True},
                    {"symmetric": False},
                    {"seed": 11},
                    {"symmetric": False, "seed": 2**63 - 1},
                ):
                    if quantized == FLOAT8 and "symmetric" in options:
                        continue
                    want = ops.quantize(x, quantized, block_size, **options)
                    torch.set_num_threads(1)
                    found = ops.quantize(x.to(device), quantized, block_size, **options)
                    torch.set_num_threads(threads)
                    for a, b in zip(found, want):
                        assert torch.equal(bits(a).cpu(), bits(b)), (shape, block_size, options)


def test_no_elements(device):
    for shape, block_size, blocks in (
        ((0, 8), (1, -1), (0, 1)),
        ((3, 0), (1, -1), (3, 0)),
        ((3, 0), (1, 128), (3, 0)),
        ((0, 3, 8), (-1, -1), (0, 1, 1)),
        ((0,), (-1,), (0,)),
        ((0, 8), (128, 4), (0, 2)),
    ):
        x = torch.empty(shape, device=device)
        for options in ({}, {"symmetric": False}, {"seed": 1}):
            output, scale, zero_point = ops.quantize(x, torch.int8, block_size, **options)
            assert output.shape == shape and scale.shape == blocks
            assert zero_point.shape == (blocks if "symmetric" in options else (0,))


def test_has_no_gradient(device):
    x = normal(4, 8, dtype=torch.float32, device=device).requires_grad_()
    output, scale, _ = kernels.quantize(x, FLOAT8, (1, -1))
    assert not output.requires_grad and not scale.requires_grad


def test_refuses_in_one_sentence(device):
    x = torch.zeros(2, 8, device=device)
    one = torch.ones(1, device=device)
    cases = [
        (
            lambda: ops.quantize(x.int(), torch.int8, (1, -1)),
            "quantize: wanted float32 (Float), float16 (Half) or bfloat16 (BFloat16) for input, "
            "found Int.",
        ),
        (
            lambda: ops.quantize(x, torch.uint8, (1, -1)),
            "quantize: wanted int8 (Char) or float8_e4m3fn (Float8_e4m3fn) for dtype, found Byte.",
        ),
        (
            lambda: ops.quantize(x, torch.int8, (-1,)),
            "quantize: wanted 2 entries for block_size, one for each of input's last dimensions, "
            "found [-1].",
        ),
        (
            lambda: ops.quantize(x, torch.int8, (1, 0)),
            "quantize: wanted numbers above 0, or -1 for a whole dimension, for block_size, "
            "found [1, 0].",
        ),
        (
            lambda: ops.quantize(x.sum(), torch.int8, ()),
            "quantize: wanted at least one dimension for input, found none.",
        ),
        (
            lambda: ops.quantize(x, FLOAT8, (1, -1), symmetric=False),
            "quantize: wanted symmetric=True for dtype Float8_e4m3fn, found False.",
        ),
        (
            lambda: ops.quantize(x, torch.int8, (1, -1), x[:, :1] + 1, symmetric=False),
            "quantize: wanted symmetric=True with a given scale, found False.",
        ),
        (
            lambda: ops.quantize(x, torch.int8, (1, -1), x[:, :1] + 1, scale_ub=one),
            "quantize: wanted no scale_ub with a given scale.",
        ),
        (
            lambda: ops.quantize(x, torch.int8, (1, -1), x[:, :1] + 1, ue8m0=True),
            "quantize: wanted ue8m0=False with a given scale, found True.",
        ),
        (
            lambda: ops.quantize(x, torch.int8, (1, -1), x[:, :1] + 1, scales_column_major=True),
            "quantize: wanted scales_column_major=False with a given scale, found True.",
        ),
        (
            lambda: ops.quantize(x, torch.int8, (1, 4), x[:, :1] + 1),
            "quantize: wanted shape [2, 2] for scale, a number a block, found [2, 1].",
        ),
        (
            lambda: ops.quantize(x, torch.int8, (1, -1), x[:, :1].double()),
            "quantize: wanted Float for scale, found Double.",
        ),
        (
            lambda: ops.quantize(x, torch.int8, (1, -1), scale_ub=x),
            "quantize: wanted one float32 (Float) number for scale_ub, found Float of shape "
            "[2, 8].",
        ),
    ]
    if device == "cpu":  # what a GPU's memory holds is not looked at
        for value, text in ((0.0, "0"), (-1.0, "-1"), (float("nan"), "nan"), (1e-39, "1e-39")):
            sentence = f"wanted positive finite numbers, no subnormal ones, for scale, found {text}."
            cases.append(
                (
                    lambda value=value: ops.quantize(x, torch.int8, (-1, -1), one * value),
                    f"quantize: {sentence}",
                )
            )
        cases.append(
            (
                lambda: ops.quantize(x, torch.int8, (1, -1), scale_ub=one * 0),
                "quantize: wanted positive finite numbers, no subnormal ones, for scale_ub, found 0.",
            )
        )
    else:
        cases.append(
            (
                lambda: ops.quantize(x, torch.int8, (1, -1), x[:, :1].cpu() + 1),
                "quantize: wanted one device for input and scale, found cuda:0 and cpu.",
            )
        )
    for call, sentence in cases:
        found = refusal(call).replace("-nan", "nan")
        assert found == sentence, found


def test_opcheck(device):
    for dtype in DTYPES:
        x = normal(6, 64, dtype=dtype, device=device)
        for quantized in QUANTIZED:
            opcheck(ops.quantize.default, (x, quantized, [1, -1]))
            opcheck(ops.quantize.default, (x.clone().requires_grad_(), quantized, [4, 48]))
        scale = torch.full((6, 1), 0.1, device=device)
        opcheck(ops.quantize.default, (x, torch.int8, [1, -1], scale))
        opcheck(ops.quantize.default, (x, torch.int8, [1, 16], None, None, False, True, True, 5))


if __name__ == "__main__":
    main(globals())
