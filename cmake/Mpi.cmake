# The MPIs of this machine, side by side, and what is built once for each of them.
#
# IW_MPIS lists the MPIs that were found: openmpi, mpich, both or none.
set(IW_MPI openmpi mpich CACHE STRING "MPIs to build parts for: openmpi;mpich, one of them, or OFF")
set(IW_MPI_KNOWN openmpi mpich)
set(IW_MPI_PACKAGES_openmpi "openmpi-bin libopenmpi-dev")
set(IW_MPI_PACKAGES_mpich "mpich libmpich-dev")
set(IW_MPI_SHOW_openmpi -showme) # the wrapper's option that prints the compiler's command line
set(IW_MPI_SHOW_mpich -show)

# iw_mpi_show(WRAPPER MPI OUT): the arguments that the wrapper gives to its compiler; empty: not a wrapper of that MPI.
function(iw_mpi_show wrapper mpi out)
  set(${out} "" PARENT_SCOPE)
  execute_process(COMMAND ${wrapper} ${IW_MPI_SHOW_${mpi}} OUTPUT_VARIABLE line RESULT_VARIABLE code ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(code EQUAL 0)
    separate_arguments(words UNIX_COMMAND "${line}")
    list(POP_FRONT words)
    set(${out} "${words}" PARENT_SCOPE)
  endif()
endfunction()

# iw_find_mpi(MPI FOUND): looks for mpicc.MPI, as Debian names it, then for an mpicc that answers as that MPI's does.
# Defines the interface library iw_mpi_MPI; IW_MPICC_MPI, IW_MPIF90_MPI, IW_MPIRUN_MPI may be given.
function(iw_find_mpi mpi found)
  set(${found} FALSE PARENT_SCOPE)
  find_program(IW_MPICC_${mpi} NAMES mpicc.${mpi} mpicc DOC "Compiler wrapper of ${mpi}")
  if(NOT IW_MPICC_${mpi})
    return()
  endif()
  iw_mpi_show(${IW_MPICC_${mpi}} ${mpi} words)
  # MPICH's wrapper would pass on -showme as an option of the compiler and fail; Open MPI's knows -show too
  if(mpi STREQUAL "mpich" AND words)
    iw_mpi_show(${IW_MPICC_${mpi}} openmpi other)
    if(other)
      set(words "")
    endif()
  endif()
  if(NOT words)
    return()
  endif()
  set(includes ${words})
  list(FILTER includes INCLUDE REGEX "^-I")
  list(TRANSFORM includes REPLACE "^-I" "")
  set(options ${words})
  list(FILTER options INCLUDE REGEX "^(-L|-Wl,)")
  set(libraries ${words})
  list(FILTER libraries INCLUDE REGEX "^-l")
  add_library(iw_mpi_${mpi} INTERFACE)
  target_include_directories(iw_mpi_${mpi} SYSTEM INTERFACE ${includes})
  target_link_options(iw_mpi_${mpi} INTERFACE ${options})
  target_link_libraries(iw_mpi_${mpi} INTERFACE ${libraries})
  get_filename_component(folder ${IW_MPICC_${mpi}} DIRECTORY)
  find_program(IW_MPIF90_${mpi} NAMES mpif90.${mpi} mpif90 HINTS ${folder} DOC "Fortran wrapper of ${mpi}")
  find_program(IW_MPIRUN_${mpi} NAMES mpirun.${mpi} mpirun HINTS ${folder} DOC "Launcher of ${mpi}")
  set(${found} TRUE PARENT_SCOPE)
endfunction()

set(IW_MPIS "")
if(IW_MPI)
  foreach(mpi IN LISTS IW_MPI)
    if(NOT mpi IN_LIST IW_MPI_KNOWN)
      message(FATAL_ERROR "IW_MPI: '${mpi}' is not one of ${IW_MPI_KNOWN}")
    endif()
    iw_find_mpi(${mpi} is_found)
    if(is_found)
      message(STATUS "MPI: ${mpi} by ${IW_MPICC_${mpi}}")
      list(APPEND IW_MPIS ${mpi})
    else()
      iw_lacks("MPI: ${mpi} was not found: 'net' and 'trace' are not built for it; on Debian: apt-get install \
${IW_MPI_PACKAGES_${mpi}}")
    endif()
  endforeach()
else()
  message(STATUS "IW_MPI is OFF: 'net' and 'trace' are not built for any MPI")
endif()

# iw_mpi_plugin(mpi SOURCES a.c generated/@MPI@/b.c [LIBRARIES ...] [INCLUDES ...] [DEFINITIONS ...]): for each MPI
# lib/idlewave/<MPI>/libidlewave-mpi.so, as target iw_plugin_mpi_<MPI>. @MPI@ in an argument is the MPI's name;
# IW_MPI_NAME is defined as its text. They are loaded into programs that are not ours: no sanitizers, and only
# what is marked IW_API is visible. Where IW_SANITIZE has address, lib/sanitized/<MPI> has them once more, with sanitizers:
# for the command itself, and for programs of iw_mpi_program(), which then have the sanitizers' libraries.
function(iw_mpi_plugin name)
  cmake_parse_arguments(A "" "" "SOURCES;LIBRARIES;INCLUDES;DEFINITIONS" ${ARGN})
  foreach(mpi IN LISTS IW_MPIS)
    set(target iw_plugin_${name}_${mpi})
    foreach(list SOURCES LIBRARIES INCLUDES DEFINITIONS)
      string(REPLACE "@MPI@" ${mpi} ${list} "${A_${list}}")
    endforeach()
    set(folder idlewave/${mpi})
    iw_mpi_module(${target} ${folder} iw_plain_flags iw_plain_base)
    install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/${folder} COMPONENT mpi-${mpi})
    set_target_properties(${target} PROPERTIES IW_RELEASE_ONLY TRUE)
    if(IW_SANITIZE MATCHES address)
      iw_mpi_module(${target}_sanitized sanitized/${mpi} iw_flags iw_base)
    endif()
  endforeach()
