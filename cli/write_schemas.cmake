# Writes FOLDER/<kind>.schema.json for each kind of result that the command IDLEWAVE knows.
execute_process(COMMAND ${IDLEWAVE} __schema OUTPUT_VARIABLE kinds COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" kinds "${kinds}")
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
foreach(kind IN LISTS kinds)
  execute_process(COMMAND ${IDLEWAVE} __schema ${kind} OUTPUT_FILE ${FOLDER}/${kind}.schema.json COMMAND_ERROR_IS_FATAL ANY)
endforeach()
