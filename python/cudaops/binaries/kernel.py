# SPDX-License-Identifier: Apache-2.0
"""What is known of one kernel for one architecture, whoever compiled it."""

from typing import NamedTuple, Optional


class Kernel(NamedTuple):
    """None: not known."""

    mangled: str
    arch: str  # sm_90a, gfx90a
    registers: int  # of a thread; VGPRs of HIP
    static_shared_bytes: int  # LDS of HIP
    stack_bytes: int  # scratch of HIP
    spill_store_bytes: Optional[int]
    spill_load_bytes: Optional[int]
    constant_bytes: int  # of the parameters and the kernel's own; of HIP the parameters
    max_threads: Optional[int]
    release: Optional[str] = None  # of nvcc, 13.0
    register_limit: Optional[int] = None  # under which it was compiled
    barriers: int = 0
    debug: bool = False  # of -G
    place: Optional[tuple] = None  # (path, line), of -lineinfo
    spilled_at: tuple = ()  # (path, line, bytes) of its own code, the most first; of -lineinfo
    scalar_registers: Optional[int] = None  # SGPRs
    wave_size: Optional[int] = None  # threads of a wave of HIP
    spilled_registers: Optional[int] = None  # VGPRs and SGPRs of HIP, whose metadata has no bytes
