# SPDX-License-Identifier: Apache-2.0
"""Reads files: ELF, the device code in it (fatbins of CUDA, bundles of HIP), and what that says of its kernels."""
