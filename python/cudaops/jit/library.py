# SPDX-License-Identifier: Apache-2.0
"""OpLibrary: a package's own op, from the wheel, from a store or bundle, built now, or its Python fallback."""

import os
import sys

from . import errors, loader
from . import policy as policies

PREBUILT, CACHED, COMPILED, FALLBACK = "PREBUILT", "CACHED", "COMPILED", "FALLBACK"

_warned = set()
_fragments = {}  # op: the torch.library.Library that holds its fallback; it lasts as long as the process


class OpLibrary:
    """The op `name` of a package, as it can be had here.

        ops = cudaops.OpLibrary(__package__, "my_ops", fallback={"add": python_add})
        torch.ops.my_ops.add(a, b)

    package   name of the package that brings the library or <name>.recipe.json, in its directory or in lib/ below it; or
              that directory as a path
    fallback  Python functions by name of the op: they serve the devices for which there is no kernel
    required  True: raises where there is no library, instead of falling back
    schemas   where there is no recipe: ["my_ops::add(Tensor a, Tensor b) -> Tensor"]

    Afterwards:
    state     "PREBUILT" (from the package), "CACHED" (from a store or bundle), "COMPILED" (now), "FALLBACK"
    reason    why it isn't the state before: what stood against the prebuilt library, against a build
    path      of the library, or None;  log: of its build, or None
    """

    def __init__(self, package, name, *, fallback={}, required=False, schemas=None):
        _check_arguments(name, fallback, schemas)
        policies.current()  # a misspelt one is said at once
        self.name = name
        directories = _directories(package)
        self.package = os.fspath(package)
        self.state, self.reason, self.path, self.log = FALLBACK, "", None, None
        self._reasons = []
        self.recipe = _recipe(directories, name)
        self._schemas = _schemas(self.recipe, schemas)
        functions = {self._full_name(op): function for op, function in fallback.items()}
        error = None
        try:
            if not self._prebuilt(directories):
                self._from_recipe(directories)
        except (errors.BuildError, loader.SecondCopyError) as caught:
            error = caught
            self.log = getattr(caught, "log", None)
            self._reasons.append(getattr(caught, "message", "") or str(caught))
        self.reason = "; ".join(reason for reason in self._reasons if reason)
        if self.state == FALLBACK and required:
            raise error or errors.BuildError(
                "cudaops: %s is required and is not available.\n  %s" % (name, "\n  ".join(self._reasons)), self.reason
            )
        served = self._register(functions)
        if self.state == FALLBACK:
            self._warn(served, functions)

    def __repr__(self):
        return "<cudaops.OpLibrary %s: %s%s>" % (self.name, self.state, self.reason and " (%s)" % self.reason)

    def _prebuilt(self, directories):
        path = _library_file(directories, self.name, self.recipe)
        if path is None:
            self._reasons.append("the package %s brings no library" % self.package)
            return False
        from .. import LibraryError, _library
        from . import gpus

        try:
            info = _library.inspect(path)
            problem = info["problems"][0] if info["problems"] else None
            problem = problem or gpus.problem(info["architectures"], gpus.compute_capabilities())
            if problem is None:
                _library.load(path, sorted(self._schemas))
        except LibraryError as error:
            problem = error.sentence
        if problem:
            self._reasons.append("%s: %s" % (path, problem.rstrip(".")))
            return False
        self.state, self.path = PREBUILT, path
        return True

    def _from_recipe(self, directories):
        if self.recipe is None:
            self._reasons.append("there is no %s.recipe.json in %s" % (self.name, directories[0]))
            return
        from .. import LibraryError, _library
        from . import bundle

        path, log, why = bundle.find(self.recipe)
        if path:
            try:
                _library.check(path)
                self._use(path, log, CACHED)
                return
            except LibraryError as error:
                why = error.sentence.rstrip(".")
        if why:
            self._reasons.append(why)
        found, state = obtain(self.recipe)
        if found is None:
            self._reasons.append(state)
            return
        if "cpu_only" in found.section.facts:
            self._reasons.append("built for the CPU only, " + found.section.facts["cpu_only"])
        self._use(found.path, os.path.join(found.directory, "log"), state)

    def _use(self, path, log, state):
        kind = "module" if self.recipe.values["abi"] == "PYBIND" else "library"
        name = self.recipe.values["python_module"] or self.name
        loader.use(name, kind, path, sorted(self.recipe.schemas))
        self.state, self.path, self.log = state, path, log

    def _full_name(self, op):
        """"my_ops::add" of a name in `fallback`. Raises ValueError for one that the schemas don't have."""
        names = [full for full in self._schemas if op in (full, full.partition("::")[2])]
        if len(names) == 1:
            return names[0]
        if not self._schemas:
            if "::" in op and _torch()._C._dispatch_has_kernel(op):
                return op
            raise ValueError(
                'cudaops: the schema of %s in fallback isn\'t known.\n  package  %s, without %s.recipe.json\n'
                'Fix: schemas=["%s::%s(Tensor a, ...) -> Tensor"]' % (op, self.package, self.name, self.name, op)
            )
        import difflib

        known = sorted(full.partition("::")[2] for full in self._schemas)
        close = difflib.get_close_matches(op.partition("::")[2] or op, known, 1)
        raise ValueError(
            "cudaops: fallback names %s, which %s doesn't define%s\n  it has   %s"
            % (op, self.name, "; did you mean %s?" % close[0] if close else ".", " ".join(known))
        )

    def _register(self, functions):
        """Gives each function the devices that have no kernel; returns the ops that got some."""
        served = []
        torch = _torch() if functions else None
        for full, function in functions.items():
            keys = _missing_keys(torch, full)
            if full in _fragments or not keys:
                continue
            namespace, _, op = full.partition("::")
            fragment = _fragments[full] = torch.library.Library(namespace, "FRAGMENT")
            if keys == ["CompositeImplicitAutograd"]:
                fragment.define(self._schemas[full])
            for key in keys:
                fragment.impl(op, function, key)
            served.append(full)
        return served

    def _warn(self, served, functions):
        if self.name in _warned:
            return
        _warned.add(self.name)
        import warnings

        if served or functions:
            what = "Python code serves %s" % ", ".join(served or functions)
        else:
            what = "its ops are missing"
        warnings.warn(
            "cudaops: %s isn't built: %s.\n  reason  %s%s\nFix: python -m cudaops build %s   (says what is missing); "
            "required=True makes this an error"
            % (self.name, what, self.reason, self.log and "\n  log     " + self.log or "", self.package),
            errors.FallbackWarning,
            stacklevel=3,
        )


