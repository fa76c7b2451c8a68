# SPDX-License-Identifier: Apache-2.0
"""What holds for the arguments of all ops: one device, nothing that is overwritten behind autograd's
back or twice, no second derivative, no None, no copy in silence."""

import contextlib
import os
import sys
import tempfile

from kernel_testing import kernels, main, normal, ops, refusal
from kernel_testing import pytest_generate_tests  # noqa: F401

import torch
import torch.nn.functional as F


def table(device):
    return normal(4, 4, dtype=torch.float32, device=device)


def heads(device, num_heads=2):
    return normal(1, 4, num_heads, 8, dtype=torch.float32, device=device)


def sequences(device):
    return normal(1, 4, 2, 8, dtype=torch.float32, device=device)


def rows(device, num_rows=3, width=8):
    return normal(num_rows, width, dtype=torch.float32, device=device)


def targets(device):
    return torch.arange(3, device=device)


def in_place(device):
    """name → (call that writes, a tensor that it writes)."""
    q, input, logits = heads(device), rows(device), rows(device)
    cos, sin, residual = table(device), table(device), rows(device)
    return {
        "rope_": (lambda: kernels.rope_(q, heads(device), cos, sin), q),
        "fused_add_rms_norm_": (lambda: kernels.fused_add_rms_norm_(input, residual, 8), residual),
        "cross_entropy_": (lambda: ops.cross_entropy_(logits, targets(device)), logits),
        "cross_entropy_scale_": (
            lambda: ops.cross_entropy_scale_(logits, torch.ones((), device=device)),
            logits,
        ),
    }


ADAMW = {
    "beta1": 0.9,
    "beta2": 0.99,
    "weight_decay": 0.0,
    "eps": 1e-8,
    "amsgrad": False,
    "maximize": False,
}


def adamw(*lists, **kwargs):
    ops.adamw_(*lists[:4], [], lists[4], [], **{"lr": 0.1, **ADAMW, **kwargs})


def test_all_tensors_are_on_one_device(device):
    there = torch.empty(8, device="meta")
    found = f"found {rows(device).device} and meta."
    cases = {
        "rms_norm: wanted one device for input and weight": lambda: kernels.rms_norm(
            rows(device), 8, there
        ),
        "layer_norm: wanted one device for input and bias": lambda: kernels.layer_norm(
            rows(device), 8, None, there
        ),
        "softmax: wanted one device for input and mask": lambda: kernels.softmax(
            rows(device), mask=there
        ),
        "cross_entropy: wanted one device for logits and target": lambda: kernels.cross_entropy(
            rows(device), targets("meta")
        ),
        "swiglu: wanted one device for gate and up": lambda: kernels.swiglu(
            rows(device), rows(device).to("meta")
        ),
        "bias_gelu: wanted one device for input and bias": lambda: kernels.bias_gelu(
            rows(device), there
        ),
        "rope: wanted one device for q and sin": lambda: kernels.rope(
            heads(device), heads(device), table(device), table(device).to("meta")
        ),
        "attention: wanted one device for q and v": lambda: kernels.attention(
            sequences(device), sequences(device), sequences("meta")
        ),
        "dequantize: wanted one device for input and scale": lambda: kernels.dequantize(
            rows(device).to(torch.int8), torch.empty(3, 1, device="meta"), block_size=(1, -1)
        ),
    }
    for sentence, call in cases.items():
        assert refusal(call) == f"{sentence}, {found}", refusal(call)
    input, residual = rows(device), rows(device)
    before = input.clone(), residual.clone()
    sentence = "fused_add_rms_norm_: wanted one device for input and weight"
    refused = refusal(lambda: kernels.fused_add_rms_norm_(input, residual, 8, there))
    assert refused.startswith(sentence), refused
    assert torch.equal(input, before[0]) and torch.equal(residual, before[1])
    one = [rows(device)]
    assert "exp_avgs" in refusal(lambda: adamw(one, one, [there], one, one))
    lists = [[rows(device)] for _ in range(4)] + [[torch.ones((), device=device)]]
    for name in ("lr", "grad_scale", "found_inf", "clip_factor"):
        sentence = refusal(lambda: adamw(*lists, **{name: torch.ones((), device="meta")}))
        assert sentence == f"adamw_: wanted one device for self and {name}, {found}", sentence
    assert kernels.rms_norm(torch.empty(2, 8, device="meta"), 8, there).device.type == "meta"


