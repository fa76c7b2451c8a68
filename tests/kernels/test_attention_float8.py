# SPDX-License-Identifier: Apache-2.0
"""attention and attention_varlen of float8 against float64 arithmetic on what its numbers mean."""

from kernel_testing import DTYPES, generated_calls, kernels, looking_at_numbers, main, normal, ops, refusal
from kernel_testing import pytest_generate_tests  # noqa: F401
from test_attention import assert_as_exact, assert_lse, reference

import torch


FLOAT8 = torch.float8_e4m3fn
INFINITY = float("inf")


def float8(*shape, device, seed):
    return normal(*shape, dtype=torch.float32, device=device, seed=seed).to(FLOAT8)


def tensors(device, batch=2, seq_q=40, seq_k=72, heads=4, kv_heads=2, head_dim=32, head_dim_v=None, seed=0):
    head_dim_v = head_dim if head_dim_v is None else head_dim_v
    return (
        float8(batch, seq_q, heads, head_dim, device=device, seed=seed),
        float8(batch, seq_k, kv_heads, head_dim, device=device, seed=seed + 1),
        float8(batch, seq_k, kv_heads, head_dim_v, device=device, seed=seed + 2),
    )


def descales_of(q, k, seed=0):
    """A factor for each head of each sequence: about a quarter, no power of two."""
    shape = (q.shape[0], k.shape[2])
    numbers = (normal(*shape, dtype=torch.float32, device=q.device, seed=seed + i) for i in range(3))
    return {f"{name}_descale": 0.25 + x.abs() / 16 for name, x in zip("qkv", numbers)}


def numbers_of(tensor, descale, kv_heads):
    """[batch, seq, heads, head_dim] in float64."""
    wide = tensor.double()
    if descale is None:
        return wide
    batch, heads = tensor.shape[0], tensor.shape[2]
    factors = descale if descale.numel() > 1 else descale.reshape(1, 1)
    factors = factors.double().expand(batch, kv_heads).repeat_interleave(heads // kv_heads, 1)
    return wide * factors[:, None, :, None]


def has_float8_products(q, v, out_dtype):
    """Whether the GPU multiplies float8, with weights that are rounded to it."""

    def is_aligned(x):
        steps = zip(x.stride()[:-1], x.shape)
        rows = all(step % 16 == 0 or size == 1 for step, size in steps)
        return rows and x.data_ptr() % 16 == x.shape[-1] % 16 == 0

    is_hopper = q.is_cuda and torch.cuda.get_device_capability() == (9, 0)
    return is_hopper and out_dtype != torch.float32 and is_aligned(q) and is_aligned(v)


def rounded(weights):
    """To float8, those of a row relative to 2^8 for its largest."""
    if weights.shape[-1] == 0:
        return weights
    unit = weights.amax(-1, keepdim=True).double() / 256
    return (torch.where(unit > 0, weights / unit, 0.0).float().to(FLOAT8).double() * unit).to(weights.dtype)


def check(case, q, k, v, out_dtype=torch.bfloat16, times=2, **options):
    """Output and lse."""
    descales = {name: options.pop(name, None) for name in ("q_descale", "k_descale", "v_descale")}
    output, lse = kernels.attention(q, k, v, **descales, **options, out_dtype=out_dtype, return_lse=True)
    assert output.dtype == out_dtype and lse.dtype == torch.float32
    assert (output.transpose(1, 2) if q.stride(2) > q.stride(1) else output).is_contiguous()
    wide = [numbers_of(x, y, k.shape[2]) for x, y in zip((q, k, v), descales.values())]
    exact, exact_lse = reference(*wide, **options)
    own = {"rounded": rounded} if has_float8_products(q, v, out_dtype) else {}
    plain, _ = reference(*(x.to(out_dtype) for x in wide), **options, **own, dtype=out_dtype)
    assert_as_exact(output, exact, plain, case, times)
    if exact_lse is not None:
        plain_lse = reference(*(x.to(out_dtype).double() for x in wide), **options)[1]
        seen = exact_lse.isfinite()
        allowed = 2 * (plain_lse - exact_lse)[seen].abs().max().item() + 1e-4 if seen.any() else 0.0
        if own:  # the tensor cores' sums of float8's products
            allowed += 2**-10 * max(1.0, exact_lse[seen].abs().max().item()) if seen.any() else 0.0
        assert torch.equal(lse[~seen].double(), exact_lse[~seen])
        assert ((lse.double() - exact_lse)[seen].abs() <= allowed).all(), case


def test_all_kinds_of_output_and_factors(device):
    for out_dtype in DTYPES:
        for head_dim, head_dim_v in ((64, 64), (128, 128), (192, 128), (40, 72), (13, 5)):
            q, k, v = tensors(device, head_dim=head_dim, head_dim_v=head_dim_v)
            every = descales_of(q, k)
            one = {name: x[0, 0] for name, x in every.items()}
            by_head = {name: x[0] for name, x in every.items()}
            expanded = {name: x[:1, :1].expand(2, 2) for name, x in every.items()}
            for index, some in enumerate(({}, one, by_head, every, expanded, {"k_descale": every["k_descale"]})):
                case = (out_dtype, head_dim, head_dim_v, index)
                check(case, q, k, v, out_dtype, **some, causal=index % 2 == 1)


def test_masks_and_what_is_added(device):
    q, k, v = tensors(device, seq_q=100, seq_k=140)
    factors = descales_of(q, k)
    bias = normal(2, 4, 100, 140, dtype=torch.float32, device=device, seed=4)
    slopes = normal(2, 4, dtype=torch.float32, device=device, seed=5).abs() / 8
    sinks = normal(4, dtype=torch.float32, device=device, seed=6) + 2
    for options in (
        {"causal": True},
        {"window": (30, 9)},
        {"window": (-1, 20), "scale": 0.1},
        {"softcap": 3.0, "causal": True, "times": 3},
        {"bias": bias},
        {"bias": bias[:1, :, :1].bfloat16(), "causal": True},
        {"alibi_slopes": slopes},
        {"alibi_slopes": slopes[0], "causal": True},
        {"sinks": sinks},
        {"sinks": sinks, "bias": bias, "alibi_slopes": slopes, "softcap": 5.0, "window": (70, 8), "times": 3},
    ):
        check(options.keys(), q, k, v, **factors, **options)


def test_takes_views_without_a_change(device):
    packed = float8(2, 30, 3, 4, 32, device=device, seed=0)
    q, k, v = packed.unbind(2)
    wanted = kernels.attention(q.contiguous(), k.contiguous(), v.contiguous(), causal=True)
    turned = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in (q, k, v)]
    apart = [x.mT.contiguous().mT for x in (q, k, v)]
    for views in ((q, k, v), turned, apart):
        assert torch.equal(kernels.attention(*views, causal=True), wanted)
    # Addresses that are no multiples of anything.
    for first in (1, 2, 4, 8):
        shifted = float8(2 * 30 * 4 * 32 + first, device=device, seed=1)[first:].view(2, 30, 4, 32)
        check(first, shifted, shifted, shifted, causal=True)
    one = q[:1, :, :1].expand(2, 30, 4, 32)
    check("expanded", one, one, one)


