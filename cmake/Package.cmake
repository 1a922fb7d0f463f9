# What is installed for others: how they find the libraries (pkg-config, CMake's find_package(idlewave)), documentation, examples; and
# the tarball of a release. Components: command, library, tools, headers, mpi-<MPI> for each one, docs, examples.
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/idlewave)

# from lib/pkgconfig, or lib/x86_64-linux-gnu/pkgconfig, up to the prefix
string(REGEX REPLACE "[^/]+" ".." up "${CMAKE_INSTALL_LIBDIR}")

# iw_modules_of(YAJL OUT): what pkg-config calls the target PkgConfig::YAJL: one module, or those that CMake keeps as YAJL_<module>_...
function(iw_modules_of name out)
  get_cmake_property(variables CACHE_VARIABLES)
  list(FILTER variables INCLUDE REGEX "^${name}(_.+)?_MODULE_NAME$")
  set(modules "")
  foreach(variable IN LISTS variables)
    list(APPEND modules ${${variable}})
  endforeach()
  set(${out} "${modules}" PARENT_SCOPE)
endfunction()

# iw_package(idlewave-tools DESCRIPTION [requires]): its file for pkg-config, and its targets for CMake. A static library names what it
# needs: in <target>_finds, commands of CMake that make its targets; with a shared one nobody has to know.
function(iw_package target description)
  get_target_property(type ${target} TYPE)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  list(REMOVE_ITEM libraries idlewave)
  set(private "")
  set(finds "")
  if(type STREQUAL "STATIC_LIBRARY")
    foreach(library IN LISTS libraries)
      string(REGEX REPLACE "^PkgConfig::" "" name ${library})
      iw_modules_of(${name} words)
      if(library STREQUAL "Threads::Threads")
        string(APPEND private " -pthread")
        string(APPEND finds "find_dependency(Threads)\n")
      elseif(words)
        list(JOIN words " " words)
        string(APPEND finds "find_dependency(PkgConfig)\npkg_check_modules(${name} REQUIRED IMPORTED_TARGET GLOBAL ${words})\n")
        list(JOIN ${name}_LDFLAGS " " words) # not Requires.private: what a static one of theirs would need may not be there
        string(APPEND private " ${words}")
      elseif(TARGET ${library}) # HDF5 without a file for pkg-config
        get_target_property(files ${library} INTERFACE_LINK_LIBRARIES)
        list(JOIN files " " words)
        string(APPEND private " ${words}")
        string(APPEND finds "if(NOT TARGET ${library})\n  add_library(${library} INTERFACE IMPORTED)\n  "
                            "set_target_properties(${library} PROPERTIES INTERFACE_LINK_LIBRARIES \"${files}\")\nendif()\n")
      else()
        string(APPEND private " -l${library}")
      endif()
    endforeach()
  endif()
  set(${target}_finds "${finds}" PARENT_SCOPE)
  set(text "# Paths follow this file: the prefix can be moved.
prefix=\${pcfiledir}/../${up}
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}
includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}

Name: ${target}
Description: ${description}
Version: ${PROJECT_VERSION}
Libs: -L\${libdir} -l${target}
Cflags: -I\${includedir}
")
  foreach(line "Requires: ${ARGN}" "Libs.private:${private}")
    if(NOT line MATCHES ": *$")
      string(APPEND text "${line}\n")
    endif()
  endforeach()
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${target}.pc "${text}")
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${target}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT headers)
  install(EXPORT ${target} NAMESPACE idlewave:: FILE ${target}-targets.cmake DESTINATION ${package} COMPONENT headers)
endfunction()

iw_package(idlewave "Simulates parallel programs under operating-system noise")
if(TARGET idlewave-tools)
  iw_package(idlewave-tools "${PROJECT_DESCRIPTION}" "idlewave = ${PROJECT_VERSION}")
endif()
configure_file(cmake/idlewave-config.cmake.in idlewave-config.cmake @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/idlewave-config.cmake DESTINATION ${package} COMPONENT headers)
write_basic_package_version_file(idlewave-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/idlewave-config-version.cmake DESTINATION ${package} COMPONENT headers)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library)
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT docs)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT docs)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT examples)
if("watch" IN_LIST IW_FEATURES)
  configure_file(packaging/systemd/idlewave-watch.service.in idlewave-watch.service @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/idlewave-watch.service DESTINATION lib/systemd/system COMPONENT command)
endif()

include(cmake/Sbom.cmake)

# The Python package: what is in python/, with classes and colours made from the C sources. Distributions install it by
# IW_PYTHON_DIR, others by pip from BUILD/python or from the tarball.
set(IW_PYTHON_DIR "" CACHE STRING "Install the Python package into this folder, such as lib/python3/dist-packages; empty: do not")
find_package(Python3 QUIET COMPONENTS Interpreter)
if(IW_PYTHON_DIR AND NOT Python3_Interpreter_FOUND)
  message(FATAL_ERROR "IW_PYTHON_DIR needs Python 3 to make the Python package")
endif()
if(IW_FEATURES AND Python3_Interpreter_FOUND)
  set(python ${PROJECT_BINARY_DIR}/python)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS python/*.py python/*.toml python/*.md)
  set(schemas ${PROJECT_BINARY_DIR}/cli/schemas)
  set(options ${PROJECT_BINARY_DIR}/cli/options.json)
  add_custom_command(OUTPUT ${python}.stamp
                     COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/make_python.py ${schemas} ${options} ${python}
                     COMMAND ${CMAKE_COMMAND} -E touch ${python}.stamp
                     DEPENDS ${sources} ${schemas}.stamp ${options} idlewave_schemas tools/make_python.py src/kit/figure/palette.c VERBATIM)
  set(when "")
  if(BUILD_TESTING OR IW_PYTHON_DIR)
    set(when ALL)
  endif()
  add_custom_target(python ${when} DEPENDS ${python}.stamp)
  # A page for each kind of result, made of the same.
  set(formats ${PROJECT_BINARY_DIR}/formats)
  add_custom_command(OUTPUT ${formats}.stamp
                     COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/make_formats.py ${schemas} ${formats}
                     COMMAND ${CMAKE_COMMAND} -E touch ${formats}.stamp
                     DEPENDS ${schemas}.stamp idlewave_schemas tools/make_formats.py tools/make_python.py VERBATIM)
  add_custom_target(formats ALL DEPENDS ${formats}.stamp)
  install(DIRECTORY ${formats}/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs/reference/formats/results COMPONENT docs)
  # The documentation as a site, by Sphinx with MyST and Furo; what was built is installed.
  add_custom_target(site COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/make_site.py ${schemas} ${PROJECT_BINARY_DIR}/site
                    DEPENDS idlewave_schemas VERBATIM)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/site/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/html COMPONENT docs OPTIONAL)
  if(IW_PYTHON_DIR)
    install(DIRECTORY ${python}/src/idlewave DESTINATION ${IW_PYTHON_DIR} COMPONENT python PATTERN "__pycache__" EXCLUDE)
  endif()
endif()

# idlewave-VERSION.tar.gz of what is committed, with the Python package as made, its checksum, and recipes of packages for it: the
# same bytes from the same commit
find_package(Git QUIET)
if(IW_IS_TOP AND IW_HAS_ALL_FEATURES AND TARGET python AND GIT_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  set(name idlewave-${PROJECT_VERSION})
  configure_file(cmake/dist.sh.in dist.sh @ONLY)
  add_custom_target(dist COMMAND sh ${PROJECT_BINARY_DIR}/dist.sh DEPENDS python VERBATIM)
endif()
