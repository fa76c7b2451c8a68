# SPDX-License-Identifier: Apache-2.0
"""What a setup.py gives compiler and linker, as CMake has it."""

import os
import re

from .blocks import GPU
from .branches import choices, flatten
from .cmake_text import HERE, LIBRARIES, generator, merge_lists, natural, split_words, unknown_of, words
from .values import HOME, TORCH, Unknown

LINKED = "torch torch_cpu torch_cuda torch_hip torch_python c10 c10_cuda c10_hip cudart cudart_static stdc++".split()

# Flags of the compilers whose value is the next word.
TWO_WORDS = (
    "-gencode --generate-code -arch --gpu-architecture -code --gpu-code -ccbin --compiler-bindir -t --threads "
    "-Xcompiler --compiler-options -Xptxas --ptxas-options -Xcudafe -Xlinker --linker-options -Xfatbin -Xnvlink "
    "-maxrregcount --maxrregcount -diag-suppress --diag-suppress -rdc --relocatable-device-code "
    "-I -isystem -D -U -L -l -include -std --std -x"
).split()
ARCHITECTURE = re.compile(
    r"-gencode|--generate-code|-arch|--gpu-architecture|-code|--gpu-code|--offload-arch|arch=compute_|get_gencode_flags"
)
# CMAKE_CUDA_HOST_COMPILER and CUDAOPS_CUDA_JOBS say it here; libraries mean nothing to a compile.
IGNORED = re.compile(r"-ccbin|--compiler-bindir|-t$|-t=|-t\d|--threads|--offload-arch|-L|-l(?!ineinfo$)")

# Macros that add_torch_op() defines, or what is compiled by it does without.
DEFINED = re.compile(
    r"(USE_CUDA|TORCH_EXTENSION_NAME|TORCH_API_INCLUDE_EXTENSION_H|_GLIBCXX_USE_CXX11_ABI)(=|$)|Py_LIMITED_API=0x03090000$"
)


# What cpp_extension defines for nvcc, and add_torch_op() doesn't.
NO_HALF_OPERATORS = (
    "__CUDA_NO_HALF_OPERATORS__",
    "__CUDA_NO_HALF_CONVERSIONS__",
    "__CUDA_NO_BFLOAT16_CONVERSIONS__",
    "__CUDA_NO_HALF2_OPERATORS__",
)


def compile_arguments(blocks, cuda):
    """`cuda`: whether one of the sources is for nvcc. Comments about arguments as a whole come behind all others. Returns
    what is undefined for nvcc of NO_HALF_OPERATORS."""
    notes = []
    lists = {"cxx": [], "nvcc": [], "nvcc_dlink": []}
    both = False
    for call in blocks.op.calls:
        blocks.line = call.line
        sides = {side: [] for side in lists}
        for guard, value in flatten([call.argument("extra_compile_args")], call.test):
            if isinstance(value, dict):
                for key, flags in value.items():
                    if key in sides:
                        sides[key] += flatten(flags, guard)
                    else:
                        notes.append(blocks.note(call.line, "not read: extra_compile_args[%r]" % key, call.file))
            elif isinstance(value, Unknown):
                notes.append(blocks.unread("extra_compile_args", value))
            else:
                both = True
                sides["cxx"] += flatten(value, guard)
                sides["nvcc"] += flatten(value, guard)
        sides["cxx"] += flatten(words(call.argument("extra_cflags")), call.test)
        sides["nvcc"] += flatten(words(call.argument("extra_cuda_cflags")), call.test)
        for side, found in sides.items():
            lists[side].append(found)
        if True in choices(call.argument("dlink")) + choices(call.argument("dlink_libraries")):
            blocks.add("", "separable", "")
    if not cuda:
        lists["nvcc"] = lists["nvcc_dlink"] = []
    said = {side: "extra_compile_args" + "[%s]" % side * (not both) for side in lists}
    flags = {side: compile_flags(blocks, merge_lists(found), side, said[side]) for side, found in lists.items()}
    for side, other, own in (("cxx", "nvcc", "CXX"), ("nvcc", "cxx", "CUDA")):
        for condition, kind, value in flags[side]:
            everywhere = not cuda or (condition, kind, value) in flags[other]
            language = "" if everywhere else own
            if kind == "option" and not (both and everywhere) and cuda:
                language = own
            if kind == "include" and language and not value.startswith(("/", HOME, TORCH)):
                value = HERE + "/" + value  # CMake leaves paths in generator expressions as they are
            blocks.add(condition, kind, generator(language, value) if kind in ("definition", "option", "include") else value)
    for condition, kind, value in flags["nvcc_dlink"]:
        blocks.add("", "separable", "")
        if kind == "option" and not value.startswith("-dlink"):
            blocks.add(condition, "link_option", generator("\0DEVICE_LINK", value))
    for guard, item in blocks.items("define_macros"):
        pair = item if isinstance(item, tuple) else None
        if pair is None or not isinstance(pair[0], str) or not isinstance(pair[-1], (str, int, type(None))):
            blocks.comment("definition", blocks.unread("define_macros", unknown_of(item)))
            continue
        value = pair[0] if len(pair) == 1 or pair[1] is None else "%s=%s" % pair
        if value != "TORCH_EXTENSION_NAME":
            blocks.put(guard, "definition", "definition", value)
    for guard, item in blocks.known("option", "undef_macros", blocks.items("undef_macros")):
        blocks.put(guard, "option", "option", "-U" + item)
    directories(blocks, "include", "include_dirs", blocks.include_dirs())
    for line in notes:
        blocks.comment("options", line)
    flags = [item for found in lists["nvcc"] for _, item in found]
    return {name for name in NO_HALF_OPERATORS if "-U" + name in flags}


