"""my_ops on one device: pytest --device=cpu|cuda"""

import my_ops
import pytest
import torch


def inputs(shape, device):
    return torch.randn(shape, device=device), torch.randn(shape, device=device)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (7, 11), (100003,)])
def test_is_what_torch_computes(device, shape):
    a, b = inputs(shape, device)
    torch.testing.assert_close(my_ops.scaled_add(a, b, 0.3), a + 0.3 * b)


def test_is_an_operator_by_the_rules(device):
    a, b = inputs(33, device)
    torch.library.opcheck(torch.ops.my_ops.scaled_add.default, (a.requires_grad_(), b.requires_grad_(), 0.3))


def test_gradients_are_those_of_the_formula(device):
    a, b = inputs(33, device)
    my_ops.scaled_add(a.requires_grad_(), b.requires_grad_(), 0.3).sum().backward()
    torch.testing.assert_close(a.grad, torch.ones_like(a))
    torch.testing.assert_close(b.grad, torch.full_like(b, 0.3))


def test_wrong_inputs_are_refused(device):
    a, b = inputs(33, device)
    strided = torch.randn(66, device=device)[::2]
    for wrong, sentence in ((b.double(), "float32"), (b[:32], "one shape"), (strided, "contiguous")):
        with pytest.raises(RuntimeError, match="wanted .*" + sentence):
            my_ops.scaled_add(a, wrong, 0.3)
    with pytest.raises((RuntimeError, TypeError), match="float32|torch.Tensor"):
        my_ops.scaled_add(a, None, 0.3)
