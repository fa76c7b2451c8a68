# SPDX-License-Identifier: Apache-2.0
"""Stamps of a manifest compared by a few lines of C, which a store's first build compiles: a quarter of Python's time.

Where they can't be had (no compiler yet, another machine's store, no ctypes) Python compares by itself.
"""

import os

from .key import digest

# text: lines of a section behind its facts (manifest.py), with a zero byte at the end. 0 where all is as it was; 1 where
# something isn't, or has to be compared by content: Python finds out what.
SOURCE = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { most = 4096 };

/* The next field of *text, which ends at `end` or at the line's end; 0 where it is too long. */
static const char* field(const char** text, char end, char* buffer) {
  size_t size = 0;
  const char* from = *text;
  while (from[size] && from[size] != end && from[size] != '\\n') ++size;
  *text += size;
  if (**text == end) ++*text;
  if (size >= most) return 0;
  memcpy(buffer, from, size);
  buffer[size] = 0;
  return buffer;
}

static int number(const char** text, long long* value) {
  int negative = **text == '-', digits = 0;
  if (negative) ++*text;
  unsigned long long sum = 0;
  for (; **text >= '0' && **text <= '9'; ++*text, ++digits) sum = 10 * sum + (unsigned)(**text - '0');
  if (**text == '.' || **text == ' ') ++*text;
  *value = (long long)(negative ? 0 - sum : sum);
  return digits;
}

static long long ns(struct timespec time) { return 1000000000LL * time.tv_sec + time.tv_nsec; }

static const char* next_line(const char* text) {
  text = strchr(text, '\\n');
  return text ? text + 1 : "";
}

static int directory(const char** text) {
  char buffer[most];
  const char* path = field(text, '\\n', buffer);
  if (!path) return 1;
  int place = open(path, O_PATH | O_CLOEXEC);
  if (place < 0) return 1;
  const char *names = *text, *stamps = next_line(names);
  int changed = 0;
  while (!changed && names < stamps && *names) {
    const int last = names[strcspn(names, "/\\n")] != '/';
    const char* name = field(&names, '/', buffer);
    struct stat now;
    long long size, mtime, ctime, inode;
    changed = !name || !number(&stamps, &size) || !number(&stamps, &mtime) || !number(&stamps, &ctime) ||
              !number(&stamps, &inode) || fstatat(place, name, &now, 0) != 0 || now.st_size != size ||
              ns(now.st_mtim) != mtime || ns(now.st_ctim) != ctime || (long long)now.st_ino != inode;
    if (last) break;
  }
  close(place);
  *text = next_line(next_line(next_line(*text)));
  return changed;
}

int cudaops_changed(const char* text) {
  char buffer[most];
  while (*text) {
    if (strncmp(text, "files ", 6) == 0) {
      text += 6;
      text += strcspn(text, " \\n");
      if (*text != ' ') return 1;
      ++text;
      if (directory(&text)) return 1;
    } else if (strncmp(text, "absent ", 7) == 0 || strncmp(text, "there ", 6) == 0) {
      const int absent = *text == 'a';
      text += absent ? 7 : 6;
      const char* path = field(&text, '\\n', buffer);
      if (!path || (access(path, F_OK) == 0) == absent) return 1;
    } else {
      return 1;
    }
  }
  return 0;
}
"""

_functions = {}


def _place(root):
    return os.path.join(root, "id", "stamps-" + digest(SOURCE))


def function(root):
    """cudaops_changed(bytes) of this store, or None."""
    if root not in _functions:
        _functions[root] = _load(_place(root))
    return _functions[root]


def _load(place):
    try:
        with open(place, encoding="ascii") as file:
            content = file.read()
        with open(place + ".so", "rb") as file:
            if digest(file.read()) != content:
                return None
        from ctypes import CDLL

        return CDLL(place + ".so").cudaops_changed
    except (OSError, ValueError, ImportError, AttributeError):
        return None


def make(root, compiler):
    """Compiles it where this store has none that can be loaded."""
    if function(root) is not None:
        return
    import subprocess

    from . import publish

    place = _place(root)
    made = "%s.%d.new" % (place, os.getpid())
    command = [compiler, "-O2", "-shared", "-fPIC", "-x", "c", "-", "-o", made]
    try:
        done = subprocess.run(command, input=SOURCE.encode(), capture_output=True)
        if done.returncode == 0:
            with open(made, "rb") as file:
                content = digest(file.read())
            os.replace(made, place + ".so")
            publish.write(place, content)
            _functions.pop(root)
    except OSError:
        pass  # Python compares
    publish.remove(made)
