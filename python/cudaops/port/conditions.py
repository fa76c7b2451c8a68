# SPDX-License-Identifier: Apache-2.0
"""Conditions of a setup.py as CMake has them, for `port`."""

import itertools
import re


class Where:
    """What CMake says of a condition: in which `if()` a line stands, and whether it is for CUDA only."""

    def __init__(self, kind, condition="", options=()):
        self.kind, self.condition, self.options = kind, condition, options


def classify(test, flipped=(), sure=True, ignored=()):
    """always, cuda, cpu; option (an `if()`); hip; doubt (not known); never. Not sure: as if doubts were settled.

    ignored: names of options that would switch off what the condition is part of, and that it doesn't name again.
    """
    if isinstance(test, bool):
        return Where("always" if test else "never")
    if not sure:
        flipped = [*flipped, *settle(test, flipped)]
    with_cuda, without = test.holds("cuda", flipped), test.holds("cpu", flipped)
    if with_cuda is None or without is None and not with_cuda:
        return Where("doubt")
    if with_cuda:
        return Where("always" if without is not False else "cuda")
    if without:
        return Where("cpu")
    off = {leaf.name: leaf for leaf in test.leaves() if leaf.kind == "env" and leaf.name not in flipped}
    single = [name for name in off if test.holds("cuda", (*flipped, name))]
    # What can be said in the environment needn't be said on the command line too.
    single = [name for name in single if off[name].text != "argv"] or single
    for names in [single] if single else [list(off)]:
        if not names or not test.holds("cuda", (*flipped, *names)):
            continue
        ways = [[name] for name in single] or [names]
        but = [
            name
            for name in off
            if name not in (*names, *ignored) and not any(test.holds("cuda", (*flipped, *way, name)) for way in ways)
        ]
        condition = (" OR " if single else " AND ").join(on(off[name]) for name in names)
        if but:
            condition = ("(%s)" if len(single) > 1 else "%s") % condition
            condition = " AND ".join([condition, *(on(off[name], False) for name in but)])
        return Where("option", condition, [off[name] for name in (*names, *but)])
    if test.holds("hip", flipped):
        return Where("hip")
    return Where("never")


def settle(test, flipped=()):
    """What to take as true (or, with ! before it, as false) so that a condition holds."""
    names = list(dict.fromkeys(leaf.text for leaf in doubts(test, flipped)))
    if isinstance(test, bool) or not names or len(names) > 8:
        return names
    options = [leaf.name for leaf in test.leaves() if leaf.kind == "env"]
    for values in itertools.product((True, False), repeat=len(names)):
        taken = [name if value else "!" + name for name, value in zip(names, values)]
        for more in ([], *([name] for name in options), options):
            if test.holds("cuda", [*flipped, *taken, *more]) or test.holds("cpu", [*flipped, *taken, *more]):
                return taken
    return names


def deciding(test, flipped=()):
    """(the doubt that keeps a condition from being known, "where ..." or "unless ...")"""
    found = doubts(test, flipped)
    words = {"where": [], "unless": []}
    for leaf in {leaf.text: leaf for leaf in found if leaf.default is None}.values():
        for word, other in (("where", "!" + leaf.text), ("unless", leaf.text)):
            if test.holds("cuda", [*flipped, other]) is False:
                words[word].append(leaf)
    known = [leaf for leaves in words.values() for leaf in leaves]
    said = ["%s %s" % (word, leaf.text) for word, leaves in words.items() for leaf in leaves]
    return (known or found)[0], " and ".join(said[:3]) or "depending on " + found[0].text


def switched(test, flipped, world, unknown=False):
    """Leaves of the environment without whose default the condition does not hold, or (unknown) may not."""
    if isinstance(test, bool):
        return []
    leaves = {leaf.name: leaf for leaf in test.leaves() if leaf.kind == "env" and leaf.name not in flipped}
    ends = (False, None) if unknown else (False,)
    return [leaf for name, leaf in leaves.items() if test.holds(world, (*flipped, name)) in ends]


def relevant(test, settled):
    """Doubts whose settled value a condition depends on."""
    worlds = ("cuda", "hip", "cpu")
    now = [test.holds(world, settled) for world in worlds] if doubts(test) else []
    found = []
    for leaf in doubts(test):
        other = [one for one in settled if one.lstrip("!") != leaf.text]
        other += ["!" + leaf.text] if leaf.text in settled or leaf.default else [leaf.text]
        if [test.holds(world, other) for world in worlds] != now:
            found.append(leaf)
    return found


def on(leaf, flipped=True):
    """What CMake says of an option that differs from its default, or doesn't."""
    return option_name(leaf) if leaf.default != flipped else "NOT " + option_name(leaf)


def assumed(test, flipped=()):
    """Doubts whose default a condition follows, with some option as it is by default or not."""
    found = [leaf for leaf in doubts(test, flipped) if leaf.default]
    options = {leaf.name for leaf in test.leaves() if leaf.kind == "env" and leaf.name not in flipped} if found else ()
    ways = [(world, [*flipped, *names]) for world in ("cuda", "cpu") for names in ([], *([name] for name in options))]
    return [
        leaf
        for leaf in found
        if any(test.holds(world, [*names, "!" + leaf.text]) != test.holds(world, names) for world, names in ways)
    ]


def option_name(leaf):
    name = re.sub(r"\W+", "_", leaf.name.lstrip("-")).upper()
    return "CPU_HAS_" + name if leaf.text == "simd" else name


def doubts(test, flipped=()):
    """Unknown leaves that a condition depends on; first those that nothing is assumed of."""
    if isinstance(test, bool):
        return []
    known = [leaf for leaf in test.leaves() if leaf.kind == "unknown"]
    known = [leaf for leaf in known if leaf.text not in flipped and "!" + leaf.text not in flipped]
    return sorted(known, key=lambda leaf: leaf.default is not None)