def obtain(recipe, verbose=False):
    """(Found, CACHED or COMPILED), or (None, why not) where nothing may be compiled. Raises BuildError, PolicyError."""
    from . import api
    from .recipe import RecipeRequest

    request = RecipeRequest(recipe)
    policy, source = policies.current()
    if policy == "off":
        found = api.find(request)[0]
        if found is None or found.section.built == "failed":
            return None, "nothing may be compiled (%s)" % source
        return found, CACHED
    found, state, _, _ = api.obtain(request, None, verbose)
    return found, state


def warm_up(what, verbose=False):
    """Builds what isn't built: OpLibrary objects, names of packages, paths of recipes. Returns {name: state}."""
    from . import cli

    states = {}
    for item in [what] if isinstance(what, (str, os.PathLike, OpLibrary)) else what:
        recipes = [item.recipe] if isinstance(item, OpLibrary) else cli.recipes_of(item)
        for recipe in recipes:
            if recipe is not None:
                states[recipe.name] = obtain(recipe, verbose)[1]
    return states


def _torch():
    import torch

    return torch


def _missing_keys(torch, full):
    """Where the fallback is registered."""
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    if not torch._C._dispatch_has_kernel(full):
        # Defined without a kernel by a library that is loaded: then the devices.
        if full not in torch._C._dispatch_get_all_op_names():
            return ["CompositeImplicitAutograd"]
    elif any(has(full, "Composite" + kind) for kind in ("ImplicitAutograd", "ExplicitAutograd")):
        return []
    keys = ["CPU"] + (["CUDA"] if torch.version.cuda or torch.version.hip else [])
    return [key for key in keys if not has(full, key)]


def _check_arguments(name, fallback, schemas):
    if not isinstance(name, str) or not name:
        raise TypeError("OpLibrary: the name of an op library is a text.\n  found   %r\nFix: OpLibrary(__package__, \"my_ops\")" % (name,))
    if not isinstance(fallback, dict):
        raise TypeError('fallback is a dict.\n  found   %r\nFix: fallback={"add": python_add}' % (fallback,))
    for op, function in fallback.items():
        if not callable(function):
            raise TypeError("fallback: what stands for %s is no function.\n  found   %r\nFix: fallback={\"%s\": python_%s}" % (op, function, op, op))
    if isinstance(schemas, str):
        raise TypeError('schemas is a list.\n  found   %r\nFix: schemas=["%s"]' % (schemas, schemas))


def _directories(package):
    """The package's own, and lib/ below it."""
    if isinstance(package, os.PathLike) or (isinstance(package, str) and os.sep in package):
        places = [os.fspath(package)]
        if not os.path.isdir(places[0]):
            raise NotADirectoryError("cudaops: OpLibrary's first argument is no directory.\n  found   %s\nFix: the package's directory, or its name" % places[0])
    elif isinstance(package, str) and package:
        module = sys.modules.get(package)
        places = list(getattr(module, "__path__", ()) or ())
        if not places:
            from importlib.util import find_spec

            spec = find_spec(package)
            places = list(spec.submodule_search_locations or ()) if spec else []
    else:
        places = []
    if not places:
        raise ValueError(
            "cudaops: OpLibrary's first argument is a package.\n  found   %r\n"
            "Fix: __package__ in a module of the package, or its directory as a path" % (package,)
        )
    return [directory for place in places for directory in (place, os.path.join(place, "lib"))]


def _recipe(directories, name):
    from .recipe import Recipe

    for directory in directories:
        path = os.path.join(directory, name + ".recipe.json")
        if os.path.exists(path):
            return Recipe(path)
    return None


def _library_file(directories, name, recipe):
    import sysconfig

    module = recipe.values["python_module"] if recipe else ""
    names = ["lib%s.so" % name, name + ".so"]
    for stem in filter(None, (module, name)):
        names += [stem + ".abi3.so", stem + (sysconfig.get_config_var("EXT_SUFFIX") or ".so")]
    for directory in directories:
        for file in names:
            path = os.path.join(directory, file)
            if os.path.isfile(path):
                return path
    return None


def _schemas(recipe, given):
    """{"my_ops::add": "add(Tensor a, Tensor b) -> Tensor"}"""
    found = dict(recipe.schemas) if recipe else {}
    for schema in given or ():
        namespace, colons, rest = schema.partition("::")
        if not colons or "(" in namespace or "->" not in rest:
            raise ValueError(
                'cudaops: a schema is "namespace::name(arguments) -> results".\n  found   %s' % schema
            )
        found["%s::%s" % (namespace, rest.partition("(")[0].strip())] = rest
    return found
