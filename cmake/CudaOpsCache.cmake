# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
CudaOpsCache
------------

Compiles through a compiler cache, so that the object is always the one that the compiler would make.

.. command:: cudaops_target_cache

  .. code-block:: cmake

    cudaops_target_cache(<target>)

  Compiles the C++ and CUDA sources of ``<target>`` through the cache that ``CUDAOPS_CACHE`` names. Ops and kernels,
  and every target given to :command:`cudaops_target_defaults`, are compiled so already. Where
  ``CMAKE_<LANG>_COMPILER_LAUNCHER`` (variable or environment), the target property ``<LANG>_COMPILER_LAUNCHER`` or
  ``RULE_LAUNCH_COMPILE`` is set, that is used as it is, and the report says so.

``CUDAOPS_CACHE`` (variable, or environment variable of the same name)
  ``AUTO`` (default): the first sound one on ``PATH``: ccache 4.7.5 or newer, sccache 0.10 or newer; else none, and the
  report says why. ``ccache``, ``sccache``: that one, or an error. ``OFF``: none.

``CUDAOPS_CACHE_REMOTE`` (variable, or environment variable of the same name)
  A cache that machines share, asked where the local one has nothing, and filled with what is compiled here:
  ``redis://[[<user>:]<password>@]<host>[:<port>][/<number>]``, ``redis+unix:<socket>``
  (``redis+unix://<password>@localhost<socket>``), ``http://[<user>:<password>@]<host>[:<port>][/<path>]`` (GET and PUT),
  ``file:<directory>``. Special characters of a password are written ``%40`` and the like. It is tried at configure; a URL
  that the installed cache can't use is an error, a server that doesn't answer, or not properly, costs half a second and
  one line, then it is left out for one, two, four ... minutes while the local cache goes on. (Not for a directory on a
  network file system that hangs: nobody can time that out.) Whoever may write to a shared cache decides what is in your
  objects: only a cache whose writers you trust.

``CUDAOPS_CACHE_READONLY`` (variable, or environment variable of the same name)
  ``ON``: the shared cache is read and never written, as for the builds of strangers' pull requests. ``OFF`` (default).

A password is shown nowhere and written nowhere below the build tree. ``-DCUDAOPS_CACHE_REMOTE=redis://:PW@host`` stands in
``CMakeCache.txt`` as ``redis://***@host``; the URL itself is kept in the user's store (``<CUDAOPS_STORE>/secrets``, mode
0600, default ``~/.cache/cudaops``), where builds read it. Where that can't be written the shared cache is left out, with
one line. The command line is seen by others on the machine, the environment isn't: ``CUDAOPS_CACHE_REMOTE`` in the
environment of the first configure is the better way.

After a build in which something was linked, one line says how many compiles were hits, where a compile missed or a cache
is shared; where none of the compiles of a new build tree was found in a shared cache it is a WARNING with the likely
reason. The line comes from the target ``cudaops_cache_summary``, which is made of all targets that use the cache. Each
compile leaves a line in ``<build>/CudaOps/cache/log``: result, what the shared cache did, milliseconds, reason, object;
the summary moves them to ``compiles``, the last one of each object, which ``cudaops_build_report`` reads.

Plain ``ccache nvcc`` returns wrong objects: it sees one of nvcc's passes, none of nvcc's environment variables, and not
what is behind option files. The launcher used here takes the headers from the dependency file, which names those of all
passes, and puts into the key the variables that nvcc and the host compiler read, and the content of cicc, ptxas,
cudafe++, nvcc.profile, libdevice and the host compiler's programs. What it can't describe is compiled without the
cache: ``-dc`` (``-rdc=true -c`` is fine), ``-arch=native``, several option files in one, ``-keep``, ``-save-temps``,
time traces, profiling, sources with ``.incbin`` or with ``__has_include`` of a file of the project's, HIP (clang's
dependency files leave out what only device passes include). An entry isn't used where a file has come since that the
compiler would find before a header the entry names.

Entries are found again from another checkout, venv, toolkit directory or home, because the launcher says paths relative
to the build tree (``<build>/CudaOps/links`` leads to torch, Python and the toolkit). Builds with debug information
(``-g``, ``-G``, ``-lineinfo``) hold their paths and keep to their place. A cache that fails is left out for a minute,
with one line, and the build goes on.

Example:

.. code-block:: cmake

  add_library(inference SHARED inference.cpp kernels.cu)
  cudaops_target_cache(inference)
#]=======================================================================]

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)
# An empty value of a keyword is a value.
if(POLICY CMP0174)
  cmake_policy(SET CMP0174 NEW)
endif()

include("${CMAKE_CURRENT_LIST_DIR}/detail/arguments.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/cache.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/message.cmake")

function(cudaops_target_cache)
  list(APPEND CMAKE_MESSAGE_CONTEXT "CudaOps.cudaops_target_cache")
  if(NOT ARGC EQUAL 1)
    list(JOIN ARGV " " found)
    _cudaops_stop(
      "cudaops_target_cache(): takes one argument, a target."
      FACTS "found   '${found}'"
      FIX "cudaops_target_cache(<target>)"
    )
  endif()
  set(target "${ARGV0}")
  _cudaops_check_target(cudaops_target_cache "${target}" "cudaops_target_cache(<target>)")
  _cudaops_cache_target(${target})
endfunction()
