# SPDX-License-Identifier: Apache-2.0
"""A block of Llama made of the kernels, under torch.compile(fullgraph=True), against the same block
in plain torch and float64: output, gradients, one step of the optimizer."""

from kernel_testing import kernels, main, normal
from kernel_testing import pytest_generate_tests  # noqa: F401

import torch
import torch.nn.functional as F
from torch import nn

HIDDEN, INTERMEDIATE = 96, 136
HEADS, KEY_HEADS, HEAD_DIM = 6, 2, 16
EPS = 1e-5


class Block(nn.Module):
    """Attention and MLP, each behind a norm and beside a residual, in plain torch."""

    def __init__(self):
        super().__init__()
        self.norm = self.make_norm()
        self.qkv = nn.Linear(HIDDEN, (HEADS + 2 * KEY_HEADS) * HEAD_DIM, bias=False)
        self.out = nn.Linear(HEADS * HEAD_DIM, HIDDEN, bias=False)
        self.mlp_norm_weight = nn.Parameter(torch.ones(HIDDEN))
        self.gate_up = nn.Linear(HIDDEN, 2 * INTERMEDIATE, bias=False)
        self.down = nn.Linear(INTERMEDIATE, HIDDEN, bias=False)

    def make_norm(self):
        return nn.RMSNorm(HIDDEN, eps=EPS)

    def add_norm(self, input, residual):
        total = input + residual
        return F.rms_norm(total, (HIDDEN,), self.mlp_norm_weight, EPS), total

    def swiglu(self, gate, up):
        return F.silu(gate) * up

    def rope(self, q, k, cos, sin):
        """Of [batch, seq, heads, dim] by tables of [seq, dim / 2]."""

        def turned(x):
            a, b = x.chunk(2, -1)
            c, s = cos.unsqueeze(1), sin.unsqueeze(1)
            return torch.cat((a * c - b * s, b * c + a * s), -1).to(x.dtype)

        return turned(q), turned(k)

    def attention(self, q, k, v):
        return F.scaled_dot_product_attention(
            *(x.transpose(1, 2) for x in (q, k, v)), is_causal=True, enable_gqa=True
        ).transpose(1, 2)

    def forward(self, input, cos, sin):
        batch, seq, _ = input.shape
        heads = self.qkv(self.norm(input)).view(batch, seq, HEADS + 2 * KEY_HEADS, HEAD_DIM)
        q, k, v = heads.split((HEADS, KEY_HEADS, KEY_HEADS), dim=2)
        q, k = self.rope(q, k, cos, sin)
        attended = self.attention(q, k, v)
        normed, total = self.add_norm(self.out(attended.flatten(-2)), input)
        gate, up = self.gate_up(normed).chunk(2, -1)
        return total + self.down(self.swiglu(gate, up))


class OurBlock(Block):
    """The same with our kernels."""

    OPS = {"rms_norm", "fused_add_rms_norm", "swiglu", "rope", "attention"}

    def make_norm(self):
        return kernels.RMSNorm(HIDDEN, eps=EPS)

    def add_norm(self, input, residual):
        return kernels.fused_add_rms_norm(input, residual, HIDDEN, self.mlp_norm_weight, EPS)

    def swiglu(self, gate, up):
        return kernels.swiglu(gate, up)

    def rope(self, q, k, cos, sin):
        return kernels.rope(q, k, cos, sin)

    def attention(self, q, k, v):
        return kernels.attention(q, k, v, causal=True)


class Backend:
    """torch.compile's backend, and what it was given."""

    def __init__(self, device):
        # On the CPU inductor takes over a minute for C++ code. What is tested here comes before
        # it: the capture without a break, fake kernels, gradients, functionalisation.
        name = "inductor" if device == "cuda" else "aot_eager"
        self.compile = torch._dynamo.lookup_backend(name)
        self.graphs = []

    def __call__(self, graph, inputs):
        self.graphs.append(graph)
        return self.compile(graph, inputs)

    def our_ops(self):
        """Of the last graph."""
        targets = (str(node.target) for node in self.graphs[-1].graph.nodes)
        return {name.split(".")[1] for name in targets if name.startswith("cudaops.")}


def blocks(dtype, device):
    """Ours, and the plain one in float64 with the same (rounded) weights."""
    torch.manual_seed(0)
    ours = OurBlock().to(device)
    with torch.no_grad():
        for seed, weight in enumerate((ours.norm.weight, ours.mlp_norm_weight)):
            weight += 0.1 * normal(HIDDEN, dtype=torch.float32, device=device, seed=seed)
    ours = ours.to(dtype)
    plain = Block().to(device).double()
    plain.load_state_dict(ours.state_dict())
    return ours, plain


