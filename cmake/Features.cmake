# What of idlewave is built: the core always, and features beside it (src/features/README.md).
#
# IW_ALL_FEATURES lists them, those that others use first. IW_NEEDS_<feature>: what its library half, or its verb as a whole, cannot do
# without. Where a verb only loses an option, it says so when that is asked for (ui_lacks() of cli/process/ui.h).
set(IW_ALL_FEATURES recordings record settings watch fleet replay bench network model training simulate whatif study wave explain check
    trace)
set(IW_NEEDS_record recordings)
set(IW_NEEDS_watch record)
set(IW_NEEDS_bench replay)
set(IW_NEEDS_model recordings)
set(IW_NEEDS_simulate recordings)
set(IW_NEEDS_whatif simulate)
set(IW_NEEDS_study simulate training)
set(IW_NEEDS_check record settings)
set(IW_FEATURES all CACHE STRING "all; some (record;simulate;...); all but some (-watch;-training); none: the core alone")

# iw_choose_features(OUT WORD...): the features that the words ask for.
function(iw_choose_features out)
  set(chosen ${IW_ALL_FEATURES})
  set(without ${ARGN})
  list(FILTER without INCLUDE REGEX "^-")
  if(ARGN STREQUAL "none")
    set(chosen "")
  elseif(NOT ARGN STREQUAL "all" AND NOT without)
    set(chosen ${ARGN})
  elseif(without AND NOT without STREQUAL "${ARGN}")
    message(FATAL_ERROR "IW_FEATURES: '${ARGN}' both names features and leaves some out (-name)")
  endif()
  list(TRANSFORM without REPLACE "^-" "")
  foreach(feature IN LISTS chosen without)
    if(NOT feature IN_LIST IW_ALL_FEATURES)
      message(FATAL_ERROR "IW_FEATURES: '${feature}' is none of ${IW_ALL_FEATURES}, all, none")
    endif()
  endforeach()
  set(built "")
  foreach(feature IN LISTS IW_ALL_FEATURES) # needs come first
    set(missing ${IW_NEEDS_${feature}})
    list(REMOVE_ITEM missing "" ${built})
    if(NOT feature IN_LIST chosen OR feature IN_LIST without)
      continue()
    elseif(missing AND without)
      message(STATUS "IW_FEATURES: ${feature} is left out too: it needs ${missing}")
    elseif(missing)
      list(JOIN missing " and " missing)
      message(FATAL_ERROR "IW_FEATURES: ${feature} needs ${missing}: add that, or leave ${feature} out")
    else()
      list(APPEND built ${feature})
    endif()
  endforeach()
  set(${out} "${built}" PARENT_SCOPE) # quoted: an empty one too hides the variable of the cache
endfunction()

iw_choose_features(IW_FEATURES $CACHE{IW_FEATURES})

# iw_features: IW_FEATURE_<NAME> is 1 or 0, for tables and for verbs that use others.
add_library(iw_features INTERFACE)
foreach(feature IN LISTS IW_ALL_FEATURES)
  string(TOUPPER ${feature} name)
  set(is_built 0)
  if(feature IN_LIST IW_FEATURES)
    set(is_built 1)
  endif()
  target_compile_definitions(iw_features INTERFACE IW_FEATURE_${name}=${is_built})
endforeach()

set(IW_HAS_ALL_FEATURES FALSE)
if(IW_FEATURES STREQUAL IW_ALL_FEATURES)
  set(IW_HAS_ALL_FEATURES TRUE)
endif()

# iw_any_feature(OUT NAME...): whether one of them is built.
function(iw_any_feature out)
  set(${out} FALSE PARENT_SCOPE)
  foreach(feature IN LISTS ARGN)
    if(feature IN_LIST IW_FEATURES)
      set(${out} TRUE PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# Rooms of the core and of the kit, in the order in which they may use each other.
set(IW_CORE base numeric team stats program noise net sim)
set(IW_KIT "")
iw_any_feature(IW_HAS_MACHINE record settings watch bench) # it needs hwloc
if(IW_FEATURES)
  set(IW_KIT schema facts timeline launch text figure html files doc)
endif()
if(IW_HAS_MACHINE)
  list(PREPEND IW_KIT machine)
endif()
