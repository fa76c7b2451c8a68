# A STABLE op with the linkers that a user may pick, as many as this machine has: stubs of torch's libraries serve each,
# the library needs and exports the same, its notes and device code are there, and what torch lacks is still said.
real_machine()
if(NOT real_TORCH)
  return()
endif()
case_use_compiler_cache()
use_linkers(linkers)
if(linkers STREQUAL "")
  case_skip("none of ld.gold, ld.lld and ld.mold on this machine")
  return()
endif()

# what_it_is(<out>): what liblinked.so needs, looks in, takes from torch and gives, and what `inspect` reads of it.
function(what_it_is out)
  set(library "${case_BUILD_DIR}/liblinked.so")
  case_step(dynamic COMMAND readelf -d "${library}")
  string(REGEX MATCHALL "\\((NEEDED|RUNPATH|SONAME)\\)[^\n]*" result "${case_STEP_STDOUT}")
  list(SORT result)
  case_step(symbols COMMAND sh -c "nm -D \"$1\" | grep -E ' (T |U (aoti_)?torch_)' | sed 's/^[0-9a-f]* *//' | LC_ALL=C sort" sh "${library}")
  string(REGEX REPLACE "T (_init|_fini|_edata|_end|__bss_start)\n" "" symbols "${case_STEP_STDOUT}")
  case_step(
    notes
    COMMAND "${case_PYTHON}" -B "${case_REPO}/python/cudaops/_run.py" inspect_library "${library}"
  )
  set(${out} "${result}\n${symbols}\n${case_STEP_STDOUT}" PARENT_SCOPE)
endfunction()

set(args -DCMAKE_CUDA_ARCHITECTURES=90-real -DCMAKE_BUILD_TYPE=Release)
set(
  code
  "add_torch_op(linked SOURCES op.cpp CUDA_SOURCES op_cuda.cpp op.cu)\ntarget_link_options(linked PRIVATE \${LINKER})"
)
configure("${code}" ARGS ${args} -DLINKER=-fuse-ld=bfd)
case_build()
what_it_is(usual)
foreach(linker IN LISTS linkers)
  configure("${code}" ARGS ${args} -DLINKER=-fuse-ld=${linker})
  case_build(ARGS --verbose)
  expect_stdout("/linked\\.link\\.settings\"? [^\n]*-fuse-ld=${linker}")
  refuse_stdout("Building")
  what_it_is(${linker})
  case_equal("the library by ${linker}" "${${linker}}" "${usual}")
endforeach()

# Where the choice is open, it is gold, if it worked when the stubs were made; with options that linkers read
# differently (link_words has them), or where that one fails, the compiler's own.
function(linked_by out)
  case_step(comment COMMAND readelf -p .comment -n "${case_BUILD_DIR}/liblinked.so")
  string(REGEX MATCH "mold|LLD|gold" by "${case_STEP_STDOUT}")
  set(${out} "${by}" PARENT_SCOPE)
endfunction()
configure("${code}" ARGS ${args} -DLINKER=)
case_build()
what_it_is(open)
case_equal("the library where the choice is open" "${open}" "${usual}")
linked_by(by)
set(expected "")
if("gold" IN_LIST linkers)
  set(expected gold)
endif()
case_equal("the linker, where the choice is open" "${by}" "${expected}")
configure("${code}" ARGS ${args} -DLINKER=-Wl,-Map=linked.map)
case_build()
linked_by(by)
case_equal("the linker, with an option that it may not know" "${by}" "")
# CMake's word for it; no option of the command says so.
configure("${code}\nset_property(TARGET linked PROPERTY LINKER_TYPE SYSTEM)" ARGS ${args} -DLINKER=)
case_build()
linked_by(by)
case_equal("the linker, with LINKER_TYPE SYSTEM" "${by}" "")
file(GLOB picked LIST_DIRECTORIES TRUE "${case_DIR}/store/link/*")
string(APPEND picked "/linker")
file(WRITE "${picked}" "nonesuch\n")
configure("${code}" ARGS ${args} -DLINKER=)
case_build()
linked_by(by)
case_equal("the linker, where the one picked is gone" "${by}" "")
what_it_is(open)
case_equal("the library, where the linker picked is gone" "${open}" "${usual}")
file(REMOVE "${picked}")

file(
  APPEND "${case_DIR}/src/op.cpp"
  "extern \"C\" void aoti_torch_there_is_none();\nvoid more() { aoti_torch_there_is_none(); }\n"
)
foreach(linker IN LISTS linkers)
  configure("${code}" ARGS ${args} -DLINKER=-fuse-ld=${linker})
  case_build(RESULT 1)
  expect_stdout("undefined (reference to|symbol).*aoti_torch_there_is_none")
endforeach()
