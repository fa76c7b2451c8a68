# SPDX-License-Identifier: Apache-2.0
"""Reports on kernels and holds them to budgets: what they take, what limits them. Nothing is compiled, no GPU is used."""
