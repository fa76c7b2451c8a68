# SPDX-License-Identifier: Apache-2.0
"""The lines of one op: add_torch_op(), and what its target is given."""

import os
import re

from .arguments import NO_HALF_OPERATORS, compile_arguments, link_arguments
from .blocks import GPU, Blocks
from .branches import choices
from .cmake_text import HERE, LIBRARIES, generator, quote, read_includes
from .conditions import assumed, classify, doubts, settle
from .values import Unknown, combine

SUFFIXES = (".cu", ".hip")

# The sections of what stands under one condition, in the order of the file: the command, and whose comments come before.
SECTIONS = {
    "include": ("target_include_directories(%s PRIVATE", ["include"]),
    "definition": ("target_compile_definitions(%s PRIVATE", ["definition"]),
    "feature": ("target_compile_features(%s PRIVATE cxx_std_%s)", []),
    "cuda_standard": ("set_target_properties(%s PROPERTIES CUDA_STANDARD %s)", []),
    "option": ("target_compile_options(%s PRIVATE", ["options", "option"]),
    "separable": ("set_target_properties(%s PROPERTIES CUDA_SEPARABLE_COMPILATION ON)", []),
    "link_directory": ("target_link_directories(%s PRIVATE", ["link_directory"]),
    "library": ("target_link_libraries(%s PRIVATE", ["link"]),
    "link_option": ("target_link_options(%s PRIVATE", []),
    "rpath": ("set_property(TARGET %s APPEND PROPERTY %s %s)", ["rpath"]),
}


class Op:
    """All calls that make an extension of one name."""

    def __init__(self, name, call):
        self.name = name
        self.calls = [call]
        self.target = ""
        self.guard = call.test
        self.unnamed = None  # its name, where that isn't known
        self.made = True  # False: a comment, no source of it was read
        self.optional = False  # in an if() of options

    @property
    def module(self):
        return self.name.rsplit(".", 1)[-1]

    @property
    def directory(self):
        return "/".join(self.name.split(".")[:-1])


class Source:
    def __init__(self, name, condition, cuda, cuda_only):
        self.name, self.condition, self.cuda, self.cuda_only = name, condition, cuda, cuda_only

    @property
    def device(self):
        return self.name.endswith(SUFFIXES)


def op_lines(project, op):
    blocks = Blocks(project, op)
    if op.unnamed:
        blocks.comment("op", blocks.unread("name", op.unnamed))
    sources = read_sources(blocks)
    blocks.required = needs_cuda(blocks, sources)
    undone = compile_arguments(
        blocks, any(isinstance(item, str) and item.endswith(SUFFIXES) for _, item in blocks.items("sources", "cuda_sources"))
    )
    link_arguments(blocks)
    blocks.left_out()
    includes = [item for _, item in blocks.include_dirs() if isinstance(item, str)]
    names = [source.name for source in sources]
    abi, libraries, halves = read_includes(names, project.place, [project.absolute(item) for item in includes])
    for name in libraries:
        # An op with CUDA_SOURCES has the runtime.
        if name != "cudart" or not any(source.cuda for source in sources):
            blocks.add("", "library", LIBRARIES[name])
    if halves and any(source.device for source in sources):
        for name in NO_HALF_OPERATORS:
            if name not in undone:
                blocks.add("", "definition", generator("CUDA", name))
    blocks.settle()
    variables, before, lines = command(blocks, sources, abi)
    if not sources:
        # CMake would stop: the lines are there for whoever writes the sources down.
        op.made = False
        comment = "# No source of %s was read:" % op.name
        return [*blocks.comments.get("op", []), comment, *("# " + line for line in lines)]
    lines += properties(blocks)
    if all(source.condition for source in sources):
        # There is no op without a source.
        lines = in_if(" OR ".join(variables), lines)
        op.optional = True
    lines = blocks.comments.get("op", []) + before + lines
    op.optional = op.optional or blocks.where.kind == "option"
    return in_if(blocks.where.condition, lines) if blocks.where.kind == "option" else lines


def in_if(condition, lines):
    return ["if(%s)" % condition, *("  " + line if line else "" for line in lines), "endif()"]


# ---- sources


def read_sources(blocks):
    project, op = blocks.project, blocks.op
    inline = any(call.kind == "load_inline" for call in op.calls)
    found, result = {}, {}  # by name
    for guard, item in blocks.known("op", "sources", blocks.items("sources", "cpp_sources", "cuda_sources")):
        found.setdefault(item, (item, []))[1].append(guard)
    for item, guards in found.values():
        # Both branches of an if may name it.
        guard = combine("or", guards)
        line = getattr(item, "line", 0) or blocks.line
        if inline and ("\n" in item or "(" in item):
            what = "sources of %s are text in Python: write them to files" % op.name
            blocks.comment("op", blocks.note(line, "not read: " + what))
            continue
        where = classify(guard, blocks.flipped)
        if where.kind == "doubt":
            settled = settle(guard, blocks.flipped)
            for leaf in doubts(guard, blocks.flipped):
                blocks.take(leaf, leaf.text in settled)
            where = classify(guard, [*blocks.flipped, *settled])
        name = project.relative(item)
        if where.kind in ("hip", "never"):
            if where.kind == "hip":
                blocks.hip.setdefault("op", []).append(name)
            continue
        if not os.path.isfile(os.path.join(project.place, name)):
            blocks.comment("op", blocks.note(line, "not found: %s" % name))
            continue
        for leaf in assumed(guard, blocks.flipped):
            blocks.take(leaf)
        blocks.unsaid(guard)
        blocks.offer(where.options)
        condition = where.condition if where.kind == "option" else "NOT (%s)" % GPU if where.kind == "cpu" else ""
        cuda = where.kind == "cuda"
        source = Source(name, condition, cuda or name.endswith(SUFFIXES), cuda and not blocks.only_cuda)
        project.has_c = project.has_c or name.endswith(".c")
        result.setdefault(name, source)
    result = list(result.values())
    if all(call.kind == "CUDAExtension" for call in op.calls) and not any(source.cuda for source in result):
        for source in result:
            source.cuda = True
    return result


