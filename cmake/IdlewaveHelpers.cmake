# Targets of this project: components (one per folder of src), unit tests.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON) # POSIX functions
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)

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
if(IW_SANITIZE)
  target_compile_options(iw_flags INTERFACE -fsanitize=${IW_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all -UNDEBUG) # asserts too: RelWithDebInfo would drop them
  target_link_options(iw_flags INTERFACE -fsanitize=${IW_SANITIZE})
endif()

# iw_component(noise SOURCES a.c b.c USES base [LIBRARIES gsl]): one folder of src as a static library.
function(iw_component name)
  cmake_parse_arguments(A "" "" "SOURCES;USES;LIBRARIES;INCLUDES" ${ARGN})
  add_library(iw_${name} STATIC ${A_SOURCES})
  list(TRANSFORM A_USES PREPEND iw_)
  target_link_libraries(iw_${name} PUBLIC iw_flags ${A_USES} ${A_LIBRARIES})
  target_include_directories(iw_${name} SYSTEM PUBLIC ${A_INCLUDES})
endfunction()

# iw_test(noise/finish_test COMPONENTS noise [LONG]): tests/unit/noise/finish_test.c with cmocka.
function(iw_test path)
  cmake_parse_arguments(A "LONG" "TIMEOUT" "COMPONENTS;ARGS" ${ARGN})
  get_filename_component(name ${path} NAME)
  add_executable(${name} ${CMAKE_CURRENT_SOURCE_DIR}/${path}.c)
  list(TRANSFORM A_COMPONENTS PREPEND iw_)
  target_link_libraries(${name} PRIVATE iw_flags ${A_COMPONENTS} iw_testing_support ${CMOCKA_LIBRARIES} m)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_include_directories(${name} SYSTEM PRIVATE ${CMOCKA_INCLUDE_DIRS})
  target_compile_definitions(${name} PRIVATE IW_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
  add_test(NAME ${name} COMMAND ${name} ${A_ARGS})
  if(A_LONG)
    set_tests_properties(${name} PROPERTIES LABELS long)
  endif()
  if(A_TIMEOUT)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${A_TIMEOUT})
  endif()
endfunction()
