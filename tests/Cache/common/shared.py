# SPDX-License-Identifier: Apache-2.0
"""Builds that share a compiler cache: which compiles hit, what is said, how long it takes, that objects are right.

  shared.py <scenario> <case directory> <cmake> <repo> [<name>=<value>...]

Scenarios: kinds, failing, machines, killed, sccache; with redis=<redis-server> those of Redis, without it the others;
seed=<directory of the fixture tests.seed>. The environment is the case's; servers are started here and end with us.
"""

import collections
import contextlib
import http.server
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from cache_testing import content  # noqa: E402

PASSWORD = "s3cret-of-the-test"
HOST_FILES = 8


class Wrong(Exception):
    pass


def check(what, true, *about):
    if not true:
        raise Wrong("\n".join([what, *map(str, about)]))


class Machine:
    """A place to configure and build in: its own home, checkout, build tree, store and local cache."""

    # CMake code that starts from the compiler detection of the fixture tests.seed, as cases do.
    seed = ""

    def __init__(self, case, name, cmake, repo, prefix=(), args=()):
        self.root = case / name
        self.cmake = cmake
        self.repo = repo
        self.prefix = list(prefix)
        self.args = list(args)
        self.source = self.root / "src"
        self.build = self.root / "src" / "build"
        self.env = dict(
            os.environ,
            HOME=str(self.root / "home"),
            CUDAOPS_STORE=str(self.root / "store"),
            CCACHE_DIR=str(self.root / "ccache"),
        )
        (self.root / "home").mkdir(parents=True)
        # The program that runs compiles as the case has it: launcher_build builds it, the scenarios don't have to.
        if (case.parent / "store/launch").is_dir():
            shutil.copytree(case.parent / "store/launch", self.root / "store/launch")
        self.said = ""
        self.seconds = 0.0

    def project(self, text, files):
        self.source.mkdir(parents=True, exist_ok=True)
        (self.source / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\n"
            f"{self.seed}set(CudaOps_ROOT [==[{self.repo}]==])\nproject(shared LANGUAGES CXX)\nfind_package(CudaOps REQUIRED)\n{text}\n"
        )
        for name, body in files.items():
            (self.source / name).write_text(body)
        return self

    def run(self, *command, env=None, check_exit=True):
        started = time.monotonic()
        done = subprocess.run(
            [*self.prefix, *map(str, command)],
            env={**self.env, **(env or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        self.seconds = time.monotonic() - started
        self.said = done.stdout
        check(f"exit code {done.returncode} of {command}", not check_exit or done.returncode == 0, self.said)
        return self.said

    def configure(self, *args, env=None):
        return self.run(self.cmake, "-G", "Ninja", "-S", self.source, "-B", self.build, *self.args, *args, env=env)

    def make(self, env=None, jobs=2):
        said = self.run(self.cmake, "--build", self.build, "-j", jobs, env=env)
        self.lines = [line for line in said.splitlines() if line.startswith("CudaOps: ")]
        return said

    def again(self):
        """As if never built: no objects, an empty local cache, no log."""
        self.run(self.cmake, "--build", self.build, "--target", "clean")
        shutil.rmtree(self.root / "ccache", ignore_errors=True)
        (self.build / "CudaOps/cache/compiles").unlink(missing_ok=True)
        return self

    def log(self):
        rows = (self.build / "CudaOps/cache/compiles").read_text().splitlines()
        return [row.split("\t") for row in rows]

    def results(self):
        """(result, what the shared cache did) -> how many."""
        return collections.Counter((row[0], row[1]) for row in self.log())

    def expect(self, what, **counts):
        """expect("...", hit_hit=3): all compiles, by result and by what the shared cache did."""
        found = {f"{a}_{b}".replace(" ", "_").replace("-", "none"): n for (a, b), n in self.results().items()}
        check(f"{what}: expected {counts}, found {found}", found == counts, self.said)

    def objects(self):
        found = sorted(self.build.rglob("*.o"))
        return {str(path.relative_to(self.build)): content(path) for path in found}

    def holds(self, text):
        """Files of the build tree that hold it."""
        return [path for path in self.build.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def host_project(machine, files=HOST_FILES):
    names = [f"f{number}.cpp" for number in range(files)]
    machine.project(
        f"add_library(host SHARED {' '.join(names)})\ncudaops_target_cache(host)",
        {name: f"int {name[:2]}() {{ return {number}; }}\n" for number, name in enumerate(names)},
    )
    return machine


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Redis:
    def __init__(self, program, directory, password=None, unix=None, prefix=(), bind="127.0.0.1"):
        self.port = free_port()
        self.bind = bind
        self.password = password
        self.unix = unix
        command = [*prefix, program, "--port", str(self.port), "--bind", bind, "--save", "", "--appendonly", "no"]
        command += ["--dir", str(directory), "--protected-mode", "no"]
        if password:
            command += ["--requirepass", password]
        if unix:
            command += ["--unixsocket", str(unix)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(200):
            time.sleep(0.05)
            if self.process.poll() is not None:
                raise Wrong("redis-server doesn't start: " + " ".join(command))
            if prefix or self.answers():
                return
        raise Wrong("redis-server doesn't answer")

    def answers(self):
        with contextlib.suppress(OSError):
            return self.ask("PING").startswith(b"+PONG")
        return False

    def ask(self, *words):
        """One command; the answer as it comes."""
        with socket.create_connection((self.bind, self.port), 5) as connection:
            stream = connection.makefile("rwb")

            def one(*words):
                words = [word.encode() if isinstance(word, str) else word for word in words]
                stream.write(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
                stream.flush()
                return self.answer(stream)

            if self.password:
                one("AUTH", self.password)
            return one(*words)

    def answer(self, stream):
        line = stream.readline().rstrip(b"\r\n")
        if line[:1] == b"$":
            return stream.read(int(line[1:]) + 2)[:-2] if int(line[1:]) >= 0 else None
        if line[:1] == b"*":
            return [self.answer(stream) for _ in range(int(line[1:]))]
        return line

    def end(self):
        with contextlib.suppress(OSError):
            self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()


class Web:
    """An HTTP server that keeps what is PUT, or answers in another way."""

    def __init__(self, way="honest"):
        kept = self.kept = {}
        self.way = way
        web = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self, code, body=b""):
                self.send_response(code)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            def do_GET(self):
                if web.way == "failing":
                    self.answer(500, b"no")
                elif web.way == "dribbling":
                    with contextlib.suppress(OSError):
                        self.send_response(200)
                        self.send_header("Content-Length", "100000")
                        self.end_headers()
                        for _ in range(100000):
                            self.wfile.write(b"x")
                            time.sleep(0.2)
                elif web.way == "garbage":
                    self.answer(200, b"\x00garbage" * 100)
                elif self.path in kept:
                    self.answer(200, kept[self.path])
                else:
                    self.answer(404)

            do_HEAD = do_GET

            def do_PUT(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if web.way == "honest":
                    kept[self.path] = body
                self.answer(200 if web.way != "failing" else 500)

            def log_message(self, *about):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/cache"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def end(self):
        self.server.shutdown()


class Talker:
    """A TCP server that says the same to everyone, or nothing."""

    def __init__(self, says):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.connections = []

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = self.listener.accept()
                    self.connections.append(connection)
                    if says:
                        with contextlib.suppress(OSError):
                            connection.sendall(says)

        threading.Thread(target=serve, daemon=True).start()

    def end(self):
        self.listener.close()


def kinds(case, cmake, repo, options):
    """Each kind of URL: filled by one machine, found by another; read-only; nothing of a password below the build tree."""
    with contextlib.ExitStack() as stack:

        def server(made):
            stack.callback(made.end)
            return made

        if not options.get("redis"):
            web = server(Web())
            # The blank is part of the test.
            urls = {"file": f"file:{case / 'shared dïrectory+ (%41)'}", "http": web.url}
        else:
            plain = server(Redis(options["redis"], case))
            server(Redis(options["redis"], case, unix=options["socket"]))
            locked = server(Redis(options["redis"], case, password=PASSWORD))
            odd = server(Redis(options["redis"], case, password="a+b"))
            urls = {
                "redis": f"redis://127.0.0.1:{plain.port}",
                "redis, a database": f"redis://127.0.0.1:{plain.port}/3",
                "redis+unix": f"redis+unix:{options['socket']}",
                "password": f"redis://{PASSWORD}@127.0.0.1:{locked.port}",
                "password after a colon": f"redis://:{PASSWORD}@127.0.0.1:{locked.port}/1",
                "user and password": f"redis://default:{PASSWORD}@127.0.0.1:{locked.port}/2",
                "password with percent signs": f"redis://:%61%2Bb@127.0.0.1:{odd.port}",
            }
        for number, (kind, url) in enumerate(urls.items()):
            # A blank in the path, too.
            first = host_project(Machine(case, f"{number} a", cmake, repo), 2)
            first.configure(f"-DCUDAOPS_CACHE_REMOTE={url}")
            check(f"{kind}: configure says", "shared cache" not in first.said, first.said)
            first.make()
            first.expect(f"{kind}, first machine", miss_miss=2)
            check(
                f"{kind}: the line and its warning",
                len(first.lines) == 2
                and first.lines[0] == "CudaOps: ccache: 2 compiles: 0 hits, 2 misses"
                and re.match(
                    r"CudaOps: WARNING: none of 2 compiles was found in \S+.*: no machine with these compilers has "
                    "filled it yet; now they are there",
                    first.lines[1],
                ),
                first.said,
            )
            first.make()
            check(f"{kind}: nothing to do, nothing said", not first.lines, first.said)

            # From the environment; builds don't have it any more.
            second = host_project(Machine(case, f"{number} b", cmake, repo), 2)
            second.configure("-DCUDAOPS_CACHE_READONLY=ON", env={"CUDAOPS_CACHE_REMOTE": url})
            (second.source / "f1.cpp").write_text("int f1() { return 7; }\n")
            second.make()
            second.expect(f"{kind}, second machine", hit_hit=1, miss_miss=1)
            check(
                f"{kind}: the line",
                second.lines == ["CudaOps: ccache: 2 compiles: 1 hit (1 from the shared cache), 1 miss"],
                second.said,
            )
            second.again().configure("-DCUDAOPS_CACHE_READONLY=OFF", env={"CUDAOPS_CACHE_REMOTE": url})
            second.make()
            second.expect(f"{kind}, after a read-only build", hit_hit=1, miss_miss=1)
            second.again().configure("-DCUDAOPS_CACHE_READONLY=OFF", env={"CUDAOPS_CACHE_REMOTE": url})
            second.make()
            second.expect(f"{kind}, after one that writes", hit_hit=2)
            for machine in (first, second):
                for secret in (PASSWORD, "%61%2Bb", "a+b@", ":a+b"):
                    check(f"{kind}: the password is in", not machine.holds(secret), machine.holds(secret))
                kept = list((machine.root / "store").glob("secrets/*"))
                check(f"{kind}: a password is kept", len(kept) == ("password" in kind), kept)
                for path in kept:
                    check("its mode", path.stat().st_mode & 0o777 == 0o600, oct(path.stat().st_mode))
                    check("its directory", path.parent.stat().st_mode & 0o777 == 0o700)
            # Configured again from what stands in the cache.
            first.configure()
            first.make()
            check(f"{kind}: configured again", not first.lines and "shared cache" not in first.said, first.said)


def failing(case, cmake, repo, options):
    """Servers that die, hang, refuse and lie, before and in the middle of a build: right objects, one line, two seconds."""
    truth = host_project(Machine(case, "truth", cmake, repo))
    truth.configure("-DCUDAOPS_CACHE=OFF")
    truth.make()
    right = truth.objects()
    alone = host_project(Machine(case, "alone", cmake, repo))
    alone.configure()
    alone.make(jobs=1)
    plain_seconds = alone.seconds
    measured = []

    def build(what, url, lines, machine=None, before=None, configure_says=None, limit=2, **log):
        machine = machine or host_project(Machine(case, re.sub(r"\W+", "_", what), cmake, repo))
        machine.configure(f"-DCUDAOPS_CACHE_REMOTE={url}")
        configured = machine.seconds
        if configure_says:
            found = [line for line in machine.said.splitlines() if "shared cache" in line]
            check(f"{what}: configure", len(found) == 1 and re.search(configure_says, found[0]), machine.said)
        else:
            check(f"{what}: configure", "shared cache" not in machine.said, machine.said)
        if before:
            before(machine)
        machine.make(jobs=1)
        lost = machine.seconds - plain_seconds
        if lost > 1.5:
            # Is it the machine that is slower than before?
            alone.again()
            alone.make(jobs=1)
            lost = machine.seconds - max(plain_seconds, alone.seconds)
        measured.append(f"{what}: {lost:.1f} s")
        found = [line for line in machine.lines if "left out for" in line]
        check(f"{what}: lines", len(found) == lines, machine.said)
        check(f"{what}: {lost:.1f} s longer than without a shared cache", lost <= limit, machine.said)
        check(f"{what}: objects", machine.objects() == right)
        if log:
            machine.expect(what, **log)
        return machine

    def middle(action):
        """Does it when the first file of the build has been compiled."""

        def before(machine):
            first = machine.build / "CMakeFiles/host.dir/f0.cpp.o"

            def wait():
                for _ in range(2000):
                    if first.exists():
                        break
                    time.sleep(0.005)
                action()

            threading.Thread(target=wait, daemon=True).start()

        return before

    with contextlib.ExitStack() as stack:

        def server(made):
            stack.callback(made.end)
            return made

        if not options.get("redis"):
            port = free_port()
            build(
                "nobody there",
                f"redis://127.0.0.1:{port}",
                0,
                configure_says=r"does not work \(Connection refused\) and is left out for a minute",
                **{"miss_left_out": HOST_FILES},
            )
            build(
                "no such host",
                "redis://no-such-host.invalid",
                0,
                configure_says=r"does not work \(.+\) and is left out",
            )
            silent = server(Talker(b""))
            build(
                "silent",
                f"redis://127.0.0.1:{silent.port}",
                0,
                configure_says=r"does not work \(no answer in half a second\) and is left out",
            )
            for what, says in (("another protocol", b"HTTP/1.1 400 Bad Request\r\n\r\n"), ("zeros", b"\0" * 1000)):
                talker = server(Talker(says))
                build(
                    what, f"redis://127.0.0.1:{talker.port}", 0, configure_says=r"does not work \(.+\) and is left out"
                )
            for way in ("failing", "garbage"):
                web = server(Web(way))
                build(f"http, {way}", web.url, 0, configure_says=r"does not work \(.+\) and is left out")
            silent_web = server(Talker(b""))
            build("http, silent", f"http://127.0.0.1:{silent_web.port}", 0, configure_says="does not work")
            directory = case / "no directory"
            directory.write_text("")
            build("no directory", f"file:{directory}", 0, configure_says=r"does not work \(.+\) and is left out")

            # In the middle of a build.
            web = server(Web())
            build("http, gone in the middle", web.url, 1, before=middle(lambda: (web.end(), web.server.server_close())))
            # ccache's own time-outs are for each read.
            web = server(Web())
            build(
                "http, a byte at a time in the middle",
                web.url,
                1,
                before=middle(lambda: setattr(web, "way", "dribbling")),
                limit=13,
            )
            print("; ".join(measured))
            return

        def redis():
            return server(Redis(options["redis"], case, password=PASSWORD))

        def url(made):
            return f"redis://:{PASSWORD}@127.0.0.1:{made.port}"

        build(
            "wrong password",
            f"redis://:wrong@127.0.0.1:{redis().port}",
            0,
            configure_says=r"redis://\*\*\*@127\.0\.0\.1:\d+ does not work \(WRONGPASS .+\) and is left out",
        )
        made = redis()
        build("killed in the middle", url(made), 1, before=middle(made.process.kill))
        made = redis()
        hung = build(
            "hung in the middle", url(made), 1, before=middle(lambda m=made: m.process.send_signal(signal.SIGSTOP))
        )
        # While it hangs, another build of the same minute, and one that asks again.
        hung_log = hung.build / "CudaOps/cache/remote-failed"
        check("the mark", hung_log.exists())
        hung.again()
        hung.make(jobs=1)
        check("hung, the same minute", hung.seconds - plain_seconds < 2 and not hung.lines[:-2], hung.said)
        until, times, why = hung_log.read_text().split(" ", 2)
        hung_log.write_text(f"1 {times} {why}")
        hung.again()
        hung.make(jobs=1)
        measured.append(f"hung, asked again: {hung.seconds - plain_seconds:.1f} s")
        check("hung, asked again", hung.seconds - plain_seconds < 2, hung.said)
        later = [int(word) for word in hung_log.read_text().split()[:2]]
        check("longer the next time", later[1] == int(times) + 1 and later[0] > int(until), later, until, times)
        # It comes back.
        made.process.send_signal(signal.SIGCONT)
        hung_log.write_text(f"1 {times} {why}")
        hung.again()
        hung.make(jobs=1)
        check("it is back", not hung_log.exists() and "left out" not in hung.said, hung.said)

        made = redis()
        changed = middle(lambda m=made: m.ask("CONFIG", "SET", "requirepass", "another"))
        build("password changed in the middle", url(made), 1, before=changed)

        # Entries that are not what was stored.
        made = redis()
        filled = build("filled", url(made), 0, miss_miss=HOST_FILES)
        keys = [key for key in made.ask("KEYS", "*")]
        check("entries", len(keys) >= 2 * HOST_FILES, keys)
        saved = {key: made.ask("GET", key) for key in keys}
        damages = {
            "cut": lambda value: value[: len(value) * 2 // 3],
            "turned": lambda value: value[: len(value) // 2] + bytes(b ^ 0x5A for b in value[len(value) // 2 :]),
            "empty": lambda value: b"",
            "text": lambda value: b"<html>not found</html>",
            "long": lambda value: value + b"x" * 100000,
        }
        for damage, change in damages.items():
            for key, value in saved.items():
                made.ask("SET", key, change(value))
            victim = host_project(Machine(case, f"damage_{damage}", cmake, repo))
            victim.configure(f"-DCUDAOPS_CACHE_REMOTE={url(made)}")
            victim.make(jobs=1)
            check(f"{damage}: objects", victim.objects() == right)
            check(f"{damage}: lines", len([line for line in victim.lines if "left out for" in line]) <= 1, victim.said)
            # What was left behind by that build serves nobody wrongly either.
            victim.run(cmake, "--build", victim.build, "--target", "clean")
            victim.make(jobs=1)
            check(f"{damage}, again: objects", victim.objects() == right)
        del filled
    print("; ".join(measured))


@contextlib.contextmanager
def namespaces(ip, count):
    """A server's and <count> machines' network namespaces: [prefix of the server, of machine 1, ...], its addresses."""
    tag = f"co{os.getpid()}"
    names = [f"{tag}s"] + [f"{tag}m{number}" for number in range(count)]
    made = []
    try:
        for name in names:
            subprocess.run([ip, "netns", "add", name], check=True, capture_output=True, text=True)
            made.append(name)
            subprocess.run([ip, "-n", name, "link", "set", "lo", "up"], check=True, capture_output=True)
        for number, name in enumerate(names[1:], 1):
            near, far = f"{tag}a{number}", f"{tag}b{number}"
            subprocess.run([ip, "link", "add", near, "type", "veth", "peer", "name", far], check=True)
            for link, space, address in ((near, names[0], 1), (far, name, 2)):
                subprocess.run([ip, "link", "set", link, "netns", space], check=True)
                subprocess.run(
                    [ip, "-n", space, "addr", "add", f"10.77.{number}.{address}/24", "dev", link], check=True
                )
                subprocess.run([ip, "-n", space, "link", "set", link, "up"], check=True)
        yield [[ip, "netns", "exec", name] for name in names]
    finally:
        for name in made:
            subprocess.run([ip, "netns", "del", name], capture_output=True)


def machines(case, cmake, repo, options):
    """Two machines, other homes, checkouts and venvs, one Redis: at least 95 of 100 compiles of the second are hits."""
    real = pathlib.Path(options["sources"])
    sources = {path.name: path.read_text() for path in real.iterdir() if path.suffix in (".cpp", ".cu", ".h", ".cuh")}
    project = (
        "find_package(CudaTorchMatch REQUIRED)\n"
        "add_torch_op(real_op SOURCES op.cpp CUDA_SOURCES op_cuda.cpp op.cu)\n"
        "cudaops_add_kernels(kernels SHARED SOURCES k.cu h.cpp)"
    )
    sources["k.h"] = "#define TIMES 3\n"
    sources["k.cu"] = '#include "k.h"\n__global__ void kernel(float* x) { x[0] *= TIMES; }\n'
    sources["h.cpp"] = '#include "k.h"\nint times() { return TIMES; }\n'
    count = 7

    with contextlib.ExitStack() as stack:
        server, *prefixes = stack.enter_context(namespaces(options["ip"], 3))
        bind = "0.0.0.0"
        redis = Redis(options["redis"], case, password=PASSWORD, prefix=server, bind=bind)
        stack.callback(redis.end)
        made = []
        for number, prefix in enumerate(prefixes, 1):
            name = ["one", "other place/two", "three"][number - 1]
            venv = case / name / "venv"
            venv.mkdir(parents=True)
            # The same files at another path, for this machine only: what runs in a namespace has mounts of its own.
            mount = [
                "sh",
                "-c",
                f'{options["mount"]} --bind "$1" "$2" && shift 2 && exec "$@"',
                "sh",
                options["venv"],
                str(venv),
            ]
            machine = Machine(
                case,
                name,
                cmake,
                repo,
                prefix=[*prefix, *mount],
                args=[
                    f"-DPython_EXECUTABLE={venv}/bin/python",
                    f"-DCUDAToolkit_ROOT={options['toolkit']}",
                    "-DCMAKE_CUDA_ARCHITECTURES=80-real",
                    f"-DCUDAOPS_CACHE_REMOTE=redis://:{PASSWORD}@10.77.{number}.1:{redis.port}",
                ],
            )
            machine.source = case / name / f"checkout{number}"
            machine.build = machine.source / "build"
            made.append(machine.project(project, sources))
        one, two, three = made
        for _ in range(100):
            probe = f"import socket; socket.create_connection(('10.77.1.1', {redis.port}), 1)"
            if subprocess.run([*prefixes[0], sys.executable, "-c", probe], capture_output=True).returncode == 0:
                break
            time.sleep(0.1)
        one.configure()
        one.make()
        first_seconds = one.seconds
        one.expect("the first machine", miss_miss=count)
        two.configure()
        check("the shared cache works", "shared cache" not in two.said, two.said)
        two.make()
        hits = two.results()[("hit", "hit")]
        check(f"{hits} of {count} are hits on the second machine", hits >= 0.95 * count, two.said, two.log())
        check("the line", f"{count} hits ({count} from the shared cache), 0 misses" in two.said, two.said)
        check("objects", one.objects() == two.objects())
        print(f"first machine {first_seconds:.1f} s, second {two.seconds:.2f} s, {hits} of {count} hits")

        # Read-only: hits as well, and what is compiled there stays there.
        three.configure("-DCUDAOPS_CACHE_READONLY=ON")
        three.make()
        hits = three.results()[("hit", "hit")]
        check(f"{hits} of {count} are hits, read-only", hits >= 0.95 * count, three.said)
        (three.source / "k.h").write_text("#define TIMES 4\n")
        three.make()
        check("the line", "2 compiles: 0 hits, 2 misses" in three.said and "WARNING" not in three.said, three.said)
        (two.source / "k.h").write_text("#define TIMES 4\n")
        two.make()
        check("nothing was written", two.results()[("miss", "miss")] == 2, two.said, two.log())
        check("objects after the edit", two.objects() == three.objects())
        for machine in made:
            check("the password", not machine.holds(PASSWORD), machine.holds(PASSWORD))


def sccache(case, cmake, repo, options):
    """sccache, whose server is told by the environment, waits a minute for a Redis that doesn't answer: we don't."""
    with contextlib.ExitStack() as stack:
        redis = Redis(options["redis"], case, password=PASSWORD)
        stack.callback(redis.end)
        url = f"redis://:{PASSWORD}@127.0.0.1:{redis.port}"
        truth = host_project(Machine(case, "truth", cmake, repo))
        truth.configure("-DCUDAOPS_CACHE=OFF")
        truth.make()

        def machine(name):
            made = host_project(Machine(case, name, cmake, repo))
            made.env["SCCACHE_DIR"] = str(made.root / "sccache")
            made.env["SCCACHE_SERVER_UDS"] = f"{options['socket']}-{name}"
            made.env["SCCACHE_IDLE_TIMEOUT"] = "20"
            return made

        def gets():
            return int(re.search(rb"keyspace_hits:(\d+)", redis.ask("INFO", "stats"))[1])

        one = machine("one")
        one.configure("-DCUDAOPS_CACHE=sccache", f"-DCUDAOPS_CACHE_REMOTE={url}")
        check("configure", "shared cache" not in one.said, one.said)
        one.make()
        check("what is stored", int(redis.ask("DBSIZE")[1:]) >= HOST_FILES, redis.ask("DBSIZE"))
        before = gets()
        two = machine("two")
        two.configure("-DCUDAOPS_CACHE=sccache", f"-DCUDAOPS_CACHE_REMOTE={url}")
        two.make()
        check(f"{gets() - before} found", gets() - before >= HOST_FILES, two.said)
        check("the line", f"sccache: {HOST_FILES} compiles, in steps: " in two.said, two.said)
        wrong = machine("wrong")
        wrong.configure("-DCUDAOPS_CACHE=sccache", f"-DCUDAOPS_CACHE_REMOTE=redis://:wrong@127.0.0.1:{redis.port}")
        check("wrong password", re.search(r"\*\*\*@\S+ does not work \(WRONGPASS ", wrong.said), wrong.said)
        wrong.make()
        plain = wrong.seconds
        redis.process.send_signal(signal.SIGSTOP)
        two.again()
        two.make()
        found = [line for line in two.lines if "left out for a minute: no answer in half a second" in line]
        check("hung: lines", len(found) == 1, two.said)
        check(f"hung: {two.seconds - plain:.1f} s longer", two.seconds - plain <= 2, two.said)
        for made in (one, two, wrong):
            check("objects", made.objects() == truth.objects())
            check("the password", not made.holds(PASSWORD), made.holds(PASSWORD))


def killed(case, cmake, repo, options):
    """Builds that are killed at any moment, times that lie in the future or long ago: the next build is right."""
    # Files that take a while, so that there is something to kill.
    heavy = "#include <iostream>\n#include <map>\n#include <string>\n"
    names = [f"f{number}.cpp" for number in range(4)]
    files = {
        name: f'{heavy}std::map<std::string, int> {name[:2]}() {{ return {{{{std::cerr.good() ? "a" : "b", '
        f"{number}}}}}; }}\n"
        for number, name in enumerate(names)
    }
    text = f"add_library(host SHARED {' '.join(names)})\ncudaops_target_cache(host)"
    truth = Machine(case, "truth", cmake, repo).project(text, files)
    truth.configure("-DCUDAOPS_CACHE=OFF")
    truth.make()
    machine = Machine(case, "killed", cmake, repo).project(text, files)
    machine.configure(f"-DCUDAOPS_CACHE_REMOTE=file:{case}/shared")
    rounds = 0
    for share in (0.2, 0.4, 0.6, 0.8):
        machine.again()
        shutil.rmtree(case / "shared", ignore_errors=True)
        running = subprocess.Popen(
            [cmake, "--build", machine.build, "-j", "2"],
            env=machine.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(truth.seconds * share)
        # Each command is a process group of its own; all of them are of this session.
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                if int(stat.read_text().rpartition(")")[2].split()[3]) == running.pid:
                    os.kill(int(stat.parent.name), signal.SIGKILL)
        rounds += running.wait() != 0
        # Half of what a killed write may have left.
        for path in machine.build.rglob("*.o"):
            if rounds % 2:
                path.write_bytes(path.read_bytes()[:100])
                os.utime(path, (1, 1))
        machine.make()
        check(f"killed after {share} of a build: objects", machine.objects() == truth.objects(), machine.said)
        check("nothing is left out", "left out" not in machine.said, machine.said)
    check(f"only {rounds} builds were killed", rounds >= 2)

    # Clocks: sources of the future and of long ago, a cache from either, and a note of what failed from before a start
    # of the machine.
    for when in (1, 4_000_000_000):
        for directory in (machine.source, machine.root / "ccache", case / "shared"):
            for path in directory.rglob("*"):
                if path.is_file() and machine.build not in path.parents and path.suffix != ".txt":
                    os.utime(path, (when, when))
        (machine.source / names[0]).write_text(files[names[0]].replace('"a"', '"c"'))
        os.utime(machine.source / names[0], (when, when))
        for note in ("failed", "remote-failed"):
            (machine.build / "CudaOps/cache" / note).write_text("99999999999 1 long ago\n")
        shutil.rmtree(machine.root / "ccache")
        for path in machine.build.rglob("*.o"):
            path.unlink()
        (truth.source / names[0]).write_text(files[names[0]].replace('"a"', '"c"'))
        truth.run(cmake, "--build", truth.build, "--target", "clean")
        truth.make()
        machine.make()
        check(f"file times {when}: objects", machine.objects() == truth.objects(), machine.said)
        check("asked again", not list((machine.build / "CudaOps/cache").glob("*failed")), machine.said)


def main():
    scenario, case, cmake, repo, *options = sys.argv[1:]
    options = dict(option.split("=", 1) for option in options)
    scratch = pathlib.Path(case).resolve() / "shared"
    scratch.mkdir()
    fixture = pathlib.Path(__file__).resolve().parents[2] / "fixtures/use_seed.txt"
    Machine.seed = f"set(case_SEED_DIR [==[{options['seed']}]==])\ninclude([==[{fixture}]==])\n"
    try:
        {"kinds": kinds, "failing": failing, "machines": machines, "killed": killed, "sccache": sccache}[scenario](
            scratch, cmake, repo, options
        )
    except Wrong as wrong:
        print(f"WRONG: {wrong}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
