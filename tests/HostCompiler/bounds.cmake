# The bounds of crt/host_config.h in the spellings of CUDA 7.5 to 13.5, and text that must give none.
include("${CMAKE_CURRENT_LIST_DIR}/../Versions/common/check.cmake")
_cudaops_use(facts/host_compiler)

function(bounds what text expected)
  _cudaops_host_config_bounds("${text}" b)
  check_equal("${what}" "${b_GNU_MAX}|${b_CLANG_MIN}|${b_CLANG_MAX}|${b_REFUSED}" "${expected}")
endfunction()
# The checks as the toolkits have them: blank lines and what stands in them differ.
function(
  header
  out
  gnu
  clang
  hos
  words
  extra
)
  set(old "(__clang_major__ < 3) || ((__clang_major__ == 3) &&  (__clang_minor__ < 3))")
  string(
    CONCAT text
    "#if defined(__CUDACC__)\n#if !defined(__GNUC__) && !defined(_WIN32)\n\n#error --- !!! UNSUPPORTED COMPILER !!! ---\n\n#endif\n"
    "${extra}"
    "#if defined(__GRCO_CLANG_COMPILER__)\n"
    "#if (__GRCO_CLANG_COMPILER__ == 1) && ((__clang_major__ < 16) || (__clang_major__ > 99))\n"
    "#error -- unsupported Grace clang version! The version must be 16.x to 99.x.\n#endif\n#endif\n"
    "#if defined(__GNUC__)\n\n#if __GNUC__ > ${gnu}\n\n"
    "#error -- unsupported GNU version! gcc versions later than ${words} are not supported! Use 'x'; at your own risk.\n\n"
    "#endif /* __GNUC__ > ${gnu} */\n\n\n"
    "#if defined(__HORIZON__)\n#if (__clang_major__ >= ${hos}) || ${old}\n"
    "#error -- unsupported HOS clang version! The version must be less than ${hos}\n#endif\n#endif\n"
    "#if defined(__clang__) && !defined(__APPLE__)\n\n#if (__clang_major__ >= ${clang}) || ${old}\n"
    "#error -- unsupported clang version! clang version must be less than ${words} and greater than 3.2 .\n\n#endif\n\n#endif\n"
    "#if defined(_WIN32)\n\n#if _MSC_VER < 1920 || _MSC_VER >= 1950\n\n#error -- unsupported Microsoft Visual Studio version!\n"
  )
  set(${out} "${text}" PARENT_SCOPE)
endfunction()
set(icc "#if defined(__ICC)\n#error -- ICC is not supported as a host compiler!\n#endif\n")
set(icx "#if defined(__INTEL_CLANG_COMPILER)\n#error -- unsupported Intel ICX compiler!\n#endif\n")
# What the released headers say: toolkit, gcc, first clang refused, the one refused for HOS, the sentence's number.
foreach(
  row
  IN
  ITEMS
    "11.8 11 15 15 15"
    "12.0 12 15 15 15"
    "12.1 12 16 16 16"
    "12.2 12 17 17 16"
    "12.3 12 17 17 16"
    "12.4 13 18 18 18"
    "12.5 13 18 18 18"
    "12.6 13 19 19 19"
    "12.8 14 20 20 20"
    "12.9 14 20 20 20"
    "13.0 15 21 21 21"
    "13.1 15 22 22 22"
    "13.2 15 22 22 22"
    "13.5 16 23 22 23"
)
  string(REPLACE " " ";" row "${row}")
  list(
    POP_FRONT row
    toolkit
    gnu
    clang
    hos
    words
  )
  math(EXPR newest "${clang} - 1")
  set(extra "")
  set(refused "")
  if(toolkit VERSION_GREATER_EQUAL 13.0)
    set(extra "${icc}${icx}")
    set(refused "Intel;IntelLLVM")
  elseif(toolkit VERSION_GREATER_EQUAL 12.2)
    set(extra "${icx}")
    set(refused "IntelLLVM")
  endif()
  header(text ${gnu} ${clang} ${hos} ${words} "${extra}")
  bounds("CUDA ${toolkit}" "${text}" "${gnu}|3.3|${newest}|${refused}")
  string(REPLACE "\n" "\r\n" crlf "${text}")
  bounds("CUDA ${toolkit}, CRLF" "${crlf}" "${gnu}|3.3|${newest}|${refused}")
endforeach()
_cudaops_host_config_bounds("${text}" b)
check_equal("as arguments" "${b_BOUNDS}" "GNU_MAX;16;CLANG_MIN;3.3;CLANG_MAX;22;REFUSED;Intel;IntelLLVM")

set(gnu_error "\n#error -- unsupported GNU version!\n")
set(clang_error "\n#error -- unsupported clang version!\n")
bounds("major and minor" "#if __GNUC__ > 4 || (__GNUC__ == 4 && __GNUC_MINOR__ > 9)${gnu_error}" "4.9|||"
)
bounds("major and minor, the other way round" "#if (__GNUC__ == 4 && __GNUC_MINOR__ > 9) || __GNUC__ > 4${gnu_error}" "4.9|||"
)
bounds(">=" "#if __GNUC__ >= 14${gnu_error}" "13|||"
)
bounds("> for clang, no lower bound" "#if (__clang_major__ > 8)${clang_error}" "||8|"
)
bounds("continued line" "#if (__clang_major__ >= 15) || \\\n    (__clang_major__ < 7)${clang_error}" "|7|14|"
)
bounds("blanks" "#  if  ( __GNUC__>13 )  /* why */ \n\n \t\n#  error unsupported GNU version" "13|||"
)
bounds("two upper bounds: the lower" "#if __GNUC__ > 15 || __GNUC__ > 13${gnu_error}" "13|||"
)
bounds("an unknown term beside a known one" "#if __GNUC__ > 15 || defined(X)${gnu_error}" "15|||"
)

bounds("empty" "" "|||")
bounds("no check" "#pragma once\nint x;\n" "|||"
)
bounds("the error is a comment" "#if __GNUC__ > 6\n//#error -- unsupported GNU version!\n#endif\n" "|||"
)
bounds("unconditional" "${gnu_error}" "|||")
bounds("not a number" "#if __GNUC__ > MAX${gnu_error}" "|||"
)
bounds("a narrower condition" "#if __GNUC__ > 12 && defined(X)${gnu_error}" "|||"
)
bounds("another macro" "#if __MY_GNUC__ > 12${gnu_error}" "|||"
)
bounds("hex" "#if __GNUC__ > 0x10${gnu_error}" "|||"
)
bounds("absurd" "#if __GNUC__ > 123456789012345678901234567890${gnu_error}" "|||"
)
bounds("nothing fits" "#if __GNUC__ > 0${gnu_error}" "|||"
)
bounds("nothing fits either" "#if __clang_major__ >= 10 || __clang_major__ < 20${clang_error}" "|||"
)
bounds("lists" "[;]#if __GNUC__ > 15${gnu_error};[" "15|||"
)
