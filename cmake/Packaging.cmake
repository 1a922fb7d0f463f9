# Run by the target `dist`: FOLDER/packaging is packaging/ with the version, date and checksum of the tarball TARBALL, home page and
# maintainer in place of @NAMES@ of its .in files.
#   cmake -DSOURCE=... -DFOLDER=... -DTARBALL=name.tar.gz -DVERSION=0.2.0 -DSECONDS=date -DHOMEPAGE=https://... -DMAINTAINER="Name <address>"
#         -P Packaging.cmake
file(SHA256 ${FOLDER}/${TARBALL} SHA256)
file(WRITE ${FOLDER}/${TARBALL}.sha256 "${SHA256}  ${TARBALL}\n")
set(ENV{SOURCE_DATE_EPOCH} ${SECONDS})
set(ENV{LC_ALL} C)
string(TIMESTAMP DATE_RFC "%a, %d %b %Y %H:%M:%S +0000" UTC)
string(TIMESTAMP DATE_RPM "%a %b %d %Y" UTC)
file(REMOVE_RECURSE ${FOLDER}/packaging)
file(COPY ${SOURCE}/packaging DESTINATION ${FOLDER})
file(GLOB_RECURSE templates ${FOLDER}/packaging/*.in)
foreach(template IN LISTS templates)
  string(REGEX REPLACE "\\.in$" "" made ${template})
  configure_file(${template} ${made} @ONLY)
  file(REMOVE ${template})
endforeach()
