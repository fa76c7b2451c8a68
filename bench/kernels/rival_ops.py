# SPDX-License-Identifier: Apache-2.0
"""The ops that rivals.py measures: for each its inputs, our call, and the same in plain torch. That
is a rival as it stands (eager) and compiled (torch.compile), and in float64 the reference of all.

A new op is one entry of OPS. Shapes and dtypes are those of <op>_benchmark.cpp, and so are the
names: `<name><BFloat16>/rows:…/width:…`, with `_backward` behind the name for the gradients.
"""

import dataclasses
import functools
import importlib
import importlib.metadata
import math
import sys
import typing

import torch
import torch.nn.functional as F

ops = torch.ops.cudaops
EPS = 1e-6
DTYPES = {"BFloat16": torch.bfloat16, "Float16": torch.float16, "float": torch.float32}


def element(dtype):
    """Of a benchmark's template arguments the first, as "BFloat16" of "BFloat16, float"."""
    return dtype.split(",")[0]


def few(widths):
    return tuple((rows, width) for rows in (1, 128, 1024) for width in widths)


# As row_shapes() in row_benchmark.h, by what they stand for.
ROWS = {
    "small": ((64, 4096),),
    "medium": ((4096, 4096),),
    "large": ((32768, 4096), (16384, 8192), (8192, 16384)),
    "awkward": ((32768, 4097),),
    "more": (
        (131072, 1024),
        (1024, 131072),
        (1048576, 128),
        (32768, 4099),
        (131072, 1000),
        (1048576, 127),
    ),
    # Of inference, in no benchmark program: two parts, since one would take longer than --seconds.
    "few": few((2880, 4096, 7168, 8192, 18432)),
    "few_more": few((2048, 3072, 5120)),
}
# As shapes() in softmax_benchmark.cpp and cross_entropy_benchmark.cpp.
SCORES = {
    **ROWS,
    "large": ((32768, 4096), (4096, 16384), (4096, 131072)),
    "more": (*ROWS["more"], (8192, 1024)),
}
CLASSES = {
    "small": ((64, 4096),),
    "medium": ((65536, 1000),),
    "large": ((8192, 32000), (4096, 128256)),
    "awkward": ((8192, 50257),),
    "more": ((4096, 152064), (1024, 262144)),
    "few": few((32000, 128256)),
    "few_more": few((151936, 262144)),
}
# As lists() in adamw_benchmark.cpp.
LISTS = {
    "small": ((1000, 4096),),
    "medium": (),
    "large": ((1, 1 << 29), (1000, 524288)),
    "awkward": ((1000, 524287),),
    "more": ((1000, 4095),),
}
# Of rope_benchmark.cpp: batch, seq, heads of q and of k, their elements, those that are turned.
HEADS = {
    "small": ((1, 64, 32, 8, 128, 128),),
    "medium": (),
    "large": ((4, 4096, 32, 8, 128, 128), (16, 4096, 32, 8, 128, 128)),
    "awkward": ((8, 4096, 32, 8, 66, 66),),
    "more": ((4, 4096, 32, 32, 128, 128), (64, 1, 32, 8, 128, 128), (8, 4096, 32, 8, 80, 32)),
}
# Of transpose_benchmark.cpp: batches of matrices.
MATRICES = {
    "small": ((1, 256, 256),),
    "medium": ((1, 4096, 4096),),
    "large": ((1, 16384, 16384),),
    "awkward": ((1, 8191, 8193),),
    "more": ((1, 8192, 8192), (64, 1024, 1024), (16384, 64, 64), (1, 1048576, 128)),
}
QUICK = {"rows": ((3, 8), (5, 33)), "lists": ((3, 40),)}


@dataclasses.dataclass
class Other:
    """A function of a package of PACKAGES. backward=False: it has no gradient, or one that writes
    over its inputs, so that it can't be called again on them; writes: it writes over them itself,
    and is called without gradients on copies."""

    call: typing.Callable  # (module, *inputs)
    backward: bool = True
    writes: bool = False


