# SPDX-License-Identifier: Apache-2.0
"""torch.ops.cudaops.cross_entropy against float64 and torch."""

from kernel_testing import DTYPES, assert_close, kernels, main, normal, opcheck, ops, refusal, shapes
from kernel_testing import pytest_generate_tests  # noqa: F401

import torch
from torch.nn import functional

SHAPES = shapes("cross_entropy")
# label_smoothing, lse_square_scale, softcap
OPTIONS = ((0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 1e-2, 0.0), (0.2, 1e-3, 5.0))
IGNORED = -100


def inputs(shape, dtype, device, ignores=True):
    """Logits of language models' size, and targets of which some are ignored."""
    logits = 5 * normal(*shape, dtype=dtype, device=device)
    generator = torch.Generator().manual_seed(1)
    target = torch.randint(shape[-1], shape[:-1], generator=generator)
    if ignores and target.numel() > 2:
        target.view(-1)[1::4] = IGNORED
    return logits, target.to(device)


def reference(
    logits, target, label_smoothing=0.0, lse_square_scale=0.0, softcap=0.0, reduction="mean"
):
    """In float64, by torch."""
    z = logits.double().flatten(0, -2) if logits.dim() > 1 else logits.double()[None]
    if softcap:
        z = softcap * torch.tanh(z / softcap)
    flat = target.flatten().long()
    loss = functional.cross_entropy(
        z, flat, reduction="none", ignore_index=IGNORED, label_smoothing=label_smoothing
    )
    counts = flat != IGNORED
    loss = loss + lse_square_scale * counts * torch.logsumexp(z, -1) ** 2
    if reduction == "none":
        return loss.view(target.shape)
    return loss.sum() / (counts.sum() if reduction == "mean" else 1)


def gradient(logits, target, options, reduction, grad):
    wide = logits.detach().double().requires_grad_()
    return torch.autograd.grad(reference(wide, target, *options, reduction), wide, grad.double())[0]


def test_loss_and_gradients(device):
    for dtype in DTYPES:
        for shape in SHAPES:
            for options in OPTIONS:
                for reduction in ("mean", "sum", "none"):
                    logits, target = inputs(shape, dtype, device)
                    case = (dtype, shape, options, reduction)
                    arguments = (IGNORED, *options, reduction)
                    loss, lse = ops.cross_entropy(logits, target, *arguments)
                    expected = reference(logits, target, *options, reduction)
                    assert loss.dtype == lse.dtype == torch.float32
                    assert loss.shape == expected.shape and lse.shape == target.shape
                    assert_close(loss, expected, case, atol=1e-5, rtol=1e-5)
                    grad = torch.full_like(loss, 0.75)
                    found = ops.cross_entropy_backward(grad, logits, target, lse, *arguments)
                    wanted = gradient(logits, target, options, reduction, grad)
                    assert found.dtype == dtype
                    assert_close(found, wanted, case, atol=4e-6, rtol=2e-5)
                    again = logits.clone()
                    in_place, same_lse = ops.cross_entropy_(again, target, *arguments)
                    assert_close(in_place, loss.double(), case, atol=1e-5)
                    assert_close(same_lse, lse.double(), case)
                    wanted = gradient(logits, target, options, reduction, torch.ones_like(loss))
                    assert_close(again, wanted, case, atol=4e-6, rtol=2e-5)


def test_agrees_with_torch_on_what_it_ignores(device):
    logits, target = inputs((9, 13), torch.float32, device)
    for index in (IGNORED, 0, 5, 255):
        some = target.clone()
        some[some == IGNORED] = index
        for reduction in ("mean", "sum", "none"):
            expected = functional.cross_entropy(
                logits.double(), some, ignore_index=index, reduction=reduction
            )
            loss = kernels.cross_entropy(logits, some, ignore_index=index, reduction=reduction)
            assert_close(loss, expected, (index, reduction), atol=2e-6)
    nothing = torch.full((9,), IGNORED, device=device)
    assert kernels.cross_entropy(logits, nothing).isnan()
    assert kernels.cross_entropy(logits, nothing, reduction="sum") == 0
    # What is ignored may be anything.
    logits[1::4] = float("nan")
    assert kernels.cross_entropy(logits, target).isfinite()


def test_ignored_rows_have_no_gradient_of_a_mean_over_none(device):
    nothing = torch.full((3,), IGNORED, device=device)
    for width in (8, 131):
        for reduction in ("mean", "sum", "none"):
            leaf = torch.randn(3, width, device=device, requires_grad=True)
            losses = kernels.cross_entropy_(leaf * 1, nothing, reduction=reduction)
            (losses.sum() / 0).backward()
            assert not leaf.grad.any(), (width, reduction)


