# What HTML pages carry: our style and scripts, and the chart library. Made in the build folder, compiled into the library.
set(IW_WITH_NPM AUTO CACHE STRING "Fetch the chart library of HTML pages with npm: AUTO, ON (fail without) or OFF")
set_property(CACHE IW_WITH_NPM PROPERTY STRINGS AUTO ON OFF)

find_program(IW_NPM npm)
find_program(IW_NODE node)
set(IW_WEB_NPM "")
if(IW_WITH_NPM AND IW_NPM AND IW_NODE)
  set(IW_WEB_NPM ${IW_NPM})
elseif(IW_WITH_NPM STREQUAL "AUTO")
  iw_lacks("No npm: HTML pages get static plots; on Debian: apt-get install npm")
elseif(IW_WITH_NPM)
  message(FATAL_ERROR "IW_WITH_NPM is ON, but npm was not found; on Debian: apt-get install npm")
else()
  message(STATUS "IW_WITH_NPM is OFF: HTML pages get static plots")
endif()

# iw_web_assets(OUT_C): OUT_C is made from the files of web/ and the chart library; src/report/html_assets.h.
function(iw_web_assets out)
  set(source ${PROJECT_SOURCE_DIR}/web)
  set(scripts ${PROJECT_SOURCE_DIR}/cmake)
  set(work ${PROJECT_BINARY_DIR}/web)
  add_custom_command(
    OUTPUT ${work}/chart.min.js ${work}/chart-licences.txt
    COMMAND ${CMAKE_COMMAND} -DNPM=${IW_WEB_NPM} -DNODE=${IW_NODE} -DSOURCE=${source} -DWORK=${work}
            -DWANTED=${IW_WITH_NPM} -P ${scripts}/BundleWeb.cmake
    DEPENDS ${source}/package.json ${source}/package-lock.json ${source}/chart.js ${source}/bundle.mjs
            ${scripts}/BundleWeb.cmake
    COMMENT "Chart library for HTML pages" VERBATIM)
  set(files report_css=${source}/report.css report_js=${source}/report.js plots_js=${source}/plots.js
            timeline_css=${source}/timeline.css whatif_css=${source}/whatif.css timeline_cells_js=${source}/timeline_cells.js timeline_js=${source}/timeline.js
            chart_js=${work}/chart.min.js chart_licences=${work}/chart-licences.txt)
  set(paths ${files})
  list(TRANSFORM paths REPLACE "^[^=]*=" "")
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${files}" -DOUT=${out} -P ${scripts}/EmbedFiles.cmake
    DEPENDS ${paths} ${scripts}/EmbedFiles.cmake
    COMMENT "Embedding web/" VERBATIM)
endfunction()
