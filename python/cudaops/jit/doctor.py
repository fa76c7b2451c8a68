# SPDX-License-Identifier: Apache-2.0
"""python -m cudaops doctor: can ops be built here, and what keeps them from being built quickly?
python -m cudaops report: each op that packages of this Python bring, its state and why."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from . import api, build, errors, memory, publish
from . import lock as locks
from . import store as stores
from .request import Request

OK, WARNING, ERROR = "ok", "warning", "error"
# Read by nothing, and set by people who hope that it is.
USELESS = {
    "NVCC": "CUDACXX=<nvcc>, or PYTORCH_NVCC",
    "TORCH_CUDA_INCREMENTAL": "leave it out",
    "CUDA_NVCC_FLAGS": "extra_cuda_cflags, or NVCC_APPEND_FLAGS",
    "CUDA_ARCH_LIST": "TORCH_CUDA_ARCH_LIST",
    "MAX_JOB": "MAX_JOBS",
}
TRIAL = """
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>
// %s
torch::stable::Tensor same(torch::stable::Tensor a) { return a; }
STABLE_TORCH_LIBRARY(cudaops_doctor, m) { m.def("same(Tensor a) -> Tensor"); }
STABLE_TORCH_LIBRARY_IMPL(cudaops_doctor, CPU, m) { m.impl("same", TORCH_BOX(&same)); }
"""
TRIAL_CUDA = "// %s\n__global__ void nothing(float*) {}\nvoid launch(float* p) { nothing<<<1, 1>>>(p); }\n"
GIB = 1 << 30


class Doctor:
    def __init__(self):
        self.findings = []

    def say(self, level, topic, text, fix=None):
        self.findings.append({"level": level, "topic": topic, "text": text, "fix": fix})

    def run(self):
        self.programs()
        self.torch()
        self.environment()
        self.jobs()
        self.store()
        if not any(finding["level"] == ERROR for finding in self.findings):
            self.compile()
        return self.findings

    def programs(self):
        for name in ("cmake", "ninja"):
            try:
                path = build.tools("doctor")[name]
            except errors.BuildError as error:
                self.say(ERROR, name, error.message, 'pip install "cudaops[jit]"')
                return
            done = subprocess.run([path, "--version"], capture_output=True, text=True)
            version = (done.stdout.split("\n")[0].split() or ["?"])[-1]
            with open(path, "rb") as file:
                script = file.read(2) == b"#!"
            if script:
                self.say(WARNING, name, "%s %s is a script, which costs 0.1 s a start" % (path, version), "apt-get install " + name)
            else:
                self.say(OK, name, "%s, %s" % (version, path))

    def torch(self):
        spec = importlib.util.find_spec("torch")
        if spec is None or spec.origin is None:  # None: a directory of that name
            self.say(ERROR, "torch", "this Python has none: " + sys.executable, sys.executable + " -m pip install torch")

    def environment(self):
        for name, fix in USELESS.items():
            if name in os.environ:
                self.say(WARNING, "environment", "%s=%s does nothing" % (name, os.environ[name]), fix)

    def jobs(self):
        jobs, cores, free = locks.jobs_wanted(), locks.cores(), memory.free_bytes() or 0
        source = "MAX_JOBS" if os.environ.get("MAX_JOBS") else "cores" if jobs == cores else "memory"
        text = "%d at once (%s), %d cores, %.1f GiB of memory free" % (jobs, source, cores, free / GIB)
        if jobs > 2 * cores:
            self.say(WARNING, "jobs", text, "MAX_JOBS=%d" % cores)
        elif free < jobs * memory.JOB_BYTES:
            self.say(WARNING, "jobs", text, "MAX_JOBS=%d" % max(1, free // memory.JOB_BYTES))
        elif source == "MAX_JOBS" and jobs * 4 <= cores:
            self.say(WARNING, "jobs", text, "unset MAX_JOBS, or MAX_JOBS=%d" % cores)
        else:
            self.say(OK, "jobs", text)

    def store(self):
        store = stores.user_store()
        problem = store.problem()
        if problem is None:
            try:
                publish.prepare(store.root)
            except OSError as error:
                problem = "%s: %s" % (store.root, os.strerror(error.errno))
        if problem:
            # load() says the same, and builds beside it.
            text = "%s: what a process builds is lost when it ends" % problem
            self.say(WARNING, "store", text, "CUDAOPS_STORE=<directory of your own>")
            return
        free = shutil.disk_usage(store.root).free
        text = "%s, %.1f GiB free on its disk" % (store.root, free / GIB)
        if free < GIB:
            self.say(WARNING, "store", text, "python -m cudaops cache trim --size 1G, or CUDAOPS_STORE=<another disk>")
        else:
            self.say(OK, "store", text)

    def compile(self):
        """A stable op, cold and with its objects cached; what CMake found stands in its report."""
        mark = "%d %d" % (os.getpid(), time.time_ns())
        with tempfile.TemporaryDirectory(prefix="cudaops-doctor-") as place:
            own = stores.Store(os.path.join(place, "jit"), writable=True)
            publish.prepare(own.root)
            # Of the first: one for the CPU asks no toolkit.
            cuda, times, report, fix = True, [], {}, None
            while len(times) < 2:
                request = Request("cudaops_doctor", "library", inline=(True, True, False))
                request.set_flags(None, None, None, None)
                request.cpp_texts = [TRIAL % mark]
                request.cuda_texts = [TRIAL_CUDA % mark] if cuda else []
                began = time.monotonic()
                made = build.Build(request, own, "%032d" % len(times), build.tools("doctor"), "doctor", False)
                try:
                    made.run()
                except errors.BuildError as error:
                    report = report or made.report
                    first, fix = error.message.split("\n")[0], _fix(str(error))
                    if not cuda or times:
                        self.say(ERROR, "compile", first, fix)
                        return
                    # Ops for the CPU may still be built.
                    cuda = False
                    self.say(WARNING, "CUDA", "device code can't be built: " + first, fix)
                    continue
                report = report or made.report
                times.append(time.monotonic() - began)
            what = "an op with device code" if cuda else "an op for the CPU"
            self.say(OK, "compile", "%s in %.1f s, with its objects cached in %.1f s" % (what, *times))
            # A configure step that stops has looked for no cache.
            self._report({**report, "cache": made.report.get("cache", {})}, fix)

    def _report(self, report, fix):
        """What CMake found; `fix`: of what it had against device code."""
        torch, toolkit, host = report.get("torch", {}), report.get("toolkit", {}), report.get("host_compiler", {})
        verdict = report.get("verdict", "")
        found = "CUDA %s at %s" % (toolkit.get("version"), toolkit["root"]) if toolkit.get("root") else "no CUDA toolkit"
        text = "torch %s, %s: %s" % (torch.get("version"), found, verdict)
        good = verdict in ("EXACT", "COMPATIBLE") or (verdict in ("CPU_TORCH", "ROCM_TORCH") and not report.get("reason_code"))
        if good:
            self.say(OK, "match", text)
        else:
            if not fix and torch.get("cuda"):
                fix = "CUDAToolkit_ROOT=<dir>   (a toolkit of torch's CUDA, %s)" % torch["cuda"]
            fix = fix or "a torch that is built for this machine's GPU, if device code is wanted"
            self.say(WARNING, "match", "%s: %s" % (text, report["reason"]) if report.get("reason") else text, fix)
        text = "%s %s, %s" % (host.get("id"), host.get("version"), host["path"]) if host.get("path") else "none is needed, CUDA is off"
        self.say(OK, "host compiler", text)
        archs = report.get("architectures", {})
        resolved = archs.get("resolved") or []
        text = "%s (%s)" % (" ".join(resolved) or "none", archs.get("source") or "none asked for")
        if len(resolved) > 2:
            self.say(WARNING, "architectures", text + ": each is compiled", "TORCH_CUDA_ARCH_LIST=<yours>, such as 9.0")
        else:
            self.say(OK, "architectures", text)
        cache = report.get("cache", {})
        if cache.get("launcher"):
            self.say(OK, "compiler cache", "%s %s" % (cache["launcher"], cache.get("version")))
        else:
            why = cache.get("problem") or "none is installed"
            self.say(WARNING, "compiler cache", why + ": every edit compiles all files", "apt-get install ccache")


def _fix(text):
    """The cures of a message, a line each: those after the first stand below it."""
    found = re.search(r"^ *Fix: (.*(?:\n {6,}.*)*)", text, re.MULTILINE)
    return "\n".join(line.strip() for line in found.group(1).split("\n")) if found else None


def doctor(options):
    """Exit code: 0 nothing to mend, 1 warnings, 2 ops can't be built."""
    findings = Doctor().run()
    if options.json:
        print(json.dumps(findings, indent=2))
    else:
        for finding in findings:
            print("%-8s %-15s %s" % (finding["level"], finding["topic"], finding["text"]))
            lead = "Fix: "
            for line in (finding["fix"] or "").splitlines():
                print("%-8s %-15s %s%s" % ("", "", lead, line))
                lead = "     "
    levels = {finding["level"] for finding in findings}
    return 2 if ERROR in levels else 1 if WARNING in levels else 0


