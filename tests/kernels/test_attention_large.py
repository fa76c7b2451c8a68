# SPDX-License-Identifier: Apache-2.0
"""Attention of tensors beyond 2^31 elements, on a GPU with 70 GB; where CUDAOPS_TEST_LARGE is set."""

import os
import unittest

from kernel_testing import kernels, main
from kernel_testing import pytest_generate_tests  # noqa: F401
from op_testing import refuse

import torch

HEADS, HEAD_DIM = 64, 128
TOKENS = (1 << 31) // (HEADS * HEAD_DIM) + 40
WINDOW = 48
# The last tokens, and those that see only keys among them.
TAIL, COMPARED = 256, 256 - WINDOW


def large(device):
    if device != "cuda" or "CUDAOPS_TEST_LARGE" not in os.environ:
        raise unittest.SkipTest("CUDAOPS_TEST_LARGE is not set, or there is no GPU")
    torch.cuda.empty_cache()
    if torch.cuda.mem_get_info()[0] < 70e9:
        raise unittest.SkipTest("takes 70 GB of the GPU's memory")


def close(actual, expected, case):
    """To twice what the same in bfloat16 is from it."""
    torch.testing.assert_close(
        actual.double(), expected, rtol=0.03, atol=0.03, msg=lambda text: f"{case}: {text}"
    )


def attend(q, k, v, **options):
    """In float64, of the last tokens alone."""
    q, k, v = (x.double() for x in (q, k, v))
    group = q.shape[2] // k.shape[2]
    k, v = (x.repeat_interleave(group, 2) for x in (k, v))
    scores = torch.einsum("bihd,bjhd->bhij", q, k) / HEAD_DIM**0.5
    scores = scores + options.get("bias", 0.0)
    i, j = (torch.arange(n, device=q.device) for n in (q.shape[1], k.shape[1]))
    distance = i[:, None] + k.shape[1] - q.shape[1] - j
    scores = scores.masked_fill((distance < 0) | (distance > WINDOW), -torch.inf)
    return torch.einsum("bhij,bjhd->bihd", scores.softmax(-1), v)


def test_forward_and_backward(device):
    large(device)
    torch.manual_seed(0)
    for kv_heads, bias in ((HEADS, None), (1, None), (1, torch.randn(HEADS, 1, 1, device=device))):
        q = torch.randn(1, TOKENS, HEADS, HEAD_DIM, device=device, dtype=torch.bfloat16)
        k, v = torch.randn(2, 1, TOKENS, kv_heads, HEAD_DIM, device=device, dtype=torch.bfloat16)
        for x in (q, k, v):
            x.requires_grad_()
        options = {"causal": True, "window": (WINDOW, 0), "bias": bias}
        output = kernels.attention(q, k, v, **options)
        grad = torch.randn_like(output[:, -TAIL:])
        tails = [x.detach()[:, -TAIL:].double().requires_grad_() for x in (q, k, v)]
        expected = attend(*tails)
        case = (kv_heads, bias is not None)
        close(output[:, -COMPARED:], expected[:, -COMPARED:], case)
        output[:, -TAIL:].backward(grad)
        expected.backward(grad.double())
        for x, tail in zip((q, k, v), tails):
            close(x.grad[:, -COMPARED:], tail.grad[:, -COMPARED:], case)
        del q, k, v, output, grad


def test_paged_caches(device):
    large(device)
    torch.manual_seed(0)
    kv_heads, page_size = 8, 16
    blocks = (1 << 31) // (page_size * kv_heads * HEAD_DIM) + 3
    shape = (blocks, page_size, kv_heads, HEAD_DIM)
    k_cache, v_cache = (torch.zeros(shape, device=device, dtype=torch.bfloat16) for _ in range(2))
    table = torch.tensor([[blocks - 1, 0], [blocks - 2, 1]], device=device, dtype=torch.int32)
    length = 30
    q, k, v = (
        torch.randn(2, length, heads, HEAD_DIM, device=device, dtype=torch.bfloat16)
        for heads in (HEADS, kv_heads, kv_heads)
    )
    cos, sin = kernels.rotary_cos_sin(length, HEAD_DIM, device=device, dtype=torch.float32)
    positions = torch.arange(length, device=device).expand(2, -1)
    rotated, keys = kernels.rope(q, k, cos, sin)
    found = kernels.rope_append_kv_(q, k, v, cos, sin, k_cache, v_cache, table, positions)
    torch.testing.assert_close(found, rotated)
    torch.testing.assert_close(k_cache[blocks - 1], keys[0, :page_size])
    torch.testing.assert_close(v_cache[blocks - 2], v[1, :page_size])
    lengths = torch.full((2,), length, device=device, dtype=torch.int32)
    output = kernels.attention_decode(rotated[:, -2:], k_cache, v_cache, table, lengths)
    close(output, attend(rotated[:, -2:], keys, v), "decode")


if __name__ == "__main__":
    if "CUDAOPS_TEST_LARGE" not in os.environ:
        refuse("CUDAOPS_TEST_LARGE is not set")
    main(globals())
