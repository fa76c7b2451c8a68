# SPDX-License-Identifier: Apache-2.0
"""cudaops.load_library with the real torch of this Python: what it saves the user from, and what it lets through."""

import pickle
import runpy
import shutil

import pytest
from conftest import REPOSITORY, run_python
from torch_process import run_with_torch

from cudaops import LibraryError

OP = """
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>
using torch::stable::Tensor;
Tensor same(const Tensor& t) { return t; }
STABLE_TORCH_LIBRARY_FRAGMENT(cudaops_test, m) { m.def("same(Tensor t) -> Tensor"); }
STABLE_TORCH_LIBRARY_IMPL(cudaops_test, CompositeExplicitAutograd, m) { m.impl("same", TORCH_BOX(&same)); }
"""

USE = "print(torch.ops.cudaops_test.same(torch.ones(2)).tolist())"


def load(*lines, run=run_with_torch):
    """(exit code, stdout, stderr) of a program that knows cudaops and the paths it was given."""
    return run("import sys, cudaops\nfrom cudaops import load_library, LibraryError\n" + "\n".join(lines))


def load_first(*lines):
    """load(), where torch isn't imported before."""
    return load(*lines, run=lambda code: run_python("-c", code))


@pytest.fixture(scope="module")
def op(build, torch_dir):
    if not (torch_dir / "include" / "torch" / "csrc" / "stable" / "library.h").exists():
        pytest.skip("this torch has no stable ABI headers")
    lib = torch_dir / "lib"
    options = ["-DTORCH_TARGET_VERSION=0x020a000000000000", "-I%s" % (torch_dir / "include"), "-L%s" % lib]
    note = build.note_source(project="load", op="my_ops")
    return build.library("my_ops", OP, note, [*options, "-ltorch_cpu", "-lc10", "-Wl,--no-undefined"])


@pytest.fixture(scope="module")
def copy(op):
    path = op.parent / "elsewhere" / op.name
    path.parent.mkdir()
    shutil.copy(op, path)
    return path


def test_loads_and_twice_is_harmless(op):
    link = op.with_name("link.so")
    link.unlink(missing_ok=True)
    link.symlink_to(op)
    calls = ["load_library(%r)" % str(path) for path in (op, op, link, op.relative_to(op.parent))]
    code, output, error = load(
        "import os",
        "os.chdir(%r)" % str(op.parent),
        *calls,
        "import torch",
        USE,
        "from cudaops._library import this_torch",
        "facts = this_torch()",
        "print(facts['version'] == torch.__version__, facts['cuda'] == torch.version.cuda, facts['hip'])",
    )
    assert (code, output, error) == (0, "[1.0, 1.0]\nTrue True None\n", "")


@pytest.mark.parametrize("first", ["load_library", "torch.ops.load_library"])
def test_second_copy_is_refused(op, copy, first):
    code, output, error = load(
        "import torch",
        "%s(%r)" % (first, str(op)),
        "try: load_library(%r)" % str(copy),
        "except LibraryError as error: print(error)",
        USE,
    )
    assert (code, error) == (0, "")
    sentence = "%s can't be loaded: op my_ops of project load is loaded already, from %s.\n" % (copy, op)
    assert output == sentence + "Fix: load one of the two\n[1.0, 1.0]\n"


def test_second_copy_past_us_says_why_before_the_crash(op, copy):
    """torch.ops.load_library called directly: the library's own sentence is the first on stderr."""
    code, output, error = load(
        "import torch",
        "torch.ops.load_library(%r)" % str(op),
        "torch.ops.load_library(%r)" % str(copy),
        "print('survived')",
    )
    assert error.startswith(
        "CudaOps: op my_ops is loaded already from %s, and its second copy %s registers the same operators again, "
        "which replaces them or ends the process: load only one of the two.\n" % (op, copy)
    )
    # Built with torch 2.10's headers it survives (with the second copy's kernels), with later ones it does not.
    assert (code == 0) == (output == "survived\n")


def test_rebuilt_file_is_named(op):
    """A link step makes a new file under the old name: the process has the old one."""
    path = op.with_name("rebuilt.so")
    shutil.copy(op, path)
    code, output, error = load(
        "import os, shutil",
        "load_library(%r)" % str(path),
        "os.unlink(%r)" % str(path),
        "shutil.copy(%r, %r)" % (str(op), str(path)),
        "try: load_library(%r)" % str(path),
        "except LibraryError as error: print(error)",
    )
    assert (code, error) == (0, "")
    assert output == "%s can't be loaded: the file was built anew since this process loaded it.\nFix: a new process\n" % path


def test_built_for_a_newer_torch(build, op):
    """One line, before "undefined symbol". (flash-attention#1832)"""
    path = build.library("newer", note=build.note_source(torch_target="99.1"))
    code, output, error = load_first(
        "try: load_library(%r)" % str(path),
        "except LibraryError as error: print(error)",
        "print('torch' in sys.modules)",
    )
    assert (code, error) == (0, "")
    first, second, third = output.splitlines()
    assert first.startswith("%s can't be loaded: it needs torch 99.1 or later, and this is torch 2." % path)
    assert second.startswith("Fix: pip install 'torch>=99.1', or build it with this torch, -DPython_EXECUTABLE=/")
    assert third == "False"


