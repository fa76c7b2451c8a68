# SPDX-License-Identifier: Apache-2.0
"""CUDAOPS_JIT=on|warn|error|off, jit_policy() around a block, policy= of one call; the innermost wins."""

import os

VALUES = ("on", "warn", "error", "off")
_blocks = []


class jit_policy:
    """with cudaops.jit_policy("error"): nothing in this block may be built."""

    def __init__(self, value):
        self._value = check(value, "jit_policy()")

    def __enter__(self):
        _blocks.append(self._value)
        return self

    def __exit__(self, *_):
        _blocks.remove(self._value)


def check(value, where):
    if value not in VALUES:
        from difflib import get_close_matches

        near = get_close_matches(str(value), VALUES, 1) or VALUES
        raise ValueError("%s: unknown policy %r.\n  wanted  %s\nFix: %s" % (where, value, " ".join(VALUES), near[0]))
    return value


def current(value=None):
    """(policy, where it comes from)"""
    if value is not None:
        return check(value, "policy"), "policy=%r" % value
    if _blocks:
        return _blocks[-1], "jit_policy(%r)" % _blocks[-1]
    value = os.environ.get("CUDAOPS_JIT")
    if value:
        return check(value, "CUDAOPS_JIT"), "CUDAOPS_JIT=%s" % value
    return "on", "the default"


def allow(name, reason, value=None):
    """Raises or warns where the policy doesn't simply allow a build of `name`."""
    policy, source = current(value)
    if policy == "on":
        return
    from . import errors

    if policy == "warn":
        import warnings

        warnings.warn("cudaops: %s is compiled now: %s." % (name, reason), errors.CompileWarning, stacklevel=4)
        return
    raise errors.PolicyError(
        "cudaops: %s isn't built, and nothing may be compiled (%s).\n  reason  %s\n"
        "Fix: build it beforehand (python -m cudaops build, or the same call with CUDAOPS_JIT=on), in the store that\n"
        "     this process reads (CUDAOPS_STORE, CUDAOPS_JIT_PATH)" % (name, source, reason)
    )