def test_a_write_is_seen_by_autograd(device):
    for name, (call, written) in in_place(device).items():
        before = written._version
        call()
        assert written._version == before + 1, name
    param = torch.nn.Parameter(rows(device))
    param.grad = torch.ones_like(param)
    before = param._version
    kernels.optim.AdamW([param]).step()
    assert param._version == before + 1
    leaf = rows(device).requires_grad_()
    for wrong in (
        lambda: kernels.cross_entropy_(leaf.tanh(), targets(device)),
        lambda: (lambda x: x.logsumexp(-1).sum() + kernels.cross_entropy_(x, targets(device)))(
            leaf * 1
        ),
    ):
        assert "modified by an inplace operation" in refusal(lambda: wrong().backward())
    logits = leaf * 1
    kernels.cross_entropy_(logits, targets(device)).backward()
    (expected,) = torch.autograd.grad(F.cross_entropy(leaf, targets(device)), leaf)
    torch.testing.assert_close(leaf.grad, expected)


def test_what_needs_a_gradient_is_not_overwritten(device):
    leaf = rows(device).requires_grad_()
    q = heads(device).requires_grad_()
    cos = table(device)
    for call in (
        lambda: kernels.rope_(q, heads(device), cos, cos),
        lambda: ops.rope_(heads(device), q, cos, cos, None),
        lambda: kernels.fused_add_rms_norm_(leaf, rows(device), 8),
        lambda: kernels.fused_add_rms_norm_(rows(device), leaf * 2, 8),
        lambda: ops.fused_add_rms_norm_(leaf, rows(device), None, 1e-6),
        lambda: ops.cross_entropy_(leaf, targets(device)),
    ):
        assert "without a gradient, as it is overwritten, found requires_grad." in refusal(call)
    view = rows(device, 1, 24).requires_grad_()
    sentence = refusal(lambda: kernels.cross_entropy_(view.view(3, 8), targets(device)))
    assert "or a view of one" in sentence
    with torch.no_grad():
        kernels.fused_add_rms_norm_(leaf, rows(device), 8)


def test_memory_that_is_written_twice_is_refused(device):
    cos = table(device)
    q, three, four, both = heads(device), heads(device, 3), rows(device, 4), rows(device, 4, 16)
    windows = four.flatten()[:16].unfold(0, 8, 4)
    share, apart = "found that they share some.", "wanted elements that lie apart for"
    cases = [
        (share, lambda: kernels.rope_(q, q, cos, cos)),
        (share, lambda: kernels.rope_(three[:, :, :2], three[:, :, 1:], cos, cos)),
        (apart, lambda: kernels.rope_(q.flatten().as_strided(q.shape, (0, 4, 8, 1)), q, cos, cos)),
        (share, lambda: kernels.fused_add_rms_norm_(four, four, 8)),
        (share, lambda: kernels.fused_add_rms_norm_(four[:3], four[1:], 8)),
        (share, lambda: kernels.fused_add_rms_norm_(four, rows(device, 4), 8, four[2])),
        (share, lambda: kernels.fused_add_rms_norm_(both[:, :8], both[:, 4:12], 8)),
        (apart, lambda: kernels.fused_add_rms_norm_(four[:1].expand(3, 8), rows(device), 8)),
        (apart, lambda: kernels.fused_add_rms_norm_(four[:, :1].expand(4, 8), rows(device, 4), 8)),
        (apart, lambda: kernels.fused_add_rms_norm_(windows, rows(device), 8)),
        (apart, lambda: ops.cross_entropy_(four[:1].expand(3, 8), targets(device))),
    ]
    # What is read, of any dtype, within what is written.
    k, small = heads(device), rows(device, 64, 8)
    of_k = k.flatten()
    within = q.flatten()[4:20].view(4, 4)
    positions, target = of_k.view(torch.int64)[:4].view(1, 4), four.flatten().view(torch.int64)
    for tensor in (positions, target, both):
        tensor.zero_()
    cases += [
        (share, lambda: kernels.rope_(q, heads(device), within, cos)),
        (share, lambda: kernels.rope_(heads(device), q, cos, within)),
        (share, lambda: kernels.rope_(q, k, cos, cos, positions)),
        (share, lambda: kernels.rope_(both[None, :, :8].unflatten(-1, (1, 8)), k, both[:, 4:8], cos)),
        (share, lambda: ops.cross_entropy_(four, target[3:7])),
        (share, lambda: ops.cross_entropy_(both[:, :8], both.view(torch.int32)[:, 7])),
        (share, lambda: ops.cross_entropy_scale_(four, four[2, 5])),
        (share, lambda: ops.cross_entropy_scale_(four, four[:, 0])),
        (share, lambda: ops.cross_entropy_scale_(small.view(torch.half), small[5, 3])),
        (apart, lambda: ops.cross_entropy_scale_(four[:1].expand(3, 8), cos[0, 0])),
    ]
    before = [tensor.clone() for tensor in (q, three, four, both)]
    for part, call in cases:
        assert part in refusal(call), refusal(call)
    for tensor, old in zip((q, three, four, both), before):
        assert torch.equal(tensor, old)


