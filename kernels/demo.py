# SPDX-License-Identifier: Apache-2.0
"""Loads three small ops and runs them: on the GPU where there is one that the library has code for, else on the CPU."""

import re
import sys

import cudaops


def has_code_for(architectures: list[str], major: int, minor: int) -> bool:
    """Whether one of ["sm_80", "compute_90"] runs on a GPU: machine code within a major version, PTX on what is newer."""
    for kind, number in re.findall(r"\b(sm|compute)_(\d+)\b", " ".join(architectures)):
        of_major, of_minor = divmod(int(number), 10)
        if (of_major, of_minor) <= (major, minor) and (kind == "compute" or of_major == major):
            return True
    return False


def main(library: str) -> None:
    import torch

    cudaops.load_library(library)
    device = "cpu"
    if torch.cuda.is_available():
        major, minor = torch.cuda.get_device_capability()
        architectures = cudaops.inspect(library)["architectures"]
        if has_code_for(architectures, major, minor):
            device = "cuda"
        else:
            print(f"\nThis GPU is sm_{major}{minor}, and the library holds {' '.join(architectures)}: the ops run on the CPU.")
            print(f"Fix: cmake --preset demo -DCMAKE_CUDA_ARCHITECTURES={major}{minor} && cmake --build --preset demo")
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
