# SPDX-License-Identifier: Apache-2.0
"""The store of built ops: policy, layers, size, and what may go wrong with it."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time
import types
import warnings

import pytest
from conftest import REPOSITORY
from jit_store import jit, make_store, op, plain  # noqa: F401

import cudaops
from cudaops.jit import api, bundle, manifest, publish, store

LOAD = "m = cudaops.load('plain', %r)\nprint(json.dumps([m.answer(), m.__cudaops__['state']]))"


@pytest.fixture
def source(jit):  # noqa: F811
    return jit.write("plain.cpp", plain("plain"))


def obtain(source, name="plain"):
    """(path, state, reason); nothing is loaded, so that files may be damaged under this process."""
    request = api.Request(name, "module")
    request.set_flags(None, None, None, None)
    request.set_paths(source)
    found, state, reason, _ = api.obtain(request)
    return pathlib.Path(found.path), state, reason


def test_policy_error_raises_before_anything_starts(jit, source, monkeypatch):  # noqa: F811
    monkeypatch.setenv("CUDAOPS_JIT", "error")
    with jit.no_process(), pytest.raises(cudaops.PolicyError, match=r"CUDAOPS_JIT=error.*\n  reason  first build"):
        jit.load("plain", source)
    assert not jit.root.exists()
    with cudaops.jit_policy("on"):
        jit.load("plain", source)
    assert jit.answer("plain", source)[:2] == (42, "CACHED")
    jit.write("plain.cpp", plain("plain", 43))
    with pytest.raises(cudaops.PolicyError, match="reason  source .*plain.cpp changed"):
        jit.load("plain", source)


def test_policies_of_block_and_call(jit, source):  # noqa: F811
    with cudaops.jit_policy("off"), pytest.raises(cudaops.PolicyError, match=r"jit_policy\('off'\)"):
        jit.load("plain", source)
    with cudaops.jit_policy("off"), pytest.warns(cudaops.CompileWarning, match="plain is compiled now: first build"):
        jit.load("plain", source, policy="warn")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jit.load("plain", source, policy="warn")
    with pytest.raises(ValueError, match="on warn error off"):
        jit.load("plain", source, policy="never")
    with pytest.raises(ValueError, match="on warn error off"):
        cudaops.jit_policy("never")


def test_layer_is_read_and_never_written(jit, source, monkeypatch, tmp_path):  # noqa: F811
    path = obtain(source)[0]
    layer = tmp_path / "layer"
    os.rename(jit.store, layer)
    jit.store = make_store(jit.store)
    before = {place: place.stat().st_mtime_ns for place in (layer / "jit").rglob("*")}
    monkeypatch.setenv("CUDAOPS_JIT_PATH", "/nowhere:%s" % layer)
    with jit.no_process():
        found = obtain(source)[0]
    assert found == layer / "jit" / path.relative_to(jit.root)
    assert not jit.root.exists()
    assert before == {place: place.stat().st_mtime_ns for place in (layer / "jit").rglob("*")}
    os.chmod(layer / "jit" / "o", 0o777)
    with pytest.raises(cudaops.PolicyError, match="first build; a place of CUDAOPS_JIT_PATH isn't used: /nowhere isn't there; others can write"):
        jit.load("plain", source, policy="error")
    jit.load("plain", source)
    assert jit.objects()


def test_store_keeps_what_was_used_last(jit, monkeypatch):  # noqa: F811
    paths = [jit.write("%d.cpp" % number, plain("plain", number)) for number in range(3)]
    modules = [jit.load("plain", path) for path in paths[:2]]
    size = publish.tree_size(os.path.dirname(modules[0].__cudaops__["path"]))
    for module, age in zip(modules, (300, 200)):
        then = time.time() - age
        os.utime(os.path.dirname(module.__cudaops__["path"]), (then, then))
    assert jit.hit("plain", paths[0])[0] == 0
    monkeypatch.setenv("CUDAOPS_JIT_MAX_SIZE", str(int(2.5 * size)))
    jit.load("plain", paths[2])
    assert len(jit.objects()) == 2
    assert jit.hit("plain", paths[0])[0] == 0 and jit.hit("plain", paths[2])[0] == 2
    assert jit.answer("plain", paths[1])[1] == "COMPILED"


@pytest.mark.parametrize("text, size", [("", 10 << 30), ("1000", 1000), ("20G", 20 << 30), ("1.5k", 1536), ("2GiB", 2 << 30)])
def test_size_is_bytes_or_has_a_unit(monkeypatch, text, size):
    monkeypatch.setenv("CUDAOPS_JIT_MAX_SIZE", text)
    assert publish.size_limit() == size


@pytest.mark.parametrize("text", ["big", "-1", "inf", "nan", "1e400", "G"])
def test_size_that_is_none_is_refused_before_a_compile(jit, source, monkeypatch, text):  # noqa: F811
    monkeypatch.setenv("CUDAOPS_JIT_MAX_SIZE", text)
    with jit.no_process(), pytest.raises(ValueError, match="CUDAOPS_JIT_MAX_SIZE: not a size.\n  found   " + text):
        jit.load("plain", source)
    with pytest.raises(ValueError, match="--size: not a size.\n  found   " + text):
        publish.size_limit(text)


@pytest.mark.parametrize("name", ["a;b", 'a"b', "a\\b", "a<b"])
def test_store_in_a_place_that_cmake_cannot_be_told_is_refused(jit, source, monkeypatch, tmp_path, name):  # noqa: F811
    monkeypatch.setenv("CUDAOPS_STORE", str(tmp_path / name))
    with jit.no_process(), pytest.raises(cudaops.BuildError, match="no CMake project can be built in .*\nFix: CUDAOPS_STORE="):
        jit.load("plain", source)


def test_four_builds_of_a_key_are_kept(jit):  # noqa: F811
    for answer in range(6):
        path = jit.write("plain.cpp", plain("plain", answer))
        jit.load("plain", path)
    assert len(jit.objects()) == manifest.SECTIONS
    for answer, state in ((5, "CACHED"), (2, "CACHED"), (1, "COMPILED")):
        jit.write("plain.cpp", plain("plain", answer))
        assert jit.answer("plain", path)[:2] == (answer, state)


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def test_damaged_library_is_noticed_said_and_built_again(jit, source, capsys):  # noqa: F811
    path, _, _ = obtain(source)
    before = path.stat()
    flip(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    again, state, _ = obtain(source)
    # Another path: a process that has loaded the first would be given it again.
    assert state == "COMPILED" and again != path and not path.exists()
    assert "cudaops: plain: %s was damaged; it is built again.\n" % path in capsys.readouterr().err
    with jit.no_process():
        assert obtain(source)[:2] == (again, "CACHED")


def test_damaged_manifest_is_noticed_said_and_built_again(jit, source, capsys):  # noqa: F811
    obtain(source)
    (path,) = (jit.root / "m").glob("plain-*")
    flip(path)
    assert obtain(source)[1] == "COMPILED"
    assert "%s was damaged; it is built again" % path in capsys.readouterr().err


def test_deleted_library_is_built_again(jit, source):  # noqa: F811
    path, _, _ = obtain(source)
    path.unlink()
    assert obtain(source)[1:] == ("COMPILED", "%s is gone" % path)


@pytest.fixture
def no_private(monkeypatch):
    from cudaops.jit import build

    monkeypatch.setattr(build, "_private", None)


def test_store_that_others_can_write_is_neither_read_nor_written(jit, source, capsys, no_private):  # noqa: F811
    jit.load("plain", source)
    before = jit.objects()
    os.chmod(jit.root, 0o777)
    module = jit.load("plain", source)
    assert module.__cudaops__["state"] == "COMPILED" and jit.objects() == before
    assert not module.__cudaops__["path"].startswith(str(jit.store))
    assert "others can write to %s (mode 777)" % jit.root in capsys.readouterr().err


def test_store_of_another_user_is_not_used(jit, source, capsys, no_private, monkeypatch):  # noqa: F811
    jit.load("plain", source)
    monkeypatch.setattr(store.os, "geteuid", lambda: 12345)
    assert jit.answer("plain", source)[1] == "COMPILED"
    assert "%s belongs to another user (uid %d)" % (jit.root, os.getuid()) in capsys.readouterr().err


def test_read_only_store_serves_and_new_builds_go_to_a_private_directory(jit, source, capsys, no_private, monkeypatch):  # noqa: F811
    jit.load("plain", source)
    real = publish.prepare

    def prepare(root):
        if root == str(jit.root):
            raise OSError(30, "Read-only file system")
        real(root)

    monkeypatch.setattr(publish, "prepare", prepare)
    assert jit.hit("plain", source)[1] == "CACHED"
    other = jit.write("other.cpp", plain("other"))
    module = jit.load("other", other)
    assert module.answer() == 42 and not module.__cudaops__["path"].startswith(str(jit.store))
    text = capsys.readouterr().err
    assert "%s: Read-only file system" % jit.root in text and "Fix: CUDAOPS_STORE=" in text


def test_store_without_programs_is_neither_read_nor_written(jit, source, monkeypatch, capfd):  # noqa: F811
    """A file system that is mounted noexec: the loader's own error names neither that nor a cure."""
    ask = os.statvfs

    class Noexec:
        f_flag = os.ST_NOEXEC

    monkeypatch.setattr(os, "statvfs", lambda path: Noexec if str(path).startswith(str(jit.root)) else ask(path))
    for wanted in ("COMPILED", "CACHED"):
        path, state, _ = obtain(source)
        assert state == wanted and not str(path).startswith(str(jit.root))
    assert jit.objects() == []
    assert "is on a file system that is mounted noexec" in capfd.readouterr().err


