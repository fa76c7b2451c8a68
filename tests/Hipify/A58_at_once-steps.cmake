# Four targets that share headers, translated with -j64 again and again: the same bytes in all of them.
fake_torch("${case_DIR}/venv" VERSION 2.13.0 CPU)
set(rounds 50)
if(case_GENERATOR MATCHES "Makefiles" OR NOT case_DIR MATCHES "/A58_at_once$")
  # The other generator and the other CMakes start the same commands.
  set(rounds 3)
endif()
foreach(number RANGE 1 3)
  source(include/h${number}.h "#pragma once" "cudaStream_t s${number}();"
  )
endforeach()
source(include/all.h "#include <h1.h>" "#include <h2.h>" "#include <h3.h>"
)
foreach(name IN ITEMS a b)
  source(${name}.cu "#include <all.h>" "#include <h2.h>" "cudaError_t ${name}() { return cudaGetLastError(); }"
  )
endforeach()
configure(
  [[
set(all "")
foreach(name IN ITEMS one two three)
  hipify_sources(${name} SOURCES a.cu b.cu INCLUDE_DIRECTORIES include)
  list(APPEND all ${${name}})
endforeach()
# One mirror of two calls.
hipify_sources(four SOURCES a.cu INCLUDE_DIRECTORIES include OUTPUT_DIRECTORY four)
hipify_sources(five SOURCES b.cu a.cu INCLUDE_DIRECTORIES include OUTPUT_DIRECTORY four)
add_custom_target(translations DEPENDS ${all} ${four} ${five})
]]
  NO_MATCH
)
snapshot(sources "${case_DIR}/src")
set(expected "")
foreach(round RANGE 1 ${rounds})
  foreach(name IN ITEMS one.hipified two.hipified three.hipified four)
    file(REMOVE_RECURSE "${case_BUILD_DIR}/${name}")
  endforeach()
  case_build(ARGS --target translations -- -j64)
  foreach(name IN ITEMS one.hipified two.hipified three.hipified four)
    snapshot(mirror "${case_BUILD_DIR}/${name}")
    if(expected STREQUAL "")
      set(expected "${mirror_CONTENT}")
      case_equal("files" "${mirror_FILES}" "a.cu\nb.cu\ninclude/all.h\ninclude/h1.h\ninclude/h2.h\ninclude/h3.h")
    endif()
    case_equal("${name} in round ${round}" "${mirror_CONTENT}" "${expected}")
  endforeach()
endforeach()
case_build(ARGS --target translations)
expect_commands()
snapshot(after "${case_DIR}/src")
case_equal("the sources" "${after_TIMES}" "${sources_TIMES}")