def test_built_for_the_other_kind_of_gpu(build, torch_dir):
    """One line, before torch is imported and the loader looks for libamdhip64.so."""
    for backend, rocm in (("HIP", "6.4.1"), ("CUDA", "")):
        runtime = build.library("no_such_runtime", options=["-Wl,-soname,libno_such_runtime.so"])
        note = build.note_source(op="of_" + backend, backend=backend, rocm=rocm)
        path = build.library("for_" + backend, note=note, options=["-Wl,--no-as-needed", runtime])
        code, output, error = load_first(
            "from cudaops._library import this_torch",
            "print('HIP' if this_torch()['hip'] else 'CUDA' if this_torch()['cuda'] else 'CPU')",
            "print(this_torch()['cuda'])",
            "try: load_library(%r)" % str(path),
            "except LibraryError as error: print(error)",
            "print('torch' in sys.modules)",
        )
        assert (code, error) == (0, "")
        kind, cuda, sentence, fix, imported = output.splitlines()
        assert fix.startswith("Fix: ")
        if kind not in ("CPU", backend):
            start = "%s can't be loaded: it was built for %s, and this is torch 2." % (path, backend)
            assert sentence.startswith(start)
            assert sentence.endswith(", for CUDA %s." % cuda if kind == "CUDA" else ".") and imported == "False"
        else:
            assert "libno_such_runtime.so" in sentence and imported == "True"


def test_newer_symbol_without_note(build, torch_dir):
    source = 'extern "C" void aoti_torch_of_tomorrow(); void f() { aoti_torch_of_tomorrow(); }'
    links = ["-Wl,--no-as-needed", "-L%s" % (torch_dir / "lib"), "-ltorch_cpu", "-Wl,--unresolved-symbols=ignore-all"]
    path = build.library("tomorrow", source, options=links)
    code, output, error = load("try: load_library(%r)" % str(path), "except LibraryError as error: print(error)")
    assert (code, error) == (0, "")
    assert output.startswith("%s can't be loaded: it needs aoti_torch_of_tomorrow, and this is torch " % path)
    assert ", which has no such symbol: it was built for another torch.\nFix: build it with this torch, -D" in output


def test_loader_error_is_told(build, torch_dir):
    """What no check can foresee is told in the loader's words, which torch hides."""
    source = "void nobody_has_this(); struct Now { Now() { nobody_has_this(); } } now;"
    path = build.library("undefined", source, options=["-Wl,-z,now", "-Wl,--unresolved-symbols=ignore-all"])
    code, output, error = load("try: load_library(%r)" % str(path), "except LibraryError as error: print(error)")
    assert (code, error) == (0, "")
    assert output.startswith("%s can't be loaded: " % path) and "undefined symbol: " in output
    assert output.endswith("\nFix: ldd -r '%s' lists what it links and what is not found\n" % path)


def test_error_goes_from_process_to_process():
    error = pickle.loads(pickle.dumps(LibraryError("a is not b.", "c")))
    assert (error.sentence, error.fix, str(error)) == ("a is not b.", "c", "a is not b.\nFix: c")


def test_unreadable(tmp_path):
    path = tmp_path / "text.so"
    path.write_text("text")
    sentence = "%s is not an ELF file.\n" % path
    code, output, error = load("try: load_library(%r)" % str(path), "except LibraryError as error: print(error)")
    assert (code, output, error) == (0, sentence + "Fix: the path of a .so file; one that is damaged has to be built or copied again\n", "")


def test_no_lock_is_held(build):
    """The walk over the loaded libraries takes no lock that an import in another thread could hold."""
    path = build.library("threads", note=build.note_source())
    code, output, error = load(
        "import ctypes, threading",
        "from cudaops import _library",
        "ctypes.CDLL(%r)" % str(path),
        "def walk():",
        "    for _ in range(300): _library._loaded_notes()",
        "def imports():",
        "    for _ in range(300): ctypes.CDLL('libm.so.6')",
        "threads = [threading.Thread(target=f) for f in (walk, imports, walk, imports)]",
        "for t in threads: t.start()",
        "for t in threads: t.join()",
        "print([name for name, _, _ in _library._loaded_notes()])",
    )
    assert (code, output, error) == (0, "[%r]\n" % str(path), "")


def test_the_demo_uses_a_gpu_that_the_library_has_code_for():
    has_code_for = runpy.run_path(str(REPOSITORY / "kernels" / "demo.py"))["has_code_for"]
    assert has_code_for(["sm_89"], 8, 9) and has_code_for(["sm_80"], 8, 6) and has_code_for(["compute_80"], 12, 0)
    # On these the launch would fail.
    assert not has_code_for(["sm_89"], 9, 0) and not has_code_for(["sm_89"], 8, 6) and not has_code_for(["compute_90"], 8, 9)
    assert not has_code_for([], 9, 0)
