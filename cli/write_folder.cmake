# Writes FOLDER/NAME<SUFFIX> for each name that `IDLEWAVE VERB` lists: what `IDLEWAVE VERB NAME` prints.
cmake_minimum_required(VERSION 3.18) # empty elements of lists count
list(REMOVE_ITEM IDLEWAVE "") # no emulator

# run(WORD... KEYWORD ...): as execute_process() has them; what fails ends the build
function(run)
  execute_process(COMMAND ${IDLEWAVE} ${VERB} ${ARGN} RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${IDLEWAVE} ${VERB} ${ARGN}: ${code}")
  endif()
endfunction()

file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
run(OUTPUT_FILE ${FOLDER}.names)
file(STRINGS ${FOLDER}.names names)
foreach(name IN LISTS names)
  run(${name} OUTPUT_FILE ${FOLDER}/${name}${SUFFIX})
endforeach()
