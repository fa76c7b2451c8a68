# SPDX-License-Identifier: Apache-2.0
"""What stopped: the errors that CMake prints, and why an installer failed."""

import contextlib
import os
import re
import shutil
import sys
import sysconfig

OTHER_INDEX = "name another index: PIP_INDEX_URL=<URL> (a mirror may lag behind)"


class Stop(Exception):
    """An error for the user: head, facts and fix as the message functions take them."""

    def __init__(self, head, facts=(), fix=()):
        super().__init__(head)
        self.text = {"head": plain(head), "facts": [plain(f) for f in facts if f], "fix": [plain(f) for f in fix if f]}


def plain(text):
    """`text` fit for an element of a CMake list: no unbalanced bracket, one line, no credentials."""
    text = without_credentials(" ".join(text.split()) if "\n" in text else text)
    text = text.replace("\\", "/")
    depth = 0
    for c in text:
        depth += (c == "[") - (c == "]")
        if depth < 0:
            break
    if depth != 0:
        text = text.replace("[", "(").replace("]", ")")
    return text


def without_credentials(text):
    return re.sub(r"(://)[^\s/'\"<>]*@", r"\1", text)


def say(text):
    print(without_credentials(text), flush=True)


def last_error(lines):
    """pip's last ERROR line; of uv's chain of causes the first and the last link."""
    for line in reversed(lines):
        if line.startswith("ERROR:"):
            return line
    start = max((n for n, line in enumerate(lines) if re.match(r"\s*(error:|×)", line)), default=None)
    if start is not None:
        links = []
        for line in lines[start:]:
            text = re.sub(r"^[\s×│╰├─▶]+", "", line)
            if not links or re.match(r"\s*([╰├]|[Cc]aused? by:|cause:)", line):
                links.append(re.sub(r"^([Cc]aused by|cause): *", "", text))
            elif text:
                links[-1] += " " + text
        text = links[0] if len(links) == 1 else links[0].rstrip(".:") + ": " + links[-1]
        return text if len(text) <= 400 else text[:397] + "..."
    shown = [line for line in lines if line.strip()]
    return shown[-1].strip() if shown else "it said nothing"


NETWORK = (
    r"connection broken|Failed to establish a new connection|name resolution|Name or service not known|timed out"
    r"|Connection (refused|reset)|Network is unreachable|No route to host|dns error|tcp connect error"
    r"|error sending request|ProxyError|Tunnel connection failed|SSLError|confirming the ssl certificate"
    r"|CERTIFICATE_VERIFY_FAILED|invalid peer certificate|50[0234] (Server Error|Service|Bad Gateway)"
    r"|Failed to fetch|Could not connect|IncompleteRead|operation timed out|not a trusted or secure host"
)


def raise_if_disk(text, place, wanted):
    if re.search(r"No space left on device|Disk quota exceeded|os error (28|122)\b|Errno (28|122)\b", text):
        raise no_space(place, wanted)


def no_space(place, wanted):
    free = ""
    with contextlib.suppress(OSError):
        free = ", %.1f GB free" % (shutil.disk_usage(place).free / 1e9)
    return Stop(
        "the disk is too full.",
        ["wanted  %s on disk for %s" % (wanted.disk, wanted.requirements[0]), "store   %s%s" % (place, free)],
        ["make room, or name another place: -DCUDAOPS_STORE=<dir>"],
    )


def reason(installer, lines):
    """Why an installer failed: refused, network, wheel or other."""
    text = "\n".join(lines)
    if re.search(r"\b(401|403|407)\b|Unauthorized|Forbidden", text):
        return "refused"
    if re.search(NETWORK, text) and not installer.index().startswith("none"):
        return "network"
    if re.search(r"No matching distribution|Could not find a version|No solution found|no wheels with a matching", text):
        return "wheel"
    return "other"


def failure(installer, wanted, final, exit_code, lines):
    raise_if_disk("\n".join(lines), os.path.dirname(final), wanted)
    quoted = " ".join('"%s"' % r for r in wanted.requirements)
    origin = " (%s)" % wanted.why if wanted.why else ""
    facts = [
        "wanted  %s%s, %s" % (" and ".join(wanted.requirements), origin, wanted.download),
        "index   %s: %s" % (without_credentials(installer.index()), last_error(lines)),
        "kept    nothing; %s was not created" % final,
    ]
    online = "with network: run the same command again"
    offline = (
        "offline: on another machine pip download -d wheels %s, then PIP_NO_INDEX=1 PIP_FIND_LINKS=wheels" % quoted
    )
    why = reason(installer, lines)
    if why == "refused":
        return Stop(
            "the package index refuses the request.", facts, ["check the credentials in its URL or netrc", offline]
        )
    if why == "network":
        line = next(line for line in reversed(lines) if re.search(NETWORK, line)).strip()
        found = re.findall(r"\[Errno [^\]]*\][^'\")]*|\w+ timed out", line)
        cause = found[-1] if found else re.sub(r"^WARNING: ", "", line)
        if re.sub(r"^([Cc]aused by|cause): *", "", cause) not in facts[1]:
            facts.insert(2, "cause   " + cause[:300])
        return Stop("the package index can't be reached.", facts, [online, offline])
    if why == "wheel":
        here = "Python %d.%d on %s" % (*sys.version_info[:2], sysconfig.get_platform())
        other = OTHER_INDEX
        if wanted.kind == "torch":
            other = "another version: -DCUDAOPS_TORCH_VERSION=<version>; another Python: -DPython_EXECUTABLE=<python>"
        if installer.index().startswith("none"):
            other = offline
        return Stop("the package index has no such wheel for %s." % here, facts, [other, wanted.other_way])
    facts[1] = "found   %s: exit code %d: %s" % (installer.name, exit_code, last_error(lines))
    return Stop(
        "the installer failed.", facts, ["run the same command again (its own lines are above)", wanted.other_way]
    )
