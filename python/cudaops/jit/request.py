# SPDX-License-Identifier: Apache-2.0
"""One call of load() or load_inline(), checked."""

import os

HEADERS = ("auto", "full", "slim")


class Request:
    """What is to be built.

    kind: "module" (imported), "library" (loaded), "executable" (its path is returned).
    paths: real paths of the sources; texts: load_inline's cpp and cuda texts instead, each a list.
    """

    def __init__(self, name, kind, headers="auto", with_cuda=None, functions=None, inline=None):
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(
                "cudaops: the name of what is built has to be an identifier.\n  found   %r\n"
                "Fix: letters, digits and _; sources with PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) follow it" % (name,)
            )
        if headers == "fast":
            raise ValueError('headers="fast": there are no fast headers yet.\nFix: headers="auto"')
        if headers not in HEADERS:
            raise ValueError("headers: unknown value %r.\n  wanted  %s" % (headers, " ".join(HEADERS)))
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
        self.cflags = _strings("extra_cflags", cflags)
        self.cuda_cflags = _strings("extra_cuda_cflags", cuda_cflags)
        self.ldflags = _strings("extra_ldflags", ldflags)
        self.include_paths = [os.path.abspath(path) for path in _strings("extra_include_paths", include_paths)]

    def set_paths(self, sources):
        if isinstance(sources, (str, os.PathLike)):
            sources = [sources]
        paths = [os.fspath(source) for source in sources]
        if not paths:
            raise ValueError("cudaops: %s has no sources." % self.name)
        for path in paths:
            if os.path.splitext(path)[1] == ".sycl":
                refuse_sycl(path)
            if os.path.isdir(path):
                raise IsADirectoryError("cudaops: a source of %s is a directory.\n  found   %s" % (self.name, path))
            if not os.access(path, os.R_OK):
                if os.path.exists(path):
                    raise PermissionError("cudaops: a source of %s can't be read.\n  found   %s" % (self.name, path))
                raise FileNotFoundError(
                    "cudaops: a source of %s doesn't exist.\n  found   %s\n  looked  in %s" % (self.name, path, os.getcwd())
                )
            if "\n" in path:
                raise ValueError("cudaops: a source of %s has a line break in its name." % self.name)
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
        lines += ["source=" + path for path in self.paths]
        if self.cpp_texts is not None:
            lines.append("cpp_sources=" + digest("\0".join(self.cpp_texts)))
            lines.append("cuda_sources=" + digest("\0".join(self.cuda_texts)))
            lines.append("functions=%s" % (self.functions and sorted(self.functions.items())))
            lines.append("inline=%s" % (self.inline,))
        for label in ("cflags", "cuda_cflags", "ldflags", "include_paths"):
            lines += ["%s=%s" % (label, value) for value in getattr(self, label)]
        # Relative paths among the options follow the directory.
        if any("./" in flag or (flag[:1] != "-" and "/" in flag) or flag[:2] in ("-I", "-L", "-i", "@") for flag in self.flags()):
            lines.append("directory=" + os.getcwd())
        return [line.replace("\n", "\\n") for line in lines]

    def project(self, directory, headers):
        from .project import Project

        return Project(self, directory, headers)

    def flags(self):
        return [*self.cflags, *self.cuda_cflags, *self.ldflags]


def refuse_sycl(what):
    raise ValueError("cudaops: SYCL isn't built here.\n  found   %s\nFix: torch.utils.cpp_extension.load()" % what)


def _strings(name, value):
    if value is None:
        return []
    if isinstance(value, (str, bytes)):
        raise TypeError('%s is a list.\n  found   %r\nFix: %s=["%s"]' % (name, value, name, value))
    found = [os.fspath(item) for item in value]
    for item in found:
        if not isinstance(item, str):
            raise TypeError("%s is a list of strings.\n  found   %r" % (name, item))
    return [item.strip() for item in found]