def test_rows_that_see_nothing_and_no_elements(device):
    q, k, v = tensors(device, seq_q=90, seq_k=20)
    output, lse = kernels.attention(q, k, v, causal=True, return_lse=True)
    assert (output[:, :70] == 0).all() and (lse[..., :70] == -INFINITY).all()
    # Of the first of them it is a row of v, in which float8 may have zeros.
    assert (output[:, 70:] != 0).any(-1).all() and lse[..., 70:].isfinite().all()
    for batch, seq_q, seq_k in ((0, 5, 7), (2, 0, 7), (2, 5, 0)):
        q, k, v = tensors(device, batch, seq_q, seq_k)
        output, lse = kernels.attention(q, k, v, return_lse=True)
        assert output.shape == q.shape and (output == 0).all() and (lse == -INFINITY).all()


def generated(source):
    """A call of any kind."""
    kv_heads, group = source.choice(((1, 1), (2, 1), (1, 4), (2, 3)))
    seq_q, seq_k = (source.choice((1, 2, 7, 31, 64, 65, 100, 128, 150, 300)) for _ in range(2))
    head_dim = source.choice((1, 8, 13, 32, 48, 64, 72, 80, 96, 128, 160, 192, 256))
    return {
        "out_dtype": source.choice(DTYPES),
        "sizes": (source.choice((1, 2)), seq_q, source.choice((seq_q, seq_k)), kv_heads * group, kv_heads),
        "widths": (head_dim, source.choice((head_dim, head_dim, 128, 64, 24))),
        "factors": source.random() < 0.7,
        "seed": source.randrange(10**6),
        "options": {
            "causal": source.random() < 0.4,
            "window": source.choice(((-1, -1),) * 3 + ((source.randrange(80), source.randrange(80)),)),
            "softcap": source.choice((0.0, 0.0, 0.0, 4.0)),
            "scale": source.choice((None, None, 0.03)),
        },
        "sinks": source.random() < 0.25,
    }


