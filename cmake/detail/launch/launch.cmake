# SPDX-License-Identifier: Apache-2.0
# What runs the compiles and links of our targets. Nothing else writes <LANG>_COMPILER_LAUNCHER or RULE_LAUNCH_LINK, and
# that only at the end of the configure step: until then what stands in these properties is the user's own. A step is
# what cudaops-launch (cmake/launcher) does beside running the compiler; all steps of a target and language are one
# settings file and one process. From the outermost to the innermost:
#
#   measure      notes the memory of a compile, for the number of jobs of the next build
#   trace        notes all that a compile took
#   cache        compiler cache
#   cubins       one architecture, or what puts them together
#   precompiled  precompiled headers
#   hip          the headers of all passes in a dependency file
#
# and, with LINK for the language, behind the user's own in RULE_LAUNCH_LINK:
#
#   link         stubs of torch's libraries, Python's symbols

_cudaops_use(base/end base/hooks base/paths base/programs base/state base/text launch/launcher)

# _cudaops_launch_add(<target> <LANG> <step> <settings>)
#
# <settings> are lines of _cudaops_launcher_line(). Does nothing where _cudaops_launch_excluded() names a reason.
function(_cudaops_launch_add target language step settings)
  _cudaops_launch_excluded(${target} ${language} ${step} reason)
  if(NOT reason STREQUAL "")
    return()
  endif()
  _cudaops_target_set(${target} LAUNCH_${language}_${step} "${settings}")
  _cudaops_target_get(${target} LAUNCH_${language} steps)
  if(NOT step IN_LIST steps)
    _cudaops_target_set(${target} LAUNCH_${language} "${steps};${step}")
  endif()
  _cudaops_state_get(LAUNCH_TARGETS targets)
  if(NOT target IN_LIST targets)
    _cudaops_state_append(LAUNCH_TARGETS ${target})
    _cudaops_at_end()
  endif()
endfunction()

# _cudaops_launch_excluded(<target> <LANG> <step> <out>)
#
# Why a step can't be added: "user" where the user's own launcher runs these compiles, else the step that is there already
# and excludes it; empty where it can.
#
#   user    excludes what would change the command that this launcher runs: all but measure, trace and link
#   phases  of a trace exclude cubins, whose compiler is not nvcc
#   program  of a link, where it isn't there or can't stand between double quotes in the build file
function(_cudaops_launch_excluded target language step out)
  set(${out} "" PARENT_SCOPE)
  if(step MATCHES "^(cache|cubins|precompiled|hip)$")
    _cudaops_launch_user(${target} ${language} user)
    if(NOT user STREQUAL "")
      set(${out} user PARENT_SCOPE)
      return()
    endif()
  endif()
  if(step STREQUAL "link")
    _cudaops_launcher(program ignored)
    if(program STREQUAL "" OR program MATCHES "[\"$`\\]")
      set(${out} program PARENT_SCOPE)
    endif()
  elseif(step STREQUAL "cubins")
    _cudaops_target_get(${target} LAUNCH_${language}_trace trace)
    if(trace MATCHES "(^|\n)phases\t")
      set(${out} trace PARENT_SCOPE)
    endif()
  endif()
endfunction()

# _cudaops_launch_user(<target> <LANG> <out>)
#
# What the user runs these compiles with: the target's <LANG>_COMPILER_LAUNCHER (which the variable and the environment
# fill), RULE_LAUNCH_COMPILE, or a cache that is called as the compiler; of LINK, RULE_LAUNCH_LINK. Empty where there is
# nothing.
function(_cudaops_launch_user target language out)
  set(${out} "" PARENT_SCOPE)
  set(rule_name RULE_LAUNCH_LINK)
  if(NOT language STREQUAL "LINK")
    set(rule_name RULE_LAUNCH_COMPILE)
    get_target_property(launcher ${target} ${language}_COMPILER_LAUNCHER)
    if(launcher)
      list(JOIN launcher " " launcher)
      set(${out} "${launcher}" PARENT_SCOPE)
      return()
    endif()
  endif()
  get_target_property(rule ${target} ${rule_name})
  if(NOT rule)
    get_target_property(directory ${target} SOURCE_DIR)
    get_property(rule DIRECTORY "${directory}" PROPERTY ${rule_name})
  endif()
  if(NOT rule)
    get_property(rule GLOBAL PROPERTY ${rule_name})
  endif()
  if(rule)
    set(${out} "${rule}" PARENT_SCOPE)
  elseif(CMAKE_${language}_COMPILER)
    file(REAL_PATH "${CMAKE_${language}_COMPILER}" real)
    _cudaops_cxx(cxx)
    if(real MATCHES "/s?ccache$" OR (language STREQUAL "CXX" AND NOT cxx STREQUAL CMAKE_CXX_COMPILER))
      set(${out} "${CMAKE_${language}_COMPILER}" PARENT_SCOPE)
    endif()
  endif()
