# cairo with its SVG and PNG surfaces, for the plot plugin. Defines the target cairo_library when it is found.
find_path(CAIRO_INCLUDE cairo-svg.h PATH_SUFFIXES cairo)
find_library(CAIRO_LIBRARY cairo)
mark_as_advanced(CAIRO_INCLUDE CAIRO_LIBRARY)

if(NOT CAIRO_INCLUDE OR NOT CAIRO_LIBRARY)
  message(STATUS "cairo not found: `hone plot` is left out (apt install libcairo2-dev)")
  return()
endif()

add_library(cairo_library INTERFACE IMPORTED)
target_include_directories(cairo_library INTERFACE ${CAIRO_INCLUDE})
target_link_libraries(cairo_library INTERFACE ${CAIRO_LIBRARY})