def test_parts_of_one_tensor_may_be_written(device):
    cos = table(device)
    qkv = normal(1, 4, 40, dtype=torch.float32, device=device)
    q, k = qkv[..., :24].unflatten(-1, (3, 8)), qkv[..., 24:32].unflatten(-1, (1, 8))
    expected = kernels.rope(q.clone(), k.clone(), cos, cos)
    kernels.rope_(q, k, cos, cos)
    assert torch.equal(q, expected[0]) and torch.equal(k, expected[1])
    even_odd, halves = rows(device, 4), rows(device, 4, 16)
    # What is read may lie between what is written.
    packed = rows(device, 4, 10)
    target = packed[:, 8].view(torch.int32).copy_(torch.arange(4))
    expected = kernels.cross_entropy(packed[:, :8].clone(), target.clone())
    assert torch.equal(ops.cross_entropy_(packed[:, :8], target)[0], expected)
    assert torch.equal(target.cpu(), torch.arange(4, dtype=torch.int32))
    for a, b in (
        (even_odd[::2], even_odd[1::2]),
        (halves[:, :8], halves[:, 8:]),
        (halves[:2, :8], halves[2:, :8]),
    ):
        expected = kernels.fused_add_rms_norm(a.clone(), b.clone(), 8)
        kernels.fused_add_rms_norm_(a, b, 8)
        assert torch.equal(a, expected[0]) and torch.equal(b, expected[1])


def test_no_second_derivative(device):
    x = rows(device).requires_grad_()
    for name, function in {
        "rms_norm": lambda: kernels.rms_norm(x, 8),
        "layer_norm": lambda: kernels.layer_norm(x, 8),
        "softmax": lambda: kernels.softmax(x),
        "swiglu": lambda: kernels.swiglu(x, x),
        "geglu": lambda: kernels.geglu(x, x),
        "bias_gelu": lambda: kernels.bias_gelu(x),
        "cross_entropy": lambda: kernels.cross_entropy(x, targets(device)),
        "attention": lambda: kernels.attention(*(x.view(1, 3, 1, 8),) * 3),
    }.items():
        (grad,) = torch.autograd.grad((function() ** 3).sum(), x, create_graph=True)
        sentence = refusal(lambda: torch.autograd.grad(grad.square().sum(), x))
        assert sentence == f"{name}_backward: there is no second derivative.", sentence


def test_none_is_refused_where_a_tensor_is_wanted(device):
    cos, q, x = table(device), heads(device), rows(device)
    for sentence, call in {
        "rope: wanted a tensor for k": lambda: kernels.rope(q, None, cos, cos),
        "swiglu: wanted a tensor for up": lambda: kernels.swiglu(x, None),
        "attention: wanted a tensor for k": lambda: kernels.attention(
            sequences(device), None, sequences(device)
        ),
        "cross_entropy: wanted a tensor for target": lambda: kernels.cross_entropy(x, None),
        "fused_add_rms_norm_: wanted a tensor for residual": lambda: kernels.fused_add_rms_norm_(
            x, None, 8
        ),
        "dequantize: wanted a tensor for scale": lambda: kernels.dequantize(
            x.to(torch.int8), None, block_size=(1, -1)
        ),
    }.items():
        assert refusal(call) == f"{sentence}, found None.", refusal(call)