def needs_cuda(blocks, sources):
    """Whether it is CUDA REQUIRED: nothing of it would be left without."""
    kinds = {call.kind for call in blocks.op.calls}
    if blocks.only_cuda or "CUDAExtension" not in kinds:
        return False
    if kinds == {"CUDAExtension"} and not any(source.cuda_only for source in sources):
        return True
    # setuptools has no compiler for a .cu without CUDA either.
    return any(source.device and not source.cuda_only and not source.condition for source in sources)


# ---- lines


def command(blocks, sources, abi):
    """Variables of files that stand under conditions, the lines that fill them, and those of the call."""
    project, op = blocks.project, blocks.op
    variables, before, bare = [], [], []
    lists = {"SOURCES": [], "CUDA_SOURCES": []}
    for key, names in lists.items():
        under = {}  # condition -> names
        for source in sources:
            if source.cuda == (key == "CUDA_SOURCES"):
                under.setdefault(source.condition, []).append(quote(source.name))
        names += under.pop("", [])
        if under:
            variable = "%s_%s" % (op.target, key.lower())
            variables.append(variable)
            before.append('set(%s "")' % variable)
            for condition, more in under.items():
                before += ["if(%s)" % condition, "  list(APPEND %s" % variable]
                before += ["    " + name for name in more] + ["  )", "endif()"]
            names.append("${%s}" % variable)
            if not names[1:] and len({source.cuda for source in sources}) == 2:
                # It may be empty, and the other isn't: a keyword wants a value.
                before += ["if(%s)" % variable, "  list(PREPEND %s %s)" % (variable, key), "endif()"]
                bare.append(key)
    lines = ["add_torch_op(%s" % op.target]
    if abi != "STABLE":
        lines.append("  ABI %s" % abi)
    if blocks.required:
        lines.append("  CUDA REQUIRED")
    for value in [value for sections in blocks.lines.values() for value in sections.get("torch_target", [])][:1]:
        number = int(value.rstrip("uUlL"), 0) if re.fullmatch(r"(0x)?[0-9a-fA-F]+[uUlL]*", value) else 0
        target = (number >> 56, number >> 48 & 255)
        if abi == "STABLE" and target > (2, 10):
            lines.append("  TORCH_TARGET %d.%d" % target)
    if abi == "PYBIND" or all(call.argument("is_python_module") is not False for call in op.calls):
        lines.append("  PYTHON_MODULE %s" % op.module)
        package = project.package(op)
        if package:
            lines.append("  PYTHON_PACKAGE %s" % quote(package))
        if op.directory:
            lines.append("  INSTALL %s" % quote(op.directory))
        elif any(call.kind.endswith("Extension") for call in op.calls):
            lines.append("  INSTALL .")
    for key, names in lists.items():
        if key in bare:
            lines.append("  " + names[0])
        elif names:
            lines += ["  " + key, *("    " + name for name in names)]
    lines.append(")")
    limited = [value for call in op.calls for value in choices(call.argument("py_limited_api"))]
    unknown = [value for value in limited if isinstance(value, Unknown)]
    if abi == "PYBIND" and True in limited:
        what = "left out: py_limited_api: pybind11 has no limited API; with TORCH_LIBRARY (ABI FULL) the module is abi3"
        blocks.comment("op", blocks.note(op.calls[0].line, what))
    elif unknown:
        blocks.comment("op", blocks.unread("py_limited_api", unknown[0]))
    return variables, before, lines


def properties(blocks):
    lines = []
    under = {}  # condition -> lines
    for section, (form, comments) in SECTIONS.items():
        for name in comments:
            lines += blocks.comments.get(name, [])
        for condition, sections in blocks.lines.items():
            found = sections.get(section, [])
            bare = [one for one in found if not one.startswith("$<")]
            ends = tuple(":%s%s>" % (prefix, other) for other in bare for prefix in ("", HERE + "/"))
            found = [one for one in found if not one.endswith(ends)]
            if section == "library" and sections.get("openmp"):
                found.append("CudaOps::openmp")
            if found:
                made = section_lines(section, form, blocks.op.target, found)
                (under.setdefault(condition, []) if condition else lines).extend(made)
    for condition, made in under.items():
        lines += ["if(%s)" % condition, *("  " + line for line in made), "endif()"]
    return lines


def section_lines(section, form, target, found):
    if section in ("feature", "cuda_standard"):
        return [form % (target, max(found, key=int))]
    if section == "separable":
        return [form % target]
    if section == "rpath":
        return [form % (target, name, " ".join(map(quote, found))) for name in ("BUILD_RPATH", "INSTALL_RPATH")]
    if len(found) == 1:
        return ["%s %s)" % (form % target, quote(found[0]))]
    return [form % target, *("  " + quote(one) for one in found), ")"]
