# Writes FOLDER/NAME<SUFFIX> for each name that `IDLEWAVE VERB` lists: what `IDLEWAVE VERB NAME` prints.
list(REMOVE_ITEM IDLEWAVE "") # no emulator
execute_process(COMMAND ${IDLEWAVE} ${VERB} OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" names "${names}")
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
foreach(name IN LISTS names)
  execute_process(COMMAND ${IDLEWAVE} ${VERB} ${name} OUTPUT_FILE ${FOLDER}/${name}${SUFFIX} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