def paged(device):
    """Arguments of attention_decode, and of rope_append_kv_ behind its sines."""
    cache = normal(3, 16, 2, 8, dtype=torch.float32, device=device)
    table = torch.zeros(1, 1, dtype=torch.int32, device=device)
    return cache, cache.clone(), table


def test_values_of_other_types_are_refused(device):
    """By TypeErrors of one sentence, from functions and under torch.compile, whatever torch would
    say."""
    q, x, cos = sequences(device), rows(device), table(device)
    k_cache, v_cache, blocks = paged(device)
    lengths = torch.ones(1, dtype=torch.int32, device=device)
    decode = (q[:, :1], k_cache, v_cache, blocks, lengths)
    offsets = torch.tensor([0, 4], dtype=torch.int32, device=device)
    packed = (q[0], q[0], q[0], offsets, offsets, 4, 4)
    a_list = [1.0, 2.0]

    def attention(*args, **options):
        return lambda: kernels.attention(*(args or (q, q, q)), **options)

    def attention_decode(*args, **options):
        return lambda: kernels.attention_decode(*(args or decode), **options)

    cases = {
        "attention: wanted a tensor for q, found list.": attention(a_list, q, q),
        "attention: wanted a tensor for k, found str.": attention(q, "k", q),
        "attention: wanted a tensor for v, found float.": attention(q, q, 0.5),
        "attention: wanted a tensor for q, found None.": attention(None, q, q),
        "attention: wanted a tensor or None for bias, found list.": attention(bias=a_list),
        "attention: wanted a tensor or None for alibi_slopes, found float.": attention(
            alibi_slopes=0.5
        ),
        "attention: wanted a tensor or None for sinks, found int.": attention(sinks=1),
        "attention: wanted a number or None for scale, found str.": attention(scale="1"),
        "attention: wanted a number for softcap, found None.": attention(softcap=None),
        "attention: wanted a number for softcap, found list.": attention(softcap=a_list),
        "attention: wanted a bool for causal, found str.": attention(causal="yes"),
        "attention: wanted a number for dropout_p, found None.": attention(dropout_p=None),
        "attention: wanted an int, a tensor or None for seed, found str.": attention(
            dropout_p=0.5, seed="5"
        ),
        "attention: wanted a pair (left, right) for window, found None.": attention(window=None),
        "attention: wanted two ints, -1 for all, for window, found (None, 0).": attention(
            window=(None, 0)
        ),
        "attention: wanted two ints, -1 for all, for window, found (1.5, 0).": attention(
            window=(1.5, 0)
        ),
        "attention_varlen: wanted a tensor for cu_seqlens_q, found list.": (
            lambda: kernels.attention_varlen(*packed[:3], [0, 4], *packed[4:])
        ),
        "attention_varlen: wanted an int for max_seqlen_k, found float.": (
            lambda: kernels.attention_varlen(*packed[:6], 4.5)
        ),
        "attention_decode: wanted a tensor for q, found list.": attention_decode(
            a_list, *decode[1:]
        ),
        "attention_decode: wanted a tensor for seq_lens, found list.": attention_decode(
            *decode[:4], [1]
        ),
        "attention_decode: wanted a tensor or None for k_scale, found float.": attention_decode(
            k_scale=0.5
        ),
        "attention_decode: wanted two ints, -1 for all, for window, found (None, None).": (
            attention_decode(window=(None, None))
        ),
        "rope_append_kv_: wanted a tensor for k, found list.": lambda: kernels.rope_append_kv_(
            q, a_list, q, cos, cos, k_cache, v_cache, blocks, lengths
        ),
        "rope_append_kv_: wanted a tensor or None for v_scale, found float.": (
            lambda: kernels.rope_append_kv_(
                q, q, q, cos, cos, k_cache, v_cache, blocks, lengths, v_scale=0.5
            )
        ),
        "rms_norm: wanted a tensor for input, found list.": lambda: kernels.rms_norm(a_list, 2),
        "swiglu: wanted a tensor for up, found float.": lambda: kernels.swiglu(x, 0.5),
        "softmax: wanted a number for scale, found str.": lambda: kernels.softmax(x, scale="1"),
        "softmax: wanted a tensor for input, found list.": lambda: kernels.softmax(a_list),
        "softmax: wanted a tensor or None for mask, found list.": lambda: kernels.softmax(
            x, mask=a_list
        ),
        "rms_norm: wanted a number for eps, found Tensor.": lambda: kernels.rms_norm(x, 8, None, x),
        "attention: wanted a bool for causal, found Tensor.": attention(causal=x),
    }
    # The weight in the place of normalized_shape, and what else is no shape.
    weight = x[0]
    sizes = "wanted an int or a sequence of ints for normalized_shape, found"
    a_tensor = f"{sizes} a tensor. Fix: normalized_shape=input.shape[-1:], weight=<the tensor>."
    of_shapes = {
        f"rms_norm: {a_tensor}": lambda: kernels.rms_norm(x, weight, 1e-6),
        f"layer_norm: {a_tensor}": lambda: kernels.layer_norm(x, weight, weight),
        f"fused_add_rms_norm: {a_tensor}": lambda: kernels.fused_add_rms_norm(x, x, weight),
        f"fused_add_rms_norm_: {a_tensor}": lambda: kernels.fused_add_rms_norm_(x, x, weight),
        f"rms_norm: {sizes} float.": lambda: kernels.rms_norm(x, 1e-6),
        f"rms_norm: {sizes} one with a Tensor.": lambda: kernels.rms_norm(x, [weight]),
    }
    cases.update(of_shapes)
    for sentence, call in cases.items():
        try:
            call()
        except TypeError as error:
            assert str(error) == sentence, str(error)
        else:
            raise AssertionError(f"not refused: {sentence}")
    for sentence in [*list(cases)[:3], *of_shapes]:
        compiled = torch.compile(cases[sentence], backend="eager", fullgraph=True)
        try:
            compiled()
        except Exception as error:
            assert sentence in str(error), str(error)
        else:
            raise AssertionError(f"not refused by torch.compile: {sentence}")


