# SPDX-License-Identifier: Apache-2.0
"""The manual (docs/): its console blocks run, page by page, and print what the page shows.

A page is a script: a code block with a caption is a file of that name, a console block's commands run in one shell, in the
order of the page. Lines below a command are its output; `...` stands for any text.
"""

import os
import re
import shutil
import subprocess
import sys
import textwrap

import pytest
from conftest import REPOSITORY, run_python
from jit_store import make_store
from page_script import console, steps

sys.path.insert(0, str(REPOSITORY / "docs" / "manual"))

import errors  # noqa: E402
import options  # noqa: E402
from collect import name_pages  # noqa: E402

from cudaops import module_help  # noqa: E402


needs_builds = pytest.mark.skipif(
    shutil.which("cmake") is None or shutil.which("ninja") is None or not os.environ.get("CUDACXX"),
    reason="no cmake, no ninja or no nvcc",
)


def normal(text):
    """Versions and paths are those of the machine."""
    text = re.sub(r"\b(torch|CUDA|CudaOps|toolkit|Python) \d[\w.+]*", r"\1 <version>", text)
    return re.sub(r"(?<![\w.])/[\w./+-]+", "<path>", text)


def shows(expected, output):
    """Whether the output is what the page shows; a line `...` stands for any lines, or none."""
    pattern = ""
    for line in expected:
        words = [re.escape(word) for word in normal(line).split("...")]
        pattern += r"(?:.*\n)*?" if line == "..." else ".*".join(words) + r"\n"
    return re.fullmatch(pattern, normal(output.rstrip("\n") + "\n" if output else "")) is not None


def play(page, directory, **variables):
    """Runs a page in a directory."""
    marker = "cudaops-manual-step"
    script, wanted = ["set -e"], []
    for kind, what, content in steps(page.read_text()):
        if kind == "file":
            path = directory / what
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        else:
            script += ["echo %s" % marker, what]
            wanted.append((what, content))
    assert wanted, "%s has no command" % page.name
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PATH"] = os.path.dirname(sys.executable) + os.pathsep + environment["PATH"]
    environment.update({"CCACHE_BASEDIR": str(directory), **variables})
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)], cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    outputs = done.stdout.split(marker + "\n")[1:]
    assert done.returncode == 0, "%s: a command fails:\n%s\n%s" % (page.name, wanted[len(outputs) - 1][0], outputs[-1])
    for (command, expected), output in zip(wanted, outputs, strict=True):
        assert shows(expected, output), "%s: %s\nprints\n%s" % (page.name, command, output)


PLAYED = ["tutorial/first_op", "tutorial/from_setup_py", "tutorial/from_load_inline", "tutorial/shared_cache", "tutorial/wheel"]
# By tests/planted_faults.py.
PLAYED_ON_A_GPU = ["tutorial/faults"]


@needs_builds
@pytest.mark.parametrize("name", PLAYED)
def test_page_does_what_it_shows(name, tmp_path):
    if name == "tutorial/shared_cache" and shutil.which("ccache") is None:
        pytest.skip("no ccache")
    if name == "tutorial/wheel" and not os.path.exists(os.environ.get("CUDAOPS_TEST_TOOLS", "") + "/pip_package/.complete"):
        pytest.skip("no pip, no scikit-build-core")
    # What is built at first use goes to a store of the page's own; facts about the machine are taken from the user's.
    store = make_store(tmp_path / "store")
    (tmp_path / "page").mkdir()
    variables = {"CUDAOPS_STORE": str(store)}
    if name == "tutorial/wheel":
        # An installed cudaops tells scikit-build-core where it is (Examples.05_pip_package installs it); this one isn't.
        variables["CudaOps_ROOT"] = str(REPOSITORY / "cmake")
    # pip and scikit-build-core, of tests/tools.cmake.
    path = os.pathsep.join([str(REPOSITORY / "python"), os.environ.get("CUDAOPS_TEST_TOOLS", "") + "/pip_package"])
    play(REPOSITORY / "docs" / (name + ".md"), tmp_path / "page", PYTHONPATH=path, **variables)


def blocks(text, fence, comment):
    """[(the comment above a console block, or None; its commands)]"""
    pattern = r"(?:^%s\n+)?%s" % (comment, fence)
    return [(match.group("by"), console(textwrap.dedent(match.group("text")).strip("\n"))) for match in re.finditer(pattern, text, re.M | re.S)]


