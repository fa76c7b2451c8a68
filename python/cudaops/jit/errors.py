# SPDX-License-Identifier: Apache-2.0
"""What load(), load_inline() and OpLibrary raise and warn of."""


class BuildError(RuntimeError):
    """A build that failed. The text is for people; for programs:

    message   the first error of compiler, linker or CMake, in its own words
    file      the file that it names, or None
    line      its line, or None
    command   the command that failed, or None
    log       path of the whole output, or None
    """

    def __init__(self, text, message="", file=None, line=None, command=None, log=None):
        super().__init__(text)
        self.message = message
        self.file = file
        self.line = line
        self.command = command
        self.log = log


class PolicyError(RuntimeError):
    """Something isn't built already, and the policy says that nothing may be built."""


class CompileWarning(UserWarning):
    """Something is built now, under the policy "warn"."""


class FallbackWarning(UserWarning):
    """An op isn't built, and Python code takes its place."""
