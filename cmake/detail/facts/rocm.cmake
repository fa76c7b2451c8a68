# SPDX-License-Identifier: Apache-2.0
# Finds ROCm installations and reads the facts of each: where it lies, its release, its compiler, whether its pieces are
# all there. AMD's own layout (/opt/rocm), the multi-arch one of distributions, conda's and that of Python wheels.

_cudaops_use(base/paths base/probe base/stamps base/text facts/compiler)

# _cudaops_rocm_describe(<prefix> <place> <explicit|hint|found>)
#
# Sets <prefix>_ROOT, _VERSION, _COMPILER (clang++, never hipcc, which CMake doesn't take), _COMPILER_VERSION,
# _HIP_LANG_DIR, _DEVICE_LIB_DIR, _RUNTIME (libamdhip64.so), _PROBLEM (empty, or what is wrong), _FIX, and _IDENTITY, which
# tells one ROCm under two spellings: an `explicit` compiler is that one, whatever else its ROCm holds.
function(_cudaops_rocm_describe prefix place kind)
  set(problem "")
  set(fix "")
  set(root "")
  set(compiler "")
  set(hipcc "")
  if(IS_DIRECTORY "${place}")
    set(root "${place}")
    if(EXISTS "${root}/bin/hipcc")
      set(hipcc "${root}/bin/hipcc")
    endif()
  else()
    cmake_path(GET place FILENAME name)
    if(name MATCHES "hipcc")
      set(hipcc "${place}")
    else()
      set(compiler "${place}")
    endif()
    # The first directory above it that holds HIP's headers; through links, because /opt/rocm/bin/hipcc and
    # /usr/bin/hipcc may both be some.
    file(REAL_PATH "${place}" real)
    foreach(start IN ITEMS "${place}" "${real}")
      cmake_path(GET start PARENT_PATH directory)
      while(root STREQUAL "" AND NOT directory STREQUAL "/" AND NOT directory STREQUAL "")
        if(EXISTS "${directory}/include/hip/hip_version.h")
          set(root "${directory}")
        endif()
        cmake_path(GET directory PARENT_PATH directory)
      endwhile()
    endforeach()
    if(root STREQUAL "")
      cmake_path(GET place PARENT_PATH directory)
      cmake_path(GET directory PARENT_PATH root)
    endif()
  endif()

  _cudaops_rocm_follows("${root}")
  set(version "")
  if(EXISTS "${root}/include/hip/hip_version.h")
    file(STRINGS "${root}/include/hip/hip_version.h" lines REGEX "define HIP_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
    string(REGEX MATCHALL "(MAJOR|MINOR|PATCH) +[0-9]+" parts "${lines}")
    # A project may have variables of these names.
    foreach(name IN ITEMS MAJOR MINOR PATCH)
      set(${name} "")
    endforeach()
    foreach(part IN LISTS parts)
      string(REGEX MATCH "^([A-Z]+) +([0-9]+)$" ignored "${part}")
      set(${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
    endforeach()
    if(NOT MAJOR STREQUAL "" AND NOT MINOR STREQUAL "")
      set(version "${MAJOR}.${MINOR}.${PATCH}")
      string(REGEX REPLACE "\\.$" "" version "${version}")
    endif()
  endif()

  if(compiler STREQUAL "")
    foreach(name IN ITEMS lib/llvm/bin/clang++ llvm/bin/clang++)
      if(EXISTS "${root}/${name}")
        set(compiler "${root}/${name}")
        break()
      endif()
    endforeach()
  endif()
  if(compiler STREQUAL "" AND hipcc)
    _cudaops_hipcc_clang("${hipcc}" compiler problem)
  endif()
  if(compiler STREQUAL "" AND EXISTS "${root}/bin/clang++")
    set(compiler "${root}/bin/clang++")
    set(problem "")
  endif()
  set(compiler_version "")
  if(compiler)
    _cudaops_compiler_identify("${compiler}" id compiler_version)
    if(NOT id STREQUAL "Clang")
      _cudaops_probe(about FILES "${compiler}" COMMAND "${compiler}" --version)
      _cudaops_first_line("${about_OUTPUT}${about_ERROR}" line)
      set(problem "${compiler} isn't clang: --version says '${line}'")
    elseif(compiler MATCHES "hipcc")
      set(problem "CMake takes no HIP compiler whose path holds 'hipcc': ${compiler}")
      set(fix "-DCMAKE_HIP_COMPILER=<clang++, in a directory of another name>")
    endif()
  endif()

  # Multi-arch directories are named after the target: lib/x86_64-linux-gnu.
  _cudaops_glob_in(in "${root}")
  file(GLOB multiarch LIST_DIRECTORIES true "${in}/lib/*-linux-gnu")
  set(hip_lang "")
  set(runtime "")
  foreach(lib IN ITEMS "${root}/lib" LISTS multiarch ITEMS "${root}/lib64")
    if(hip_lang STREQUAL "" AND EXISTS "${lib}/cmake/hip-lang/hip-lang-config.cmake")
      set(hip_lang "${lib}/cmake/hip-lang")
    endif()
    if(runtime STREQUAL "" AND EXISTS "${lib}/libamdhip64.so")
      set(runtime "${lib}/libamdhip64.so")
    endif()
  endforeach()
  set(device_libs "")
  file(
    GLOB found
    "${in}/amdgcn/bitcode/ocml.bc"
    "${in}/lib/amdgcn/bitcode/ocml.bc"
    "${in}/lib/*-linux-gnu/amdgcn/bitcode/ocml.bc"
    "${in}/lib/llvm/lib/clang/*/lib/amdgcn/bitcode/ocml.bc"
    "${in}/lib/llvm/amdgcn/bitcode/ocml.bc"
    "${in}/lib/clang/*/lib/amdgcn/bitcode/ocml.bc"
    "${in}/lib/clang/*/amdgcn/bitcode/ocml.bc"
  )
  if(found)
    list(GET found 0 device_libs)
    cmake_path(GET device_libs PARENT_PATH device_libs)
  endif()

  set(headers "install HIP's headers (hip-dev, on Debian libamdhip64-dev)")
  if(NOT problem STREQUAL "")
    if(fix STREQUAL "")
      set(fix "repair this ROCm, or -DCMAKE_HIP_COMPILER=<clang++>")
    endif()
  elseif(compiler STREQUAL "")
    set(problem "no clang++ (lib/llvm/bin/clang++, or the one that hipcc calls)")
    set(fix "install ROCm's compiler (rocm-llvm, on Debian hipcc), or -DCMAKE_HIP_COMPILER=<clang++>")
  elseif(version STREQUAL "")
    set(problem "no include/hip/hip_version.h with a version")
    set(fix "${headers}")
  elseif(NOT EXISTS "${root}/include/hip/hip_runtime.h")
    set(problem "no include/hip/hip_runtime.h")
    set(fix "${headers}")
  elseif(runtime STREQUAL "")
    set(problem "no libamdhip64.so")
    set(fix "install HIP's runtime (hip-runtime-amd, hip-dev, on Debian libamdhip64-dev)")
  elseif(hip_lang STREQUAL "")
    set(problem "no lib/cmake/hip-lang/hip-lang-config.cmake, which CMake's HIP language is made of")
    set(fix "install HIP's CMake files (hip-dev, on Debian libamdhip64-dev)")
  elseif(device_libs STREQUAL "")
    set(problem "no device libraries (amdgcn/bitcode/ocml.bc)")
    set(fix "install them (rocm-device-libs)")
  endif()

  file(REAL_PATH "${root}" identity)
  if(kind STREQUAL "explicit")
    string(APPEND identity "|${compiler}")
  endif()
  set(${prefix}_IDENTITY "${identity}" PARENT_SCOPE)
  set(${prefix}_ROOT "${root}" PARENT_SCOPE)
  set(${prefix}_VERSION "${version}" PARENT_SCOPE)
  set(${prefix}_COMPILER "${compiler}" PARENT_SCOPE)
  set(${prefix}_COMPILER_VERSION "${compiler_version}" PARENT_SCOPE)
  set(${prefix}_HIP_LANG_DIR "${hip_lang}" PARENT_SCOPE)
  set(${prefix}_DEVICE_LIB_DIR "${device_libs}" PARENT_SCOPE)
  set(${prefix}_RUNTIME "${runtime}" PARENT_SCOPE)
  set(${prefix}_PROBLEM "${problem}" PARENT_SCOPE)
  set(${prefix}_FIX "${fix}" PARENT_SCOPE)
endfunction()

# Where the pieces of a ROCm are looked for.
function(_cudaops_rocm_follows root)
  _cudaops_follows(
    "${root}/include/hip/hip_version.h"
    "${root}/include/hip/hip_runtime.h"
    "${root}/bin/hipcc"
    "${root}/bin/clang++"
    "${root}/llvm/bin/clang++"
    "${root}/lib/llvm/bin/clang++"
    "${root}/lib/llvm/lib/clang"
    "${root}/lib/llvm/amdgcn/bitcode"
    "${root}/lib/clang"
    "${root}/lib/amdgcn/bitcode"
    "${root}/amdgcn/bitcode"
  )
  _cudaops_glob_in(in "${root}")
  file(GLOB places LIST_DIRECTORIES true "${in}/lib/*-linux-gnu" "${in}/lib/clang/*" "${in}/lib/llvm/lib/clang/*")
  foreach(place IN LISTS places ITEMS "${root}/lib" "${root}/lib64")
    _cudaops_follows_names("${place}")
    _cudaops_follows(
      "${place}/libamdhip64.so"
      "${place}/cmake/hip-lang/hip-lang-config.cmake"
      "${place}/amdgcn/bitcode"
      "${place}/lib/amdgcn/bitcode"
    )
  endforeach()
endfunction()

# The clang++ behind a hipcc: the one in the directory it reports that says the same version, because distributions
# have several side by side.
function(_cudaops_hipcc_clang hipcc out out_problem)
  set(${out} "" PARENT_SCOPE)
  set(${out_problem} "" PARENT_SCOPE)
  _cudaops_probe(about FILES "${hipcc}" MATCHALL "[^\n]*clang version [^\n]*|InstalledDir: [^\n]*" COMMAND "${hipcc}" --version)
  set(line "")
  set(directory "")
  set(major "")
  foreach(entry IN LISTS about_OUTPUT)
    if(entry MATCHES "clang version ([0-9]+)")
      set(line "${entry}")
      set(major "${CMAKE_MATCH_1}")
    elseif(entry MATCHES "InstalledDir: (.+)$")
      string(STRIP "${CMAKE_MATCH_1}" directory)
    endif()
  endforeach()
  if(line STREQUAL "" OR directory STREQUAL "")
    set(${out_problem} "${hipcc} --version names no clang (exit code ${about_EXIT})" PARENT_SCOPE)
    return()
  endif()
  foreach(name IN ITEMS clang++ clang++-${major} amdclang++)
    set(candidate "${directory}/${name}")
    if(EXISTS "${candidate}")
      _cudaops_probe(said FILES "${candidate}" MATCHALL "[^\n]*clang version [^\n]*" COMMAND "${candidate}" --version)
      if(said_OUTPUT STREQUAL line)
        set(${out} "${candidate}" PARENT_SCOPE)
        return()
      endif()
    endif()
  endforeach()
  set(
    ${out_problem}
    "${hipcc} calls clang ${major} of ${directory}, and no clang++ of that version is there"
    PARENT_SCOPE
  )
endfunction()