endfunction()

# iw_mpi_module(TARGET FOLDER FLAGS BASE): a module of what iw_mpi_plugin() has taken apart, in a folder of lib.
macro(iw_mpi_module target folder)
  add_library(${target} MODULE ${SOURCES})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME idlewave-${name} INSTALL_RPATH_USE_LINK_PATH ON
                        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/${folder})
  target_compile_definitions(${target} PRIVATE IW_MPI_NAME="${mpi}" ${DEFINITIONS})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(${target} SYSTEM PRIVATE ${INCLUDES})
  target_link_libraries(${target} PRIVATE ${ARGN} ${LIBRARIES} iw_mpi_${mpi})
  target_link_options(${target} PRIVATE -Wl,--no-undefined -Wl,--exclude-libs,ALL)
endmacro()

# iw_mpi_program(pingpong SOURCES pingpong.c [FLAGS ...]): for each MPI tests/mpi/bin/<MPI>/pingpong, as target
# pingpong_<MPI>. Fortran sources (.f, .f90) are compiled by the MPI's own wrapper, as users do; without it they
# are left out. Plain programs: nothing of idlewave; of sanitizers only the libraries, for parts that are loaded into them.
function(iw_mpi_program name)
  cmake_parse_arguments(A "" "" "SOURCES;FLAGS" ${ARGN})
  set(sanitize "")
  if(IW_SANITIZE MATCHES address)
    set(sanitize -fsanitize=${IW_SANITIZE})
  endif()
  foreach(mpi IN LISTS IW_MPIS)
    set(folder ${PROJECT_BINARY_DIR}/tests/mpi/bin/${mpi})
    if(A_SOURCES MATCHES "\\.[fF](90)?(;|$)")
      iw_mpi_fortran_program(${name} ${mpi} ${folder} "${A_SOURCES}" "${A_FLAGS};${sanitize}")
    else()
      add_executable(${name}_${mpi} ${A_SOURCES})
      set_target_properties(${name}_${mpi} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${folder})
      # gcc takes MPICH's MPI_STATUSES_IGNORE, which is the number 1, for an array without elements
      target_compile_options(${name}_${mpi} PRIVATE $<$<C_COMPILER_ID:GNU>:-Wno-stringop-overflow> ${A_FLAGS})
      target_link_libraries(${name}_${mpi} PRIVATE iw_plain_flags Threads::Threads iw_mpi_${mpi} m)
      target_link_options(${name}_${mpi} PRIVATE ${sanitize})
    endif()
  endforeach()
endfunction()

function(iw_mpi_fortran_program name mpi folder sources flags)
  if(NOT IW_MPIF90_${mpi})
    iw_lacks("MPI: ${mpi} has no Fortran compiler: ${name} is not built; on Debian: apt-get install gfortran")
    return()
  endif()
  list(TRANSFORM sources PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set(work ${CMAKE_CURRENT_BINARY_DIR}/${name}_${mpi}.dir) # .mod files of different programs do not meet
  file(MAKE_DIRECTORY ${folder} ${work})
  add_custom_command(OUTPUT ${folder}/${name} COMMAND ${IW_MPIF90_${mpi}} -g -O1 ${flags} ${sources} -o ${folder}/${name}
                     DEPENDS ${sources} WORKING_DIRECTORY ${work} COMMENT "Fortran ${name} for ${mpi}" VERBATIM)
  add_custom_target(${name}_${mpi} ALL DEPENDS ${folder}/${name})
endfunction()
