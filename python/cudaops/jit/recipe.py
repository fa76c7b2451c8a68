# SPDX-License-Identifier: Apache-2.0
"""<op>.recipe.json: what an add_torch_op(... RECIPE) was told, and the files beside it that it is built from.

    <dir>/<op>.recipe.json
    <dir>/<op>.recipe/...     sources and their headers

Written by `cmake --install`, read by OpLibrary and `python -m cudaops build`.
"""

import json
import os
import sys

from .key import digest
from .request import Request

FORMAT = 1


class RecipeError(ValueError):
    """A recipe that can't be read, or can't be made."""


class Recipe:
    """path: of the .json; values: what is in it; seal: a digest of all, contents of the sources included."""

    def __init__(self, path):
        self.path = os.path.realpath(path)
        try:
            with open(self.path, encoding="utf-8") as file:
                text = file.read()
            self.values = json.loads(text)
            if not isinstance(self.values, dict) or "format" not in self.values:
                raise ValueError("it has no format")
            if self.values["format"] != FORMAT:
                raise RecipeError(
                    "%s: a recipe of format %s, made by CudaOps %s; this one reads format %d.\nFix: pip install -U cudaops"
                    % (self.path, self.values["format"], self.values.get("cudaops"), FORMAT)
                )
            self.name = self.values["name"]
        except RecipeError:
            raise
        except OSError as error:
            raise RecipeError("%s can't be read: %s" % (path, os.strerror(error.errno))) from None
        except (ValueError, KeyError, TypeError) as error:
            raise RecipeError(
                "%s is no recipe.\n  found   %s\nFix: an <op>.recipe.json as add_torch_op(... RECIPE) installs it"
                % (path, error)
            ) from None
        self.seal = digest(text)
        self.directory = os.path.join(os.path.dirname(self.path), self.name + ".recipe")

    @property
    def schemas(self):
        """{"my_ops::add": "add(Tensor a, Tensor b) -> Tensor"}"""
        return {
            "%s::%s" % (namespace, schema.partition("(")[0].strip()): schema
            for namespace, schemas in self.values["schemas"].items()
            for schema in schemas
        }

    def place(self, name):
        return os.path.join(self.directory, name)


class RecipeRequest(Request):
    """A Request that is a recipe."""

    def __init__(self, recipe):
        values = recipe.values
        super().__init__(recipe.name, "library", "auto")
        self.recipe = recipe
        names = dict.fromkeys(values["sources"] + values["cuda_sources"])  # a file may be in both
        self.set_paths([recipe.place(name) for name in names if not _is_header(name)])
        self.include_paths = [recipe.place(name) for name in values["include_directories"]]
        self.ldflags = [name for name in values["link_libraries"] if name.startswith("-")] + values["link_options"]

    def is_cuda(self):
        values = self.recipe.values
        return values["cuda"] != "OFF" and bool(values["cuda_sources"])

    def flags(self):
        return []  # what they name is beside the recipe

    def lines(self):
        return ["name=" + self.name, "kind=recipe", "recipe=" + self.recipe.path, "seal=" + self.recipe.seal]

    def project(self, directory, headers):
        return RecipeProject(self, directory)


