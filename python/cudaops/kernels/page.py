# SPDX-License-Identifier: Apache-2.0
"""The report of kernels as one HTML file that needs nothing else."""

import html
import os

from ..page import STYLE, end_of_page

# Wider than the build report: a row has many numbers and a long name.
STYLE_OF_KERNELS = "body { max-width: 1800px; }"
SCRIPT = """
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
// What a kernel without launch bounds is started with isn't known: the block with the most warps.
function best(k) {
  return k.occupancy.reduce((a, b) => a && a.occupancy >= b.occupancy ? a : b, null);
}
function of(k, member) { const b = best(k); return b === null ? null : b[member]; }
// Of AMD GPUs.
function waves(k, member, other) { return k.waves_per_simd === undefined ? of(k, other) : k[member]; }
function refused(k) {
  const none = k.occupancy.find(o => !o.blocks_per_multiprocessor);
  return none && none.next ? "blocks of " + none.block + " threads can't be launched: " + none.next : "";
}
function spilled(k) { return (k.spill_store_bytes || 0) + (k.spill_load_bytes || 0) + (k.spilled_registers || 0); }
function spills(k) {
  if (k.spilled_registers) return k.spilled_registers + " registers";
  if (k.spill_store_bytes === null) return "?";
  return spilled(k) ? k.spill_store_bytes + " + " + k.spill_load_bytes : "0";
}
// Without parameters: what stands in front of the first parenthesis that is no template argument's.
function plain(name) {
  let depth = 0;
  name = name.replaceAll("(anonymous namespace)::", "");
  for (let i = 0; i < name.length; i++) {
    if (name[i] === "<") depth++;
    if (name[i] === ">") depth--;
    if (name[i] === "(" && depth === 0) return name.slice(0, i);
  }
  return name;
}
data.kernels.sort((a, b) => spilled(b) - spilled(a) || of(a, "occupancy") - of(b, "occupancy"));
const tables = {
  kernels: [
    ["name", "Kernel", k => k.name, plain, "name", k => k.name],
    ["arch", "For", k => k.arch, String, ""],
    ["registers", "Registers", k => k.registers, String, "number"],
    ["scalar", "Scalar", k => k.scalar_registers === undefined ? null : k.scalar_registers, String, "number"],
    ["shared", "Shared", k => k.static_shared_bytes, String, "number"],
    ["stack", "Stack", k => k.stack_bytes, String, "number"],
    ["spills", "Spills", spilled, (x, k) => spills(k), "number", k => k.spilled_at.join("\\n")],
    ["constant", "Constant", k => k.constant_bytes, String, "number"],
    ["bounds", "Bounds", k => k.max_threads, (x, k) => x + (k.min_blocks ? ", " + k.min_blocks : ""), "number"],
    ["blocks", "Blocks", k => of(k, "blocks_per_multiprocessor"), (x, k) => x + " of " + of(k, "block"), "number"],
    ["occupancy", "Warps", k => k.waves_per_simd / k.most_waves_per_simd || of(k, "occupancy"), x => (100 * x).toFixed(0) + " %", "number"],
    ["limit", "Limited by", k => waves(k, "waves_limited_by", "limited_by") || "", String, ""],
    ["next", "Next step", k => k.next || refused(k) || waves(k, "waves_next", "next") || "", String, "name"],
    ["place", "Written at", k => k.file ? k.file + ":" + k.line : "", String, ""],
    ["target", "Target", k => k.target || "", String, ""]] };
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
        "<style>%s%s</style></head><body>" % (STYLE, STYLE_OF_KERNELS),
        "<h1>Kernels of %s</h1>" % words(name),
        '<p class="dim">%s<br><code>%s</code></p>' % (words(summary), words(data["build_directory"])),
    ]
    if facts:
        parts += ["<h2>What to look at</h2>", items("ol", facts)]
    parts += [
        "<h2>All</h2>",
        '<p class="dim">Registers of a thread; bytes of static shared memory of a block, of a thread\'s stack, of spill stores and '
        "loads (of the instructions, not of the times that they run), of constants. Bounds: launch bounds. Blocks that a "
        "multiprocessor holds, of as many threads: the launch bound, or what of 128, 256, 512 and 1024 gives the most warps. Of AMD GPUs "
        "the waves that registers leave to a SIMD.</p>",
        '<div class="scroll"><table id="kernels"></table></div>',
        "<noscript>%s</noscript>"
        % items("ol", ["%s  %s" % (row["name"], row["arch"]) for row in data["kernels"][:100]]),
    ]
    if data["notes"]:
        parts += ["<h2>Not counted</h2>", items("ul", data["notes"])]
    return "\n".join(parts + end_of_page(data, SCRIPT)) + "\n"
