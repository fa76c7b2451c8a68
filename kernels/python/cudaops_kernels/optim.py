# SPDX-License-Identifier: Apache-2.0
"""Optimizers, named and used as those of torch.optim."""

from ._adamw import AdamW

__all__ = ["AdamW"]