endfunction()

# _cudaops_launch_steps(<target> <LANG> <out> <out-user>): in their order, and _cudaops_launch_user().
function(_cudaops_launch_steps target language out out_user)
  set(steps "")
  set(user "")
  _cudaops_target_get(${target} LAUNCH_${language} added)
  if(added)
    _cudaops_launch_user(${target} ${language} user)
  endif()
  set(order "measure;trace;cache;cubins;precompiled;hip;link")
  if(NOT user STREQUAL "")
    # Named after the step was added.
    list(REMOVE_ITEM order cache precompiled hip)
  endif()
  foreach(step IN LISTS order)
    if(step IN_LIST added)
      list(APPEND steps ${step})
    endif()
  endforeach()
  set(${out} "${steps}" PARENT_SCOPE)
  set(${out_user} "${user}" PARENT_SCOPE)
endfunction()

# _cudaops_launch_apply(): writes the properties, when all is known of the targets.
function(_cudaops_launch_apply)
  _cudaops_launcher(program ignored)
  _cudaops_top_directories(ignored build)
  _cudaops_state_get(LAUNCH_TARGETS targets)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  foreach(target IN LISTS targets)
    foreach(language IN LISTS languages ITEMS LINK)
      _cudaops_launch_steps(${target} ${language} steps user)
      if(steps STREQUAL "" OR program STREQUAL "")
        continue()
      endif()
      set(text "")
      # Compiles of a traced target are other jobs than before, so that turning it on makes them again.
      set(kind "")
      foreach(step IN LISTS steps)
        _cudaops_target_get(${target} LAUNCH_${language}_${step} settings)
        string(APPEND text "${settings}")
        if(step STREQUAL "trace")
          set(kind "-trace")
          if(settings MATCHES "(^|\n)phases\t")
            set(kind "-phases")
          endif()
        endif()
      endforeach()
      string(TOLOWER "${language}" name)
      set(file "${build}/CudaOps/launch/${target}.${name}${kind}.settings")
      _cudaops_launcher_settings("${file}" "${text}")
      if(language STREQUAL "LINK")
        set(command "\"${program}\" \"${file}\"")
        if(NOT user STREQUAL "")
          string(PREPEND command "${user} ")
        endif()
        set_property(TARGET ${target} PROPERTY RULE_LAUNCH_LINK "${command}")
        continue()
      endif()
      get_target_property(user ${target} ${language}_COMPILER_LAUNCHER)
      if(NOT user)
        set(user "")
      endif()
      set(launcher "${program}" "${file}" ${user})
      if("cubins" IN_LIST steps)
        # Named by the user after the sources were replaced: that launcher runs ours.
        set(launcher ${user} "${program}" "${file}")
      endif()
      set_property(TARGET ${target} PROPERTY ${language}_COMPILER_LAUNCHER ${launcher})
    endforeach()
  endforeach()
endfunction()
_cudaops_on(configured _cudaops_launch_apply)

# _cudaops_launch_report(<out>): the report's member "launch", a row a target and language with steps.
function(_cudaops_launch_report out)
  _cudaops_state_get(LAUNCH_TARGETS targets)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  set(rows "")
  foreach(target IN LISTS targets)
    foreach(language IN LISTS languages ITEMS LINK)
      _cudaops_launch_steps(${target} ${language} steps user)
      if(steps STREQUAL "")
        continue()
      endif()
      _cudaops_json_list(steps "${steps}")
      _cudaops_json_quote(user "${user}")
      list(
        APPEND rows
        "    { \"target\": \"${target}\", \"language\": \"${language}\", \"steps\": ${steps}, \"user\": ${user} }"
      )
    endforeach()
  endforeach()
  list(JOIN rows ",\n" rows)
  if(NOT rows STREQUAL "")
    set(rows "\n${rows}\n  ")
  endif()
  set(${out} "[${rows}]" PARENT_SCOPE)
endfunction()
