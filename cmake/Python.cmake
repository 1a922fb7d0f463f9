# The system's Python: the first on PATH may lie in a home folder (pyenv), where other users cannot run it. But one that was named
# for this build comes first (CMAKE_PREFIX_PATH of Spack, Python3_ROOT_DIR).
find_program(IW_NAMED_PYTHON python3 NO_SYSTEM_ENVIRONMENT_PATH NO_CMAKE_SYSTEM_PATH)
mark_as_advanced(IW_NAMED_PYTHON)
if(EXISTS /usr/bin/python3 AND NOT IW_NAMED_PYTHON AND NOT Python3_ROOT_DIR AND NOT DEFINED ENV{Python3_ROOT_DIR})
  set(Python3_EXECUTABLE /usr/bin/python3 CACHE FILEPATH "Python for generated code and tests")
endif()