def link_arguments(blocks):
    blocks.line = blocks.op.calls[0].line
    for guard, item in blocks.known("link", "libraries", blocks.items("libraries")):
        library(blocks, guard, item)
    directories(blocks, "link_directory", "library_dirs", blocks.items("library_dirs"))
    directories(blocks, "rpath", "runtime_library_dirs", blocks.items("runtime_library_dirs"))
    for guard, item in blocks.known("link", "extra_objects", blocks.items("extra_objects")):
        path = blocks.project.relative(item)
        prefix = "" if path.startswith(("/", HOME, TORCH)) else HERE + "/"
        blocks.put(guard, "link", "library", prefix + path, item)
    name = "extra_link_args"
    for guard, flag, value in with_values(blocks.items(name, "extra_ldflags"), ("-L", "-l", "-Xlinker")):
        item = flag if isinstance(value, str) else value
        for guard, _ in blocks.known("link", name, [(guard, item)]):
            flag = "-Wl," + value if flag == "-Xlinker" else flag + value
            if flag.startswith("-l"):
                library(blocks, guard, flag[2:])
            elif flag.startswith("-L"):
                directories(blocks, "link_directory", name, [(guard, flag[2:])])
            elif flag.startswith("-Wl,-rpath"):
                directories(blocks, "rpath", name, [(guard, re.sub(r"^-Wl,-rpath[,=]|-Wl,", "", flag))])
            elif flag == "-fopenmp":
                library(blocks, guard, "gomp")
            elif flag not in ("-shared", "-O3", "-Wl,", ""):
                blocks.put(guard, "link", "link_option", flag)


def with_values(found, two_words):
    """(guard, word, its value) of each word. The value is the next word where the word asks for one, else empty."""
    rest = iter([(guard, one) for guard, item in found for one in (split_words(item) if isinstance(item, str) else [item])])
    for guard, word in rest:
        value = next(rest, (guard, ""))[1] if isinstance(word, str) and word in two_words else ""
        yield guard, str(word) if isinstance(word, str) else word, str(value) if isinstance(value, str) else value


def library(blocks, guard, item):
    if item in LINKED:
        return
    emit, condition = blocks.condition(guard, "link", item)
    if emit and item in ("gomp", "omp", "iomp5"):
        blocks.add(condition, "openmp", "")
    elif emit:
        # The targets of CUDA's libraries are there without CUDA too, and empty.
        known = item in LIBRARIES and condition == GPU
        blocks.add("" if known else condition, "library", LIBRARIES.get(item, str(item)))


def directories(blocks, section, keyword, found):
    for guard, item in blocks.known(section, keyword, found):
        toolkit = re.match(re.escape(HOME) + r"|(/usr/local|/opt)/cuda(-[\d.]+)?(?=/)", item)
        rest = item[toolkit.end() :].rstrip("/") if toolkit else ""
        if toolkit and re.fullmatch(r"/(targets/[^/]+/)?(include|lib|lib64)(/stubs)?", rest):
            continue  # CudaOps passes those of the toolkit that was chosen
        if not item.startswith((TORCH + "/include", TORCH + "/lib")):
            path = blocks.project.relative(item)
            if section == "include" and not path.startswith((HOME, TORCH)) and not blocks.elsewhere(guard):
                if not os.path.isdir(os.path.join(blocks.project.place, path)):
                    blocks.comment(section, blocks.note(getattr(item, "line", 0) or blocks.line, "not found: " + path))
            blocks.put(guard, section, section, path, item)


