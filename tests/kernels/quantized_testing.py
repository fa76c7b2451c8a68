# SPDX-License-Identifier: Apache-2.0
"""For the tests of quantised ops: blocks and roundings in float64, without the ops' formulas."""

import torch
from op_testing import cases

FLOAT8 = torch.float8_e4m3fn
LARGEST = {torch.int8: 127.0, FLOAT8: 448.0}
SMALLEST_SCALE = 2.0**-126

# Shape and block_size: rows, groups, tiles, matrices, and what divides nothing.
CASES = cases("quantize")


def bits(x):
    """As whole numbers: torch compares no float8, and NaN is equal to itself."""
    return x.view(torch.int8) if x.dtype == FLOAT8 else x


def block_of(shape, block_size):
    """block_size with numbers for -1, one for each of two dimensions."""
    sizes = list(shape[-2:]) if len(shape) > 1 else [1, shape[0]]
    entries = list(block_size) if len(block_size) == 2 else [1, *block_size]
    return [size if entry == -1 else entry for size, entry in zip(sizes, entries)]


def by_blocks(x, block_size):
    """[*, rows of blocks, columns of blocks, elements of a block], filled up with zeros."""
    rows, columns = block_of(x.shape, block_size)
    x = x if x.dim() > 1 else x.unsqueeze(0)
    x = torch.nn.functional.pad(x, (0, -x.shape[-1] % columns, 0, -x.shape[-2] % rows))
    x = x.unflatten(-1, (-1, columns)).unflatten(-3, (-1, rows))
    return x.transpose(-2, -3).flatten(-2)


def per_element(numbers, shape, block_size):
    """A number a block, spread over the block's elements."""
    rows, columns = block_of(shape, block_size)
    numbers = numbers if len(shape) > 1 else numbers.unsqueeze(0)
    spread = numbers.repeat_interleave(rows, -2).repeat_interleave(columns, -1)
    spread = spread[..., : (shape[-2] if len(shape) > 1 else 1), : shape[-1]]
    return spread if len(shape) > 1 else spread.squeeze(0)


def finite(x):
    """What counts in a block's range."""
    largest = torch.finfo(torch.float32).max
    return x.double().nan_to_num(nan=0.0, posinf=largest, neginf=-largest)


def symmetric_scales(x, dtype, block_size, bound=None):
    largest = by_blocks(finite(x), block_size).abs().amax(-1)
    if bound is not None:
        largest = largest.clamp(max=bound)
    scales = (largest / LARGEST[dtype]).clamp(min=SMALLEST_SCALE)
    return scales if x.dim() > 1 else scales.squeeze(0)


def rounded(x, dtype):
    """float64 to the nearest number of dtype, as float64."""
    x = x.clamp(-LARGEST[dtype], LARGEST[dtype])
    if dtype == torch.int8:
        return x.round()
    exponent = torch.floor(torch.log2(x.abs().clamp(min=2.0**-6)))
    step = torch.exp2(exponent - 3)
    return (x / step).round() * step


def assert_nearest(output, wanted, dtype, case=None):
    """output is wanted rounded, or what a number 1e-6 beside it is rounded to."""
    below, above = (rounded(wanted * factor, dtype) for factor in (1 - 1e-6, 1 + 1e-6))
    found = output.double()
    low, high = torch.minimum(below, above), torch.maximum(below, above)
    is_right = (found >= low) & (found <= high)
    if not is_right.all():
        at = tuple((~is_right).nonzero()[0].tolist())
        raise AssertionError(
            f"{case}: at {at} {found[at].item()} for {wanted[at].item()}, "
            f"{(~is_right).sum().item()} wrong"
        )


def assert_scales(scale, wanted, case=None):
    assert scale.dtype == torch.float32 and scale.shape == wanted.shape, (case, scale.shape)
    torch.testing.assert_close(
        scale.double(), wanted, rtol=2e-7, atol=0, msg=lambda text: f"{case}: {text}"
    )
