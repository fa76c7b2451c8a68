# SPDX-License-Identifier: Apache-2.0
"""What the row ops share on Python's side."""

import torch


def per_row(input):
    """For a fake kernel: a float32 number a row."""
    return input.new_empty((*input.shape[:-1], 1), dtype=torch.float32)


def flat_rows(op, input, normalized_shape, columns):
    """input and the columns' values with the normalised dimensions made one.

    columns: name → tensor of shape normalized_shape, or None.
    """
    shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    if not shape or list(input.shape[input.dim() - len(shape) :]) != shape:
        raise RuntimeError(
            f"{op}: wanted input's last dimensions to be normalized_shape {shape}, "
            f"found shape {list(input.shape)}."
        )
    if len(shape) == 1:
        return input, list(columns.values())
    for name, tensor in columns.items():
        if tensor is not None and list(tensor.shape) != shape:
            raise RuntimeError(
                f"{op}: wanted shape {shape} for {name}, found {list(tensor.shape)}."
            )
    flat = [None if tensor is None else tensor.flatten() for tensor in columns.values()]
    return input.flatten(input.dim() - len(shape)), flat
