# SPDX-License-Identifier: Apache-2.0
"""For projects that stay with setuptools: their ops are built by CMake, the rest of setup.py remains.

    from setuptools import setup
    from cudaops.setuptools import CMakeBuild, TorchOp

    setup(
        name="my_package",
        packages=["my_package"],
        ext_modules=[TorchOp("my_ops", ".")],          # the directory of CMakeLists.txt: add_torch_op(my_ops ... INSTALL my_package)
        cmdclass={"build_ext": CMakeBuild},
    )

What the project installs lands where INSTALL says, in the wheel or, with --inplace and in editable installs, in the source tree.
`python -m cudaops port setup.py` writes a first CMakeLists.txt. Options for CMake come from CMAKE_ARGS in the environment, as
in scikit-build-core; tests aren't built (-DBUILD_TESTING=ON there builds them).
"""

import os
import re
import shlex
import shutil
import subprocess
import sys

from setuptools import Extension
from setuptools.command.build_ext import build_ext


class TorchOp(Extension):
    """name: of the op, a target of the project; project: directory of its CMakeLists.txt; options: ["-DNAME=VALUE"]."""

    def __init__(self, name, project=".", options=()):
        super().__init__(name, sources=[])
        self.project = os.path.abspath(project)
        self.options = list(options)
        if not os.path.isfile(os.path.join(self.project, "CMakeLists.txt")):
            raise ValueError(
                "TorchOp(%s): the project has no CMakeLists.txt.\n  looked  %s\n"
                "Fix: python -m cudaops port setup.py -o CMakeLists.txt" % (name, self.project)
            )


class CMakeBuild(build_ext):
    """build_ext that builds TorchOps with CMake, and all other extensions as ever."""

    def run(self):
        operators = [extension for extension in self.extensions if isinstance(extension, TorchOp)]
        self.extensions = [extension for extension in self.extensions if not isinstance(extension, TorchOp)]
        self._written = []
        for project in dict.fromkeys(operator.project for operator in operators):
            self._build(project, [operator for operator in operators if operator.project == project])
        if self.extensions:
            super().run()
        self.extensions += operators

    def _build(self, project, operators):
        from ._package import cmake_dir
        from .jit.build import tools

        programs = tools(operators[0].name)
        # "." is the directory of setup.py itself, which one below it may share its name with.
        place = os.path.relpath(project).replace(os.sep, "+")
        tree = os.path.abspath(os.path.join(self.build_temp, "cudaops" + ("" if place == os.curdir else "-" + place)))
        if _is_of_another_place(tree, project):
            shutil.rmtree(tree)
        prefix = self._prefix()
        command = [programs["cmake"], "-G", "Ninja", "-S", project, "-B", tree, "-DCMAKE_INSTALL_PREFIX=" + prefix]
        command += ["-DCMAKE_MAKE_PROGRAM=" + programs["ninja"], "-DCMAKE_BUILD_TYPE=" + ("Debug" if self.debug else "Release")]
        # SKBUILD: the prefix will be site-packages, and the .py files are setuptools' business.
        command += ["-DCudaOps_ROOT=" + cmake_dir(), "-DPython_EXECUTABLE=" + sys.executable, "-DSKBUILD=2"]
        # CMake warns of a -D that no project asks for.
        os.makedirs(tree, exist_ok=True)
        settings = os.path.join(tree, "setuptools.cmake")
        with open(settings, "w", encoding="utf-8") as file:
            file.write('set(BUILD_TESTING OFF CACHE BOOL "")\n')
        command += ["-C", settings]
        command += [option for operator in operators for option in operator.options]
        command += shlex.split(os.environ.get("CMAKE_ARGS", ""))
        # What the project installs besides the ops is in "all"; an op that can't be built isn't.
        build = [programs["cmake"], "--build", tree, "--target", "all", *(operator.name for operator in operators)]
        jobs = self.parallel or os.environ.get("MAX_JOBS")
        if jobs and str(jobs).isdigit():
            build += ["--parallel", str(jobs)]
        self._step(command, project)
        self._step(build, project)
        self._step([programs["cmake"], "--install", tree], project)
        manifest = os.path.join(tree, "install_manifest.txt")
        if os.path.exists(manifest):
            with open(manifest, encoding="utf-8") as file:
                self._written += [line for line in file.read().split("\n") if line]

    def _prefix(self):
        if self.inplace:
            # Where the packages lie that setuptools imports in place: with package_dir={"": "src"} in src.
            return os.path.abspath(self.get_finalized_command("build_py").get_package_dir("") or ".")
        return os.path.abspath(self.build_lib)

    def _step(self, command, project):
        self.announce(shlex.join(command), level=2)
        done = subprocess.run(command)
        if done.returncode:
            raise SystemExit("cudaops: %s can't be built; what is wrong stands above." % project)

    def get_outputs(self):
        """For editable and recorded installs: what CMake installed, and the other extensions' files."""
        operators = self.extensions
        self.extensions = [extension for extension in operators if not isinstance(extension, TorchOp)]
        try:
            return [*super().get_outputs(), *getattr(self, "_written", [])]
        finally:
            self.extensions = operators

    def get_output_mapping(self):
        return {}


def _is_of_another_place(tree, project):
    """Whether it came here with a copy of the project's directory, or is of a project that was here before: CMake refuses such a
    tree."""
    try:
        with open(os.path.join(tree, "CMakeCache.txt"), encoding="utf-8", errors="surrogateescape") as file:
            made = dict(re.findall("^(CMAKE_CACHEFILE_DIR|CMAKE_HOME_DIRECTORY):INTERNAL=(.*)$", file.read(), re.MULTILINE))
    except OSError:
        return False
    places = (("CMAKE_CACHEFILE_DIR", tree), ("CMAKE_HOME_DIRECTORY", project))
    return any(name in made and os.path.realpath(made[name]) != os.path.realpath(place) for name, place in places)
