# SPDX-License-Identifier: Apache-2.0
"""The build report as one HTML file that needs nothing else."""

import html
import json
import os

from .words import count, say

STYLE = """
:root { color-scheme: light dark; --back: #fff; --text: #1c1f23; --dim: #5b636d; --line: #d8dce1; --soft: #f4f5f7;
  --cuda: #4c8c2b; --hip: #c0392b; --host: #2f6fb5; --link: #b9770e;
  --command: #7d5ba6; --other: #8a929b; --ink: #fff; }
@media (prefers-color-scheme: dark) { :root { --back: #16191d; --text: #e4e7ea; --dim: #9aa3ad; --line: #343a41;
  --soft: #1f2429; --cuda: #7cb85a; --hip: #e57366; --host: #6ea8e0; --link: #dfa448; --command: #b194d6;
  --other: #7d868f; --ink: #111; } }
body { margin: 0 auto; max-width: 1200px; padding: 1rem 1.5rem 4rem; background: var(--back); color: var(--text);
  font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin: .5rem 0 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p, ol, ul { margin: .4rem 0; } .dim { color: var(--dim); } li { margin: .25rem 0; }
code, td { font-family: ui-monospace, monospace; font-size: 13px; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.name { overflow-wrap: anywhere; min-width: 16rem; } .number { text-align: right; white-space: nowrap; }
th button { all: unset; cursor: pointer; font-weight: 600; } th button:focus-visible { outline: 2px solid var(--host); }
th[aria-sort=ascending] button::after { content: " \\25B2"; }
th[aria-sort=descending] button::after { content: " \\25BC"; }
svg { display: block; width: 100%; height: auto; background: var(--soft); }
svg text { font: 10px system-ui, sans-serif; }
.axis { fill: var(--dim); } .grid { stroke: var(--line); } .label { fill: var(--ink); pointer-events: none; }
.CUDA { fill: var(--cuda); } .HIP { fill: var(--hip); } .host { fill: var(--host); } .link { fill: var(--link); }
.command { fill: var(--command); } .other { fill: var(--other); } rect.job { stroke: var(--back); stroke-width: .5; }
.key { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 .8em; border-radius: 2px; }
.key.CUDA { background: var(--cuda); } .key.HIP { background: var(--hip); } .key.host { background: var(--host); }
.key.link { background: var(--link); } .key.command { background: var(--command); }
.key.other { background: var(--other); }
details { margin: .6rem 0; } summary { cursor: pointer; } .more { margin: .6rem 0; }
"""
SCRIPT = """
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
function seconds(x) {
  if (x === null || x === undefined) return "";
  if (x < 0.995) return Math.round(1000 * x) + " ms";
  return x < 9.95 ? x.toFixed(1) + " s" : x < 600 ? Math.round(x) + " s" : Math.round(x / 60) + " min";
}
function bytes(x) {
  if (x === null || x === undefined) return "";
  return x < 1e6 ? Math.round(x / 1e3) + " kB" : x < 1e9 ? (x / 1e6).toFixed(1) + " MB" : (x / 1e9).toFixed(2) + " GB";
}
function phases(job) {
  const sums = new Map();
  for (const phase of job.phases) {
    const name = phase.phase.replace(/^gcc \\((.*)\\)$/, "$1") + (phase.architecture ? " " + phase.architecture : "");
    sums.set(name, (sums.get(name) || 0) + phase.seconds);
  }
  return [...sums].sort((a, b) => b[1] - a[1]).map(([name, time]) => name + " " + seconds(time)).join(", ");
}
const tables = {
  jobs: [
    ["seconds", "Seconds", j => j.seconds, seconds, "number"],
    ["share", "Share", j => j.share, x => (100 * x).toFixed(1) + " %", "number"],
    ["name", "File", j => j.name, String, "name"],
    ["kind", "What", j => [j.kind === "compile" ? "" : j.kind, j.language].filter(Boolean).join(" "), String, ""],
    ["target", "Target", j => j.target, String, ""],
    ["architectures", "Architectures",
      j => j.architectures.join(" ") + (j.threads === null ? "" : " (threads " + j.threads + ")"), String, ""],
    ["phases", "Phases", phases, String, ""],
    ["memory", "Memory", j => j.peak_memory_bytes, bytes, "number"],
    ["cache", "Cache", j => j.cache ? j.cache.result + (j.cache.reason ? ": " + j.cache.reason : "") : "", String, ""]],
  headers: [
    ["seconds", "Seconds in all", h => h.seconds, seconds, "number"],
    ["each", "Alone", h => Object.entries(h.seconds_each).map(([l, s]) => l + " " + seconds(s)).join(", ") ||
      Object.entries(h.not_measured).map(([l, s]) => l + ": " + s).join(", "), String, ""],
    ["bytes", "Read", h => h.bytes, bytes, "number"],
    ["files", "Files", h => h.files, String, "number"],
    ["name", "Header", h => h.header, String, "name"],
    ["at", "Included at", h => h.included_at.slice(0, 8).join(", ") +
      (h.included_at.length > 8 ? " and " + (h.included_at.length - 8) + " places more" : ""), String, ""]] };
"""
# Of any page: the rows of data[id] as a table that can be sorted, by its columns: name, title, value of a row,
# text of a value and its row, class, what is shown of the row when a pointer rests on it.
# Rows are made a few hundred at a time: a page with thousands of files can be read and sorted meanwhile.
TABLES = """
for (const [id, columns] of Object.entries(tables)) {
  const table = document.getElementById(id), all = data[id];
  // A column without a value is not shown.
  const shown = columns.filter(c => all.some(row => { const v = c[2](row); return v !== "" && v !== null; }));
  let rows = all.slice(), column = null, down = true, limit = 100, round = 0;
  const head = table.createTHead().insertRow(), body = table.createTBody();
  const more = document.createElement("button");
  more.className = "more";
  table.parentNode.after(more);
  function draw() {
    const mine = ++round;
    let made = 0;
    body.replaceChildren();
    (function step() {
      if (mine !== round) return;
      const part = document.createDocumentFragment(), end = Math.min(made + 200, rows.length, limit);
      for (; made < end; made++) {
        const line = document.createElement("tr");
        for (const c of shown) {
          const cell = line.insertCell();
          const value = c[2](rows[made]);
          cell.textContent = value === null || value === undefined ? "" : c[3](value, rows[made]);
          if (c[4]) cell.className = c[4];
          if (c[5]) cell.title = c[5](rows[made]);
        }
        part.append(line);
      }
      body.append(part);
      if (made < Math.min(rows.length, limit)) requestAnimationFrame(step);
    })();
    more.hidden = rows.length <= limit;
    more.textContent = "Show all " + rows.length;
  }
  more.onclick = () => { limit = Infinity; draw(); };
  for (const c of shown) {
    const cell = document.createElement("th"), button = document.createElement("button");
    button.textContent = c[1];
    cell.scope = "col";
    if (c[4] === "number") cell.className = "number";
    button.onclick = () => {
      down = column === c ? !down : c[4] === "number";
      column = c;
      rows = all.slice().sort((a, b) => {
        const x = c[2](a), y = c[2](b), order = typeof x === "string" || typeof y === "string" ?
          String(x).localeCompare(String(y)) : (x === null ? -1 : x) - (y === null ? -1 : y);
        return down ? -order : order;
      });
      for (const other of head.cells) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      draw();
    };
    cell.append(button);
    head.append(cell);
  }
  draw();
}
"""


