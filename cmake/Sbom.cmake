# idlewave.spdx.json: what this build is made of and linked with, in the versions that were found (SPDX 2.3). Made anew by each
# configuration; the same for the same commit and libraries.

# iw_sbom_package(ID NAME VERSION LICENCE RELATION): adds a package, and how idlewave stands to it.
macro(iw_sbom_package id name version licence relation)
  set(known "${version}")
  if(NOT known)
    set(known NOASSERTION)
  endif()
  list(APPEND sbom_packages "    {\"SPDXID\": \"SPDXRef-${id}\", \"name\": \"${name}\", \"versionInfo\": \"${known}\", \
\"downloadLocation\": \"NOASSERTION\", \"filesAnalyzed\": false, \"licenseConcluded\": \"NOASSERTION\", \
\"licenseDeclared\": \"${licence}\", \"copyrightText\": \"NOASSERTION\"}")
  list(APPEND sbom_relations "    {\"spdxElementId\": \"${ARGN}\", \"relationshipType\": \"${relation}\", \"relatedSpdxElement\": \"SPDXRef-${id}\"}")
endmacro()

set(sbom_packages "")
set(sbom_relations "")
iw_sbom_package(idlewave idlewave ${PROJECT_VERSION} BSD-3-Clause DESCRIBES SPDXRef-DOCUMENT)
if(EXISTS ${RANDOM123_INCLUDE_DIR}/Random123/philox.h) # headers only, compiled in
  iw_sbom_package(Random123 Random123 "" BSD-3-Clause CONTAINS SPDXRef-idlewave)
endif()
foreach(dependency JANSSON YAML HWLOC HDF5 TRACEEVENT TRACECMD LIBBPF OTF2 YAJL PROTOBUFC)
  if(NOT TARGET PkgConfig::${dependency})
    continue()
  endif()
  iw_modules_of(${dependency} modules)
  list(LENGTH modules count)
  if(count EQUAL 0) # found without pkg-config
    string(TOLOWER ${dependency} modules)
  endif()
  foreach(module IN LISTS modules)
    string(REGEX REPLACE "[<>=].*" "" module ${module})
    set(version ${${dependency}_${module}_VERSION})
    if(NOT version)
      set(version ${${dependency}_VERSION})
    endif()
    string(REGEX REPLACE "[^A-Za-z0-9.-]" "-" id ${module})
    iw_sbom_package(${id} ${module} "${version}" NOASSERTION DEPENDS_ON SPDXRef-idlewave)
  endforeach()
endforeach()
foreach(mpi IN LISTS IW_MPIS) # of the parts for it only
  iw_sbom_package(${mpi} ${mpi} "" NOASSERTION DEPENDS_ON SPDXRef-idlewave)
endforeach()
list(REMOVE_DUPLICATES sbom_packages) # libtraceevent is needed twice
list(REMOVE_DUPLICATES sbom_relations)
list(JOIN sbom_packages ",\n" sbom_packages)
list(JOIN sbom_relations ",\n" sbom_relations)

# The time of the commit, so that it is the same for everybody; of a tarball, what its packager says or now.
set(sbom_created "")
find_package(Git QUIET)
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH} AND GIT_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env TZ=UTC ${GIT_EXECUTABLE} log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd
                  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE sbom_created OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT sbom_created)
  string(TIMESTAMP sbom_created "%Y-%m-%dT%H:%M:%SZ" UTC) # heeds SOURCE_DATE_EPOCH
endif()
string(SHA256 sbom_digest "${sbom_packages}${sbom_relations}${sbom_created}")
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/idlewave.spdx.json "{
  \"spdxVersion\": \"SPDX-2.3\",
  \"dataLicense\": \"CC0-1.0\",
  \"SPDXID\": \"SPDXRef-DOCUMENT\",
  \"name\": \"idlewave-${PROJECT_VERSION}\",
  \"documentNamespace\": \"https://spdx.org/spdxdocs/idlewave-${PROJECT_VERSION}-${sbom_digest}\",
  \"creationInfo\": {\"created\": \"${sbom_created}\", \"creators\": [\"Tool: idlewave-cmake-${PROJECT_VERSION}\"]},
  \"packages\": [
${sbom_packages}
  ],
  \"relationships\": [
${sbom_relations}
  ]
}
")
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/idlewave.spdx.json DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library)
