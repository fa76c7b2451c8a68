# SPDX-License-Identifier: Apache-2.0
"""What can be provided: which packages it takes, how a place is made ready for them, when it is whole."""

import contextlib
import glob
import os
import re
import subprocess
import sys
import sysconfig

from .errors import Stop, raise_if_disk
from .installers import clean_environment


class Torch:
    kind = "torch"
    directory = "torch"
    distribution = "torch"
    download = "3 GB"
    disk = "5.7 GB"
    other_way = "or point to a torch you have: -DPython_EXECUTABLE=<venv>/bin/python"

    def __init__(self, version, why, or_older):
        self.version, self.why = version, why
        self.older = "torch<=" + version if or_older else None
        gil = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
        self.suffix = "-cp%d%d%s" % (sys.version_info[0], sys.version_info[1], gil)
        # numpy: torch warns at import without it, and tests compare with it.
        self.requirements = [exactly("torch", version), "numpy"]

    def prepare(self, part):
        base = base_python()
        run = subprocess.run(
            [base, "-m", "venv", "--without-pip", "--prompt", "torch-" + self.version, part],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=clean_environment(),
        )
        if run.returncode != 0:
            lines = [line for line in run.stdout.splitlines() if line.strip()] or ["exit code %d" % run.returncode]
            raise_if_disk(run.stdout, os.path.dirname(part), self)
            raise Stop(
                "%s can't make a virtual environment." % base,
                ["found   " + lines[-1].strip()],
                ["apt-get install python3-venv, then run the same command again", self.other_way],
            )
        return ["--python", os.path.join(part, "bin", "python")]

    def packages(self, part):
        return os.path.join(part, "lib", "python%d.%d" % sys.version_info[:2], "site-packages")

    @staticmethod
    def problem(directory):
        if not os.path.exists(os.path.join(directory, "bin", "python")):
            return "no bin/python"
        if not glob.glob(os.path.join(glob.escape(directory), "lib", "python*", "site-packages", "torch", "version.py")):
            return "no torch/version.py"
        return None

    def finish(self, part, final):
        # pip and venv write the place into scripts; torch itself holds no path.
        old, new = os.fsencode(part), os.fsencode(final)
        for name in [*glob.glob(os.path.join(glob.escape(part), "bin", "*")), os.path.join(part, "pyvenv.cfg")]:
            if os.path.islink(name) or not os.path.isfile(name) or os.path.getsize(name) > 1 << 20:
                continue
            with open(name, "rb") as file:
                text = file.read()
            if old in text:
                with open(name, "r+b") as file:
                    file.write(text.replace(old, new))
                    file.truncate()


class Toolkit:
    kind = "toolkit"
    directory = "toolkits"
    distribution = "cuda_toolkit"
    suffix = ""
    download = "120 MB"
    disk = "0.3 GB"
    other_way = "or point to a toolkit you have: -DCUDAToolkit_ROOT=<dir>"

    older = None

    def __init__(self, version, why, or_older):
        self.version, self.why = version, why
        self.requirements = [exactly("cuda-toolkit[nvcc,cccl,cudart]", version)]
        if version.startswith("13.0"):
            # cuda-toolkit 13.0 leaves these open: pip then takes 13.5's, whose PTX ptxas 13.0 refuses.
            self.requirements += ["nvidia-nvvm==13.0.*", "nvidia-cuda-crt==13.0.*"]

    def prepare(self, part):
        return ["--target", part]

    def packages(self, part):
        return part

    @staticmethod
    def root(directory):
        found = glob.glob(os.path.join(glob.escape(directory), "nvidia", "cu*", "bin", "nvcc"))
        return os.path.dirname(os.path.dirname(found[0])) if found else None

    @staticmethod
    def problem(directory):
        """What is missing, or that the compiler's parts are not of one release; None for a whole one."""
        root = Toolkit.root(directory)
        needed = ["bin/nvcc", "bin/ptxas", "nvvm/bin/cicc", "include/cuda_runtime.h", "lib/libcudart_static.a"]
        missing = [name for name in needed if root is None or not os.path.exists(os.path.join(root, name))]
        if missing:
            return "no " + ", ".join(missing)
        pieces = []
        for name in ("nvidia_cuda_crt", "nvidia_cuda_nvcc", "nvidia_cuda_runtime", "nvidia_nvvm"):
            for info in glob.glob(os.path.join(glob.escape(directory), name + "-*.dist-info")):
                pieces.append((name, os.path.basename(info)[len(name) + 1 : -len(".dist-info")]))
        if len({tuple(version.split(".")[:2]) for _, version in pieces}) > 1:
            return ", ".join("%s %s" % piece for piece in pieces)
        return None

    def finish(self, part, final):
        # The wheel has no libcudart.so, and CMake's FindCUDAToolkit would then take that of another toolkit.
        lib = os.path.join(self.root(part), "lib")
        link = os.path.join(lib, "libcudart.so")
        real = sorted(glob.glob(os.path.join(glob.escape(lib), "libcudart.so.*")))
        if real and not os.path.lexists(link):
            os.symlink(os.path.basename(real[0]), link)


def exactly(name, version):
    """2.15 stands for its newest patch release, as elsewhere in Python's world."""
    return "%s==%s%s" % (name, version, ".*" if re.fullmatch(r"\d+\.\d+", version) else "")


def base_python():
    """The interpreter below any virtual environment, by its full name (python3.11).

    A venv made with `python3` would change its version with the system's.
    """
    base = getattr(sys, "_base_executable", None) or sys.executable
    named = os.path.join(os.path.dirname(base), "python%d.%d" % sys.version_info[:2])
    with contextlib.suppress(OSError):
        if os.path.samefile(named, base):
            return named
    return base