def test_tensors_of_other_layouts_are_refused(device):
    dense = rows(device)
    others = {
        "layout torch.sparse_coo": dense.to_sparse(),
        "a nested one of another layout than torch.jagged": torch.nested.as_nested_tensor([dense]),
    }
    for found, tensor in others.items():
        assert f"softmax: wanted a dense tensor for input, found {found}." in refusal(
            lambda: kernels.softmax(tensor)
        )
        assert f"swiglu: wanted a dense tensor for gate, found {found}." in refusal(
            lambda: kernels.swiglu(tensor, tensor)
        )


@contextlib.contextmanager
def verbose():
    """Gives a list that holds afterwards the lines which the library has written to stderr."""
    lines = []
    sys.stderr.flush()
    stderr = os.dup(2)
    os.environ["CUDAOPS_VERBOSE"] = "1"
    with tempfile.TemporaryFile("w+") as stream:
        os.dup2(stream.fileno(), 2)
        try:
            yield lines
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
            os.environ.pop("CUDAOPS_VERBOSE", None)
            stream.seek(0)
            lines += stream.read().splitlines()


def test_copies_are_said(device):
    """With CUDAOPS_VERBOSE=1; views that an op reads as they are make none."""

    def apart(*shape):
        return normal(*shape, 2, dtype=torch.float32, device=device)[..., 0]

    q, k = (normal(2, 4, size, 8, dtype=torch.float32, device=device).transpose(1, 2) for size in (5, 7))
    input = normal(4, 3, 8, dtype=torch.float32, device=device).transpose(0, 1)
    for call in (lambda: kernels.attention(q, k, k), lambda: kernels.rms_norm(input[:, 0], 8)):
        with verbose() as lines:
            call()
        assert lines == []
    cos = sin = table(device)
    lengths = torch.ones(1, dtype=torch.int32, device=device)
    k_cache, v_cache, blocks = paged(device)
    for call, found in (
        (lambda: kernels.attention(q, k, apart(2, 7, 4, 8)), "attention: copies v first, of shape [2, 7, 4, 8] with strides [448, 64, 16, 2]."),
        (
            lambda: kernels.attention_decode(apart(1, 1, 2, 8), k_cache, v_cache, blocks, lengths),
            "attention_decode: copies q first, of shape [1, 1, 2, 8] with strides [32, 32, 16, 2].",
        ),
        (
            lambda: kernels.rope(apart(1, 4, 2, 8), sequences(device), cos, sin),
            "rope: copies q first, of shape [1, 4, 2, 8] with strides [128, 32, 16, 2].",
        ),
        (lambda: kernels.rms_norm(input, 8), "rms_norm: copies input first, of shape [3, 4, 8] with strides [8, 24, 1]."),
        (
            lambda: kernels.softmax(rows(device), mask=apart(3, 8)),
            "softmax: copies mask first, of shape [3, 8] with strides [16, 2].",
        ),
    ):
        with verbose() as lines:
            call()
        assert lines == [found], lines
    # By a compiled graph once: shapes that are found without data copy nothing.
    compiled = torch.compile(lambda x: kernels.rms_norm(x, 8), backend="eager", fullgraph=True)
    with verbose() as lines:
        compiled(input)
    assert len(lines) == 1, lines
    with verbose() as lines:
        del os.environ["CUDAOPS_VERBOSE"]
        compiled(input)
    assert lines == []


