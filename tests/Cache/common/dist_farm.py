# SPDX-License-Identifier: Apache-2.0
"""Distributed compiles for real: a scheduler, two servers and a client, each in a network namespace of its own.

    dist_farm.py can                         says why it can't be done here; nothing where it can
    dist_farm.py <repo> <cmake> <generator> <dir> <target> -- <argument of the configure>...

Everything runs in namespaces that go with the last process in them: no name, mount or process stays behind.
"""

import glob
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

TOOLS = os.environ.get("PATH", "") + ":/usr/sbin:/sbin:/usr/bin:/bin"
SCHEDULER = "10.77.0.2:10600"
SERVERS = ("10.77.0.3:10501", "10.77.0.4:10501")
NAMESPACES = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private"]


def tool(name):
    return shutil.which(name, path=TOOLS)


def reason():
    if os.geteuid() != 0:
        return "not root: sccache-dist's servers need it for bubblewrap"
    for name in ("sccache", "sccache-dist", "bwrap", "unshare", "ip", "mount"):
        if not tool(name):
            return f"no {name} on this machine"
    script = "mount -t tmpfs none /mnt && mkdir /mnt/l /mnt/u /mnt/w /mnt/m"
    script += " && mount -t overlay none -o lowerdir=/mnt/l,upperdir=/mnt/u,workdir=/mnt/w /mnt/m"
    script += " && ip link add name b type bridge && bwrap --ro-bind / / true"
    done = subprocess.run(
        [tool("unshare"), *NAMESPACES, "sh", "-c", script],
        env={"PATH": TOOLS},
        stderr=subprocess.PIPE,
        text=True,
    )
    if done.returncode != 0:
        return "no namespaces or overlay mounts on this machine: " + done.stderr.strip().replace("\n", " ")
    return ""


