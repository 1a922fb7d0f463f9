# How others find the installed library: pkg-config, CMake's find_package(idlewave), the licence.
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

install(FILES ${CMAKE_CURRENT_BINARY_DIR}/idlewave.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(EXPORT idlewave NAMESPACE idlewave:: FILE idlewave-config.cmake DESTINATION ${package})
write_basic_package_version_file(idlewave-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/idlewave-config-version.cmake DESTINATION ${package})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