def test_tensors_without_data_are_refused_in_the_same_words(device):
    """Shapes and dtypes: by meta tensors, and by torch.compile before anything runs."""
    q, k = (normal(2, size, heads, 8, dtype=torch.float32, device=device) for size, heads in ((5, 4), (7, 2)))
    tokens = normal(10, 4, 8, dtype=torch.float32, device=device)
    offsets = torch.tensor([0, 4, 10], dtype=torch.int32, device=device)
    k_cache, v_cache, blocks = paged(device)
    one = normal(1, 1, 2, 8, dtype=torch.float32, device=device)
    lengths = torch.ones(1, dtype=torch.int32, device=device)

    def zeros(*shape):
        return torch.zeros(shape, device=device)

    def attention(*args, **options):
        return kernels.attention, args, options

    def varlen(q, k, v, *rest, **options):
        return kernels.attention_varlen, (q, k, v, *rest), options

    def decode(*args, **options):
        return kernels.attention_decode, args, options

    cos = table(device)

    def append(q, **others):
        given = {"k": one, "v": one, "cos": cos, "sin": cos, "k_cache": k_cache, "v_cache": v_cache}
        given.update(block_table=blocks, positions=lengths[None])
        given.update(others)
        return kernels.rope_append_kv_, (q,), given

    calls = (
        attention(q.int(), k, k),
        attention(q, k.half(), k),
        attention(q[0], k, k),
        attention(q, k, k[:, :3]),
        attention(q[:1], k, k),
        attention(q[:, :, :3], k, k),
        attention(q, k[:, :, :0], k[:, :, :0]),
        attention(q[..., :4], k, k),
        attention(q[..., :0], k[..., :0], k),
        attention(zeros(1, 2, 2, 300), zeros(1, 2, 2, 300), zeros(1, 2, 2, 300)),
        attention(q, k, k, bias=zeros(2, 4, 5, 6)),
        attention(q, k, k, bias=zeros(5, 7).half()),
        attention(q, k, k, alibi_slopes=zeros(3)),
        attention(q, k, k, alibi_slopes=zeros(3, 4)),
        attention(q, k, k, sinks=zeros(3)),
        attention(q, k, k, scale=float("nan")),
        attention(q, k, k, softcap=-1.0),
        attention(q, k, k, window=(-2, 0)),
        attention(q, k, k, dropout_p=1.5, seed=zeros(1).long()),
        attention(q, k, k, dropout_p=0.5, seed=zeros(1)),
        attention(q, k, k, dropout_p=0.5, seed=zeros(2).long()),
        varlen(tokens, tokens, tokens, offsets.long(), offsets, 6, 6),
        varlen(tokens, tokens, tokens, offsets, offsets[:2], 6, 6),
        varlen(tokens, tokens, tokens, offsets, offsets, -1, 6),
        varlen(q, k, k, offsets, offsets, 6, 6),
        varlen(tokens, tokens, tokens[:9], offsets, offsets, 6, 6),
        varlen(tokens, tokens, tokens, offsets, offsets, 6, 6, alibi_slopes=zeros(3, 4)),
        decode(one.double(), k_cache, v_cache, blocks, lengths),
        decode(one[0], k_cache, v_cache, blocks, lengths),
        decode(one[..., :0], k_cache[..., :0], v_cache[..., :0], blocks, lengths),
        decode(one, k_cache.half(), v_cache.half(), blocks, lengths),
        decode(one, k_cache, v_cache.half(), blocks, lengths),
        decode(one, k_cache, v_cache[:2], blocks, lengths),
        decode(one, k_cache[..., :4], v_cache[..., :4], blocks, lengths),
        decode(one, k_cache, v_cache, blocks.long(), lengths),
        decode(one, k_cache, v_cache, blocks[0], lengths),
        decode(one, k_cache, v_cache, blocks, lengths.long()),
        decode(one, k_cache, v_cache, blocks, lengths[:0]),
        decode(one[:, :, :1].expand(1, 1, 3, 8), k_cache, v_cache, blocks, lengths),
        decode(one, k_cache, v_cache, blocks, lengths, sinks=zeros(3)),
        decode(one, k_cache, v_cache, blocks, lengths, k_scale=zeros(1)),
        decode(one, k_cache, v_cache, blocks, lengths, softcap=-1.0),
        append(one.int()),
        append(one, k=one[0]),
        append(one, k=one.half(), v=one.half()),
        append(one, v=one.half()),
        append(one, cos=cos[0]),
        append(one, cos=cos.half(), sin=cos.half()),
        append(one, sin=cos[:3]),
        append(one, cos=zeros(4, 5), sin=zeros(4, 5)),
        append(one, positions=lengths),
        append(one, positions=zeros(1, 1)),
        append(one, k=one[:, :, :1], v=one[:, :, :1]),
        append(one, block_table=blocks.long()),
        append(one, k_scale=zeros(1)),
    )
    for index, (function, args, options) in enumerate(calls):
        wanted = refusal(lambda: function(*args, **options))
        assert ": wanted " in wanted
        meta = [
            [value.to("meta") if isinstance(value, torch.Tensor) else value for value in values]
            for values in (args, options.values())
        ]
        found = refusal(lambda: function(*meta[0], **dict(zip(options, meta[1]))))
        assert found == wanted, f"{found}, not {wanted}"
        if index % 8:
            continue
        # Also of sizes that are symbols.
        compiled = torch.compile(function, backend="eager", fullgraph=True, dynamic=index % 16 == 8)
        try:
            compiled(*args, **options)
        except Exception as error:
            assert wanted in str(error), str(error)
        else:
            raise AssertionError(f"not refused by torch.compile: {wanted}")


