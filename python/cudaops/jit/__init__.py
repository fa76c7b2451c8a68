# SPDX-License-Identifier: Apache-2.0
"""Ops that are built at first use and found again in milliseconds.

    api       load() and load_inline(): arguments, and the order of what is tried
    key       what a build follows from, as far as it is known before one
    manifest  what a build read, and whether that is still so
    stamps    of many files, compared by C that a store's first build compiles
    store     directories, layers, publishing, LRU
    loader    a built file into this process
    policy    on | warn | error | off
    errors    what is raised
    build     a miss: configure, compile, publish         (imported on a miss only, as what follows)
    project   the generated CMake project
    sources   what sources say of themselves: includes, ABI, bindings
    lock      one build of a key at a time, and not more jobs than cores and memory (memory) allow
    why       the reason of a miss, in words

What a hit imports is the standard library's lightest: no json, subprocess, fcntl, re.
"""