def test_nan_from_behind_the_loss_reaches_gradients_of_zero(device):
    target = torch.zeros(1, dtype=torch.int64, device=device)
    for function in (kernels.cross_entropy, kernels.cross_entropy_):
        for width in (8, 131):
            leaf = torch.zeros(1, width, device=device)
            leaf[0, 0] = 1000
            leaf.requires_grad_()
            (function(leaf * 1, target) * torch.nan).backward()
            assert leaf.grad.isnan().all(), (function, width)


def test_zero_rows_and_one_class(device):
    empty = torch.zeros(0, 5, device=device)
    none = torch.zeros(0, dtype=torch.int64, device=device)
    assert kernels.cross_entropy(empty, none).isnan()
    assert kernels.cross_entropy(empty, none, reduction="sum") == 0
    assert kernels.cross_entropy(empty, none, reduction="none").shape == (0,)
    one = torch.tensor([[3.0]], device=device)
    assert kernels.cross_entropy(one, none.new_zeros(1)) == 0


def test_targets_of_32_bits(device):
    logits, target = inputs((6, 33), torch.bfloat16, device)
    loss, lse = ops.cross_entropy(logits, target)
    for a, b in zip(ops.cross_entropy(logits, target.int()), (loss, lse)):
        assert torch.equal(a, b)


def test_large_and_infinite_logits(device):
    logits = torch.zeros(4, 9, device=device)
    logits[0, 3] = 80000.0
    logits[1] = -80000.0
    logits[2, 1:] = float("-inf")
    logits[3, 2] = float("nan")
    target = torch.tensor([3, 0, 0, 0], device=device)
    loss = kernels.cross_entropy(logits, target, reduction="none")
    expected = functional.cross_entropy(logits.double(), target, reduction="none")
    assert_close(loss, expected, atol=1e-2)  # a step of 80000
    assert loss[3].isnan()


def test_wrong_targets_on_a_device_are_nan(device):
    logits, target = inputs((4, 9), torch.float32, device, ignores=False)
    if device == "cpu":
        return  # refused: test_refuses_in_one_sentence
    for wrong in (9, -1, 2**40):
        target[2] = wrong
        loss, _ = ops.cross_entropy(logits, target, reduction="none")
        assert loss[2].isnan() and loss.isfinite().sum() == 3
        assert ops.cross_entropy(logits, target)[0].isnan()
        again = logits.clone()
        ops.cross_entropy_(again, target)
        assert again[2].isnan().all() and again[[0, 1, 3]].isfinite().all()


def test_takes_strided_rows(device):
    for dtype in DTYPES:
        wide, _ = inputs((20, 258), dtype, device)
        views = (wide[:, :129], wide[:, 1:66], wide[::2, 3:100], wide.t())
        for x in (*views, wide[:1].expand(20, 258)):
            target = torch.arange(x.shape[0], device=device) % x.shape[1]
            loss, _ = ops.cross_entropy(x, target)
            assert_close(loss, reference(x, target), x.stride(), atol=1e-5)
        # In place, and nothing beside the rows.
        x = wide.clone()
        target = torch.arange(20, device=device)
        ops.cross_entropy_(x[:, 3:100], target)
        ones = torch.ones((), device=device)
        expected = gradient(wide[:, 3:100], target, OPTIONS[0], "mean", ones)
        assert_close(x[:, 3:100], expected, dtype, atol=1e-5)
        assert torch.equal(x[:, :3], wide[:, :3]) and torch.equal(x[:, 100:], wide[:, 100:])


def test_autograd(device):
    for dtype in DTYPES:
        for function in (kernels.cross_entropy, kernels.cross_entropy_):
            for reduction in ("mean", "sum", "none"):
                logits, target = inputs((2, 4, 33), dtype, device)
                leaf = logits.clone().requires_grad_()
                loss = function(
                    leaf * 1,
                    target,
                    ignore_index=IGNORED,
                    reduction=reduction,
                    label_smoothing=0.1,
                )
                grad = torch.linspace(1, 2, loss.numel(), device=device).view(loss.shape)
                if loss.dim() == 0:
                    grad = grad * 3
                (found,) = torch.autograd.grad(loss, leaf, grad)
                wanted = gradient(logits, target, OPTIONS[1], reduction, grad)
                # In place the gradient is rounded before it is scaled.
                assert_close(found, wanted, (dtype, reduction), atol=2e-6, rtol=2e-3)


def test_in_place_keeps_its_promises(device):
    logits, target = inputs((4, 9), torch.float32, device)
    leaf = logits.clone().requires_grad_()
    assert "leaf" in refusal(lambda: kernels.cross_entropy_(leaf, target))
    assert torch.equal(leaf, logits)
    # Without a gradient nothing is overwritten.
    expected = kernels.cross_entropy(logits, target)
    assert torch.equal(kernels.cross_entropy_(logits, target), expected)
    with torch.no_grad():
        kernels.cross_entropy_(leaf * 1, target)
    loss = kernels.cross_entropy_(leaf * 1, target)
    loss.backward(retain_graph=True)
    assert "second" in refusal(loss.backward)
    # Who uses the logits afterwards is told.
    x = leaf * 1
    loss = kernels.cross_entropy_(x, target)
    x.detach().add_(1)
    assert "modified by an inplace operation" in refusal(loss.backward)