# The name in results → (the distribution, the module whose functions are called).
PACKAGES = {
    "liger": ("liger-kernel", "liger_kernel.transformers.functional"),
    "flash_attn": ("flash-attn", "flash_attn.ops.triton.layer_norm"),
    "flashinfer": ("flashinfer-python", "flashinfer"),
    "quack": ("quack-kernels", "quack"),
    "apex": ("apex", "apex.normalization.fused_layer_norm"),
    "transformer_engine": ("transformer-engine", "transformer_engine.pytorch"),
    "vllm": ("vllm", "vllm._custom_ops"),
}


def versions(modules):
    """name → version, of name → module."""
    found = {}
    for name, module in modules.items():
        try:
            found[name] = importlib.metadata.version(PACKAGES[name][0])
        except importlib.metadata.PackageNotFoundError:  # on the path, but not installed
            package = sys.modules[module.__name__.split(".")[0]]
            found[name] = getattr(package, "__version__", "of an unknown version")
    return found


@functools.cache
def module(name):
    """(the module of PACKAGES' entry, None), or (None, why it could not be had)."""
    try:
        return importlib.import_module(PACKAGES[name][1]), None
    except Exception as error:  # there, but not for this torch, say
        return None, f"{type(error).__name__}: {' '.join(str(error).split())}"[:200]


def modules(names):
    """(name → module, name → why it could not be had) of those packages: importing one takes seconds, so that an op's
    process imports the packages that it calls only."""
    had = {name: module(name) for name in PACKAGES if name in names}
    found = {name: m for name, (m, _) in had.items() if m}
    return found, {name: why for name, (_, why) in had.items() if why}


@dataclasses.dataclass
class Op:
    """A function of tensors, with gradients for the floating ones but the last `constants`."""

    op: str  # in torch.ops.cudaops
    inputs: typing.Callable  # (shape, new) → tensors; new(*shape) makes one of normal numbers
    ours: typing.Callable
    torch: typing.Callable
    # How often a pass reads or writes an array of the shape's size, which elements() knows;
    # backward None: there is none.
    forward: float
    backward: typing.Optional[float] = None
    others: dict = dataclasses.field(default_factory=dict)
    dtypes: tuple = ("BFloat16", "float")
    shapes: dict = dataclasses.field(default_factory=lambda: ROWS)
    quick: tuple = QUICK["rows"]
    sides: tuple = ("rows", "width")
    elements: typing.Callable = math.prod
    constants: int = 0


@dataclasses.dataclass
class Optimizer:
    """torch.optim.AdamW's step on a list of tensors; its rivals are torch's own ways to do it."""

    op: str
    ours: typing.Callable  # params → optimizer
    torch: dict  # name → (params → optimizer)
    bytes: float  # of an element, read and written
    dtypes: tuple = ("float", "BFloat16")
    shapes: dict = dataclasses.field(default_factory=lambda: LISTS)
    quick: tuple = QUICK["lists"]
    sides: tuple = ("tensors", "elements")


def rows(arrays, columns):
    """Inputs: so many arrays of the shape's size, then so many vectors of one element a column."""

    def inputs(shape, new):
        return tuple(new(*shape) for _ in range(arrays)) + tuple(
            new(shape[-1]) for _ in range(columns)
        )

    return inputs


def fused_add_rms_norm(input, residual, weight):
    total = input + residual
    return F.rms_norm(total, weight.shape, weight, EPS), total


def classes(shape, new):
    target = torch.arange(shape[0], device=new(1).device) * 7919 % shape[1]
    return new(*shape), target


def cross_entropy(logits, target):
    """The loss is float32, as ours; a 16-bit one would hide what is computed."""
    return F.cross_entropy(in_float(logits), target)


def bias_gelu(approximate, dtypes):
    return Op(
        "bias_gelu",
        rows(1, 1),
        lambda input, bias: ops.bias_gelu(input, bias, approximate),
        lambda input, bias: F.gelu(input + bias, approximate=approximate),
        2,
        3,
        dtypes=dtypes,
    )


def geglu(approximate, others):
    return Op(
        "geglu",
        rows(2, 0),
        lambda gate, up: ops.geglu(gate, up, approximate),
        lambda gate, up: F.gelu(gate, approximate=approximate) * up,
        3,
        5,
        others,
        dtypes=("BFloat16",),
    )