class RecipeProject:
    """The CMake project of a recipe; see project.Project."""

    headers = ""
    slim_differs = False
    architectures = None

    def __init__(self, request, directory):
        recipe, values = request.recipe, request.recipe.values
        self.directory = directory
        self.abi = values["abi"]
        self.sources = request.paths
        self.ops = sorted(recipe.schemas)
        self.schemas, self.unread_namespaces = (), ()
        os.makedirs(directory)
        with open(os.path.join(directory, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write("\n".join(_cmake_lines(recipe, values)) + "\n")


def _cmake_lines(recipe, values):
    from .project import bracket

    name = values["name"]
    lines = [
        "cmake_minimum_required(VERSION 3.25)",
        "project(%s LANGUAGES %sCXX)" % (values["project"], "C " if any(source.endswith(".c") for source in values["sources"]) else ""),
        "find_package(CudaOps REQUIRED)",
        "find_package(CudaTorchMatch REQUIRED)",
        "add_torch_op(%s" % name,
        "  ABI " + values["abi"],
    ]
    for keyword in ("torch_target", "cuda", "python_module", "python_target"):
        if values[keyword]:
            lines.append("  %s %s" % (keyword.upper(), values[keyword]))
    if values["cuda_cubins"]:
        lines.append("  CUDA_CUBINS")
    if values["architectures"]:
        lines.append("  ARCHITECTURES " + " ".join(values["architectures"]))
    for keyword in ("sources", "cuda_sources"):
        if values[keyword]:
            lines.append("  " + keyword.upper())
            lines += ["    " + bracket(recipe.place(source)) for source in values[keyword]]
    lines.append(")")
    for command, key in (
        ("target_include_directories", "include_directories"),
        ("target_compile_definitions", "compile_definitions"),
        ("target_compile_options", "compile_options"),
        ("target_link_options", "link_options"),
        ("target_link_libraries", "link_libraries"),
    ):
        found = [recipe.place(item) for item in values[key]] if key == "include_directories" else values[key]
        for item in found:
            lines.append("%s(%s PRIVATE %s)" % (command, name, bracket(item)))
    for key, value in sorted(values["properties"].items()):
        lines.append("set_target_properties(%s PROPERTIES %s %s)" % (name, key, bracket(value)))
    return lines


def _is_header(name):
    return os.path.splitext(name)[1] in (".h", ".hpp", ".hh", ".hxx", ".cuh", ".inl", ".inc")


# --- installing ------------------------------------------------------------------------------------------------------


def main(arguments):
    try:
        written = install(arguments[0], arguments[1])
    except (RecipeError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print("\n".join(written))
    return 0


def read_spec(path):
    """{key: [values]} of the lines that CMake wrote."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for line in file.read().split("\n"):
            key, equals, value = line.partition("=")
            if equals:
                found.setdefault(key, []).append(value)
    return found


def install(spec_path, to):
    """Copies the sources and writes the recipe below the directory `to`; returns the files."""
    from . import sources as texts

    spec = read_spec(spec_path)
    name, top = spec["name"][0], os.path.realpath(spec["directory"][0])
    command = "add_torch_op(%s)" % name
    includes = [_plain_directory(command, value) for value in spec.get("INCLUDE_DIRECTORIES", ())]
    includes = [os.path.realpath(value) for value in includes if value]
    roots = [(top, "source")] + [(place, "include%d" % number) for number, place in enumerate(includes)]
    reading = texts.Reading(includes)
    lists = {}
    for key in ("source", "cuda_source"):
        lists[key] = spec.get(key, [])
        for path in lists[key]:
            if "$<" in path or not os.path.isfile(path):
                raise RecipeError(
                    "%s: RECIPE takes sources that are files.\n  found   %s\nFix: name the file, or leave RECIPE out" % (command, path)
                )
            reading.add(path)
    places = {}
    for path in sorted(reading.files):
        places[path] = _place(path, roots)
    target = os.path.join(to, name + ".recipe")
    written, digests = [], {}
    for path, place in places.items():
        copy = os.path.join(target, place)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        with open(path, "rb") as file:
            content = file.read()
        if not os.path.exists(copy) or open(copy, "rb").read() != content:
            with open(copy, "wb") as file:
                file.write(content)
        digests[place] = digest(content)
        written.append(copy)
    from .._package import version

    schemas = {}
    for namespace, schema in texts.schemas(reading.files.values(), name):
        schemas.setdefault(namespace, []).append(schema)
    values = {
        "format": FORMAT,
        "cudaops": version(),
        **{key: _one(spec, key) for key in ("name", "project", "abi", "torch_target", "cuda", "python_module", "python_target")},
        "cuda_cubins": _one(spec, "cuda_cubins") == "TRUE",
        "architectures": spec.get("architecture", []),
        "sources": [places[os.path.realpath(path)] for path in lists["source"]],
        "cuda_sources": [places[os.path.realpath(path)] for path in lists["cuda_source"]],
        "include_directories": [_place(os.path.join(place, "."), roots) for place in includes],
        "compile_definitions": spec.get("COMPILE_DEFINITIONS", []),
        "compile_options": spec.get("COMPILE_OPTIONS", []),
        "link_options": spec.get("LINK_OPTIONS", []),
        "link_libraries": spec.get("LINK_LIBRARIES", []),
        "properties": dict(value.split(" ", 1) for value in spec.get("property", ())),
        "schemas": schemas,
        "files": digests,
    }
    for key in ("compile_definitions", "compile_options", "link_options"):
        for value in values[key]:
            if "$<TARGET" in value or top in value:
                raise RecipeError(
                    "%s: RECIPE can't carry what names a target or a path of this machine.\n  found   %s: %s\n"
                    "Fix: leave it to the sources, or leave RECIPE out" % (command, key, value)
                )
    recipe = os.path.join(to, name + ".recipe.json")
    with open(recipe, "w", encoding="utf-8") as file:
        json.dump(values, file, indent=1, sort_keys=True)
        file.write("\n")
    return [recipe, *written]


def _one(spec, key):
    return spec.get(key, [""])[0]


def _plain_directory(command, value):
    """Of an include directory's text; "" where it counts for installed targets only."""
    if value.startswith("$<BUILD_INTERFACE:") and value.endswith(">"):
        value = value[len("$<BUILD_INTERFACE:") : -1]
    if value.startswith("$<INSTALL_INTERFACE:"):
        return ""
    if "$<" in value:
        raise RecipeError(
            "%s: RECIPE takes include directories that are paths.\n  found   %s\nFix: the path itself, or leave RECIPE out"
            % (command, value)
        )
    return value


def _place(path, roots):
    """Where a file goes below <op>.recipe: as it lies in the project, else as it lies in an include directory."""
    for root, name in roots:
        if (path + "/").startswith(root.rstrip("/") + "/"):
            return os.path.normpath(os.path.join(name, os.path.relpath(path, root)))
    return os.path.join("other-" + digest(os.path.dirname(path))[:8], os.path.basename(path))
