# SPDX-License-Identifier: Apache-2.0
"""usage: python -m cudaops.recipe <spec> <directory>

Installs the recipe of an op: add_torch_op(... RECIPE) writes the spec, and `cmake --install` calls this.
"""

import sys

from .jit.recipe import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