def check_generated(device, case):
    q, k, v = tensors(device, *case["sizes"], *case["widths"], seed=case["seed"])
    options = dict(case["options"])
    if case["factors"]:
        options.update(descales_of(q, k, case["seed"]))
    if case["sinks"]:
        options["sinks"] = normal(q.shape[2], dtype=torch.float32, device=device, seed=case["seed"])
    check(case, q, k, v, case["out_dtype"], 3 if options["softcap"] else 2, **options)


GENERATED = generated_calls(generated, check_generated, few=60, many=500, long=3_000)


def test_generated_calls(device):
    """Of all kinds."""
    GENERATED(device)


def joined(device, lengths_q, lengths_k, heads=4, kv_heads=2, head_dim=32, head_dim_v=32):
    """Tensors, offsets, and where sequences begin."""
    ends = [[sum(lengths[:i]) for i in range(len(lengths) + 1)] for lengths in (lengths_q, lengths_k)]
    offsets = [torch.tensor(x, dtype=torch.int32, device=device) for x in ends]
    q = float8(ends[0][-1], heads, head_dim, device=device, seed=1)
    k = float8(ends[1][-1], kv_heads, head_dim, device=device, seed=2)
    v = float8(ends[1][-1], kv_heads, head_dim_v, device=device, seed=3)
    return (q, k, v), offsets, ends


def test_varlen_is_attention_of_each_sequence(device):
    lengths_q, lengths_k = (40, 0, 130, 1, 65, 7), (72, 5, 200, 1, 130, 0)
    for head_dim, head_dim_v, options in (
        (32, 32, {}),
        (13, 24, {"causal": True}),
        (64, 128, {"window": (50, 3), "softcap": 5.0}),
        (128, 128, {"causal": True, "sinks": normal(4, dtype=torch.float32, device=device, seed=6)}),
    ):
        (q, k, v), offsets, ends = joined(device, lengths_q, lengths_k, 4, 2, head_dim, head_dim_v)
        shape = (len(lengths_q), 2)
        factors = {
            f"{name}_descale": 0.25 + normal(*shape, dtype=torch.float32, device=device, seed=i).abs() / 16
            for i, name in enumerate("qkv")
        }
        # Numbers behind a sequence, which are the next one's, reach nothing: here NaN.
        k[ends[1][4] : ends[1][5]] = torch.full_like(k[:1], float("nan"), dtype=torch.float32).to(FLOAT8)
        v[ends[1][4] : ends[1][5]] = k[ends[1][4] : ends[1][4] + 1, :, :1]
        output, lse = kernels.attention_varlen(q, k, v, *offsets, 130, 200, **factors, **options, return_lse=True)
        for i in range(len(lengths_q)):
            if i == 4:
                continue
            rows_q, rows_k = slice(*ends[0][i : i + 2]), slice(*ends[1][i : i + 2])
            own = {name: x[i : i + 1] for name, x in factors.items()}
            wanted, wanted_lse = kernels.attention(
                q[None, rows_q], k[None, rows_k], v[None, rows_k], **own, **options, return_lse=True
            )
            assert torch.equal(output[rows_q], wanted[0]), (head_dim, options, i)
            if lengths_k[i] == 0:
                # Of sinks alone: another kernel serves no keys at all, and takes them to powers of two and back.
                torch.testing.assert_close(lse[:, rows_q], wanted_lse[0], rtol=1e-6, atol=1e-6)
                continue
            assert torch.equal(lse[:, rows_q], wanted_lse[0]), (head_dim, options, i)
        by_head = {name: x[2] for name, x in factors.items()}
        found = kernels.attention_varlen(q, k, v, *offsets, 130, 200, **by_head, **options)
        assert torch.equal(found[ends[0][2] : ends[0][3]], output[ends[0][2] : ends[0][3]])


def hopper_calls():
    """Sizes and options: each shape of tiles, each mask, lengths that are no whole tiles."""
    masks = ({}, {"causal": True}, {"window": (100, 0)}, {"window": (64, 33)}, {"window": (-1, 20)})
    lengths = ((1, 1), (1, 77), (130, 257), (333, 1111), (700, 350), (513, 513))
    for widths in ((64, 64), (32, 48), (96, 96), (128, 128), (112, 128), (192, 128), (192, 192), (208, 256)):
        for mask in masks:
            for seq_q, seq_k in lengths:
                yield (2, seq_q, seq_k, 6, 2, *widths), mask
        yield (1, 300, 300, 4, 1, *widths), {"softcap": 5.0, "causal": True}
        yield (2, 600, 200, 4, 1, *widths), {"sinks": True, "causal": True}
        yield (1, 300, 500, 4, 4, *widths), {"sinks": True, "scale": 0.03}
    yield (7, 384, 384, 24, 8, 128, 128), {"causal": True}
    yield (3, 2049, 2049, 11, 11, 128, 128), {"causal": True}
    yield (2, 4096, 4096, 3, 3, 128, 128), {}
    yield (1, 4500, 4500, 3, 1, 128, 128), {"window": (1000, 0)}
    yield (3, 1300, 1300, 7, 7, 64, 64), {"causal": True}


