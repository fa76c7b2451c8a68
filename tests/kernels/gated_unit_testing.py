# SPDX-License-Identifier: Apache-2.0
"""What the tests of swiglu and geglu share. Each check takes the op's functions and an activation of
torch, which gives the reference in float64."""

from kernel_testing import DTYPES, assert_close, normal, opcheck, refusal, shapes

import torch


def inputs(*shape, dtype, device):
    """gate (wide enough to reach the activation's tails), up, grad_output."""
    gate = 3 * normal(*shape, dtype=dtype, device=device)
    return (
        gate,
        normal(*shape, dtype=dtype, device=device, seed=1),
        normal(*shape, dtype=dtype, device=device, seed=2),
    )


def reference(activation, gate, up, grad=None):
    """The output, or the gradients by gate and up, in float64 by autograd."""
    gate, up = gate.double().requires_grad_(), up.double().requires_grad_()
    output = activation(gate) * up
    if grad is None:
        return output.detach()
    return torch.autograd.grad(output, (gate, up), grad.double())


def check_forward_and_backward(op, function, backward, activation, device):
    for dtype in DTYPES:
        for shape in shapes(op):
            gate, up, grad = inputs(*shape, dtype=dtype, device=device)
            output = function(gate, up)
            assert output.dtype == dtype and output.shape == gate.shape
            assert_close(output, reference(activation, gate, up), (shape, dtype))
            found = backward(grad, gate, up)
            for a, b in zip(found, reference(activation, gate, up, grad)):
                assert a.dtype == dtype and a.shape == gate.shape
                # A derivative passes through zero where its terms cancel.
                assert_close(a, b, (shape, dtype), atol=4e-6)


def check_autograd(function, activation, device):
    for dtype in DTYPES:
        both = normal(6, 66, dtype=dtype, device=device).requires_grad_()
        output = function(*both.chunk(2, dim=-1))
        (found,) = torch.autograd.grad(output.sum(), both)  # the gradient is one number, expanded
        ones = torch.ones_like(output)
        expected = reference(activation, *both.detach().chunk(2, dim=-1), ones)
        assert_close(found, torch.cat(expected, dim=-1), dtype, atol=4e-6)
        # Only one of the two wants a gradient.
        gate, up = (half.detach().clone() for half in both.chunk(2, dim=-1))
        (found,) = torch.autograd.grad(function(gate, up.requires_grad_()).sum(), up)
        assert_close(found, expected[1], dtype, atol=4e-6)


def check_strided_rows(function, backward, activation, device):
    for dtype in DTYPES:
        wide = normal(20, 258, dtype=dtype, device=device)
        halves = [(wide[:, :129], wide[:, 129:]), (wide[:, :128], wide[:, 130:])]
        halves += [(wide[:, 1:66], wide[:, 64:129]), (wide[::2, 3:100], wide[1::2, 5:102])]
        halves += [(wide.t()[:100], wide.t()[100:200])]  # can't be rows: copied
        halves += [(wide[:1].expand(20, 258), wide), (wide[:, 7:8], wide[:, 9:10])]
        for gate, up in halves:
            output = function(gate, up)
            assert output.is_contiguous()
            assert_close(output, reference(activation, gate, up), gate.stride())
            grad = normal(*gate.shape, dtype=dtype, device=device, seed=4)
            for a, b in zip(backward(grad, gate, up), reference(activation, gate, up, grad)):
                assert a.is_contiguous()
                assert_close(a, b, gate.stride(), atol=4e-6)


def check_nan_and_infinity(function, backward, device):
    infinity, nan = float("inf"), float("nan")
    for dtype in DTYPES:
        gate = torch.zeros(4, 9, dtype=dtype, device=device)
        gate[0, 3], gate[1, 4], gate[2, 8] = nan, infinity, -60000.0
        up = torch.ones_like(gate)
        up[3, 0] = nan
        output = function(gate, up).double()
        wanted = torch.zeros_like(output)
        wanted[0, 3], wanted[1, 4], wanted[3, 0] = nan, infinity, nan
        torch.testing.assert_close(output, wanted, rtol=0, atol=0, equal_nan=True)
        grad_gate, grad_up = backward(torch.ones_like(gate), gate, up)
        assert torch.isnan(grad_gate[0, 3]) and torch.isnan(grad_up[0, 3])
        assert grad_gate[2, 8] == 0 and grad_up[2, 8] == 0
        assert torch.isnan(grad_gate[3, 0]) and grad_up[3, 0] == 0
        # Nothing but those is touched.
        assert torch.isfinite(grad_gate).sum() >= gate.numel() - 3
        assert torch.isfinite(grad_up).sum() >= gate.numel() - 2


def check_same_bits(function, backward, device):
    gate, up, grad = inputs(300, 1001, dtype=torch.bfloat16, device=device)
    output, grads = function(gate, up), backward(grad, gate, up)
    for _ in range(3):
        assert torch.equal(function(gate, up), output)
        assert all(torch.equal(a, b) for a, b in zip(backward(grad, gate, up), grads))


def check_refusals(op, function, backward, device):
    x = torch.zeros(2, 8, device=device)
    for call, sentence in (
        (
            lambda: function(x.int(), x.int()),
            f"{op}: wanted float32 (Float), float16 (Half) or bfloat16 (BFloat16) for gate, "
            "found Int.",
        ),
        (
            lambda: function(x, x.half()),
            f"{op}: wanted one dtype for gate and up, found Float and Half.",
        ),
        (
            lambda: function(x, x[:1]),
            f"{op}: wanted one shape for gate and up, found [2, 8] and [1, 8].",
        ),
        (
            lambda: function(x.sum(), x.sum()),
            f"{op}: wanted at least one dimension for gate, found none.",
        ),
        (
            lambda: backward(x[:, :4], x, x),
            f"{op}_backward: wanted one shape for grad_output and gate, found [2, 4] and [2, 8].",
        ),
    ):
        assert refusal(call) == sentence, refusal(call)


def check_opcheck(op, op_backward, device, *arguments):
    for dtype in DTYPES:
        gate, up, grad = inputs(4, 33, dtype=dtype, device=device)
        opcheck(op, (gate, up, *arguments))
        opcheck(op_backward, (grad, gate, up, *arguments))
        opcheck(op, (gate.requires_grad_(), up.requires_grad_(), *arguments))
