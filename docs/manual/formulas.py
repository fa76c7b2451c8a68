# SPDX-License-Identifier: Apache-2.0
"""Sphinx extension: formulas as MathML, by docutils' own converter, so that no page fetches a script from elsewhere."""

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def _inline(self, node):
    self.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def _block(self, node):
    self.body.append('<div class="math">%s</div>\n' % tex2mathml(node.astext(), as_block=True))
    raise nodes.SkipNode


def setup(app):
    app.add_node(nodes.math, override=True, html=(_inline, None))
    app.add_node(nodes.math_block, override=True, html=(_block, None))
    # Of the extension that loads MathJax nothing is used.
    app.set_html_assets_policy("per_page")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