def rope_inputs(shape, new):
    batch, seq, q_heads, k_heads, head_dim, rotary_dim = shape
    q, k = new(batch, seq, q_heads, head_dim), new(batch, seq, k_heads, head_dim)
    pairs = torch.arange(rotary_dim // 2, device=q.device) / (rotary_dim // 2)
    angles = torch.arange(seq, device=q.device)[:, None] * 10000.0**-pairs
    return q, k, angles.cos(), angles.sin()


def rope(q, k, cos, sin):
    """By float32 (or float64) tables, in their precision, rounded once."""

    def turned(x):
        turning, rest = x.split((2 * cos.shape[-1], x.shape[-1] - 2 * cos.shape[-1]), -1)
        a, b = turning.chunk(2, -1)
        c, s = cos.unsqueeze(1), sin.unsqueeze(1)
        return torch.cat(((a * c - b * s).to(x.dtype), (b * c + a * s).to(x.dtype), rest), -1)

    return turned(q), turned(k)


@functools.cache
def positions(batch, seq, device):
    return torch.arange(seq, device=device).repeat(batch)


def rope_inputs_of_engines(q, k, cos, sin, dtype):
    """(positions, q, k of [tokens, heads * head_dim], head_dim, table): what vLLM and FlashInfer take."""
    flat = [x.reshape(x.shape[0] * x.shape[1], -1) for x in (q, k)]
    return positions(*q.shape[:2], q.device), *flat, q.shape[-1], rope_table(cos.shape, cos.device, dtype)


@functools.cache
def rope_table(shape, device, dtype):
    """[seq, rotary_dim]: the cosines of rope_inputs(), then the sines; the package's program makes it once."""
    seq, pairs = shape
    rates = 10000.0 ** -(torch.arange(pairs, device=device) / pairs)
    angles = torch.arange(seq, device=device)[:, None] * rates
    return torch.cat((angles.cos(), angles.sin()), -1).to(dtype)


def rope_by_vllm(m, q, k, cos, sin):
    *arrays, head_dim, table = rope_inputs_of_engines(q, k, cos, sin, q.dtype)
    m.rotary_embedding(*arrays, head_dim, table, True)
    return q, k


def rope_by_flashinfer(m, q, k, cos, sin):
    *arrays, head_dim, table = rope_inputs_of_engines(q, k, cos, sin, torch.float32)
    outputs = m.rope.apply_rope_with_cos_sin_cache(*arrays, head_dim, table)
    return tuple(y.view(x.shape) for x, y in zip((q, k), outputs))


def in_float(x):
    """16-bit numbers in float32; float64's reference keeps its own."""
    return x if x.dtype == torch.float64 else x.float()


def groups_of(x, count):
    """[rows, groups, count]; the last group is filled up with zeros."""
    missing = -x.shape[-1] % count
    return (F.pad(x, (0, missing)) if missing else x).unflatten(-1, (-1, count))


# What the largest magnitude becomes.
LARGEST = {torch.int8: 127.0, torch.float8_e4m3fn: 448.0}


def scaled(x, dtype, dims=(-1,)):
    scale = (x.abs().amax(dims, keepdim=True) / LARGEST[dtype]).clamp(min=1e-12)
    numbers = x / scale
    return (numbers.round() if dtype == torch.int8 else numbers).to(dtype), scale.float()


def quantize_rows(input, dtype):
    return scaled(in_float(input), dtype)


def quantize_groups(input, dtype):
    output, scale = scaled(groups_of(in_float(input), 128), dtype)
    return output.flatten(-2)[..., : input.shape[-1]], scale.squeeze(-1)


def quantize_tensor(input, dtype):
    return scaled(in_float(input), dtype, (-2, -1))


def by_row(rows, width):
    """The shape of scales."""
    return rows, 1


def quantized_by_vllm(call, dtype, scales):
    """call(output, input, scale): a function of vLLM that is given its results."""

    def quantized(m, input):
        output = torch.empty_like(input, dtype=dtype)
        scale = torch.empty(scales(*input.shape), device=input.device)
        call(output, input, scale)
        return output, scale

    return {"vllm": Other(quantized, backward=False)}


def groups_by_vllm(output, input, scale):
    torch.ops._C.per_token_group_fp8_quant(
        input, output, scale, 128, 1e-12, -448.0, 448.0, False, False, False
    )


def quantize(dtype, block_size, plain, forward, others):
    return Op(
        "quantize",
        rows(1, 0),
        lambda input: ops.quantize(input, dtype, block_size)[:2],
        lambda input: plain(input, dtype),
        forward,
        others=others,
        dtypes=("BFloat16",),
    )


def norm_quantized(dtype, group, residual):
    """Of rms_norm() the rows (group -1) or groups; with a residual of the sum's, which is a result too."""

    def plain(input, *others):
        # Rounded to 16 bits in float64 too: whether a number is above the middle of two steps of 8 bits turns on it.
        total = (input + others[0]).bfloat16() if residual else input
        weight = in_float(others[-1])
        output = F.rms_norm(total.to(weight.dtype), weight.shape, weight, EPS).bfloat16()
        results = (quantize_rows if group < 0 else quantize_groups)(output, dtype)
        return (*results, total) if residual else results

    def ours(input, *others):
        first = others[0] if residual else None
        results = ops.rms_norm_quantize(input, first, others[-1], EPS, dtype, group)
        return results if residual else results[:2]

    def by_vllm(m, input, *others):
        *total, weight = others  # the sum is written over the residual
        output = torch.empty_like(input, dtype=dtype)
        groups = 1 if group < 0 else -(-input.shape[-1] // group)
        scale = torch.empty(input.shape[0], groups, device=input.device)
        arguments = (output, input, weight, scale, EPS, None, *(total or [None]))
        if group < 0:
            torch.ops._C.rms_norm_dynamic_per_token_quant(*arguments)
        else:
            torch.ops._C.rms_norm_per_block_quant(*arguments, group, False)
        return output, scale, *total

    return Op(
        "rms_norm_quantize",
        rows(2 if residual else 1, 1),
        ours,
        plain,
        3.5 if residual else 1.5,
        others={"vllm": Other(by_vllm, backward=False, writes=residual)},
        dtypes=("BFloat16",),
    )


def dequantize(dtype, group, forward):
    """group: elements a scale; 0: the row."""

    def inputs(shape, new):
        num_scales = -(-shape[-1] // group) if group else 1
        scale = new(shape[0], num_scales).float().abs() + 0.1
        return (100 * new(*shape)).clamp(-127, 127).to(dtype), scale

    def plain(input, scale):
        if group:
            scale = scale.repeat_interleave(group, -1)[..., : input.shape[-1]]
        return (input.to(scale.dtype) * scale).to(torch.bfloat16)

    block_size = [1, group or -1]
    return Op(
        "dequantize",
        inputs,
        lambda input, scale: ops.dequantize(input, scale, None, block_size, torch.bfloat16),
        plain,
        forward,
        dtypes=("BFloat16",),
    )


def optimizer(make, **arguments):
    return lambda params: make(
        params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, **arguments
    )


def our_adamw(params):
    from cudaops_kernels import optim

    return optimizer(optim.AdamW)(params)


def into(like, call):
    """call(output, ...) of a new tensor, for functions that are given it."""
    output = torch.empty_like(like)
    call(output)
    return output


def written(call, *inputs):
    """The inputs, after a function that writes its results over them."""
    call(*inputs)
    return inputs


def engine():
    """TransformerEngine's functions."""
    return importlib.import_module("transformer_engine_torch")


class NormByEngine(torch.autograd.Function):
    """What TransformerEngine's modules call, who free the tensors that they saved in the first
    backward pass; here the same forward pass is followed by many. With a bias it is layer_norm."""

    @staticmethod
    def forward(ctx, package, input, *parameters):
        name = "layernorm" if len(parameters) == 2 else "rmsnorm"
        dtype = package.constants.TE_DType[input.dtype]
        output, *statistics = getattr(engine(), f"{name}_fwd")(
            input, *parameters, EPS, None, None, dtype, 0, False
        )
        statistics = [t for t in statistics if t is not None]  # rmsnorm_fwd has no mean
        ctx.save_for_backward(input, *statistics, parameters[0])
        ctx.name = name
        return output

    @staticmethod
    def backward(ctx, grad_output):
        return None, *getattr(engine(), f"{ctx.name}_bwd")(grad_output, *ctx.saved_tensors, 0, False)


def halves(packed):
    return packed.chunk(2, -1)


def silu_of_halves(packed):
    gate, up = halves(packed)
    return F.silu(gate) * up


OPS = {
    "rms_norm": Op(
        "rms_norm",
        rows(1, 1),
        lambda input, weight: ops.rms_norm(input, weight, EPS)[0],
        lambda input, weight: F.rms_norm(input, weight.shape, weight, EPS),
        2,
        3,
        {
            "liger": Other(lambda m, x, w: m.liger_rms_norm(x, w, EPS, in_place=False)),
            "flash_attn": Other(lambda m, x, w: m.rms_norm_fn(x, w, None, eps=EPS)),
            "flashinfer": Other(lambda m, x, w: m.norm.rmsnorm(x, w, EPS), backward=False),
            "quack": Other(lambda m, x, w: m.rmsnorm(x, w, eps=EPS)),
            "apex": Other(lambda m, x, w: m.fused_rms_norm_affine(x, w, w.shape, EPS)),
            "transformer_engine": Other(lambda m, x, w: NormByEngine.apply(m, x, w)),
            "vllm": Other(
                lambda m, x, w: into(x, lambda y: m.rms_norm(y, x, w, EPS)), backward=False
            ),
        },
    ),
    "fused_add_rms_norm": Op(
        "fused_add_rms_norm",
        rows(2, 1),
        lambda input, residual, weight: ops.fused_add_rms_norm(input, residual, weight, EPS)[:2],
        fused_add_rms_norm,
        4,
        4,
        {
            "liger": Other(
                lambda m, x, r, w: m.liger_fused_add_rms_norm(x, r, w, EPS, in_place=False)
            ),
            "flash_attn": Other(
                lambda m, x, r, w: m.rms_norm_fn(x, w, None, residual=r, eps=EPS, prenorm=True)
            ),
            "quack": Other(lambda m, x, r, w: m.rmsnorm(x, w, residual=r, eps=EPS, prenorm=True)),
            "flashinfer": Other(
                lambda m, x, r, w: written(
                    lambda x, r: m.norm.fused_add_rmsnorm(x, r, w, EPS), x, r
                ),
                writes=True,
            ),
            "vllm": Other(
                lambda m, x, r, w: written(lambda x, r: m.fused_add_rms_norm(x, r, w, EPS), x, r),
                writes=True,
            ),
        },
        dtypes=("BFloat16",),
    ),
    "layer_norm": Op(
        "layer_norm",
        rows(1, 2),
        lambda input, weight, bias: ops.layer_norm(input, weight, bias, EPS)[0],
        lambda input, weight, bias: F.layer_norm(input, weight.shape, weight, bias, EPS),
        2,
        3,
        {
            "liger": Other(lambda m, x, w, b: m.liger_layer_norm(x, w, b, EPS)),
            "flash_attn": Other(lambda m, x, w, b: m.layer_norm_fn(x, w, b, eps=EPS)),
            "apex": Other(lambda m, x, w, b: m.fused_layer_norm_affine(x, w, b, w.shape, EPS)),
            "transformer_engine": Other(lambda m, x, w, b: NormByEngine.apply(m, x, w, b)),
        },
    ),
    "softmax": Op(
        "softmax",
        rows(1, 0),
        lambda input: ops.softmax(input),
        lambda input: torch.softmax(input, -1),
        2,
        3,
        {
            "liger": Other(lambda m, x: m.liger_softmax(x)),
            "quack": Other(lambda m, x: m.softmax(x)),
        },
        shapes=SCORES,
    ),
    "cross_entropy": Op(
        "cross_entropy",
        classes,
        lambda logits, target: ops.cross_entropy(logits, target)[0],
        cross_entropy,
        1,
        2,
        {
            # Its gradients are written over the logits, by the forward pass.
            "liger": Other(
                lambda m, logits, target: m.liger_cross_entropy(logits, target),
                writes=True,
            ),
            "quack": Other(lambda m, logits, target: m.cross_entropy(logits, target)),
        },
        shapes=CLASSES,
        constants=1,
    ),
    "swiglu": Op(
        "swiglu",
        rows(2, 0),
        lambda gate, up: ops.swiglu(gate, up),
        lambda gate, up: F.silu(gate) * up,
        3,
        5,
        # Its gradients are written over gate and up.
        {"liger": Other(lambda m, gate, up: m.liger_swiglu(gate, up), backward=False)},
    ),
    "swiglu_of_halves": Op(
        "swiglu",
        lambda shape, new: (new(*shape[:-1], 2 * shape[-1]),),
        lambda packed: ops.swiglu(*halves(packed)),
        silu_of_halves,
        3,
        None,
        {
            "flashinfer": Other(lambda m, x: m.activation.silu_and_mul(x), backward=False),
            "transformer_engine": Other(lambda m, x: engine().swiglu(x, None), backward=False),
            "vllm": Other(
                lambda m, x: into(halves(x)[0], lambda y: torch.ops._C.silu_and_mul(y, x)),
                backward=False,
            ),
        },
        dtypes=("BFloat16",),
    ),
    "geglu_erf": geglu("none", {}),
    "geglu_tanh": geglu(
        "tanh", {"liger": Other(lambda m, gate, up: m.liger_geglu(gate, up), backward=False)}
    ),
    "bias_gelu_erf": bias_gelu("none", ("BFloat16", "float")),
    "bias_gelu_tanh": bias_gelu("tanh", ("BFloat16",)),
    "rope": Op(
        "rope",
        rope_inputs,
        lambda q, k, cos, sin: ops.rope(q, k, cos, sin, None),
        rope,
        2,
        2,
        {
            "vllm": Other(rope_by_vllm, writes=True),  # by tables in the precision of q
            "flashinfer": Other(rope_by_flashinfer, backward=False),
        },
        dtypes=("BFloat16, float",),
        shapes=HEADS,
        quick=((2, 5, 4, 2, 8, 8), (2, 3, 2, 2, 10, 6)),
        sides=("batch", "seq", "q", "k", "dim", "rotary"),
        elements=lambda shape: shape[0] * shape[1] * (shape[2] + shape[3]) * shape[4],
        constants=2,
    ),
    "transpose": Op(
        "transpose",
        lambda shape, new: (new(*shape),),
        lambda input: ops.transpose(input),
        lambda input: input.transpose(-2, -1).contiguous(),
        2,
        dtypes=("float", "BFloat16"),
        shapes=MATRICES,
        quick=((2, 3, 8), (1, 7, 5)),
        sides=("batch", "rows", "columns"),
    ),
    # A byte for each element's two; two reads for one scale of all.
    "quantize_rows_int8": quantize(
        torch.int8,
        [1, -1],
        quantize_rows,
        1.5,
        quantized_by_vllm(
            lambda *args: torch.ops._C.dynamic_scaled_int8_quant(*args, None),
            torch.int8,
            by_row,
        ),
    ),
    "quantize_rows_float8": quantize(
        torch.float8_e4m3fn,
        [1, -1],
        quantize_rows,
        1.5,
        quantized_by_vllm(
            lambda *args: torch.ops._C.dynamic_per_token_scaled_fp8_quant(*args, None),
            torch.float8_e4m3fn,
            by_row,
        ),
    ),
    "quantize_groups_float8": quantize(
        torch.float8_e4m3fn,
        [1, 128],
        quantize_groups,
        1.5,
        quantized_by_vllm(
            groups_by_vllm, torch.float8_e4m3fn, lambda rows, width: (rows, -(-width // 128))
        ),
    ),
    "quantize_tensor_float8": quantize(
        torch.float8_e4m3fn,
        [-1, -1],
        quantize_tensor,
        2.5,
        quantized_by_vllm(
            lambda *args: torch.ops._C.dynamic_scaled_fp8_quant(*args),
            torch.float8_e4m3fn,
            lambda rows, width: (1, 1),
        ),
    ),
    "rms_norm_quantize_rows_int8": norm_quantized(torch.int8, -1, False),
    "rms_norm_quantize_groups_float8": norm_quantized(torch.float8_e4m3fn, 128, False),
    "fused_add_rms_norm_quantize_rows_float8": norm_quantized(torch.float8_e4m3fn, -1, True),
    "dequantize_rows_int8": dequantize(torch.int8, 0, 1.5),
    "dequantize_groups_float8": dequantize(torch.float8_e4m3fn, 128, 1.5),
    "adamw": Optimizer(
        "adamw_",
        our_adamw,
        {
            "fused": optimizer(torch.optim.AdamW, fused=True),
            "foreach": optimizer(torch.optim.AdamW, foreach=True),
            "compile": optimizer(torch.optim.AdamW, foreach=True),
        },
        28,
    ),
}
