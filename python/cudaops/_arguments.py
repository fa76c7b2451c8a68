# SPDX-License-Identifier: Apache-2.0
"""The command line's parser: what is typed wrong is said in the form of all messages of CudaOps."""

import argparse
import difflib
import re
import sys

_CHOICE = re.compile(r"invalid choice: '(.*?)' \(choose from (.*)\)$")


class Parser(argparse.ArgumentParser):
    """Errors name the command that they are about; unknown arguments, too, which argparse reports of the whole program."""

    def parse_args(self, arguments=None, namespace=None):
        options, unknown = self.parse_known_args(arguments, namespace)
        if unknown:
            command = self
            for name in (options.command, getattr(options, "part", None)):
                command = command._command(name) or command
            known = [name for action in command._actions for name in action.option_strings if name.startswith("--")]
            command._refuse("unknown argument%s." % ("s" * (len(unknown) > 1)), " ".join(unknown), unknown[0], known)
        return options

    def error(self, message):
        choice = _CHOICE.search(message)
        if not choice:
            self._refuse(message.rstrip(".") + ".")
        names = re.findall(r"[\w-]+", choice.group(2))
        self._refuse("unknown command.", choice.group(1), choice.group(1), names, "  wanted  " + " ".join(names))

    def _command(self, name):
        for action in self._actions:
            if isinstance(action.choices, dict) and name in action.choices:
                return action.choices[name]
        return None

    def _refuse(self, sentence, found="", wrong="", known=(), wanted=""):
        lines = ["%s: %s" % (self.prog.replace("python -m ", ""), sentence)]
        if found:
            lines.append("  found   " + found)
        lines.append(wanted or "  usage   " + " ".join(self.format_usage().split()[1:]))
        near = difflib.get_close_matches(wrong, known, 1)
        lines.append("Fix: %s %s" % (self.prog, near[0] if near else "--help"))
        sys.stderr.write("\n".join(lines) + "\n")
        sys.exit(2)
