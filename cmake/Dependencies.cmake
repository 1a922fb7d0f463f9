# What idlewave needs, all from the distribution. A missing one is named with its Debian package.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

pkg_check_modules(GSL gsl)
pkg_check_modules(JANSSON jansson)
pkg_check_modules(YAML yaml-0.1)
find_path(RANDOM123_INCLUDE_DIR Random123/philox.h)

function(iw_require found what package)
  if(NOT found)
    message(FATAL_ERROR "${what} was not found; on Debian: apt-get install ${package}")
  endif()
endfunction()
iw_require("${GSL_FOUND}" GSL libgsl-dev)
iw_require("${JANSSON_FOUND}" jansson libjansson-dev)
iw_require("${YAML_FOUND}" libyaml libyaml-dev)
iw_require("${RANDOM123_INCLUDE_DIR}" Random123 librandom123-dev)
