# SPDX-License-Identifier: Apache-2.0
"""Builds the manual: python docs/manual <directory>, with what docs/requirements.txt names on PYTHONPATH.

<directory>/source is what Sphinx reads, <directory>/html the site. A warning is an error.
"""

import os
import shutil
import sys

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, os.path.join(REPOSITORY, "python"))
sys.dont_write_bytecode = True

from collect import collect  # noqa: E402
from links import check_links  # noqa: E402


def main(place):
    from sphinx.cmd.build import main as build

    source, html, doctrees = (os.path.join(place, name) for name in ("source", "html", "doctrees"))
    if collect(REPOSITORY, source):
        # Sphinx leaves what it made of a page that is gone.
        shutil.rmtree(html, ignore_errors=True)
    os.environ["CUDAOPS_MANUAL_REPOSITORY"] = REPOSITORY
    arguments = ["-q", "-W", "--keep-going", "-b", "html", "-c", os.path.join(REPOSITORY, "docs")]
    code = build([*arguments, "-d", doctrees, source, html])
    if code:
        # A page that has been read isn't read again, and its warnings would not be said again.
        shutil.rmtree(doctrees, ignore_errors=True)
        return code
    problems = check_links(html)
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        return 1
    print("Manual: file://%s" % os.path.join(html, "index.html"))
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(os.path.abspath(sys.argv[1])))