# --- report ----------------------------------------------------------------------------------------------------------


def known_recipes(places=None):
    """Paths of the recipes that packages on sys.path bring: in a package, and in lib/ below it."""
    import glob

    found = {}
    for place in sys.path if places is None else places:
        base = glob.escape(place or os.getcwd())
        for pattern in ("*/*.recipe.json", "*/lib/*.recipe.json"):
            for path in sorted(glob.glob(os.path.join(base, pattern))):
                found.setdefault(os.path.realpath(path), None)
    return list(found)


def state_of(path):
    """{name, package, state, reason, path} of a recipe, without loading or building anything."""
    from .. import LibraryError, _library
    from . import bundle, gpus, library
    from .recipe import Recipe, RecipeError, RecipeRequest

    directory = os.path.dirname(path)
    result = {"recipe": path, "package": os.path.basename(directory), "path": None, "reason": ""}
    try:
        recipe = Recipe(path)
        result["name"] = recipe.name
        file = library._library_file([directory, os.path.join(directory, "lib")], recipe.name, recipe)
        if file:
            info = _library.inspect(file)
            problem = info["problems"][0] if info["problems"] else None
            problem = problem or gpus.problem(info["architectures"], gpus.compute_capabilities())
            if not problem:
                return {**result, "state": library.PREBUILT, "path": file}
            result["reason"] = problem
        bundled, _, _ = bundle.find(recipe)
        if bundled:
            return {**result, "state": library.CACHED, "path": bundled}
        found, _, _, _, change = api.find(RecipeRequest(recipe))
        if found and found.section.built == "failed":
            return {**result, "state": "FAILED", "reason": "its compile failed, python -m cudaops build %s says how" % path}
        if found:
            return {**result, "state": library.CACHED, "path": found.path}
        from . import why

        result["reason"] = result["reason"] or (why.of_change(change) if change else "not built yet")
        return {**result, "state": "TO BUILD"}
    except (RecipeError, LibraryError, OSError) as error:
        reason = error.sentence if isinstance(error, LibraryError) else str(error)
        return {**result, "name": result.get("name", os.path.basename(path)), "state": "FAILED", "reason": reason}


def report(options):
    """Exit code: 0, 1 where an op is neither prebuilt nor cached."""
    results = [state_of(path) for path in known_recipes()]
    if options.json:
        print(json.dumps(results, indent=2))
    elif not results:
        print("no package of this Python brings a recipe (add_torch_op(... RECIPE))")
    else:
        for result in results:
            print("%-24s %-24s %-9s %s" % (result["name"], result["package"], result["state"], result["reason"] or result["path"]))
    return 1 if any(result["state"] in ("FAILED", "TO BUILD") for result in results) else 0