def test_hopper_kernel(device):
    """Against exact arithmetic, and that it is the one which runs."""
    if device != "cuda" or torch.cuda.get_device_capability() != (9, 0):
        return
    calls = 0
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for index, (sizes, options) in enumerate(hopper_calls()):
            q, k, v = tensors(device, *sizes, seed=index)
            if index % 3 == 0:
                q, k, v = (x.transpose(1, 2).contiguous().transpose(1, 2) for x in (q, k, v))
            options = dict(options)
            if "sinks" in options:
                options["sinks"] = normal(sizes[3], dtype=torch.float32, device=device, seed=6)
            if index % 2 == 0:
                options.update(descales_of(q, k, index))
            calls += 1
            dtype = (torch.bfloat16, torch.float16)[index % 2]
            check((sizes, options), q, k, v, dtype, 3 if "softcap" in options else 2, **options)
    names = [event.name for event in profile.events()]
    assert sum("Float8Shape" in name for name in names) == calls, set(names)


def test_hopper_kernel_adds_up_long_sequences(device):
    """Sums of many keys whose values have a mean: those of the tensor cores have too few bits."""
    if device != "cuda" or torch.cuda.get_device_capability() != (9, 0):
        return
    for head_dim in (64, 128):
        q, k, v = tensors(device, 1, 300, 20_000, 2, 1, head_dim)
        q, v = (q.float() / 8).to(FLOAT8), (v.float() + 8).to(FLOAT8)
        check(head_dim, q, k, v, **descales_of(q, k))


def test_same_bits_each_run(device):
    q, k, v = tensors(device, 2, 200, 300, 4, 2, 64)
    factors = descales_of(q, k)
    wanted = kernels.attention(q, k, v, **factors, causal=True)
    for _ in range(3):
        assert torch.equal(kernels.attention(q, k, v, **factors, causal=True), wanted)


def test_refuses_in_one_sentence(device):
    q, k, v = tensors(device)
    wide = q.float()
    one = torch.ones((), device=device)
    functions = {
        "attention: wanted q of float8_e4m3fn with k_descale, found torch.float32.": lambda: kernels.attention(
            wide, k.float(), v.float(), k_descale=one
        ),
        "attention: wanted q of float8_e4m3fn with out_dtype, found torch.float32.": lambda: kernels.attention(
            wide, k.float(), v.float(), out_dtype=torch.float16
        ),
        "attention: wanted a dropout_p of 0 with q of float8_e4m3fn, found 0.5.": lambda: kernels.attention(
            q, k, v, dropout_p=0.5
        ),
        "attention: wanted v without a gradient, as there is no derivative of float8, found requires_grad.": (
            lambda: kernels.attention(q, k, v.clone().requires_grad_())
        ),
        "attention: wanted q_descale without a gradient, as there is no derivative of float8, found requires_grad.": (
            lambda: kernels.attention(q, k, v, q_descale=one.clone().requires_grad_())
        ),
    }
    calls = {
        "wanted one dtype for q, k and v, found Float8_e4m3fn, Float and Float8_e4m3fn.": ((q, k.float(), v), {}),
        "wanted float8_e4m3fn (Float8_e4m3fn) for q, found Float.": ((wide, wide, wide), {}),
        "wanted float32 (Float), float16 (Half) or bfloat16 (BFloat16) for out_dtype, found Double.": (
            (q, k, v),
            {"out_dtype": torch.float64},
        ),
        "wanted out_dtype or float32 (Float) for bias, found Half.": (
            (q, k, v),
            {"bias": torch.zeros(1, 1, 1, 72, device=device, dtype=torch.float16)},
        ),
        "wanted float32 (Float) for v_descale, found Double.": ((q, k, v), {"v_descale": one.double()}),
        "wanted one element or shape [kv_heads] or [batch, kv_heads] = [2, 2] for k_descale, found shape [2, 4].": (
            (q, k, v),
            {"k_descale": torch.ones(2, 4, device=device)},
        ),
        "wanted one element or shape [kv_heads] or [batch, kv_heads] = [2, 2] for q_descale, found shape [4].": (
            (q, k, v),
            {"q_descale": torch.ones(4, device=device)},
        ),
    }
    for sentence, call in functions.items():
        assert refusal(call) == sentence, refusal(call)
    for sentence, (args, options) in calls.items():
        for name in ("attention_float8", "_attention_float8"):
            op = getattr(ops, name)
            assert refusal(lambda: op(*args, **options)) == f"attention_float8: {sentence}", sentence
            meta = [x.to("meta") for x in args]
            others = {key: x.to("meta") if isinstance(x, torch.Tensor) else x for key, x in options.items()}
            assert refusal(lambda: op(*meta, **others)) == f"attention_float8: {sentence}", sentence
    offsets = torch.tensor([0, 50, 80], dtype=torch.int32, device=device)
    flat = [x.flatten(0, 1) for x in (q, k, v)]
    with looking_at_numbers():
        sentence = refusal(lambda: kernels.attention_varlen(*flat, offsets, offsets, 50, 50))
    wanted = "wanted cu_seqlens_k from 0 to the 144 tokens of k, found 0 to 80."
    assert sentence == f"attention_varlen_float8: {wanted}", sentence