def test_sizes_that_follow_from_numbers_are_checked_when_the_code_runs(device):
    k_cache, v_cache, blocks = paged(device)
    lengths = torch.ones(1, dtype=torch.int32, device=device)

    def decode(count):
        heads = count.item()
        torch._check(heads >= 0)
        q = k_cache.new_zeros(1, 1, heads, 8)
        return kernels.attention_decode(q, k_cache, v_cache, blocks, lengths)

    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        compiled = torch.compile(decode, backend="aot_eager", fullgraph=True)
        assert compiled(torch.tensor(4)).shape == (1, 1, 4, 8)
        sentence = refusal(lambda: compiled(torch.tensor(3)))
    assert "with a multiple of k_cache's 2 heads for q" in sentence, sentence


def test_numbers_are_finite(device):
    x, nan, infinity = rows(device), float("nan"), float("inf")
    finite, from_zero = "a finite float32 number", "a finite float32 number from 0 on"
    eps = (-1e-6, nan, infinity, 1e39)
    for op, name, wanted, values, call in (
        ("softmax", "scale", finite, (nan, infinity, 1e39), lambda v: kernels.softmax(x, scale=v)),
        ("softmax_backward", "scale", finite, (nan,), lambda v: ops.softmax_backward(x, x, v)),
        (
            "attention",
            "scale",
            finite,
            (nan, infinity),
            lambda v: kernels.attention(*(sequences(device),) * 3, scale=v),
        ),
        ("rms_norm", "eps", from_zero, eps, lambda v: kernels.rms_norm(x, 8, None, v)),
        (
            "rms_norm",
            "weight_offset",
            finite,
            (nan, infinity, -1e39),
            lambda v: kernels.rms_norm(x, 8, weight_offset=v),
        ),
        (
            "fused_add_rms_norm",
            "eps",
            from_zero,
            eps,
            lambda v: kernels.fused_add_rms_norm(x, x, 8, eps=v),
        ),
        (
            "fused_add_rms_norm_",
            "eps",
            from_zero,
            eps,
            lambda v: kernels.fused_add_rms_norm_(x, rows(device), 8, None, v),
        ),
        ("layer_norm", "eps", from_zero, eps, lambda v: kernels.layer_norm(x, 8, eps=v)),
        (
            "rms_norm_quantize",
            "eps",
            from_zero,
            eps,
            lambda v: kernels.rms_norm_quantize(x, eps=v, dtype=torch.int8),
        ),
    ):
        before = x.clone()
        for value in values:
            sentence = f"{op}: wanted {wanted} for {name}, found {value:g}."
            assert refusal(lambda: call(value)) == sentence, refusal(lambda: call(value))
        assert torch.equal(x, before)