def test_full_disk_names_the_store(jit, source, monkeypatch):  # noqa: F811
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(publish, "publish", full)
    with pytest.raises(cudaops.BuildError, match=r"the disk of the store is full.\nFix: CUDAOPS_STORE="):
        jit.load("plain", source)
    assert jit.left() == [] and jit.objects() == []


def test_full_disk_that_cmake_does_not_name(jit, source, monkeypatch):  # noqa: F811
    """It says "unknown target 'cmTC_...'", and that the compiler is broken."""
    from cudaops.jit import build

    monkeypatch.setattr(build.shutil, "disk_usage", lambda _: types.SimpleNamespace(free=4096))
    monkeypatch.setenv("CXX", "/bin/false")
    with pytest.raises(cudaops.BuildError, match=r"the disk is full: less than 1 MiB is left for (.|\n)*Fix: CUDAOPS_STORE="):
        jit.load("plain", source)


def test_missing_programs_are_named_with_the_line_to_type(jit, source, monkeypatch):  # noqa: F811
    monkeypatch.setenv("PATH", "/nowhere")
    from cudaops.jit import build

    monkeypatch.setattr(build, "_packaged", lambda name: None)
    with pytest.raises(cudaops.BuildError, match=r'no cmake and no ninja(.|\n)*Fix: pip install "cudaops\[jit\]"'):
        jit.load("plain", source)
    monkeypatch.undo()