def test_opcheck(device):
    q, k, v = tensors(device, 2, 9, 11, 4, 2, 16, 24)
    factors = list(descales_of(q, k).values())
    turned = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in (q, k, v)]
    offsets = torch.tensor([0, 10, 18], dtype=torch.int32, device=device)
    of_keys = torch.tensor([0, 4, 22], dtype=torch.int32, device=device)
    flat = [x.flatten(0, 1) for x in (q, k, v)]
    # test_schema compares inputs with allclose, which torch has not for float8.
    checks = ("test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")
    for op, args in (
        (ops.attention_float8, (q, k, v)),
        (ops.attention_float8, (*turned, *factors, None, None, None, torch.float16, 0.5, True, 3, 4, 2.0)),
        (ops.attention_varlen_float8, (*flat, offsets, of_keys, *factors, None, None, 10, 18)),
    ):
        torch.library.opcheck(op.default, args, test_utils=checks)


def test_under_compile(device):
    q, k, v = tensors(device)
    factors = descales_of(q, k)

    def call(q, k, v, factors):
        return kernels.attention(q, k, v, **factors, causal=True, return_lse=True)

    compiled = torch.compile(call, fullgraph=True, backend="aot_eager")
    for found, wanted in zip(compiled(q, k, v, factors), call(q, k, v, factors)):
        assert torch.equal(found, wanted)


def test_vmap_is_a_call_a_member(device):
    q, k, v = (x[None].expand(3, *x.shape).clone() for x in tensors(device))
    q[1:] = q[:1].float().flip(-1).to(FLOAT8)
    factors = 0.5 + torch.rand(3, 2, 2, device=device)

    def run(q, k, v, q_descale):
        return kernels.attention(q, k, v, q_descale=q_descale, causal=True, return_lse=True)

    wanted = [torch.stack(x) for x in zip(*map(run, q, k, v, factors))]
    for found, one in zip(torch.vmap(run)(q, k, v, factors), wanted, strict=True):
        assert torch.equal(found, one)
    shared = torch.vmap(run, (1, None, None, None))(q.transpose(0, 1), k[0], v[0], factors[0])
    for index in range(3):
        assert torch.equal(shared[0][index], run(q[index], k[0], v[0], factors[0])[0])
    (*flat,), offsets, _ = joined(device, (3, 5), (4, 6))
    factors = torch.full((2, 1), 0.5, device=device)
    found = torch.vmap(lambda factor: kernels.attention_varlen(*flat, *offsets, 5, 6, v_descale=factor))(factors)
    assert torch.equal(found[1], kernels.attention_varlen(*flat, *offsets, 5, 6, v_descale=factors[1]))


def test_flops_are_counted(device):
    from torch.utils.flop_counter import FlopCounterMode

    q, k, v = tensors(device)
    (*flat,), offsets, _ = joined(device, (3, 5), (4, 6))
    with FlopCounterMode(display=False) as counter:
        kernels.attention(q, k, v)
        kernels.attention_varlen(*flat, *offsets, 5, 6)
    assert counter.get_total_flops() == 4 * 32 * (2 * 4 * 40 * 72 + 4 * (3 * 4 + 5 * 6))


if __name__ == "__main__":
    main(globals())
