# Compiler settings shared by every target: language level, warnings, sanitizers, compiler cache.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET default)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(HONE_CCACHE ccache)
if(HONE_CCACHE)
  # Checkouts in other folders share the cache: paths below the checkout are hashed as relative ones.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} ${HONE_CCACHE})
endif()

set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
# For the sanitizers: readable stacks, assertions on, and compiled in half the time of -O2 -g.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Werror;-Wno-missing-field-initializers>")
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # GCC 12 sees overlapping copies in plain string concatenation (GCC bug 105651).
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()

if(HONE_SANITIZE)
  add_compile_options(-fsanitize=${HONE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # Instrumented code makes GCC warn of paths that do not exist; the release build judges warnings.
  add_compile_options(-w)
  add_link_options(-fsanitize=${HONE_SANITIZE})
endif()
if(HONE_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()

# Everything is found relative to the file that needs it, so an installed tree can be moved.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
# Libraries lie in one folder: each more would be searched at every start, in some 20 variants for processors.
set(CMAKE_INSTALL_RPATH "$ORIGIN")
# DT_RPATH and not DT_RUNPATH: only the former also holds for what the bundled libraries need themselves.
add_link_options(-Wl,--disable-new-dtags)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