def colour(job):
    if job["kind"] in ("link", "archive"):
        return "link"
    if job["kind"] == "command":
        return "command"
    if job["kind"] == "compile":
        return job["language"] if job["language"] in ("CUDA", "HIP") else "host"
    return "other"


def timeline(data, number):
    """The jobs of one build as bars, a line for each slot."""
    build = data["builds"][number]
    width, high, top = 1000.0, 16, 18
    scale = width / (build["seconds"] or 1.0)
    lines = [
        '<svg viewBox="0 0 %d %d" role="img" aria-label="Timeline of build %d">'
        % (width, top + high * build["most_at_once"], number + 1)
    ]
    step = next(
        (
            s
            for s in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 36000)
            if s * scale >= 60
        ),
        86400,
    )
    tick = 0
    while tick * step <= build["seconds"]:
        x = tick * step * scale
        lines.append(
            '<line class="grid" x1="%.1f" x2="%.1f" y1="0" y2="%d"/>' % (x, x, top + high * build["most_at_once"])
        )
        lines.append('<text class="axis" x="%.1f" y="12">%s</text>' % (x + 3, say(tick * step) if tick else "0"))
        tick += 1
    for job in data["jobs"]:
        if job["build"] != number:
            continue
        x, y, wide = job["start"] * scale, top + high * job["slot"], max(job["seconds"] * scale, 0.4)
        title = "%s\n%s%s" % (
            job["name"],
            say(job["seconds"]),
            ", " + " ".join(job["architectures"]) if job["architectures"] else "",
        )
        lines.append(
            '<rect class="job %s" x="%.1f" y="%d" width="%.1f" height="%d"><title>%s</title></rect>'
            % (colour(job), x, y, wide, high - 1, html.escape(title))
        )
        name = os.path.basename(job["name"])
        room = int((wide - 6) / 5.6)
        if room >= 4:
            text = name if len(name) <= room else name[: room - 1] + "\u2026"
            lines.append('<text class="label" x="%.1f" y="%d">%s</text>' % (x + 3, y + 11, html.escape(text)))
    lines.append("</svg>")
    return "\n".join(lines)


