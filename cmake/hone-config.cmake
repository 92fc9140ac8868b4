# find_package(hone) in an installed tree, wherever it lies: the target hone::hone.
get_filename_component(HONE_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET hone::hone)
  add_library(hone::hone SHARED IMPORTED)
  set_target_properties(hone::hone PROPERTIES
    IMPORTED_LOCATION ${HONE_PREFIX}/lib/libhone.so.0
    IMPORTED_SONAME libhone.so.0
    INTERFACE_INCLUDE_DIRECTORIES ${HONE_PREFIX}/include
    INTERFACE_COMPILE_FEATURES cxx_std_20
    # The libraries it needs itself lie beside it.
    INTERFACE_LINK_OPTIONS LINKER:-rpath-link,${HONE_PREFIX}/lib)
endif()
