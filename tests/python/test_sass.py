# SPDX-License-Identifier: Apache-2.0
"""What tests/kernels/sass.py holds for the same machine code, and for the same program with other registers."""

import sys

from conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tests" / "kernels"))
import sass  # noqa: E402

SASS = """
\tcode for sm_90
\t\tFunction : %s
\t.headerflags\t@"EF_CUDA_SM90"
        /*0000*/                   LDC R1, c[0x0][0x28] ;                       /* 0x00000a00ff017b82 */
                                                                                /* 0x000fe20000000800 */
        /*0010*/                   CALL.REL.NOINC `(%s) ;                       /* 0x0000000000007944 */
        /*0020*/                   IADD3 %s, R1, 0x10, RZ ;                     /* 0x0000001001047810 */
"""

PTX = """
.version 9.0
.visible .entry %(name)s(
\t.param .u64 %(name)s_param_0
)
{
\t.reg .b32 \t%%r<%(count)d>;
\tld.param.u32 \t%%r%(a)d, [%(name)s_param_0];
$L__BB0_2:
\tadd.s32 \t%%r%(b)d, %%r%(a)d, %(immediate)d;
\t@%%p1 bra \t$L__BB0_2;
}
"""


def kernel(name, register="R4", callee="_Z6calleev", **ptx):
    values = {"name": name, "a": 1, "b": 2, "count": 3, "immediate": 7, **ptx}
    code = sass.parse_sass(SASS % (name, callee, register))[name]
    program = sass.parse_ptx(PTX % values)[name]
    return name, sass.digest(code), sass.digest(program), len(code), 16, 0


def test_names_do_not_count():
    first = kernel("_Z3oneILi4EEvv", callee="_Z6calleeILi1EEvv")
    second = kernel("_Z3twov", callee="_Z5otherv")
    assert first[3] == 3, "three instructions"
    assert sass.compare([first], [second]) == (1, 0, [])


def test_other_numbers_of_registers_are_the_same_program():
    first = kernel("_Z3onev")
    second = kernel("_Z3onev", register="R5", a=8, b=3, count=9)
    assert sass.compare([first], [second]) == (0, 1, [])


def test_another_program_is_listed_on_both_sides():
    first = kernel("_Z3onev")
    second = kernel("_Z3onev", register="R5", immediate=8)
    same, same_ptx, lines = sass.compare([first], [second])
    assert (same, same_ptx) == (0, 0)
    assert lines == [
        "  - 3 instructions, 16 registers, 0 bytes of stack: _Z3onev",
        "  + 3 instructions, 16 registers, 0 bytes of stack: _Z3onev",
    ]


def test_a_copy_counts_for_one_kernel_only():
    first = kernel("_Z3onev")
    assert sass.compare([first, first], [first])[2] == ["  - 3 instructions, 16 registers, 0 bytes of stack: _Z3onev"]
