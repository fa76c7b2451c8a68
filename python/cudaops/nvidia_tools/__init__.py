# SPDX-License-Identifier: Apache-2.0
"""Targets and tests that run NVIDIA's tools: ncu, nsys, compute-sanitizer, nvdisasm."""