def test_default_eps_is_that_of_torch(device):
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        x = torch.full((2, 8), 1e-2, dtype=dtype)
        expected = F.rms_norm(x, (8,)).to(device)
        torch.testing.assert_close(kernels.rms_norm(x.to(device), 8), expected)
        torch.testing.assert_close(kernels.RMSNorm(8, dtype=dtype)(x).to(device), expected)


def test_arguments_come_in_the_order_of_torch(device):
    x, w, target = rows(device), torch.ones(8, device=device), targets(device)
    for name, arguments in (
        ("rms_norm", (x, (8,), w, 1e-3)),
        ("layer_norm", (x, (8,), w, w, 1e-3)),
        ("softmax", (x, -1)),
        ("softmax", (x, 1)),
        ("cross_entropy", (x, target, None, None, 1, None, "sum", 0.1)),
    ):
        found, expected = getattr(kernels, name)(*arguments), getattr(F, name)(*arguments)
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    for sentence, call in {
        "softmax: wanted the last dimension, -1 or 1, for dim, found 0.": lambda: kernels.softmax(
            x, 0
        ),
        "softmax: wanted an int for dim, found a tensor; mask is a keyword.": (
            lambda: kernels.softmax(x, x)
        ),
        "cross_entropy: wanted None for weight, found Tensor.": lambda: kernels.cross_entropy(
            x, target, w
        ),
        "cross_entropy_: wanted None for reduce, found bool.": lambda: kernels.cross_entropy_(
            x, target, reduce=False
        ),
    }.items():
        assert refusal(call) == sentence, refusal(call)


def test_lists_without_tensors(device):
    adamw([], [], [], [], [], found_inf=torch.zeros(1, device=device))
    one = [rows(device)]
    sentence = refusal(lambda: adamw([], one, one, one, one))
    assert sentence == "adamw_: wanted 0 tensors in grads, as in self, found 1.", sentence


def optimizer_error(call):
    try:
        call()
    except (TypeError, ValueError, RuntimeError) as error:
        return str(error)
    raise AssertionError("the call was not refused")


def test_optimizer_checks_groups(device):
    for wrong in (
        {"amsgrad": True},
        {"foreach": True},
        {"fused": False},
        {"lr": -1.0},
        {"lr": float("inf")},
        {"betas": (0.9,)},
        {"betas": (0.9, 1.0)},
    ):
        group = {"params": [torch.nn.Parameter(rows(device))], **wrong}
        assert "AdamW: wanted" in optimizer_error(lambda: kernels.optim.AdamW([group]))
        optimizer = kernels.optim.AdamW([torch.nn.Parameter(rows(device))])
        assert "AdamW: wanted" in optimizer_error(lambda: optimizer.add_param_group(group))
        assert len(optimizer.param_groups) == 1


def test_optimizer_checks_all_before_it_writes(device):
    params = [torch.nn.Parameter(rows(device).to(dtype)) for dtype in (torch.float32, torch.half)]
    params[1] = torch.nn.Parameter(params[1].detach()[:, ::2])
    optimizer = kernels.optim.AdamW(params)
    for param in params:
        param.grad = torch.ones_like(param)
    before = [param.detach().clone() for param in params]
    assert "without gaps" in optimizer_error(optimizer.step)
    assert all(torch.equal(param, old) for param, old in zip(params, before))
    params[1].data = params[1].data.contiguous()
    optimizer.step()
    params[1].grad = params[1].grad.to_sparse()
    assert "found a sparse one" in optimizer_error(optimizer.step)
    assert "found float" in optimizer_error(lambda: optimizer.step(clip_factor=0.5))


if __name__ == "__main__":
    main(globals())
