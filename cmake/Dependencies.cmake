# What idlewave needs, all from the distribution, as imported targets: they carry their prefix. A missing one is named with
# its Debian package.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
# The system's Python: the first on PATH may lie in a home folder (pyenv), where other users cannot run it. But one that was named
# for this build comes first (CMAKE_PREFIX_PATH of Spack, Python3_ROOT_DIR).
find_program(IW_NAMED_PYTHON python3 NO_SYSTEM_ENVIRONMENT_PATH NO_CMAKE_SYSTEM_PATH)
mark_as_advanced(IW_NAMED_PYTHON)
if(EXISTS /usr/bin/python3 AND NOT IW_NAMED_PYTHON AND NOT Python3_ROOT_DIR AND NOT DEFINED ENV{Python3_ROOT_DIR})
  set(Python3_EXECUTABLE /usr/bin/python3 CACHE FILEPATH "Python for generated code and tests")
endif()

# iw_require(JANSSON jansson libjansson-dev): PkgConfig::JANSSON; the first of several modules that is there
function(iw_require name modules package)
  pkg_search_module(${name} IMPORTED_TARGET GLOBAL ${modules})
  if(NOT ${name}_FOUND)
    message(FATAL_ERROR "${modules} was not found; on Debian: apt-get install ${package}")
  endif()
endfunction()

# iw_lacks(TEXT): an optional part is missing. In CI (IW_COMPLETE) that is an error.
function(iw_lacks text)
  if(IW_COMPLETE)
    message(FATAL_ERROR "${text} (IW_COMPLETE is ON)")
  endif()
  message(STATUS "${text}")
endfunction()

# iw_optional(OTF2 otf2 libopen-trace-format2-dev "what is off without it" [FEATURE ...]): OTF2_FOUND; IW_OTF2 is what to link, or empty.
# -DIW_WITH_OTF2=OFF leaves it out even if it is there, for packages that must not depend on what the builder has.
# Of the features that use it one must be built, or it is not looked for.
macro(iw_optional name modules packages effect)
  option(IW_WITH_${name} "Use ${modules} if it is there. Without it ${effect}" ON)
  set(IW_${name} "")
  set(is_used TRUE)
  if(${ARGC} GREATER 4)
    iw_any_feature(is_used ${ARGN})
  endif()
  if(IW_WITH_${name} AND is_used)
    pkg_check_modules(${name} IMPORTED_TARGET GLOBAL ${modules})
  else()
    set(${name}_FOUND FALSE)
  endif()
  if(is_used AND NOT IW_WITH_${name})
    message(STATUS "IW_WITH_${name} is OFF: ${effect}")
  endif()
  if(${name}_FOUND)
    set(IW_${name} PkgConfig::${name})
  elseif(IW_WITH_${name} AND is_used)
    iw_lacks("${modules} was not found: ${effect}; on Debian: apt-get install ${packages}")
  endif()
endmacro()

find_path(RANDOM123_INCLUDE_DIR Random123/philox.h)
if(NOT RANDOM123_INCLUDE_DIR)
  message(FATAL_ERROR "Random123 was not found; on Debian: apt-get install librandom123-dev")
endif()
if(NOT IW_FEATURES)
  return() # the core needs nothing else
endif()
iw_require(JANSSON jansson libjansson-dev)
iw_require(YAML yaml-0.1 libyaml-dev)
if(IW_HAS_MACHINE)
  iw_require(HWLOC hwloc libhwloc-dev)
endif()
# Debian's hdf5 is the one with MPI where several are installed. Elsewhere HDF5 may have no file for pkg-config: CMake asks its h5cc.
pkg_search_module(HDF5 IMPORTED_TARGET GLOBAL hdf5-serial>=1.10.2 hdf5>=1.10.2) # H5F_LIBVER_V110
if(NOT TARGET PkgConfig::HDF5)
  find_package(HDF5 1.10.2 COMPONENTS C)
  if(NOT HDF5_FOUND)
    message(FATAL_ERROR "HDF5 1.10.2 or later was not found; on Debian: apt-get install libhdf5-dev")
  endif()
  add_library(PkgConfig::HDF5 INTERFACE IMPORTED GLOBAL)
  target_include_directories(PkgConfig::HDF5 SYSTEM INTERFACE ${HDF5_INCLUDE_DIRS})
  target_link_libraries(PkgConfig::HDF5 INTERFACE ${HDF5_C_LIBRARIES})
endif()
unset(IW_HDF5_CONFIG CACHE) # another HDF5 may have come
find_file(IW_HDF5_CONFIG NAMES H5pubconf-64.h H5pubconf.h HINTS ${HDF5_INCLUDE_DIRS})
mark_as_advanced(IW_HDF5_CONFIG)
if(IW_HDF5_CONFIG)
  file(STRINGS ${IW_HDF5_CONFIG} parallel REGEX "^#define H5_HAVE_PARALLEL 1")
  if(parallel)
    iw_lacks("HDF5 (${HDF5_INCLUDE_DIRS}) was built with an MPI: the command would have that MPI in it, and fail under launchers of \
another one; take an HDF5 without MPI; on Debian: apt-get install libhdf5-dev")
  endif()
endif()
iw_optional(TRACEEVENT "libtraceevent>=1.5" libtraceevent-dev
            "attribution of noise by tracefs and by perf's tracepoints is switched off" record)
# Debian's libtracecmd-dev does not depend on libtracefs-dev, which its .pc file requires
iw_optional(TRACECMD "libtracecmd;libtraceevent" "libtracecmd-dev libtracefs-dev"
            "'noise convert' will not read trace.dat" recordings)
# 'watch': programs for the kernel, compiled by clang
iw_optional(LIBBPF "libbpf>=1.0;libelf" "libbpf-dev libelf-dev" "'watch' is switched off" watch)
find_program(IW_BPF_CLANG NAMES clang clang-19 clang-16 clang-14)
find_program(IW_BPF_STRIP NAMES llvm-strip llvm-strip-19 llvm-strip-16 llvm-strip-14)
set(IW_HAVE_BPF FALSE)
if(LIBBPF_FOUND AND IW_BPF_CLANG AND IW_BPF_STRIP)
  set(IW_HAVE_BPF TRUE)
elseif(LIBBPF_FOUND)
  set(IW_LIBBPF "")
  iw_lacks("clang and llvm-strip were not found: 'watch' is switched off; on Debian: apt-get install clang llvm")
endif()
iw_optional(OTF2 otf2 libopen-trace-format2-dev "traces are neither written nor read")
iw_optional(YAJL "yajl;zlib" "libyajl-dev zlib1g-dev" "traces of PyTorch and lines of NCCL's inspector are not read" explain)
iw_optional(PROTOBUFC "libprotobuf-c>=1.3" "libprotobuf-c-dev protobuf-c-compiler" "Chakra's execution traces are not read" explain)
find_program(IW_PROTOC_C protoc-c)
set(IW_HAVE_CHAKRA FALSE)
if(PROTOBUFC_FOUND AND YAJL_FOUND AND IW_PROTOC_C)
  set(IW_HAVE_CHAKRA TRUE)
elseif(PROTOBUFC_FOUND)
  set(IW_PROTOBUFC "")
  iw_lacks("protoc-c, or yajl and zlib were not found: Chakra's execution traces are not read; on Debian: apt-get install protobuf-c-compiler libyajl-dev zlib1g-dev")
endif()
