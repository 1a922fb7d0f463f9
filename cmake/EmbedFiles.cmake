# Run at build time: files as C arrays, for src/kit/html/html_assets.h.
#   cmake "-DFILES=name=path;..." -DOUT=file.c -P EmbedFiles.cmake
set(text "/* Made by cmake/EmbedFiles.cmake. */\n#include \"kit/html/html_assets.h\"\n")
foreach(file IN LISTS FILES)
  string(REGEX MATCH "^([^=]*)=(.*)$" matched "${file}")
  set(name ${CMAKE_MATCH_1})
  file(READ ${CMAKE_MATCH_2} bytes HEX)
  string(LENGTH "${bytes}" digits)
  math(EXPR size "${digits} / 2")
  string(REPEAT "[0-9a-f]" 64 line)
  string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  # A last zero, because C knows no empty arrays.
  string(APPEND text "\nstatic const unsigned char ${name}[] = {\n${bytes}\n0};\n"
         "const struct iwi_asset iwi_asset_${name} = {${name}, ${size}};\n")
endforeach()
file(WRITE ${OUT} "${text}")