def inputs(batch, seq, dtype, device):
    """input, cos, sin, grad_output; the tables are float32."""
    frequencies = 10000.0 ** (-torch.arange(HEAD_DIM // 2, device=device) / (HEAD_DIM // 2))
    angles = torch.arange(seq, device=device)[:, None] * frequencies
    shape = (batch, seq, HIDDEN)
    return (
        normal(*shape, dtype=dtype, device=device, seed=2),
        angles.cos(),
        angles.sin(),
        normal(*shape, dtype=dtype, device=device, seed=3),
    )


def run(block, function, input, cos, sin, grad):
    """Output and gradients by name; the parameters' stay in place for an optimizer."""
    input = input.detach().requires_grad_()
    block.zero_grad()
    output = function(input, cos, sin)
    output.backward(grad)
    gradients = {name: p.grad.clone() for name, p in block.named_parameters()}
    return {"output": output.detach(), "input": input.grad, **gradients}


def assert_same(found, expected, dtype):
    """Every element in float32; in bfloat16, after a dozen roundings, the whole."""
    assert found.keys() == expected.keys()
    for name, b in expected.items():
        a = found[name].double()
        if dtype == torch.float32:
            scale = b.abs().max().item()
            torch.testing.assert_close(
                a, b, rtol=1e-4, atol=1e-5 * scale, msg=lambda text: f"{name}: {text}"
            )
        else:
            error = ((a - b).norm() / b.norm()).item()
            assert error < 0.02, f"{name}: relative error {error}"


def check(block, function, plain, batch, seq, dtype, device):
    *arguments, grad = inputs(batch, seq, dtype, device)
    exact = [t.double() for t in (*arguments, grad)]
    assert_same(run(block, function, *arguments, grad), run(plain, plain, *exact), dtype)


def step(module, dtype):
    """The parameters after a step. With a large eps it is about proportional to the gradient; else
    elements whose gradient is nothing but rounding would move as far as others."""
    make = kernels.optim.AdamW if isinstance(module, OurBlock) else torch.optim.AdamW
    optimizer = make(module.parameters(), lr=1e-2, eps=1.0, weight_decay=0.1)
    optimizer.step()
    # A 16-bit parameter is its master rounded, which hides the step.
    state = optimizer.state
    return {
        name: state[p].get("master_param", p).detach() for name, p in module.named_parameters()
    }


def test_static_shapes(device):
    for dtype in (torch.float32, torch.bfloat16):
        torch._dynamo.reset()
        ours, plain = blocks(dtype, device)
        before = {name: p.detach().clone() for name, p in plain.named_parameters()}
        backend = Backend(device)
        compiled = torch.compile(ours, fullgraph=True, dynamic=False, backend=backend)
        check(ours, compiled, plain, 2, 24, dtype, device)
        assert len(backend.graphs) == 1 and backend.our_ops() == OurBlock.OPS
        found, expected = step(ours, dtype), step(plain, dtype)
        moved = {name: value - before[name] for name, value in found.items()}
        wanted = {name: value - before[name] for name, value in expected.items()}
        for name in wanted:
            error = ((moved[name] - wanted[name]).norm() / wanted[name].norm()).item()
            assert error < (1e-4 if dtype == torch.float32 else 0.05), (name, dtype, error)
        # The step wrote to the parameters that the compiled code reads.
        with torch.no_grad():
            for name, p in plain.named_parameters():
                p.copy_(dict(ours.named_parameters())[name])
        check(ours, compiled, plain, 2, 24, dtype, device)
        assert len(backend.graphs) == 1


def test_dynamic_shapes(device):
    torch._dynamo.reset()
    ours, plain = blocks(torch.float32, device)
    backend = Backend(device)
    compiled = torch.compile(ours, fullgraph=True, dynamic=True, backend=backend)
    num_graphs = set()
    for batch, seq in ((2, 24), (3, 17), (5, 40)):
        check(ours, compiled, plain, batch, seq, torch.float32, device)
        num_graphs.add(len(backend.graphs))
    # For the first shape dynamo may start over (a float that it took for dynamic); for the others
    # nothing is compiled.
    assert len(num_graphs) == 1 and backend.our_ops() == OurBlock.OPS


def test_without_compile(device):
    for dtype in (torch.float32, torch.bfloat16):
        ours, plain = blocks(dtype, device)
        check(ours, ours, plain, 2, 24, dtype, device)


if __name__ == "__main__":
    main(globals())