def test_each_console_block_of_the_manual_is_run_by_a_test():
    """Of a page that isn't played, the line above a block says what runs it: a file of the tests, and words in it."""
    pages = [path for path in (REPOSITORY / "docs").rglob("*.md") if str(path.relative_to(REPOSITORY / "docs"))[:-3] not in PLAYED + PLAYED_ON_A_GPU]
    found = []
    for path in [*pages, REPOSITORY / "README.md"]:
        found += [(path.name, *block) for block in blocks(path.read_text(), r"^```console\n(?P<text>.*?)^```$", r"<!-- run by (?P<by>.*?) -->")]
    for module in module_help.modules():
        fence = r"^\.\. code-block:: console\n\n(?P<text>(?:\n|  [^\n]*\n)+)"
        found += [(module.name, *block) for block in blocks(module.text, fence, r"\.\. run by (?P<by>[^\n]*)")]
    assert len(found) > 10
    for name, by, commands in found:
        assert by, "%s: say what runs it: <!-- run by <file of the tests>: <words in it> -->, above\n%s" % (name, commands[0][1])
        path, _, words = by.partition(": ")
        assert words and words in (REPOSITORY / path).read_text(), "%s: %s" % (name, by)


def test_each_option_is_documented_and_a_new_one_without_its_page_stops_the_manual(monkeypatch):
    pages, known = name_pages(str(REPOSITORY))
    read = options.read_options(str(REPOSITORY))
    # One of each place that options are read in.
    assert {"CUDAOPS_CACHE", "CUDAOPS_SKIP_HIPIFY", "CUDAOPS_JIT_PATH", "CUDAOPS_CHECK", "CUDAOPS_REQUIRE_GPU"} <= set(read)
    assert "| {cmake:variable}`CUDAOPS_CACHE` | `AUTO` (default)" in options.table(pages, known)
    monkeypatch.setattr(options, "read_options", lambda repository: {**read, "CUDAOPS_NEW": "cmake/New.cmake"})
    with pytest.raises(SystemExit, match="documented nowhere.\n  found   CUDAOPS_NEW, which cmake/New.cmake reads\nFix: "):
        options.table(pages, known)


def test_each_option_that_cmake_reads_is_among_those_that_misspelt_names_are_compared_with():
    text = (REPOSITORY / "cmake" / "detail" / "base" / "options.cmake").read_text()
    known = {name for names in options.KNOWN.findall(text) for name in names.split(";")}
    read = {name for path in (REPOSITORY / "cmake").rglob("*.cmake") for name in re.findall(r"_cudaops_option\((CUDAOPS_\w+)", path.read_text())}
    assert len(read) > 10 and read <= known


def test_each_option_has_a_line_in_how_to():
    page = (REPOSITORY / "docs" / "howto.md").read_text()
    assert set(re.findall(r"CUDAOPS_[A-Z_]+", page)) - {"CUDAOPS_RANGE"} == set(options.read_options(str(REPOSITORY)))


def test_nothing_that_is_documented_as_an_option_is_read_nowhere():
    pages, known = name_pages(str(REPOSITORY))
    assert set(options.documented_options(pages, known)) <= set(options.read_options(str(REPOSITORY)))


def test_help_prints_what_the_headers_say():
    code, out, err = run_python("-m", "cudaops", "help")
    assert (code, err) == (0, "")
    for module in module_help.modules():
        assert module.name in out and all("    %s()\n" % command in out for command in module.commands)
    code, out, err = run_python("-m", "cudaops", "help", "ADD_TORCH_OP()")
    assert (code, err) == (0, "") and out.startswith("AddTorchOp\n----------\n")
    assert "\n  SOURCES\n    Always built" in out and "``" not in out and ":command:`" not in out
    code, out, err = run_python("-m", "cudaops", "help", "cudaops_target_torch")
    assert out.startswith("cudaops_target_torch\n----") and "cudaops_target_defaults(" not in out
    # Two modules document it: the longer text.
    assert "CUDAOPS_STORE\n-----" in run_python("-m", "cudaops", "help", "CUDAOPS_STORE")[1]
    assert run_python("-m", "cudaops", "help", "port") == run_python("-m", "cudaops", "port", "--help")
    for name in ("cudaops.load_inline", "load_inline()", "PolicyError"):
        code, out, err = run_python("-m", "cudaops", "help", name)
        assert (code, err) == (0, "") and out.startswith("cudaops." + name.removeprefix("cudaops.").removesuffix("()") + "\n---"), name
    code, out, err = run_python("-m", "cudaops", "help", "CUDAOPS_JIT_PATH")
    assert (code, out) == (2, "") and err.endswith("  found   CUDAOPS_JIT_PATH\n Fix: python -m cudaops help load   (names it)\n")
    assert run_python("-m", "cudaops", "help", "PYTHON_TARGET")[2].endswith(" Fix: python -m cudaops help add_torch_op   (names it)\n")
    assert run_python("-m", "cudaops", "help", "")[2].endswith("  found   \n Fix: python -m cudaops help   (lists all names)\n")
    code, out, err = run_python("-m", "cudaops", "help", "add_torch_ops")
    assert (code, out) == (2, "") and err.endswith("  found   add_torch_ops\n Fix: python -m cudaops help add_torch_op\n")


