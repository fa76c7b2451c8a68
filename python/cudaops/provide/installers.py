# SPDX-License-Identifier: Apache-2.0
"""pip and uv: which one is there, the user's settings for it, and a run of it."""

import configparser
import contextlib
import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys

from .errors import Stop, say, without_credentials

PIP_WITH_PYTHON = (22, 3)  # the first with --python
OLDEST_PIP = (20, 3)  # the first that knows the wheels' platform tags (manylinux_2_28)


def clean_environment():
    env = dict(os.environ)
    # What lies there would count as installed already, and be missing in the next shell.
    for name in ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "__PYVENV_LAUNCHER__"):
        env.pop(name, None)
    return env


def truth(value):
    return str(value).strip().lower() in ("1", "true", "yes", "on", "y", "t")


def pip_settings():
    """pip's options as pip would read them: configuration files, then PIP_* variables; names like 'index-url'."""
    home = os.path.expanduser("~")
    own = os.environ.get("PIP_CONFIG_FILE", "")
    files = []
    if own != os.devnull:
        for directory in (os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":"):
            files.append(os.path.join(directory, "pip", "pip.conf"))
        files.append("/etc/pip.conf")
        files.append(os.path.join(home, ".pip", "pip.conf"))
        files.append(os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "pip", "pip.conf"))
        files.append(os.path.join(sys.prefix, "pip.conf"))
        if own:
            files.append(own)
    sections = {"global": {}, "install": {}}
    for name in files:
        parser = configparser.RawConfigParser()
        try:
            parser.read(name, encoding="utf-8")
        except (configparser.Error, OSError, UnicodeDecodeError):
            continue
        for section, options in sections.items():
            if parser.has_section(section):
                options.update({key.replace("_", "-"): value for key, value in parser.items(section)})
    settings = {**sections["global"], **sections["install"]}
    for name, value in os.environ.items():
        if name.startswith("PIP_") and value != "":
            settings[name[4:].lower().replace("_", "-")] = value
    if "default-timeout" in settings:
        settings.setdefault("timeout", settings["default-timeout"])
    return settings


def cache_exists(variable, name):
    """Whether the user keeps a cache of that installer. Where there is none, none is begun."""
    if os.environ.get(variable):
        return True
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.isdir(os.path.join(base, name))


class Pip:
    def __init__(self, python, version, has_python_option):
        self.name = "pip %s of %s" % (version, python)
        self.python = python
        self.has_python_option = has_python_option
        self.settings = pip_settings()

    def command(self, place, requirements):
        # --target is the directory itself, --python the environment to work in.
        head = [self.python, "-m", "pip"]
        if place[0] == "--python" and self.has_python_option:
            head += place
            place = []
        elif place[0] == "--python":
            # A pip that is too old for that can fill the environment from outside, if its Python is the same.
            prefix = os.path.dirname(os.path.dirname(place[1]))
            place = ["--target", os.path.join(prefix, "lib", "python%d.%d" % sys.version_info[:2], "site-packages")]
        return [*head, "install", "--only-binary", ":all:", "--no-warn-script-location", *place, *requirements]

    def environment(self, scratch):
        env = clean_environment()
        # Each of these would send the files somewhere else, ask a question or install nothing.
        for name in ("TARGET", "PREFIX", "ROOT", "PYTHON", "DRY_RUN", "NO_DEPS", "QUIET", "LOG", "REPORT"):
            env.pop("PIP_" + name, None)
        env.update(PIP_USER="0", PIP_REQUIRE_VIRTUALENV="0", PIP_NO_INPUT="1", PIP_DISABLE_PIP_VERSION_CHECK="1")
        env.update(PIP_ROOT_USER_ACTION="ignore", PYTHONUNBUFFERED="1", TMPDIR=scratch)
        if "timeout" not in self.settings:
            env["PIP_DEFAULT_TIMEOUT"] = "15"
        if "retries" not in self.settings:
            env["PIP_RETRIES"] = "2"
        if not cache_exists("PIP_CACHE_DIR", "pip"):
            env["PIP_NO_CACHE_DIR"] = "1"
        return env

    def index(self):
        return index_of(self.settings)


