# Targets of this project: components (one per folder of src), unit tests.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON) # POSIX functions
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
# What is built is what is installed: a path that is rewritten on installing ends in ':' before, the current folder.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

# iw_plain_flags: for what is loaded into programs of others (mpi/), where sanitizers cannot go.
add_library(iw_plain_flags INTERFACE)
add_library(iw_flags INTERFACE)
target_link_libraries(iw_flags INTERFACE iw_plain_flags)
target_compile_options(iw_plain_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef
  -Wpointer-arith -Wwrite-strings $<$<BOOL:${IW_WERROR}>:-Werror>)
# Integer times must not wrap silently in tests, floating point must not be contracted differently per machine.
target_compile_options(iw_plain_flags INTERFACE -ffp-contract=off)
target_compile_definitions(iw_plain_flags INTERFACE _GNU_SOURCE IW_VERSION="${PROJECT_VERSION}")
target_include_directories(iw_plain_flags INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
# Hardening, as distributions build (tools/check_binaries.sh looks at the result).
target_compile_options(iw_plain_flags INTERFACE -fstack-protector-strong)
target_link_options(iw_plain_flags INTERFACE -Wl,-z,relro -Wl,-z,now)
if(NOT IW_SANITIZE)
  include(CheckCCompilerFlag)
  check_c_compiler_flag(-fstack-clash-protection IW_HAS_STACK_CLASH)
  check_c_compiler_flag(-fcf-protection=full IW_HAS_CF_PROTECTION) # x86: CET
  check_c_compiler_flag(-mbranch-protection=standard IW_HAS_BRANCH_PROTECTION) # its like on ARM
  target_compile_options(iw_plain_flags INTERFACE $<$<BOOL:${IW_HAS_STACK_CLASH}>:-fstack-clash-protection>
                         $<$<BOOL:${IW_HAS_CF_PROTECTION}>:-fcf-protection=full>
                         $<$<BOOL:${IW_HAS_BRANCH_PROTECTION}>:-mbranch-protection=standard>)
endif()
if(IW_SANITIZE)
  target_compile_options(iw_flags INTERFACE -fsanitize=${IW_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all -UNDEBUG) # asserts too: RelWithDebInfo would drop them
  target_link_options(iw_flags INTERFACE -fsanitize=${IW_SANITIZE})
elseif((CMAKE_BUILD_TYPE OR CMAKE_CONFIGURATION_TYPES) AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT CMAKE_C_FLAGS MATCHES "_FORTIFY_SOURCE")
  target_compile_options(iw_plain_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2) # needs optimisation
endif()

if(IW_ALL_CASES)
  target_compile_definitions(iw_flags INTERFACE IWT_ALL_CASES) # of tests/support/support.h
endif()

# iw_component(noise [WITHOUT room/file.c room/ ...] [USES base] [LIBRARIES m] [INCLUDES ...]): one folder of src as a static library:
# all sources below it but those of its tests and its verb, and those WITHOUT names by what their paths begin with.
function(iw_component name)
  cmake_parse_arguments(A "" "" "SOURCES;WITHOUT;USES;LIBRARIES;INCLUDES" ${ARGN})
  if(NOT A_SOURCES)
    file(GLOB_RECURSE A_SOURCES CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.c)
    list(FILTER A_SOURCES EXCLUDE REGEX "^(tests|verb|bpf)/")
    foreach(part IN LISTS A_WITHOUT)
      list(FILTER A_SOURCES EXCLUDE REGEX "^${part}")
    endforeach()
  endif()
  add_library(iw_${name} STATIC ${A_SOURCES})
  set_property(GLOBAL APPEND PROPERTY IW_COMPONENTS_${IW_LIBRARY} ${name}) # see iw_library()
  set_property(GLOBAL APPEND PROPERTY IW_LIBRARIES_${IW_LIBRARY} ${A_LIBRARIES})
  list(TRANSFORM A_USES PREPEND iw_)
  target_link_libraries(iw_${name} PUBLIC iw_flags ${A_USES} ${A_LIBRARIES})
  target_include_directories(iw_${name} SYSTEM PUBLIC ${A_INCLUDES})
endfunction()

# iw_group(core base sim ...): folders of this one, each a component, and all of them as iw_core.
function(iw_group name)
  foreach(component IN LISTS ARGN)
    add_subdirectory(${component})
  endforeach()
  add_library(iw_${name} INTERFACE)
  list(TRANSFORM ARGN PREPEND iw_)
  target_link_libraries(iw_${name} INTERFACE ${ARGN})
endfunction()

# iw_library(core idlewave COMPONENT library [PRIVATE] [USES targets ...]): what users link, libidlewave.so or (BUILD_SHARED_LIBS=OFF) .a, of
# all components that were made where IW_LIBRARY was "core", with their libraries. Before 1.0 each minor version may break programs: its
# soname has both numbers. Names have versions, iw_* the soname's. PRIVATE: iwi_* are there too, for another library of ours, under the
# whole version, so that two builds do not mix (docs/decisions/0079-two-libraries.md).
function(iw_library library target)
  cmake_parse_arguments(A "PRIVATE" "COMPONENT" "USES" ${ARGN})
  get_property(components GLOBAL PROPERTY IW_COMPONENTS_${library})
  get_property(libraries GLOBAL PROPERTY IW_LIBRARIES_${library})
  list(TRANSFORM components REPLACE "(.+)" "$<TARGET_OBJECTS:iw_\\1>" OUTPUT_VARIABLE objects)
  list(REMOVE_DUPLICATES libraries)
  add_library(${target} ${objects})
  target_link_libraries(${target} PUBLIC ${A_USES} PRIVATE ${libraries} m)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set(soversion ${PROJECT_VERSION_MAJOR})
  if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(soversion 0.${PROJECT_VERSION_MINOR})
  endif()
  string(REPLACE "-" "_" node ${target})
  string(TOUPPER ${node} node)
  set(versions "${node}_${soversion} { global: iw_*; local: *; };\n")
  if(A_PRIVATE)
    string(APPEND versions "${node}_PRIVATE_${PROJECT_VERSION} { global: iwi_*; };\n")
  endif()
  set(map ${CMAKE_CURRENT_BINARY_DIR}/${target}.map)
  file(GENERATE OUTPUT ${map} CONTENT "${versions}")
  set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${soversion} LINK_DEPENDS ${map})
  # options only: iw_flags itself would have to be installed beside a static library
  target_link_options(${target} PRIVATE -Wl,--version-script=${map} -Wl,-Bsymbolic $<TARGET_PROPERTY:iw_flags,INTERFACE_LINK_OPTIONS>)
  if(NOT IW_SANITIZE) # the sanitizers' functions come with the program
    target_link_options(${target} PRIVATE -Wl,--no-undefined)
  endif()
  install(TARGETS ${target} EXPORT ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${A_COMPONENT} NAMELINK_COMPONENT headers
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT headers)
endfunction()

# iw_tests(noise [CORE] [LIBRARIES ...] [WITHOUT name ...] [SOURCES shared.c ...] [TESTS finish_test ...]): the tests of this folder, files
# <test>_test.c, with the other sources here, all in one program `noise_tests`; each is a ctest of its own by its own name.
# `noise_tests finish_test` runs one by hand. WITHOUT: tests and sources that are not for this program; TESTS: just these.
# CORE: .ci/run runs them in the release preset too, where the compiler vectorises; all others in dev only (.ci/run --full: all).
#
# A test file keeps its main(), which the preprocessor renames to <test>_main. The program's table of them is made here; a
# header with their prototypes is included before each, so that a main() that changes its arguments fails to compile until
# cmake runs again.
function(iw_tests name)
  cmake_parse_arguments(A "CORE" "" "TESTS;SOURCES;LIBRARIES;WITHOUT" ${ARGN})
  set(program ${name}_tests)
  if(NOT A_TESTS)
    file(GLOB A_TESTS CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *_test.c)
    file(GLOB others CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.c)
    list(REMOVE_ITEM others ${A_TESTS} ${A_WITHOUT})
    list(APPEND A_SOURCES ${others})
    list(TRANSFORM A_TESTS REPLACE "\\.c$" "")
    list(REMOVE_ITEM A_TESTS "" ${A_WITHOUT})
  endif()
  set(header ${CMAKE_CURRENT_BINARY_DIR}/${program}.h)
  set(prototypes "")
  set(rows "")
  set(sources "")
  foreach(test IN LISTS A_TESTS)
    file(STRINGS ${test}.c with_arguments REGEX "^int main\\(int")
    if(with_arguments)
      string(APPEND prototypes "int ${test}_main(int argc, char **argv);\n")
      string(APPEND rows "    {\"${test}\", NULL, ${test}_main},\n")
    else()
      string(APPEND prototypes "int ${test}_main(void);\n")
      string(APPEND rows "    {\"${test}\", ${test}_main, NULL},\n")
    endif()
    list(APPEND sources ${test}.c)
    set_source_files_properties(${test}.c PROPERTIES COMPILE_DEFINITIONS main=${test}_main
                                COMPILE_OPTIONS "-include;${header}" OBJECT_DEPENDS ${header})
    add_test(NAME ${test} COMMAND ${program} ${test})
  endforeach()
  file(GENERATE OUTPUT ${header} CONTENT "/* Made by iw_tests(). */\n${prototypes}")
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${program}.c CONTENT
       "/* Made by iw_tests(). */\n#include \"support/test_program.h\"\n#include \"${header}\"\n\nconst struct iwt_test iwt_tests[] = {\n${rows}    {NULL, NULL, NULL},\n};\n")
  add_executable(${program} ${CMAKE_CURRENT_BINARY_DIR}/${program}.c ${PROJECT_SOURCE_DIR}/tests/support/test_program.c
                 ${sources} ${A_SOURCES})
  target_link_libraries(${program} PRIVATE iw_flags ${A_LIBRARIES} iw_testing_builder iw_testing_made iw_testing_support ${CMOCKA_LIBRARIES} m)
  target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_include_directories(${program} SYSTEM PRIVATE ${CMOCKA_INCLUDE_DIRS})
  target_compile_definitions(${program} PRIVATE IW_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
  if(NOT A_CORE)
    set_target_properties(${program} PROPERTIES IW_DEV_ONLY TRUE)
    iw_tests_are(dev ${A_TESTS})
  endif()
endfunction()

# iw_tests_are(LABEL TESTS ...): adds a label.
#   measures  the outcome depends on how quiet this machine is: run_tests.py gives it more tries, and none runs beside it
#   long      only .ci/run --full runs it
#   dev       .ci/run runs it in the dev preset only, with sanitizers
#   release   only in the release preset: it measures, or goes through the command as a person would
#   threads   .ci/run runs it under the thread sanitizer too
function(iw_tests_are label)
  foreach(test IN LISTS ARGN)
    set_property(TEST ${test} APPEND PROPERTY LABELS ${label})
    if(label STREQUAL "measures")
      set_tests_properties(${test} PROPERTIES RUN_SERIAL TRUE)
    endif()
  endforeach()
endfunction()

# iw_everyday(DIR): the target `everyday` is all that DIR and its folders build but what .ci/run tests in another preset only:
# with sanitizers, targets that are IW_RELEASE_ONLY; without, those that are IW_DEV_ONLY.
function(iw_everyday dir)
  set(other IW_DEV_ONLY)
  if(IW_SANITIZE)
    set(other IW_RELEASE_ONLY)
  endif()
  get_property(folders DIRECTORY ${dir} PROPERTY SUBDIRECTORIES)
  foreach(folder IN LISTS folders)
    iw_everyday(${folder})
  endforeach()
  get_property(targets DIRECTORY ${dir} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    get_target_property(is_of_other ${target} ${other})
    get_target_property(is_left_out ${target} EXCLUDE_FROM_ALL)
    if(type MATCHES "EXECUTABLE|MODULE|SHARED|UTILITY" AND NOT is_of_other AND NOT is_left_out)
      add_dependencies(everyday ${target})
    endif()
  endforeach()
endfunction()