def test_each_public_module_has_a_header_with_a_summary():
    names = {path.stem for path in (REPOSITORY / "cmake").glob("*.cmake")} - {"CudaOpsConfig", "CudaOpsConfigVersion"}
    known = module_help.modules()
    assert {module.name for module in known} == names
    for module in known:
        assert len(module.summary) > 20, module.name
        for command in module.commands:
            assert "%s(" % command in module.commands[command], command
            # A call with arguments, beside the signature.
            assert re.search(r"^\s*%s\(\w" % command, module.text, re.MULTILINE), "%s has no example" % command


def test_errors_are_those_of_the_code_and_of_the_tests():
    page = errors.page(str(REPOSITORY))
    # A call's own words, with what is filled in; a sentence that is made elsewhere, by the text that a test expects.
    assert "add_torch_op(<name>): SOURCES and CUDA_SOURCES are both missing.\n     wanted  at least one file\n    Fix: add_torch_op(<name>" in page
    assert "find_package(CudaTorchMatch): toolkit and torch must be of one CUDA major version.\n     toolkit  CUDA 13.0.88" in page
    titles = page.splitlines()
    assert len([title for title in titles if title.startswith("add\\_torch\\_op(")]) > 5
    assert "$" + "{" not in page.replace("${archs}", "")
    without = [text for text in map(errors.block, errors.messages(str(REPOSITORY))) if not any(line.startswith(" Fix: ") for line in text)]
    assert not without, "no FIX: %s" % without[0]


def test_messages_of_a_new_call_are_on_the_page(tmp_path):
    (tmp_path / "cmake").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "cmake" / "New.cmake").write_text(
        'function(new_command name)\n  set(command "new_command(${name})")\n'
        '  _cudaops_stop(\n    "${command}: the rule \\"${name}\\"."\n    FACTS "found   ${found}"\n    FIX "this"\n  )\nendfunction()\n'
    )
    (message,) = errors.messages(str(tmp_path))
    assert errors.block(message) == ['new_command(<name>): the rule "<name>".', "  found   <found>", " Fix: this"]
    (tmp_path / "tests" / "case-stderr.txt").write_text(
        'CMake Error at <repo>/cmake/detail/base/message\\.cmake:[0-9]+ \\(message\\):\n'
        'new_command\\(x\\): the rule "x"\\.\n  found +<case>/y\nFix: this\n'
    )
    (message,) = errors.messages(str(tmp_path))
    assert errors.block(message)[0] == 'new_command(x): the rule "x".' and errors.block(message)[-1] == " Fix: this"


def test_output_is_compared_but_for_versions_and_paths():
    assert shows(["a ... c", "...", "torch 2.15.0+cu132 at /home/me/x"], "a b c\nanything\n\ntorch 2.10.0 at /opt/y\n")
    assert shows(["...", "end"], "end\n") and shows([], "")
    assert not shows(["a"], "a\nb\n") and not shows(["tensor([1.])"], "tensor([2.])\n") and not shows(["a", "..."], "b\n")
    assert console("$ echo \"it's\"  # isn't it\nit's\n") == [("run", "echo \"it's\"  # isn't it", ["it's"])]
    with pytest.raises(AssertionError, match="a command without an end: echo it's"):
        console("$ echo it's\nout\n")
    assert console("$ cat <<'END'\ntext\nEND\nout\n$ next \\\n  more\n") == [
        ("run", "cat <<'END'\ntext\nEND", ["out"]),
        ("run", "next \\\n  more", []),
    ]