def compile_flags(blocks, found, side, keyword):
    """[(condition, kind, value)]"""
    result = []
    architectures = []
    for guard, flag, value in with_values(found, TWO_WORDS):
        if not isinstance(flag, str):
            if isinstance(flag, Unknown) and ARCHITECTURE.search(flag.text):
                architectures.append(flag.text)
            elif not blocks.elsewhere(guard):
                if not (isinstance(flag, Unknown) and re.match(r"f?['\"](--threads|-t|-ccbin)\b", flag.text)):
                    blocks.comment("options", blocks.unread(keyword, flag))
        elif not isinstance(value, str) and not ARCHITECTURE.match(flag):
            if not IGNORED.match(flag):
                blocks.comment("options", blocks.unread("%s: %s" % (keyword, flag), value))
        elif ARCHITECTURE.match(flag) and not flag.startswith("-code="):
            if not blocks.elsewhere(guard):
                given = flag.split("=", 1)[1] if "=" in flag else value
                architectures.append(given if isinstance(given, str) else given.text)
        else:
            made = compile_flag(flag, value, side, blocks.project.relative)
            if made:
                emit, condition = blocks.condition(guard, "options", " ".join([flag, value]).strip())
                result += [(condition, *one) for one in made] if emit else []
    if architectures:
        names = {name for text in architectures for name in re.findall(r"(?:sm|compute)_\w+|gfx\w+", text)}
        names = sorted(names, key=natural)
        said = " ".join([name for name in names if not name.startswith("compute")] or names) or "architectures"
        said = "left out: flags for %s; CMAKE_CUDA_ARCHITECTURES says what is built" % said
        blocks.comment("options", blocks.note(blocks.line, said))
    return result


def compile_flag(flag, value, side, relative):
    """[(kind, value)]: empty where it needs no line here."""
    for pattern, rule in RULES:
        match = re.match(pattern, flag)
        if match:
            return rule(match, value, side, relative)
    # One word: CMake leaves out words that it has had.
    joined = flag.startswith("-") and flag != "-include"
    return [("option", flag + "=" + value if value and joined else (flag + " " + value).strip())] if flag else []


def _nothing(*_):
    return []


def _standard(match, value, side, _):
    number = re.search(r"(\d\w)$", (match.string + " " + value).strip())
    standard = number.group(1).replace("1z", "17").replace("2a", "20").replace("2b", "23") if number else ""
    if not standard.isdigit() or int(standard) in (98, 3, 11, 14, 17):
        return []  # torch's headers ask for as much
    return [("feature" if side == "cxx" else "cuda_standard", standard)]


def _separable(match, value, *_):
    return [] if "false" in match.string + value else [("separable", "")]


def _definition(match, value, *_):
    macro = match.group(1) or value
    name, _, number = macro.partition("=")
    if name == "TORCH_TARGET_VERSION":
        return [("torch_target", number)]
    return [] if DEFINED.match(macro) else [("definition", macro)]


def _include(match, value, _, relative):
    return [("include", relative(match.group(1) or value))]


def _host_options(match, value, *_):
    made = []
    for one in (value or match.group(1) or "").strip("\"'").split(","):
        if one == "-fopenmp":
            made.append(("openmp", ""))
        elif one not in ("", "-fPIC", "-O3"):
            made.append(("option", "-Xcompiler=" + one))
    return made


def _openmp(*_):
    return [("openmp", "")]


# (pattern, what becomes of such a word): the first that matches its begin. All other words are options.
RULES = (
    (r"--?std", _standard),
    (r"(-O3|-fPIC|-shared|-fdiagnostics-color(=always)?)$", _nothing),  # as CMake's Release has it
    (IGNORED, _nothing),
    (r"-(rdc|-relocatable-device-code)|(-dc|--device-c|-dlink|--device-link)$", _separable),
    (r"-D(.*)", _definition),
    (r"-I(.*)", _include),
    (r"-isystem(.*)", _include),
    (r"-U__CUDA_NO_\w+__$", _nothing),  # of NO_HALF_OPERATORS
    (r"(?:-Xcompiler|--compiler-options)(?:=(.*)|$)", _host_options),
    (r"(-fopenmp|/openmp)$", _openmp),
)
