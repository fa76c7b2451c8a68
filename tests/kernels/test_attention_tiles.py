# SPDX-License-Identifier: Apache-2.0
"""Attention with more tiles than a GPU has multiprocessors, so that blocks that take one after the other take several;
small enough for compute-sanitizer. On a GPU only: on the CPU there are no tiles."""

import unittest

from kernel_testing import kernels, main
from kernel_testing import pytest_generate_tests  # noqa: F401

import torch

HEADS, KV_HEADS = 24, 8
# Of q and k, of v: each has loops of its own.
HEAD_DIMS = ((64, 64), (96, 96), (128, 128), (192, 128), (192, 192), (256, 256))
FLOAT8_DIMS = ((64, 64), (128, 128), (192, 128), (256, 256))
TILE = 64  # the smallest of queries or keys
LENGTHS = (512, 700, 0, 1, 1900)


def on_gpu(device):
    if device != "cuda":
        raise unittest.SkipTest("on the CPU there are no tiles")
    torch.manual_seed(0)


def normal(*shape):
    return torch.randn(shape, device="cuda", dtype=torch.bfloat16)


def attend(q, k, v, causal, bias=0.0):
    """In float32; [batch, tokens, heads, head_dim]."""
    k, v = (x.repeat_interleave(q.shape[2] // k.shape[2], 2) for x in (k, v))
    scores = torch.einsum("bihd,bjhd->bhij", q, k) / q.shape[-1] ** 0.5 + bias
    if causal:
        i, j = (torch.arange(n, device=q.device) for n in (q.shape[1], k.shape[1]))
        scores = scores.masked_fill(j > i[:, None] + k.shape[1] - q.shape[1], -torch.inf)
    return torch.einsum("bhij,bjhd->bihd", scores.softmax(-1), v)


def require_close(found, wanted, most, case):
    """The relative error of each tile: one that is another's, or nobody's, has about 1."""
    error = (found.float() - wanted).square().sum(-1)
    for first in range(0, wanted.shape[1], TILE):
        part = (slice(None), slice(first, first + TILE))
        relative = (error[part].sum(1) / wanted[part].square().sum((1, 3)).clamp(min=1e-30)).sqrt()
        assert relative.max().item() <= most, (case, first, relative)  # a NaN fails too


def test_forward_and_backward(device):
    on_gpu(device)
    for tokens, causal in ((1024, False), (1024, True), (1000, True)):
        for qk_dim, v_dim in HEAD_DIMS:
            case = (tokens, causal, qk_dim, v_dim)
            inputs = [
                normal(2, tokens, heads, head_dim).requires_grad_()
                for heads, head_dim in ((HEADS, qk_dim), (KV_HEADS, qk_dim), (KV_HEADS, v_dim))
            ]
            output = kernels.attention(*inputs, causal=causal)
            grad = normal(*output.shape)
            found = torch.autograd.grad(output, inputs, grad)
            exact = [x.detach().float().requires_grad_() for x in inputs]
            expected = attend(*exact, causal)
            wanted = torch.autograd.grad(expected, exact, grad.float())
            require_close(output.detach(), expected.detach(), 0.01, case)
            for a, b in zip(found, wanted):
                require_close(a, b, 0.02, case)


def test_bias(device):
    on_gpu(device)
    for tokens, causal, batch in ((1024, False, 2), (1000, True, 1)):
        for head_dim in (64, 128, 256):
            case = (tokens, causal, batch, head_dim)
            inputs = [normal(2, tokens, heads, head_dim) for heads in (HEADS, KV_HEADS, KV_HEADS)]
            inputs = [x.requires_grad_() for x in (*inputs, normal(batch, HEADS, tokens, tokens))]
            *tensors, bias = inputs
            output = kernels.attention(*tensors, bias=bias, causal=causal)
            grad = normal(*output.shape)
            found = torch.autograd.grad(output, inputs, grad)
            exact = [x.detach().float().requires_grad_() for x in inputs]
            expected = attend(*exact[:3], causal, exact[3])
            wanted = torch.autograd.grad(expected, exact, grad.float())
            require_close(output.detach(), expected.detach(), 0.01, case)
            for a, b in zip(found[:3], wanted):
                require_close(a, b, 0.02, case)
            require_close(*(x.transpose(1, 2) for x in (found[3], wanted[3])), 0.02, case)


def test_last_round(device):
    """132 multiprocessors: the last round's couples of tiles are shorter (attention_sm90_schedule.cuh)."""
    on_gpu(device)
    for heads, (qk_dim, v_dim) in ((124, (64, 64)), *((62, dims) for dims in HEAD_DIMS[1:])):
        q, k, v = (normal(1, 1024, heads, head_dim) for head_dim in (qk_dim, qk_dim, v_dim))
        output = kernels.attention(q, k, v, causal=True)
        for first in range(0, heads, 31):
            part = [x[:, :, first : first + 31] for x in (q, k, v, output)]
            expected = attend(*(x.float() for x in part[:3]), True)
            require_close(part[3], expected, 0.01, (first, qk_dim, v_dim))


def test_varlen(device):
    on_gpu(device)
    ends = torch.tensor((0, *LENGTHS), device="cuda").cumsum(0, dtype=torch.int32)
    for causal in (False, True):
        for qk_dim, v_dim in HEAD_DIMS:
            q, k, v = (
                normal(sum(LENGTHS), heads, head_dim).requires_grad_()
                for heads, head_dim in ((HEADS, qk_dim), (KV_HEADS, qk_dim), (KV_HEADS, v_dim))
            )
            output = kernels.attention_varlen(
                q, k, v, ends, ends, max(LENGTHS), max(LENGTHS), causal=causal
            )
            grad = normal(*output.shape)
            found = torch.autograd.grad(output, (q, k, v), grad)
            first = 0
            for length in LENGTHS:
                if length:
                    part = slice(first, first + length)
                    exact = [x.detach()[None, part].float().requires_grad_() for x in (q, k, v)]
                    expected = attend(*exact, causal)
                    wanted = torch.autograd.grad(expected, exact, grad[None, part].float())
                    case = (causal, qk_dim, v_dim, length)
                    require_close(output.detach()[None, part], expected.detach(), 0.01, case)
                    if length > 1:  # of one key the gradients by q and k are rounding errors
                        for a, b in zip(found, wanted):
                            require_close(a[None, part], b, 0.02, case)
                first += length


def test_one_tile(device):
    """Queries of one tile and keys of one block (attention_sm90_one_tile.cu), and nearly so."""
    on_gpu(device)
    for q_tokens, k_tokens, causal in (
        (64, 64, False), (40, 64, True), (128, 128, True), (100, 100, False), (17, 120, True), (90, 60, False), (50, 200, False),
    ):  # fmt: skip
        for qk_dim, v_dim in HEAD_DIMS:
            q = normal(70, q_tokens, HEADS, qk_dim)
            k, v = (normal(70, k_tokens, KV_HEADS, head_dim) for head_dim in (qk_dim, v_dim))
            output = kernels.attention(q, k, v, causal=causal)
            expected = attend(q.float(), k.float(), v.float(), causal)
            require_close(output, expected, 0.01, (q_tokens, k_tokens, causal, qk_dim, v_dim))


def test_one_tile_varlen(device):
    on_gpu(device)
    for most, head_dim, causal in ((64, 64, True), (128, 64, False), (64, 128, False), (128, 128, True), (64, 256, True)):
        lengths = [(most, 1, 0, most // 2 + 1, 50)[i % 5] for i in range(90)]
        ends = torch.tensor((0, *lengths), device="cuda").cumsum(0, dtype=torch.int32)
        q, k, v = (normal(sum(lengths), heads, head_dim) for heads in (HEADS, KV_HEADS, KV_HEADS))
        output = kernels.attention_varlen(q, k, v, ends, ends, most, most, causal=causal)
        first = 0
        for length in lengths:
            part = slice(first, first + length)
            expected = attend(*(x[None, part].float() for x in (q, k, v)), causal)
            require_close(output[None, part], expected, 0.01, (most, head_dim, causal, first))
            first += length


def test_float8(device):
    on_gpu(device)
    for qk_dim, v_dim in FLOAT8_DIMS:
        for causal in (False, True):
            q, k, v = (
                normal(2, 1024, heads, head_dim).to(torch.float8_e4m3fn)
                for heads, head_dim in ((HEADS, qk_dim), (KV_HEADS, qk_dim), (KV_HEADS, v_dim))
            )
            output = kernels.attention(q, k, v, causal=causal)
            expected = attend(q.float(), k.float(), v.float(), causal)
            require_close(output, expected, 0.05, (qk_dim, v_dim, causal))  # weights in float8


def test_decode(device):
    on_gpu(device)
    batch, page_size, most = 40, 16, 1024
    lengths = torch.arange(batch, device="cuda", dtype=torch.int32) * 13 % (most - 4) + 4
    blocks = torch.randperm(batch * most // page_size, device="cuda", dtype=torch.int32)
    table = blocks.view(batch, -1)
    for head_dim in (64, 128, 256):
        caches = [normal(len(blocks), page_size, KV_HEADS, head_dim) for _ in range(2)]
        for q_len in (1, 4):
            q = normal(batch, q_len, HEADS, head_dim)
            output = kernels.attention_decode(q, *caches, table, lengths)
            for index, length in enumerate(lengths.tolist()):
                keys, values = (
                    cache[table[index].long()].flatten(0, 1)[None, :length].float()
                    for cache in caches
                )
                expected = attend(q[None, index].float(), keys, values, True)
                case = (head_dim, q_len, index)
                require_close(output[None, index], expected, 0.01, case)


if __name__ == "__main__":
    main(globals())