def sh(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


class Farm:
    def __init__(self, directory):
        self.directory = directory
        self.running = {}
        sh("mount", "-t", "tmpfs", "none", "/mnt")
        os.makedirs("/run/netns", exist_ok=True)
        sh("mount", "-t", "tmpfs", "none", "/run/netns")
        sh("ip", "link", "set", "lo", "up")
        sh("ip", "link", "add", "br0", "type", "bridge")
        sh("ip", "addr", "add", "10.77.0.1/24", "dev", "br0")
        sh("ip", "link", "set", "br0", "up")
        for number, name in enumerate(("scheduler", "server0", "server1"), 2):
            sh("ip", "netns", "add", name)
            sh("ip", "link", "add", f"v{number}", "type", "veth", "peer", "name", "eth0", "netns", name)
            sh("ip", "link", "set", f"v{number}", "master", "br0", "up")
            sh("ip", "-n", name, "link", "set", "lo", "up")
            sh("ip", "-n", name, "addr", "add", f"10.77.0.{number}/24", "dev", "eth0")
            sh("ip", "-n", name, "link", "set", "eth0", "up")
        self.key = sh("sccache-dist", "auth", "generate-jwt-hs256-key").strip()

    def run(self, name, role, config):
        file = self.directory / f"{name}.conf"
        file.write_text(config)
        with open(self.directory / f"{name}.log", "a") as log:
            self.running[name] = subprocess.Popen(
                ["ip", "netns", "exec", name, "sccache-dist", role, "--config", str(file)],
                env={"PATH": TOOLS, "HOME": str(self.directory), "SCCACHE_NO_DAEMON": "1", "SCCACHE_LOG": "info"},
                stdout=log,
                stderr=log,
            )

    def scheduler(self, token):
        self.run(
            "scheduler",
            "scheduler",
            f'public_addr = "{SCHEDULER}"\n'
            f'client_auth = {{ type = "token", token = "{token}" }}\n'
            f'server_auth = {{ type = "jwt_hs256", secret_key = "{self.key}" }}\n',
        )

    def server(self, number):
        token = sh(
            "sccache-dist",
            "auth",
            "generate-jwt-hs256-server-token",
            "--secret-key",
            self.key,
            "--server",
            SERVERS[number],
        ).strip()
        self.run(
            f"server{number}",
            "server",
            f'cache_dir = "/mnt/toolchains{number}"\npublic_addr = "{SERVERS[number]}"\n'
            f'scheduler_url = "http://{SCHEDULER}"\n'
            f'builder = {{ type = "overlay", build_dir = "/mnt/build{number}", bwrap_path = "{tool("bwrap")}" }}\n'
            f'scheduler_auth = {{ type = "jwt_token", token = "{token}" }}\n',
        )

    def kill(self, name):
        process = self.running.pop(name)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def children(self, name):
        """The names of the processes below this one."""
        parents = {}
        names = {}
        for stat in glob.glob("/proc/[0-9]*/stat"):
            try:
                text = pathlib.Path(stat).read_text()
            except OSError:
                continue
            found = re.match(r"(\d+) \((.*)\) \S (\d+) ", text)
            parents[int(found[1])] = int(found[3])
            names[int(found[1])] = found[2]
        below = []
        for pid in parents:
            up = pid
            while up in parents and up != self.running[name].pid:
                up = parents[up]
            if up == self.running[name].pid and pid != up:
                below.append(names[pid])
        return below


class Client:
    """A build machine: its home with sccache's configuration and store, and what is built there."""

    def __init__(self, repo, cmake, generator, directory, args):
        self.repo = repo
        self.cmake = cmake
        self.generator = generator
        self.directory = directory
        self.args = args
        self.home = directory / "the client's home"
        self.env = {**os.environ, "PATH": TOOLS, "HOME": str(self.home), "LC_ALL": "C"}
        for name in list(self.env):
            if name.startswith(("SCCACHE_", "XDG_", "CUDAOPS_")):
                del self.env[name]
        self.source = directory / "src"
        self.source.mkdir()
        (self.source / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\n"
            "project(reference VERSION 1.0 LANGUAGES CXX)\n"
            f'find_package(CudaOps REQUIRED HINTS "{repo}")\n'
            "find_package(CudaTorchMatch REQUIRED)\n"
            f'add_subdirectory("{repo}/kernels" kernels)\n'
        )

    def config(self, token):
        file = self.home / ".config/sccache/config"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            f'[cache.disk]\ndir = "{self.home}/objects"\n'
            f'[dist]\nscheduler_url = "http://{SCHEDULER}"\ntoolchains = []\n'
            f'[dist.auth]\ntype = "token"\ntoken = "{token}"\n'
        )

    def configure(self, name, *more):
        command = [self.cmake, "-G", self.generator, "-S", self.source, "-B", self.directory / name, *self.args, *more]
        return self.said(command)

    def build(self, name, *targets):
        command = [self.cmake, "--build", self.directory / name, "--parallel", "4"]
        if targets:
            command += ["--target", *targets]
        return self.said(command)

    def target(self, object_file):
        """What to build for an object of the tree "build": itself, or its library where the generator knows no objects."""
        if self.generator == "Ninja":
            return object_file.relative_to(self.directory / "build")
        return object_file.parent.name

    def said(self, command, env=None):
        start = time.monotonic()
        done = subprocess.run(
            list(map(str, command)),
            env={**self.env, **(env or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.seconds = time.monotonic() - start
        if done.returncode != 0:
            sys.exit(f"exit code {done.returncode}: {command}\n{done.stdout}")
        return done.stdout

    def distributed(self, name):
        return json.loads((self.directory / name / "cudaops-report.json").read_text())["cache"]["distributed"]

    def stats(self, name):
        """(compiled elsewhere by server, failed elsewhere, found) of the server that this build tree uses."""
        settings = (self.directory / name / "CudaOps/cache/cxx.settings").read_text()
        words = dict(re.findall(r"^dist_(config|socket)\t(.*)$", settings, re.M))
        words = {name: word.replace("\\\\", "\\") for name, word in words.items()}
        env = {"SCCACHE_CONF": words["config"], "SCCACHE_SERVER_UDS": words["socket"]}
        stats = json.loads(self.said(["sccache", "--show-stats", "--stats-format=json"], env))["stats"]
        return stats["dist_compiles"], stats["dist_errors"], sum(stats["cache_hits"]["counts"].values())

    def objects(self, name, ending):
        return sorted(pathlib.Path(self.directory / name).rglob(f"*{ending}.o"))


def device_code(objects, directory):
    """The device code in these objects, by the object's name."""
    found = {}
    for object_file in objects:
        section = directory / "section"
        sh("objcopy", "-O", "binary", "--only-section=.nv_fatbin", str(object_file), str(section))
        found[object_file.name] = section.read_bytes()
        expect(f"device code in {object_file.name}", bool(found[object_file.name]), True)
    return found


def expect(what, actual, wanted):
    if actual != wanted:
        sys.exit(f"{what}: expected {wanted!r}, actual {actual!r}")


def expect_same_code(what, actual, wanted):
    expect(f"objects {what}", sorted(actual), sorted(wanted))
    expect(f"other device code {what}", [name for name in wanted if actual[name] != wanted[name]], [])


def expect_lines(what, said, wanted):
    """The lines of ours about this, once each, as regular expressions; a build may configure again in between."""
    lines = [line for line in said.splitlines() if re.search("distribut|left out", line)]
    if what.startswith("build"):
        lines = [line for line in lines if not line.startswith("-- ")]
    if len(lines) != len(wanted) or not all(re.search(one, line) for one, line in zip(wanted, lines)):
        sys.exit(f"{what}: expected {wanted}, actual {lines}\n{said}")


def scenario(repo, cmake, generator, directory, target, args):
    directory = pathlib.Path(directory).resolve()
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    os.environ["PATH"] = TOOLS
    farm = Farm(directory)
    farm.scheduler("right")
    farm.server(0)
    farm.server(1)
    client = Client(repo, cmake, generator, directory, args)
    client.config("right")
    time.sleep(1)

    def took(what):
        print(f"{client.seconds:6.1f} s  {what}", flush=True)

    said = client.configure("build", "-DCUDAOPS_CACHE=sccache")
    took("configure, with the compilers packed and sent")
    expect_lines("configure", said, [f"compiles are distributed by sccache through http://{SCHEDULER}$"])
    expect(
        "report",
        client.distributed("build"),
        {"state": "ON", "scheduler": f"http://{SCHEDULER}", "reason": ""},
    )
    client.configure("build")
    took("configure again")

    # Every file, and every part of a .cu: cudafe++, cicc, ptxas and the host compiler.
    before, _, found_before = client.stats("build")
    expect_lines("build", client.build("build", target), [])
    took("build of the reference library" if target == "all" else f"build of {target}")
    after, failed, found = client.stats("build")
    cuda = client.objects("build", ".cu")
    host = client.objects("build", ".cpp")
    files = [pathlib.Path(repo, "kernels", op, f"{op}.cu") for op in ("square", "sum", "vector_add")]
    if target == "all":
        files = list(pathlib.Path(repo, "kernels").glob("*/*.cu"))
    wanted = sorted(f"{file.name}.o" for file in files)
    # Beside the shards of some, which are generated.
    named = [file.name for file in cuda if not file.parent.name.endswith(".shards")]
    expect("sources of CUDA", sorted(named), wanted)
    # For the CPU and torch's two of each op.
    expect("sources of C++ at least", len(host) >= 3 * len({file.parent for file in files}), True)
    # A part that is the same as another's is compiled once.
    elsewhere, found = sum(after.values()) - sum(before.values()), found - found_before
    expect("compiled elsewhere", elsewhere + found, 4 * len(cuda) + len(host))
    expect("the same parts at most", found <= 2, True)
    expect("failed elsewhere", failed, 0)
    expect("servers at work", sorted(after), sorted(SERVERS))
    print(f"          {after}")

    # The same device code as here. nvcc's names of what is internal hold a hash of the source's path, which of
    # generated ones is the build tree's: both trees are called the same.
    tree = directory / "build"
    tree.rename(directory / "remote")
    client.configure("build", "-DCUDAOPS_CACHE=OFF")
    client.build("build", *(client.target(file) for file in cuda))
    took("build of the same .cu without sccache")
    here = device_code(client.objects("build", ".cu"), directory)
    tree.rename(directory / "local")
    (directory / "remote").rename(tree)
    expect_same_code("distributed", device_code(cuda, directory), here)

    # A server dies while it compiles.
    for file in (*cuda, host[0]):
        file.unlink()
    client.env["SCCACHE_RECACHE"] = "1"
    victim = None
    process = subprocess.Popen(
        [cmake, "--build", directory / "build", "--parallel", "4", "--target", target],
        env=client.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    while victim is None and process.poll() is None:
        victim = next((name for name in ("server0", "server1") if "bwrap" in farm.children(name)), None)
    if victim is None:
        sys.exit("no server was at work")
    farm.kill(victim)
    start = time.monotonic()
    said = process.communicate()[0]
    client.seconds = time.monotonic() - start
    took(f"the rest of a build whose {victim} was killed")
    expect("build without a server", process.returncode, 0)
    # However long it takes, and whatever becomes of the other one.
    expect_lines("build without a server", said, ["CudaOps: a compile that was to be distributed ran here.*: .*"])
    print("          " + next(line for line in said.splitlines() if "CudaOps: a compile" in line))
    expect_same_code("compiled without one server", device_code(cuda, directory), here)

    # A wrong token.
    client.config("wrong")
    said = client.configure("wrong", "-DCUDAOPS_CACHE=sccache")
    took("configure with a wrong token")
    why = f"the scheduler http://{SCHEDULER} refuses this client \\(Fixed token mismatch\\)"
    expect_lines("configure", said, [f"compiles are not distributed, they run here: {why}: dist.auth.token is not .*"])
    expect("state", client.distributed("wrong")["state"], "OFF")
    one = next(file for file in host if file.name == "square_cpu.cpp.o")
    expect_lines("build", client.build("wrong", client.target(one)), [])
    took("build here")

    # The scheduler takes other tokens now; the first build tree believes that all is well.
    client.config("right")
    farm.kill("scheduler")
    farm.scheduler("other")
    again = [next(file for file in files if file.name.startswith("square")) for files in (cuda, host)]
    for file in again:
        file.unlink()
    said = client.build("build", target)
    took("build with a token that was right before")
    refused = "Error 401: Fixed token mismatch"
    expect_lines("build", said, [f"CudaOps: a distributed compile failed, for a minute all run here: {refused}$"])
    expect_same_code("compiled here at last", device_code(cuda, directory), here)

    # No scheduler.
    farm.kill("scheduler")
    said = client.configure("wrong")
    took("configure without a scheduler")
    why = f"the scheduler http://{SCHEDULER} can't be reached"
    expect_lines("configure", said, [f"compiles are not distributed, they run here: {why}$"])
    (directory / "wrong" / one.relative_to(directory / "build")).unlink()
    expect_lines("build", client.build("wrong", client.target(one)), [])
    took("build here")


if __name__ == "__main__":
    if sys.argv[1:] == ["can"]:
        print(reason(), end="")
    elif sys.argv[1] == "inside":
        scenario(*sys.argv[2:7], sys.argv[8:])
    else:
        inside = [sys.executable, os.path.abspath(__file__), "inside", *sys.argv[1:]]
        os.execv(tool("unshare"), [tool("unshare"), *NAMESPACES, *inside])