LONG = os.environ.get("CUDAOPS_TEST_LONG") == "1"
OBTAIN = """
import sys
sys.path.insert(0, %r)
from cudaops.jit import api
request = api.Request(sys.argv[1], "module")
request.set_flags(None, None, None, None)
request.set_paths(sys.argv[2])
found, state, _, _ = api.obtain(request)
print(state, found.path)
""" % str(REPOSITORY / "python")


def answers_of_processes(environment, *arguments):
    """[[state, path]] of a process each; without importing torch: what is proven is the store's part."""
    running = [
        subprocess.Popen([sys.executable, "-c", OBTAIN, *words], env=environment, stdout=subprocess.PIPE, text=True)
        for words in arguments
    ]
    answers = [process.communicate(timeout=300)[0].split() for process in running]
    assert [process.returncode for process in running] == [0] * len(arguments)
    return answers


def test_processes_with_an_empty_store_compile_once(jit, source):  # noqa: F811
    """pytorch#46334"""
    count = 32 if LONG else 8
    answers = answers_of_processes({**os.environ, **jit.variables}, *[("plain", source)] * count)
    assert sorted(answer[0] for answer in answers) == ["CACHED"] * (count - 1) + ["COMPILED"]
    assert len({" ".join(answer[1:]) for answer in answers}) == 1 and len(jit.objects()) == 1 and jit.left() == []