def render(data, summary):
    def words(text):
        return html.escape(text, quote=False)

    def items(tag, rows):
        return "<%s>\n%s\n</%s>" % (tag, "\n".join("<li>%s</li>" % words(row) for row in rows), tag)

    order = sorted(range(len(data["builds"])), key=lambda n: -data["builds"][n]["work_seconds"])[:5]
    name = os.path.basename(data["source_directory"] or data["build_directory"])
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
        "<title>Build of %s</title>" % words(name),
        "<style>%s</style></head><body>" % STYLE,
        "<h1>Build of %s</h1>" % words(name),
        '<p class="dim">%s<br><code>%s</code></p>' % (words(summary), words(data["build_directory"])),
    ]
    if data["facts"]:
        parts += ["<h2>Dearest</h2>", items("ol", data["facts"])]
    if data["advice"]:
        parts += ["<h2>What to change</h2>", items("ul", [one["text"] for one in data["advice"]])]
    parts.append("<h2>Timeline</h2>")
    parts.append(
        '<p class="dim"><span class="key CUDA"></span>CUDA<span class="key HIP"></span>HIP'
        '<span class="key host"></span>C++'
        '<span class="key link"></span>link<span class="key command"></span>command'
        '<span class="key other"></span>other</p>'
    )
    for place, number in enumerate(order):
        build = data["builds"][number]
        title = "%s, %s, at most %d at once%s" % (
            count(build["jobs"], "job"), say(build["seconds"]), build["most_at_once"],
            ", begun " + build["started"].replace("T", " ").replace("Z", " UTC") if build["started"] else "",
        )  # fmt: skip
        if number < len(data["builds"]) - 1:
            title += "; without what was made again since"
        parts.append(
            "<details%s><summary>%s</summary>%s</details>"
            % (" open" if place == 0 else "", words(title), timeline(data, number))
        )
    if len(order) < len(data["builds"]):
        parts.append(
            '<p class="dim">%s with less work are in the JSON.</p>' % count(len(data["builds"]) - len(order), "build")
        )
    plain = ["%s  %s" % (say(job["seconds"]), job["name"]) for job in data["jobs"][:20]]
    parts += [
        "<h2>Files</h2>",
        '<div class="scroll"><table id="jobs"></table></div>',
        "<noscript>%s</noscript>" % items("ol", plain),
        "<h2>Headers</h2>",
        '<p class="dim">Read: the bytes of the header and of all that it is the first to include, over all files. Seconds: '
        "compiled alone, times the files (with CUDAOPS_BUILD_TRACE or --measure-headers). What two headers both include "
        "counts in each.</p>",
        '<div class="scroll"><table id="headers"></table></div>',
        "<noscript>%s</noscript>"
        % items("ol", ["%s, %s" % (header["header"], count(header["files"], "file")) for header in data["headers"]]),
    ]
    if data["notes"]:
        parts += ["<h2>Notes</h2>", items("ul", data["notes"])]
    return "\n".join(parts + end_of_page(data, SCRIPT)) + "\n"


def end_of_page(data, script):
    """The data, and the code that shows it."""
    # "</script>" in a name would end the element.
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return [
        '<script type="application/json" id="data">%s</script>' % text,
        "<script>%s</script>" % (script + TABLES),
        "</body></html>",
    ]
