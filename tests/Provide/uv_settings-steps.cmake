# uv reads none of pip's settings: they are handed on, unless uv has its own.
use_fake_uv()
file(
  WRITE "${case_DIR}/home/.config/pip/pip.conf"
  "[global]\nindex-url = https://file.invalid/simple\ncert = /a/ca.pem\ntimeout = 7\n[install]\nfind_links =\n    /a\n    /b\n[download]\nno-index = true\n"
)
function(expect name)
  file(STRINGS "${case_DIR}/uv.env" lines ENCODING UTF-8)
  foreach(row IN LISTS ARGN)
    if(row MATCHES "^!(.*)")
      case_not_match("${name}" "\n${lines};" "[\n;]${CMAKE_MATCH_1}=")
    elseif(NOT row IN_LIST lines)
      list(FILTER lines INCLUDE REGEX "^UV_|^PIP_|^SSL")
      case_fail("${name}: ${row}" "${lines}")
    endif()
  endforeach()
endfunction()
call_provide(file _cudaops_provide_toolkit 13.2.2 x)
expect(
  file
  UV_DEFAULT_INDEX=https://file.invalid/simple
  UV_FIND_LINKS=/a,/b
  SSL_CERT_FILE=/a/ca.pem
  UV_HTTP_TIMEOUT=7
  UV_HTTP_RETRIES=2
  UV_PYTHON_DOWNLOADS=never
  !UV_EXTRA_INDEX_URL
  !UV_INDEX_STRATEGY
)
case_environment(PIP_INDEX_URL=https://environment.invalid/simple "PIP_EXTRA_INDEX_URL=https://one.invalid https://two.invalid" VIRTUAL_ENV=/nowhere)
call_provide(environment _cudaops_provide_toolkit 13.2.1 x)
expect(
  environment
  UV_DEFAULT_INDEX=https://environment.invalid/simple
  "UV_EXTRA_INDEX_URL=https://one.invalid https://two.invalid"
  UV_INDEX_STRATEGY=unsafe-best-match
  !VIRTUAL_ENV
)
case_environment(UV_INDEX_URL=https://own.invalid/simple UV_HTTP_TIMEOUT=99)
call_provide(own _cudaops_provide_toolkit 13.2.0 x)
expect(own UV_INDEX_URL=https://own.invalid/simple UV_HTTP_TIMEOUT=99 !UV_DEFAULT_INDEX !UV_EXTRA_INDEX_URL !UV_FIND_LINKS)
case_environment(UNSET UV_INDEX_URL)
file(WRITE "${case_DIR}/home/.config/uv/uv.toml" "[[index]]\nurl = 'https://toml.invalid/simple'\ndefault = true\n")
call_provide(toml _cudaops_provide_toolkit 13.1.1 x)
expect(toml !UV_DEFAULT_INDEX !UV_INDEX_URL !UV_EXTRA_INDEX_URL)
file(REMOVE "${case_DIR}/home/.config/uv/uv.toml")
case_environment(PIP_CONFIG_FILE=/dev/null UNSET PIP_INDEX_URL PIP_EXTRA_INDEX_URL UV_HTTP_TIMEOUT)
call_provide(nothing _cudaops_provide_toolkit 13.1.0 x)
expect(nothing UV_HTTP_TIMEOUT=15 !UV_DEFAULT_INDEX !UV_FIND_LINKS !SSL_CERT_FILE)
