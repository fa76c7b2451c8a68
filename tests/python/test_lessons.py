# SPDX-License-Identifier: Apache-2.0
"""examples/lessons: each is short, is named where it has to be, and shows what was measured; the programs that measure and
draw."""

import json
import os
import subprocess
import sys

import pytest
from conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "bench" / "lessons"))

import draw  # noqa: E402
import measure  # noqa: E402

LESSONS = sorted((REPOSITORY / "examples" / "lessons").glob("[0-9]*"))
RESULTS = sorted((REPOSITORY / "bench" / "results" / "lessons").glob("*.json"))
SCREEN = 120  # lines


def test_each_is_short_and_named():
    names = [lesson.name for lesson in LESSONS]
    assert [name[:2] for name in names] == ["%02d" % number for number in range(1, 11)]
    page = (REPOSITORY / "examples" / "lessons" / "README.md").read_text()
    project = (REPOSITORY / "examples" / "lessons" / "CMakeLists.txt").read_text()
    examples = REPOSITORY / "examples"
    for name in ("CMakePresets.json", ".clangd"):
        assert (examples / "lessons" / name).read_text() == (examples / "04_validate_your_kernel" / name).read_text()
    for lesson in LESSONS:
        assert "](%s)" % lesson.name in page and lesson.name in project
        assert (lesson / "CMakeLists.txt").exists() and callable(getattr(draw, lesson.name[3:]))
        assert (lesson / "README.md").read_text().startswith("# %s: " % lesson.name[:2])
        code = [path for path in lesson.iterdir() if path.suffix in (".cu", ".cpp", ".py")]
        assert code
        for path in code:
            text = path.read_text()
            assert len(text.splitlines()) <= SCREEN, path
            assert "../" not in text, "%s reaches out of its folder" % path


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_readme_shows_what_was_measured(lesson):
    results = REPOSITORY / "bench" / "results" / "lessons" / (lesson.name + ".json")
    text = (lesson / "README.md").read_text()
    assert all(text.count(mark) == 1 for mark in draw.MARKS)
    shown = text.split(draw.MARKS[0])[1].split(draw.MARKS[1])[0].strip()
    if results.exists():
        assert shown == draw.block(json.loads(results.read_text())) and (lesson / "measured.svg").exists()
    else:
        assert shown == "" and not (lesson / "measured.svg").exists()


def test_tables_are_read():
    text = "copy   GB/s\npinned  50.5\n\nstreams ms\n1 2.5\n\nop launch: an error\n"
    assert measure.tables_of(text) == [
        {"columns": ["copy", "GB/s"], "rows": [["pinned", 50.5]]},
        {"columns": ["streams", "ms"], "rows": [[1, 2.5]]},
    ]


def test_benchmarks_are_read():
    name = "sum<%d>/iterations:1/manual_time"
    cases = [{"name": name % step, "real_time": 12.345, "TB/s": 1.5, "iterations": 1} for step in (1, 2)]
    cases[0]["of_copy"] = 0.5  # not in all of them
    assert measure.table_of_benchmark({"benchmarks": cases}) == {
        "columns": ["case", "us", "TB/s"],
        "rows": [["sum<1>", 12.35, 1.5], ["sum<2>", 12.35, 1.5]],
    }


def test_a_skipped_lesson_is_not_measured(tmp_path):
    """One test of each kind: a figure, a skip, a failure, a program that isn't there."""
    scripts = {"07_works": "print('a b'); print('1 2.5')", "08_skips": "raise SystemExit(77)", "09_fails": "1 / 0"}
    build = tmp_path / "build"
    lines = []
    for lesson, script in scripts.items():
        (build / lesson).mkdir(parents=True)
        (build / lesson / "CTestTestfile.cmake").write_text(
            'add_test(%s "%s" "-c" [==[%s]==])\nset_tests_properties(%s PROPERTIES WORKING_DIRECTORY "%s")\n'
            % (lesson, sys.executable, script, lesson, build / lesson)
        )
        lines.append("subdirs(%s)" % lesson)
    lesson = build / "06_not_built"
    lesson.mkdir()
    (lesson / "CTestTestfile.cmake").write_text(
        'add_test(06_not_built "%s")\nset_tests_properties(06_not_built PROPERTIES WORKING_DIRECTORY "%s")\n'
        % (lesson / "program", lesson)
    )
    lines.append("subdirs(06_not_built)")
    (build / "CTestTestfile.cmake").write_text("\n".join(lines))
    program = REPOSITORY / "bench" / "lessons" / "measure.py"
    command = [sys.executable, program, build, "--out", tmp_path / "out", "--commit", "0123"]
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert ran.returncode == 1 and "measured 1 lessons; failed: 08_skips, 09_fails, 06_not_built" in ran.stdout
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["07_works.json"]
    document = json.loads((tmp_path / "out" / "07_works.json").read_text())
    assert document["tables"] == [{"columns": ["a", "b"], "rows": [[1, 2.5]]}] and document["date"]
    assert document["commit"] == "0123"


def test_the_commit_that_is_measured(tmp_path, monkeypatch):
    git = ["git", "-C", tmp_path, "-c", "user.name=a", "-c", "user.email=a@b"]
    monkeypatch.setattr(measure.result_file, "SOURCE", str(tmp_path))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(SystemExit, match=r"isn't known\.\n  found   fatal: not a git repository.*\nFix: --commit="):
        measure.result_file.commit()
    (tmp_path / "bench" / "results").mkdir(parents=True)
    for name in ("kernel.cu", "bench/results/lesson.json"):
        (tmp_path / name).write_text("1")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], check=True)
    (tmp_path / "bench/results/lesson.json").write_text("2")
    commit = measure.result_file.commit()
    assert len(commit) == 40 and commit == subprocess.check_output([*git, "rev-parse", "HEAD"], text=True).strip()
    (tmp_path / "kernel.cu").write_text("2")
    assert measure.result_file.commit() == commit + "-dirty"


def test_pictures(tmp_path):
    python = os.environ.get("CUDAOPS_TEST_PLOT_PYTHON", sys.executable)
    environment = {**os.environ, "PYTHONPATH": os.environ.get("CUDAOPS_TEST_PLOT_PATH", "")}
    if subprocess.run([python, "-c", "import matplotlib"], env=environment).returncode != 0:
        pytest.skip("no matplotlib")
    script = (
        "import json, pathlib, sys; sys.path.insert(0, sys.argv[1]); import draw\n"
        "for path in map(pathlib.Path, sys.argv[3:]):\n"
        "    tables = json.loads(path.read_text())['tables']\n"
        "    draw.draw(path.stem[3:], tables, '%s/%s.svg' % (sys.argv[2], path.stem))\n"
    )
    command = [python, "-c", script, REPOSITORY / "bench" / "lessons", tmp_path, *RESULTS]
    assert subprocess.run(command, env=environment).returncode == 0
    for path in RESULTS:
        assert "<svg" in (tmp_path / (path.stem + ".svg")).read_text()