def test_processes_with_different_ops_keep_max_jobs_together(jit):  # noqa: F811
    """Workers of a server, each with ops of its own; counted are the jobs that running Ninjas may have."""
    count = 32 if LONG else 3  # a build each
    log = jit.directory / "jobs"
    script = """#!/bin/sh
for word; do case "$word" in -j*) jobs=${word#-j};; esac; done
[ "$jobs" ] || exec "$NINJA" "$@"
echo "$jobs" >> "$LOG"
sleep 0.2
"$NINJA" "$@"
code=$?
echo "-$jobs" >> "$LOG"
exit $code
"""
    os.chmod(jit.write("bin/ninja", script), 0o755)
    variables = {"LOG": str(log), "NINJA": shutil.which("ninja"), "PATH": "%s/bin:%s" % (jit.directory, os.environ["PATH"])}
    sources = [("many_%d" % number, jit.write("many_%d.cpp" % number, plain("many_%d" % number))) for number in range(count)]
    answers = answers_of_processes({**os.environ, **jit.variables, **variables}, *sources)
    assert [answer[0] for answer in answers] == ["COMPILED"] * count
    changes = [int(line) for line in log.read_text().split()]
    assert len(changes) == 2 * count and sum(changes) == 0
    assert max(sum(changes[: end + 1]) for end in range(len(changes))) == int(jit.variables["MAX_JOBS"])
    assert len(jit.objects()) == count and jit.left() == []


def test_killed_build_leaves_nothing_that_stops_the_next(jit, source):  # noqa: F811
    """pytorch#189245"""
    code = """
import sys
sys.path.insert(0, %r)
import cudaops
cudaops.load("plain", %r)
""" % (str(REPOSITORY / "python"), source)
    process = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, **jit.variables}, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not (jit.root / "t").is_dir() or not jit.left():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.005)
    time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert jit.left() != []
    assert jit.answer("plain", source)[:2] == (42, "COMPILED")
    assert jit.left() == []


def test_torch_upgraded_in_place_is_another_build_and_going_back_finds_the_first(jit, source, monkeypatch, tmp_path):  # noqa: F811
    """pytorch#68905"""
    import torch

    place = tmp_path / "torch"
    place.mkdir()
    real = pathlib.Path(torch.__file__).parent
    text = (real / "version.py").read_text()
    (place / "version.py").write_text(text)
    from cudaops.jit import inputs, key

    for module in (key, inputs):
        monkeypatch.setattr(module, "torch_directory", lambda: str(place))
    assert jit.answer("plain", source)[1] == "COMPILED"
    (place / "version.py").write_text(text + "# another\n")
    assert jit.answer("plain", source)[1:] == ("COMPILED", "torch's %s changed" % (place / "version.py"))
    (place / "version.py").write_text(text)
    assert jit.hit("plain", source)[1] == "CACHED"


def test_replaced_compiler_is_a_reason(jit, source, monkeypatch):  # noqa: F811
    """flashinfer#3231"""
    compiler = jit.write("bin/c++", '#!/bin/sh\nexec /usr/bin/c++ "$@"\n')
    os.chmod(compiler, 0o755)
    monkeypatch.setenv("CXX", compiler)
    assert jit.answer("plain", source)[1] == "COMPILED"
    assert jit.answer("plain", source)[1:] == ("CACHED", "")
    jit.write("bin/c++", '#!/bin/sh\nexec /usr/bin/c++  "$@"\n')
    assert jit.answer("plain", source)[1:] == ("COMPILED", "program %s changed" % os.path.realpath(compiler))