class Uv:
    def __init__(self, path, version):
        self.name = "uv %s" % version
        self.path = path
        self.settings = pip_settings()
        self.own = self.has_own_index()

    @staticmethod
    def has_own_index():
        names = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_NO_INDEX")
        for name in names:
            if os.environ.get(name):
                return name
        config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
        for name in (os.environ.get("UV_CONFIG_FILE"), os.path.join(config, "uv", "uv.toml"), "/etc/uv/uv.toml"):
            with contextlib.suppress(OSError, UnicodeDecodeError, TypeError):
                with open(name, encoding="utf-8") as file:
                    if re.search(r"^\s*((extra-)?index-url|find-links|no-index|\[\[.*index\]\])", file.read(), re.M):
                        return name
        return ""

    def command(self, place, requirements):
        python = [] if place[0] == "--python" else ["--python", sys.executable]
        options = ["--only-binary", ":all:"]
        if not self.own and truth(self.settings.get("no-index", "")):
            options.append("--no-index")
        # As pip does: a first import would otherwise compile torch's modules, at every start where the store is
        # read-only.
        return [self.path, "pip", "install", "--compile-bytecode", *options, *python, *place, *requirements]

    def environment(self, scratch):
        env = clean_environment()
        for name in ("TARGET", "PREFIX", "PYTHON", "SYSTEM_PYTHON", "BREAK_SYSTEM_PACKAGES", "NO_DEPS", "DRY_RUN"):
            env.pop("UV_" + name, None)
        for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
            env.pop(name, None)
        settings = self.settings
        if not self.own:
            # uv reads none of pip's settings, but a user who has set them has said which index to use.
            if settings.get("index-url"):
                env["UV_DEFAULT_INDEX"] = env["UV_INDEX_URL"] = settings["index-url"].strip()
            if settings.get("extra-index-url"):
                env["UV_EXTRA_INDEX_URL"] = " ".join(settings["extra-index-url"].split())
                env.setdefault("UV_INDEX_STRATEGY", "unsafe-best-match")  # pip's way of reading several indexes
            if settings.get("find-links"):
                env["UV_FIND_LINKS"] = ",".join(settings["find-links"].split())
        for option, variable in (
            ("cert", "SSL_CERT_FILE"),
            ("client-cert", "SSL_CLIENT_CERT"),
            ("proxy", "ALL_PROXY"),
        ):
            if settings.get(option):
                env.setdefault(variable, settings[option].strip())
        if settings.get("trusted-host"):
            env.setdefault("UV_INSECURE_HOST", " ".join(settings["trusted-host"].split()))
        if not any(env.get(name) for name in ("UV_HTTP_TIMEOUT", "UV_REQUEST_TIMEOUT", "HTTP_TIMEOUT")):
            env["UV_HTTP_TIMEOUT"] = str(settings.get("timeout") or 15)
        env.setdefault("UV_HTTP_RETRIES", "2")
        env.update(TMPDIR=scratch, NO_COLOR="1", UV_PYTHON_DOWNLOADS="never", UV_NO_PROGRESS="1")
        if not cache_exists("UV_CACHE_DIR", "uv"):
            env["UV_CACHE_DIR"] = os.path.join(scratch, "uv")
        return env

    def index(self):
        if not self.own:
            return index_of(self.settings)
        for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL"):
            if os.environ.get(name):
                return os.environ[name]
        return "as set in " + self.own


def index_of(settings):
    if truth(settings.get("no-index", "")):
        return "none (PIP_NO_INDEX), %s" % (" ".join(settings.get("find-links", "no PIP_FIND_LINKS").split()))
    return settings.get("index-url", "PyPI").strip()


def find_installer(pythons, wanted):
    looked = []
    path = shutil.which("uv")
    if path:
        run = subprocess.run([path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        found = re.match(r"uv ([0-9.]+)", run.stdout)
        if run.returncode == 0 and found:
            return Uv(path, found.group(1))
        looked.append("uv on PATH (%s: exit code %d)" % (path, run.returncode))
    else:
        looked.append("uv on PATH")
    for python in pythons:
        run = subprocess.run(
            [python, "-m", "pip", "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=clean_environment(),
        )
        found = re.match(r"pip ((\d+)\.(\d+)\S*).*\(python (\d+)\.(\d+)\)", run.stdout)
        if run.returncode == 0 and found:
            release = (int(found.group(2)), int(found.group(3)))
            same = (int(found.group(4)), int(found.group(5))) == sys.version_info[:2]
            if release >= (OLDEST_PIP if same else PIP_WITH_PYTHON):
                return Pip(python, found.group(1), release >= PIP_WITH_PYTHON)
        if found:
            why = "pip " + found.group(1)
        else:
            lines = [line for line in run.stderr.splitlines() if line.strip()] or ["exit code %d" % run.returncode]
            why = re.sub(r"^%s: " % re.escape(python), "", lines[-1].strip())
        looked.append("pip >= %d.%d in %s (%s)" % (*PIP_WITH_PYTHON, python, why))
    raise Stop(
        "no way to install Python packages here.",
        ["looked for  " + "; ".join(looked)],
        ["apt-get install python3-pip   (or: install uv), then run the same command again", wanted.other_way],
    )


def run_live(command, env):
    """Runs `command`, shows its lines as they come, returns its exit code and its lines."""
    parent = os.getpid()
    # A signal between the start of the child and the `try` below would leave it behind: it waits until then.
    unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    process = None

    def die_with_parent():
        signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
        # Killed with SIGKILL, this script can't end its child; the kernel can (PR_SET_PDEATHSIG).
        ctypes.CDLL(None).prctl(1, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    lines = []
    try:
        process = subprocess.Popen(
            command,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # so that pip's own child can be ended with it
            preexec_fn=die_with_parent,
        )
        signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
        for line in process.stdout:
            line = without_credentials(line.rstrip())
            lines.append(line)
            say("   " + line)
        return process.wait(), lines
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
        if process is not None and process.poll() is None:
            for how in (signal.SIGTERM, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, how)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=3)
                    break
