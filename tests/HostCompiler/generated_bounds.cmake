# Generated headers: whole checks with any numbers, operators, blanks and orders, whose bounds are known, and checks
# with random damage, which must give canonical bounds or none. A compiler that fits by the condition must fit by the
# bounds.
include("${CMAKE_CURRENT_LIST_DIR}/../Versions/common/check.cmake")
_cudaops_use(facts/host_compiler)

set(noise "_GNUCclangmjorif#error0159<>=&|!()[]{};,.\"'\\\\/*$@ \t\r\nunsupported version")
set(blank_0 "")
set(blank_1 " ")
set(blank_2 "  ")
set(blank_3 "\t")
set(blank_4 " ")
set(gap_0 "\n")
set(gap_1 "\n\n")
set(gap_2 "\n \t\n\n")
set(gap_3 "\r\n")
set(gap_4 "\n")

function(bad text problem)
  string(REPLACE "\n" "<LF>" text "${text}")
  string(REPLACE "\r" "<CR>" text "${text}")
  message(SEND_ERROR "input: ${text}\n  ${problem}\n  read ${b_GNU_MAX}|${b_CLANG_MIN}|${b_CLANG_MAX}|${b_REFUSED}")
endfunction()

function(
  try
  g1
  g2
  c1
  c2
  m1
  m2
  blank
  gap
  order
  how
  where1
  where2
)
  math(EXPR gnu "${g1}${g2} + 1")
  math(EXPR clang "1${c1}${c2} - 90")
  math(EXPR low "${m1} % 5 + 1")
  math(EXPR blank "${blank} % 5")
  math(EXPR gap "${gap} % 5")
  set(s "${blank_${blank}}")
  set(n "${gap_${gap}}")

  # The clang condition, in any order and with either operator.
  math(EXPR newest "${clang} - 1")
  set(high "(__clang_major__${s}>=${s}${clang})")
  if(m2 GREATER 4)
    set(high "__clang_major__ >${s}${newest}")
  endif()
  set(old "(__clang_major__${s}<${s}${low})")
  set(minor "((__clang_major__ == ${low}) &&${s}(__clang_minor__ < ${m2}))")
  if(order LESS 3)
    set(terms "${high} || ${old} ||${s}${minor}")
  elseif(order LESS 5)
    set(terms "${minor}||${old}${s}||${s}${high}")
  elseif(order LESS 7)
    set(terms "${old} || \\\n ${high} || defined(X${m1}) || ${minor}")
  else()
    set(terms "${old} ${s}|| ${high}")
    set(m2 "")
  endif()
  set(min "${low}.${m2}")
  if(m2 STREQUAL "")
    set(min "${low}")
  endif()
  set(expected "${gnu}|${min}|${newest}")
  # Bounds that leave nothing are no bounds.
  if(min VERSION_GREATER newest)
    set(expected "${gnu}||")
  endif()
  set(
    text
    "#${s}if __GNUC__ >${s}${gnu}${n}#${s}error -- unsupported GNU version! gcc${n}#endif${n}#if defined(__clang__)${n}#${s}if ${terms}${n}#error${s} -- unsupported clang version! clang;${n}#endif\n"
  )
  if(how LESS 4)
    check_input("${text}")
    _cudaops_host_config_bounds("${text}" b)
    if(NOT "${b_GNU_MAX}|${b_CLANG_MIN}|${b_CLANG_MAX}" STREQUAL "${expected}" OR NOT "${b_REFUSED}" STREQUAL "")
      bad("${text}" "expected ${expected}")
    endif()
    # The very condition of the header, asked on integers.
    if(how EQUAL 0 AND NOT expected MATCHES "\\|\\|")
      math(EXPR version "${where1}${where2} % 30 + 1")
      set(fits TRUE)
      if(
        version GREATER_EQUAL clang
        OR version LESS low
        OR (version EQUAL low AND NOT m2 STREQUAL "" AND where1 LESS m2)
      )
        set(fits FALSE)
      endif()
      _cudaops_host_compiler_fits(out ID Clang VERSION ${version}.${where1}.${where2} ${b_BOUNDS})
      if(NOT out STREQUAL fits)
        bad("${text}" "clang ${version}.${where1}.${where2}: expected ${fits}, is ${out}")
      endif()
    endif()
  else()
    string(LENGTH "${text}" length)
    math(EXPR at "(${where1}${where2}${g1} * 7 + ${c1}${m1}) % (${length} + 1)")
    string(SUBSTRING "${text}" 0 ${at} front)
    string(SUBSTRING "${text}" ${at} -1 back)
    if(how EQUAL 4)
      set(text "${front}")
    elseif(how EQUAL 5)
      set(text "${back}")
    elseif(how EQUAL 6)
      string(RANDOM LENGTH 60 ALPHABET "${noise}" text)
    else()
      string(RANDOM LENGTH ${how} ALPHABET "${noise}" dirt)
      set(text "${front}${dirt}${back}")
    endif()
    check_input("${text}")
    _cudaops_host_config_bounds("${text}" b)
    if(
      NOT
        "${b_GNU_MAX}|${b_CLANG_MIN}|${b_CLANG_MAX}|${b_REFUSED}"
          MATCHES
          "^([0-9]+(\\.[0-9]+)?)?\\|(([0-9]+(\\.[0-9]+)?)?\\|[0-9]+(\\.[0-9]+)?|\\|)\\|$"
    )
      bad("${text}" "not canonical")
    endif()
  endif()
endfunction()

check_seed(3)
if(NOT DEFINED check_COUNT)
  set(check_COUNT 100000)
endif()
foreach(i RANGE 1 ${check_COUNT})
  string(RANDOM LENGTH 12 ALPHABET 0123456789 digits)
  string(REGEX REPLACE "(.)" "\\1;" digits "${digits}")
  try(${digits})
endforeach()
