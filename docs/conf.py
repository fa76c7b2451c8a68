# SPDX-License-Identifier: Apache-2.0
"""Sphinx's settings for the manual. Its sources are what docs/manual collects in the build directory."""

import os
import sys

REPOSITORY = os.environ["CUDAOPS_MANUAL_REPOSITORY"]
sys.path.insert(0, os.path.join(REPOSITORY, "python"))
sys.path.insert(0, os.path.join(REPOSITORY, "docs", "manual"))

from collect import name_pages  # noqa: E402
from cudaops._package import version as package_version  # noqa: E402
from options import documented_options  # noqa: E402

project = "CudaOps"
author = "the CudaOps developers"
version = release = package_version()
html_title = "CudaOps %s" % version

extensions = ["myst_parser", "sphinxcontrib.moderncmakedomain", "sphinx_copybutton", "options"]
_pages, _modules = name_pages(REPOSITORY)
cudaops_options = documented_options(_pages, _modules)
# `.. command::` in a module's header is CMake's.
primary_domain = "cmake"
highlight_language = "none"
nitpicky = True
# Quotes and options stay as they are typed: messages are searched for.
smartquotes = False
# Types in Python signatures are torch's and Python's own, which this site has no pages of.
nitpick_ignore_regex = [("py:(class|obj|exc)", ".*")]
# Files that pages link to, copied.
exclude_patterns = ["files"]
# A console block with a quoted text of several lines is no error.
suppress_warnings = ["misc.highlighting_failure"]

myst_heading_anchors = 4

python_maximum_signature_line_length = 88
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["manual.css"]
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
copybutton_line_continuation_character = "\\"
copybutton_here_doc_delimiter = "END"
