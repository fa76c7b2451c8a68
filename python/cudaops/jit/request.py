# SPDX-License-Identifier: Apache-2.0
"""One call of load() or load_inline(), checked."""

import os

HEADERS = ("auto", "full", "slim", "fast")


class Request:
    """What is to be built.

    kind: "module" (imported), "library" (loaded), "executable" (its path is returned).
    paths: real paths of the sources; texts: load_inline's cpp and cuda texts instead, each a list.
    """

    def __init__(self, name, kind, headers="auto", with_cuda=None, functions=None, inline=None):
        if not isinstance(name, str) or not (name.isascii() and name.isidentifier()) or _is_keyword(name) or len(name) > 100:
            raise ValueError(
                "cudaops: the name of what is built has to be an identifier.\n  found   %r\n"
                "Fix: up to 100 letters, digits and _, and no keyword of Python; sources with\n"
                "     PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) follow it" % (name,)
            )
        if headers not in HEADERS:
            raise ValueError("headers: unknown value %r.\n  wanted  %s\nFix: headers=\"auto\"" % (headers, " ".join(HEADERS)))
        self.name = name
        self.kind = kind
        self.headers = headers
        self.with_cuda = with_cuda
        self.functions = functions
        self.inline = inline or ()  # (error handling, implicit headers, gil_not_used)
        self.paths = []
        self.cpp_texts = None
        self.cuda_texts = None
        self.cflags = self.cuda_cflags = self.ldflags = self.include_paths = ()

    def set_flags(self, cflags, cuda_cflags, ldflags, include_paths):
        self.cflags = _flags("extra_cflags", cflags)
        self.cuda_cflags = _flags("extra_cuda_cflags", cuda_cflags)
        self.ldflags = _flags("extra_ldflags", ldflags)
        paths = _strings("extra_include_paths", include_paths)
        self.include_paths = [os.path.normpath(path if os.path.isabs(path) else os.path.join(_here(), path)) for path in paths]

    def set_paths(self, sources):
        if isinstance(sources, (str, os.PathLike)):
            sources = [sources]
        try:
            paths = [os.fspath(source) for source in sources]
        except TypeError:
            paths = [sources]
        if not paths:
            raise ValueError("cudaops: %s has no sources.\nFix: sources=[\"my.cpp\", \"my.cu\"]" % self.name)
        if not all(isinstance(path, str) for path in paths):
            raise TypeError('sources is a path or a list of paths.\n  found   %r\nFix: sources=["my.cpp", "my.cu"]' % (sources,))
        for path in paths:
            if os.path.splitext(path)[1] == ".sycl":
                refuse_sycl(path)
            if "\n" in path or "\0" in path:
                raise ValueError("cudaops: a source of %s has a line break or a zero byte in its name.\n  found   %r\nFix: another name" % (self.name, path))
            if os.path.isdir(path):
                raise IsADirectoryError("cudaops: a source of %s is a directory.\n  found   %s\nFix: the files in it, one by one" % (self.name, path))
            if not os.access(path, os.R_OK):
                if os.path.exists(path):
                    raise PermissionError("cudaops: a source of %s can't be read.\n  found   %s\nFix: chmod +r '%s'" % (self.name, path, path))
                fix = "\nFix: os.path.expanduser()" if path[:1] == "~" else "\nFix: glob.glob()" if "*" in path else "\nFix: a path from there, or an absolute one"
                raise FileNotFoundError(
                    "cudaops: a source of %s doesn't exist.\n  found   %s\n  looked  in %s%s"
                    % (self.name, path or "''", _here(), fix)
                )
        self.paths = [os.path.realpath(path) for path in paths]

    def is_cuda(self):
        if self.with_cuda is not None:
            return bool(self.with_cuda)
        if self.cpp_texts is not None:
            return bool(self.cuda_texts)
        return any(os.path.splitext(path)[1] in (".cu", ".cuh", ".hip") for path in self.paths)

    def lines(self):
        """For the key: one input a line."""
        from .key import digest

        lines = ["name=" + self.name, "kind=" + self.kind, "headers=" + self.headers, "with_cuda=%s" % self.with_cuda]
        if self.headers == "fast":
            # What isn't read as a header: a module with fast headers is for one torch.
            from .fast import version

            lines.append("torch_version=%s" % version())
        lines += ["source=" + path for path in self.paths]
        if self.cpp_texts is not None:
            lines.append("cpp_sources=" + digest("\0".join(self.cpp_texts)))
            lines.append("cuda_sources=" + digest("\0".join(self.cuda_texts)))
            lines.append("functions=%s" % (self.functions and sorted(self.functions.items())))
            lines.append("inline=%s" % (self.inline,))
        for label in ("cflags", "cuda_cflags", "ldflags", "include_paths"):
            lines += ["%s=%s" % (label, value) for value in getattr(self, label)]
        # Relative paths among the options follow the directory.
        named = any("./" in flag or (flag[:1] != "-" and "/" in flag) or flag[:2] in ("-I", "-L", "-i", "@") for flag in self.flags())
        if named or any(word[:1] not in "-/" for flag in self.ldflags for word in flag.split()):
            lines.append("directory=" + _here())
        return [line.replace("\n", "\\n") for line in lines]

    def project(self, directory, headers):
        from .project import Project

        return Project(self, directory, headers)

    def flags(self):
        return [*self.cflags, *self.cuda_cflags, *self.ldflags]


def refuse_sycl(what):
    raise ValueError("cudaops: SYCL isn't built here.\n  found   %s\nFix: torch.utils.cpp_extension.load()" % what)


def _is_keyword(name):
    from keyword import iskeyword

    return iskeyword(name)


def _here():
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise FileNotFoundError(
            "cudaops: a path is relative, and the current directory doesn't exist any more.\nFix: os.chdir(), or whole paths"
        ) from None


def _strings(name, value):
    if value is None:
        return []
    if isinstance(value, (str, bytes)):
        raise TypeError('%s is a list.\n  found   %r\nFix: %s=["%s"]' % (name, value, name, value))
    try:
        found = None if isinstance(value, dict) else [os.fspath(item) for item in value]
    except TypeError:
        found = None
    if found is None or not all(isinstance(item, str) for item in found):
        raise TypeError('%s is a list of strings.\n  found   %r\nFix: %s=["..."]' % (name, value, name))
    return [item.strip() for item in found]


def _flags(name, value):
    # torch writes flags into a file of Ninja's, where $$ is a $.
    found = [flag.replace("$$", "$") for flag in _strings(name, value)]
    for flag in found:
        if "'" in flag or '"' in flag or "\\" in flag:
            import shlex

            try:
                shlex.split(flag)
            except ValueError as error:
                raise ValueError("%s: a flag is read as a shell reads it.\n  found   %s\n  says    %s\nFix: shlex.quote() of it" % (name, flag, error)) from None
    return found
