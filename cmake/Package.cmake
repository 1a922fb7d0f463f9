# What is installed for others: how they find the library (pkg-config, CMake's find_package(idlewave)), documentation, examples; and
# the tarball of a release. Components: command, library, headers, mpi-<MPI> for each one, docs, examples.
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/idlewave)

# from lib/pkgconfig, or lib/x86_64-linux-gnu/pkgconfig, up to the prefix
string(REGEX REPLACE "[^/]+" ".." up "${CMAKE_INSTALL_LIBDIR}")
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/idlewave.pc "# Paths follow this file: the prefix can be moved.
prefix=\${pcfiledir}/../${up}
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}
includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}

Name: idlewave
Description: ${PROJECT_DESCRIPTION}
Version: ${PROJECT_VERSION}
Libs: -L\${libdir} -lidlewave
Cflags: -I\${includedir}
")

install(FILES ${CMAKE_CURRENT_BINARY_DIR}/idlewave.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT headers)
install(EXPORT idlewave NAMESPACE idlewave:: FILE idlewave-config.cmake DESTINATION ${package} COMPONENT headers)
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

# idlewave-VERSION.tar.gz of what is committed, its checksum, and recipes of packages for it: the same bytes from the same commit
find_package(Git QUIET)
if(GIT_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  set(name idlewave-${PROJECT_VERSION})
  configure_file(cmake/dist.sh.in dist.sh @ONLY)
  add_custom_target(dist COMMAND sh ${PROJECT_BINARY_DIR}/dist.sh VERBATIM)
endif()

# The Python package, for distributions; others take the wheel (python/README.md).
set(IW_PYTHON_DIR "" CACHE STRING "Install the Python package into this folder, such as lib/python3/dist-packages; empty: do not")
if(IW_PYTHON_DIR)
  install(DIRECTORY python/src/idlewave DESTINATION ${IW_PYTHON_DIR} COMPONENT python
          PATTERN "__pycache__" EXCLUDE)
endif()
