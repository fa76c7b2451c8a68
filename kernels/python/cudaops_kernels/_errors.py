# SPDX-License-Identifier: Apache-2.0
"""Python's exceptions for what an op refuses: the stable ABI knows RuntimeError only."""

import re
from typing import NoReturn

# A refusal of this library, as no other RuntimeError begins.
_REFUSAL = re.compile(r"\w+: wanted ")
# What a refusal is about if it is about a type: "wanted one dtype for ...", "found Half.", "found
# None."
_ABOUT_TYPES = re.compile(
    r"dtype|\((?:Float|Half|BFloat16|Int|Long|Char|Float8_e4m3fn)\)|"
    r"wanted (?:Float|Int) for|found None\."
)


def raise_again(error: RuntimeError) -> NoReturn:
    """Raises a refusal as TypeError or ValueError, and everything else as it is."""
    sentence = str(error)
    if type(error) is not RuntimeError or not _REFUSAL.match(sentence):
        raise error
    kind = TypeError if _ABOUT_TYPES.search(sentence) else ValueError
    raise kind(sentence) from None
