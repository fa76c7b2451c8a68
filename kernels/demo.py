# SPDX-License-Identifier: Apache-2.0
"""Loads the reference ops and runs them: on the GPU where there is one, else on the CPU."""

import sys

import cudaops


def main(library: str) -> None:
    import torch

    cudaops.load_library(library)
    device = "cpu"
    if torch.cuda.is_available():
        device = "cuda"
    a = torch.arange(6, dtype=torch.float32, device=device)
    b = torch.full((6,), 0.5, device=device)
    ops = torch.ops.cudaops_examples
    print()
    print(f"device      {device}" + (f" ({torch.cuda.get_device_name()})" if device == "cuda" else ""))
    print(f"vector_add  {ops.vector_add(a, b).tolist()}")
    print(f"square      {ops.square(a).tolist()}")
    print(f"sum         {ops.sum(a).item()}")
    torch.testing.assert_close(ops.vector_add(a, b), a + b)
    torch.testing.assert_close(ops.square(a), a * a)
    torch.testing.assert_close(ops.sum(a), a.sum())
    print("as torch's own operators say.")


if __name__ == "__main__":
    from cudaops.__main__ import main as command

    command(["inspect", sys.argv[1]])
    main(sys.argv[1])
