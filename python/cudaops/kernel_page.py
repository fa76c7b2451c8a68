# SPDX-License-Identifier: Apache-2.0
"""The report of kernels as one HTML file that needs nothing else."""

import html
import json
import os

from .page import STYLE, TABLES

SCRIPT = """
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
// What a kernel without launch bounds is started with isn't known: the block with the most warps.
function best(k) {
  return k.occupancy.reduce((a, b) => a && a.occupancy >= b.occupancy ? a : b, null);
}
function of(k, member) { const b = best(k); return b === null ? null : b[member]; }
function spills(k) {
  if (k.spilled_registers) return k.spilled_registers + " registers";
  if (k.spill_store_bytes === null) return "?";
  return k.spill_store_bytes + k.spill_load_bytes ? k.spill_store_bytes + " + " + k.spill_load_bytes : "0";
}
const tables = {
  kernels: [
    ["name", "Kernel", k => k.name, String, "name"],
    ["arch", "Architecture", k => k.arch, String, ""],
    ["target", "Target", k => k.target || "", String, ""],
    ["place", "Written at", k => k.file ? k.file + ":" + k.line : "", String, ""],
    ["registers", "Registers", k => k.registers, String, "number"],
    ["scalar", "Scalar", k => k.scalar_registers === undefined ? null : k.scalar_registers, String, "number"],
    ["shared", "Shared bytes", k => k.static_shared_bytes, String, "number"],
    ["stack", "Stack bytes", k => k.stack_bytes, String, "number"],
    ["spills", "Spilled bytes, stored + loaded", k => (k.spill_store_bytes || 0) + (k.spill_load_bytes || 0) +
      (k.spilled_registers || 0), (x, k) => spills(k) + (k.spilled_at.length ? " at " + k.spilled_at.join(", ") : ""), "number"],
    ["constant", "Constant bytes", k => k.constant_bytes, String, "number"],
    ["bounds", "Launch bounds", k => k.max_threads, (x, k) => x + (k.min_blocks ? ", " + k.min_blocks : ""), "number"],
    ["blocks", "Blocks", k => of(k, "blocks_per_multiprocessor"), (x, k) => x + " of " + of(k, "block") + " threads", "number"],
    ["occupancy", "Occupancy", k => of(k, "occupancy"), x => (100 * x).toFixed(0) + " %", "number"],
    ["limit", "Limited by", k => of(k, "limited_by") || "", String, ""],
    ["next", "Next step", k => of(k, "next") || "", String, ""]] };
"""


def render(data, summary, facts):
    def words(text):
        return html.escape(text, quote=False)

    def items(tag, rows):
        return "<%s>\n%s\n</%s>" % (tag, "\n".join("<li>%s</li>" % words(row) for row in rows), tag)

    name = os.path.basename(data["source_directory"] or data["build_directory"])
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
        "<title>Kernels of %s</title>" % words(name),
        "<style>%s</style></head><body>" % STYLE,
        "<h1>Kernels of %s</h1>" % words(name),
        '<p class="dim">%s<br><code>%s</code></p>' % (words(summary), words(data["build_directory"])),
    ]
    if facts:
        parts += ["<h2>What to look at</h2>", items("ol", facts)]
    parts += [
        "<h2>All</h2>",
        '<p class="dim">Registers and stack of a thread, shared memory of a block without what a launch asks for, blocks that a '
        "multiprocessor holds: at the launch bound, or of 128, 256, 512 or 1024 threads those with the most warps. Spilled bytes "
        "are those of the instructions, not of the times that they run.</p>",
        '<div class="scroll"><table id="kernels"></table></div>',
        "<noscript>%s</noscript>" % items("ol", ["%s  %s" % (row["name"], row["arch"]) for row in data["kernels"][:100]]),
    ]
    if data["notes"]:
        parts += ["<h2>Not counted</h2>", items("ul", data["notes"])]
    # "</script>" in a name would end the element.
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    parts += [
        '<script type="application/json" id="data">%s</script>' % text,
        "<script>%s</script>" % (SCRIPT + TABLES),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"
