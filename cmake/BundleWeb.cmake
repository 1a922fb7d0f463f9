# Run at build time: installs what web/package-lock.json pins into WORK and bundles it. Where that cannot be done (no npm,
# no network) the outputs are empty, and pages are written with static plots; an error unless WANTED is AUTO.
#   cmake -DNPM=... -DNODE=... -DSOURCE=web -DWORK=build/web -DWANTED=AUTO -P BundleWeb.cmake
set(outputs ${WORK}/chart.min.js ${WORK}/chart-licences.txt)

function(give_up why)
  foreach(path IN LISTS outputs)
    file(WRITE ${path} "")
  endforeach()
  if(NOT WANTED STREQUAL "AUTO")
    file(REMOVE ${outputs})
    message(FATAL_ERROR "no chart library: ${why}")
  endif()
  message(NOTICE "No chart library (${why}): HTML pages get static plots. "
                 "To try again, remove ${WORK} and build")
endfunction()

file(MAKE_DIRECTORY ${WORK})
if(NOT NPM)
  foreach(path IN LISTS outputs)
    file(WRITE ${path} "")
  endforeach()
  return()
endif()
foreach(name package.json package-lock.json chart.js bundle.mjs)
  configure_file(${SOURCE}/${name} ${WORK}/${name} COPYONLY)
endforeach()

# Few and short retries: a build without network should say so soon.
execute_process(
  COMMAND ${NPM} ci --prefer-offline --ignore-scripts --no-audit --no-fund --loglevel=error --fetch-retries=1
          --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=2000 --fetch-timeout=30000
  WORKING_DIRECTORY ${WORK} RESULT_VARIABLE failed OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(failed)
  string(REGEX MATCH "code [A-Z0-9_]+" code "${text}")
  give_up("npm ci failed, ${code}")
  return()
endif()
execute_process(COMMAND ${NODE} bundle.mjs ${outputs} WORKING_DIRECTORY ${WORK} RESULT_VARIABLE failed ERROR_VARIABLE text)
if(failed)
  give_up("bundling failed: ${text}")
endif()
