# What HTML pages carry: our style, and the script of timelines; compiled into the library.

# iw_web_assets(OUT_C): OUT_C is made from the files of web/; src/kit/html/html_assets.h.
function(iw_web_assets out)
  set(source ${PROJECT_SOURCE_DIR}/web)
  set(scripts ${PROJECT_SOURCE_DIR}/cmake)
  set(files report_css=${source}/report.css timeline_css=${source}/timeline.css whatif_css=${source}/whatif.css
            timeline_cells_js=${source}/timeline_cells.js timeline_js=${source}/timeline.js)
  set(paths ${files})
  list(TRANSFORM paths REPLACE "^[^=]*=" "")
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${files}" -DOUT=${out} -P ${scripts}/EmbedFiles.cmake
    DEPENDS ${paths} ${scripts}/EmbedFiles.cmake
    COMMENT "Embedding web/" VERBATIM)
endfunction()
