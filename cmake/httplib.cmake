# cpp-httplib, for the plugin of `hone view`. Defines the target httplib_library when it is found. Debian builds the
# library with TLS and compression, and its header must be told so.
find_path(HTTPLIB_INCLUDE httplib.h)
find_library(HTTPLIB_LIBRARY cpp-httplib)
mark_as_advanced(HTTPLIB_INCLUDE HTTPLIB_LIBRARY)
if(NOT HTTPLIB_INCLUDE OR NOT HTTPLIB_LIBRARY)
  message(STATUS "cpp-httplib not found: hone view is left out (apt install libcpp-httplib-dev)")
  return()
endif()

find_package(Threads REQUIRED)
add_library(httplib_library INTERFACE IMPORTED)
target_include_directories(httplib_library INTERFACE ${HTTPLIB_INCLUDE})
target_compile_definitions(httplib_library INTERFACE
  CPPHTTPLIB_OPENSSL_SUPPORT CPPHTTPLIB_ZLIB_SUPPORT CPPHTTPLIB_BROTLI_SUPPORT)
target_link_libraries(httplib_library INTERFACE ${HTTPLIB_LIBRARY} Threads::Threads)
