# SPDX-License-Identifier: Apache-2.0
"""Optimizers, named and used as those of torch.optim."""

from ._adamw import AdamW
from ._optimizers import LAMB, AdamW8bit, Lion, Muon

__all__ = ["AdamW", "AdamW8bit", "LAMB", "Lion", "Muon"]