def test_place_follows_the_variables(monkeypatch, tmp_path):
    for name in ("CUDAOPS_STORE", "TORCH_EXTENSIONS_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/me")
    assert store.location() == ("/home/me/.cache/cudaops", "HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert store.location() == ("/xdg/cudaops", "XDG_CACHE_HOME")
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", "/extensions")
    assert store.location() == ("/extensions/cudaops", "TORCH_EXTENSIONS_DIR")
    monkeypatch.setenv("CUDAOPS_STORE", "/store")
    assert store.location() == ("/store", "CUDAOPS_STORE")
    # Where no shell has seen them. CMake's part expands them, too.
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CUDAOPS_STORE", "~/store")
    monkeypatch.setenv("CUDAOPS_JIT_PATH", "/opt/ops:~/bundle")
    (tmp_path / "bundle" / "r").mkdir(parents=True)
    assert store.location() == (str(tmp_path / "store"), "CUDAOPS_STORE")
    assert [layer.root for layer in store.layers()] == ["/opt/ops", str(tmp_path / "bundle")]
    assert list(bundle.places()) == [str(tmp_path / "bundle")]


def test_child_of_a_fork_has_what_its_parent_loaded_and_loads_and_builds_more(jit, source):  # noqa: F811
    other = jit.write("other.cpp", plain("other", "7"))
    values = jit.run(
        """
import os, torch
module = cudaops.load("plain", %r)
reading, writing = os.pipe()
pid = os.fork()
if pid == 0:
    again, other = cudaops.load("plain", %r), cudaops.load("other", %r)
    text = json.dumps([module.answer(), again is module, other.answer(), other.__cudaops__["state"]])
    os.write(writing, text.encode())
    os._exit(0)
os.waitpid(pid, 0)
print(json.dumps([json.loads(os.read(reading, 1000)), cudaops.load("other", %r).__cudaops__["state"], module.answer()]))
"""
        % (source, source, other, other)
    )
    assert values == [[42, True, 7, "COMPILED"], "CACHED", 42]
    assert jit.left() == []


def test_threads_that_load_one_module_get_the_same(jit, source):  # noqa: F811
    """One object, that is initialized once, however the threads take turns; also where they build it."""
    from cudaops.jit import loader

    found = []
    begin = threading.Barrier(8)

    def load():
        begin.wait()
        found.append(cudaops.load("plain", source))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(10):
            loader.loaded.clear()
            threads = [threading.Thread(target=load) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(found) == 8 and len(set(map(id, found))) == 1
            found.clear()
    finally:
        sys.setswitchinterval(interval)
    assert len(jit.objects()) == 1 and jit.left() == []


def test_cell_of_a_notebook_runs_twice(jit):  # noqa: F811
    """The same text: nothing is built, the same module. Another one: the new module; of an op with reload=True."""
    space = {"cudaops": cudaops, "text": plain("cell", "1")}
    cell = compile("module = cudaops.load_inline('cell', text, no_implicit_headers=True)", "<cell>", "exec")
    exec(cell, space)
    first = space["module"]
    with jit.no_process():
        exec(cell, space)
    assert space["module"] is first
    space["text"] = plain("cell", "2")
    exec(cell, space)
    assert (space["module"].answer(), first.answer()) == (2, 1)
    space["text"] = op("jit_cell", "2")
    cell = compile("module = cudaops.load_inline('ops', text, reload=True)", "<cell>", "exec")
    torch = pytest.importorskip("torch")
    for factor in "2", "2", "3":
        space["text"] = op("jit_cell", factor)
        exec(cell, space)
        assert torch.ops.jit_cell.twice(torch.ones(1)).item() == int(factor)


def test_code_is_built_for_all_visible_gpus(jit, monkeypatch):  # noqa: F811
    """Two cards of different compute capability, of which torch's load() sees the first."""
    if not os.environ.get("CUDACXX"):
        pytest.skip("no nvcc: set CUDACXX")
    smi = jit.directory / "bin" / "nvidia-smi"
    jit.write("bin/nvidia-smi", "#!/bin/sh\nprintf '0, GPU-0, 8.0\\n1, GPU-1, 9.0\\n'\n")
    smi.chmod(0o755)
    monkeypatch.setenv("PATH", "%s:%s" % (smi.parent, os.environ["PATH"]))
    monkeypatch.delenv("TORCH_CUDA_ARCH_LIST")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    kernel = jit.write("kernel.cu", "__global__ void k() {}\n")
    module = jit.load("ops", [jit.write("ops.cpp", op("jit_two_cards")), kernel])
    assert cudaops.inspect(module.__cudaops__["path"])["architectures"] == ["sm_80", "sm_90"]