def test_gradient_agrees_with_finite_differences(device):
    logits, target = inputs((2, 5), torch.float32, device, ignores=False)
    options = OPTIONS[3]
    loss, lse = ops.cross_entropy(logits, target, IGNORED, *options)
    found = ops.cross_entropy_backward(
        torch.ones_like(loss), logits, target, lse, IGNORED, *options
    )
    step = 1e-6
    for i in range(10):
        shift = torch.zeros(10, dtype=torch.float64, device=device)
        shift[i] = step
        ends = [
            reference(logits.double() + sign * shift.view(2, 5), target, *options)
            for sign in (1, -1)
        ]
        assert abs((ends[0] - ends[1]) / (2 * step) - found.view(-1)[i]) < 1e-6


def test_same_bits_each_run(device):
    for shape in ((300, 1001), (4, 150000)):
        logits, target = inputs(shape, torch.bfloat16, device)
        grad = logits.clone()
        first = (*ops.cross_entropy(logits, target), *ops.cross_entropy_(grad, target), grad)
        for _ in range(3):
            again = logits.clone()
            results = ops.cross_entropy(logits, target)
            results = (*results, *ops.cross_entropy_(again, target), again)
            assert all(torch.equal(a, b) for a, b in zip(results, first))
        together, alone = (
            ops.cross_entropy(logits[rows], target[rows], reduction="none")
            for rows in (slice(None), slice(2, 3))
        )
        assert all(torch.equal(a[2:3], b) for a, b in zip(together, alone))


def test_refuses_in_one_sentence(device):
    x = torch.zeros(2, 8, device=device)
    t = torch.zeros(2, dtype=torch.int64, device=device)
    wrong = torch.tensor([0, 8], device=device)
    cases = [
        (
            lambda: ops.cross_entropy(x.int(), t),
            "cross_entropy: wanted float32 (Float), float16 (Half) or bfloat16 (BFloat16) for "
            "logits, found Int.",
        ),
        (
            lambda: ops.cross_entropy(x, t.float()),
            "cross_entropy: wanted int64 (Long) or int32 (Int) for target, found Float.",
        ),
        (
            lambda: ops.cross_entropy(x, t[:1]),
            "cross_entropy: wanted logits' shape without the last dimension for target, found [1] "
            "for logits' [2, 8].",
        ),
        (
            lambda: ops.cross_entropy(x[:, :0], t),
            "cross_entropy: wanted at least one class in logits, found shape [2, 0].",
        ),
        (
            lambda: ops.cross_entropy(x, t, reduction="average"),
            'cross_entropy: wanted "none", "mean" or "sum" for reduction, found "average".',
        ),
        (
            lambda: ops.cross_entropy(x, t, label_smoothing=1.5),
            "cross_entropy: wanted 0 to 1 for label_smoothing, found 1.5.",
        ),
        (
            lambda: ops.cross_entropy(x, t, softcap=-1.0),
            "cross_entropy: wanted a positive float32 number, or 0 for none, for softcap, found -1.",
        ),
        (
            lambda: ops.cross_entropy_backward(t.sum().float(), x, t, t.float()[:1]),
            "cross_entropy_backward: wanted one element for each of the 2 rows of logits for lse, "
            "found shape [1].",
        ),
    ]
    if device == "cpu":
        cases.append(
            (
                lambda: ops.cross_entropy_(x, wrong),
                "cross_entropy_: wanted classes from 0 to 7 or ignore_index -100 in target, "
                "found 8 for row 1.",
            )
        )
    for call, sentence in cases:
        assert refusal(call) == sentence, refusal(call)
    assert (x == 0).all()


def test_opcheck(device):
    for dtype in DTYPES:
        logits, target = inputs((4, 33), dtype, device)
        for reduction in ("mean", "none"):
            arguments = (IGNORED, 0.1, 1e-3, 5.0, reduction)
            loss, lse = ops.cross_entropy(logits, target, *arguments)
            opcheck(ops.cross_entropy.default, (logits, target, *arguments))
            opcheck(ops.cross_entropy_.default, (logits.clone(), target, *arguments))
            backward = (torch.ones_like(loss), logits, target, lse, *arguments)
            opcheck(ops.cross_entropy_backward.default, backward)
            opcheck(ops.cross_entropy_scale_.default, (logits.clone(), 2 * torch.ones_like(loss)))
            opcheck(
                ops.cross_entropy.default, (logits.clone().requires_grad_(), target, *arguments)
            )


if __name__ == "__main__":
    main(globals())
