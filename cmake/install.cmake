# A relocatable tree: bin/hone, lib/libhone.so, plugins, and every shared library that is no part of a
# base system, found through run paths relative to the file that needs it.
#
#   cmake --install build/release --prefix DIR                     everything
#   cmake --install build/release --prefix DIR --component core    without plugins (small: no libtorch)
#
# The component dev holds what programs of others are built with: headers, the linker's name of the library, a CMake
# package and a pkg-config file, which all find the rest from where they lie themselves.
#
# Each plugin libhone-<name>.so found under src/ is the component <name>, with the libraries it needs.

# glibc, libstdc++ and libgcc stay the system's: they must be at least as new as the compiler's. So do CUDA's
# libraries, which take gigabytes and load parts of themselves by name.
set(HONE_BASE_LIBRARIES
  "^ld-linux" "^linux-vdso" "^lib(c|m|dl|rt|pthread|util|resolv|anl|nsl|mvec|BrokenLocale)\\.so" "^libstdc\\+\\+\\.so"
  "^libgcc_s\\.so" "^lib(cudart|cudnn|cublas|cublasLt|nvrtc|cuda)\\.so")

function(hone_install component)
  install(TARGETS ${ARGN} RUNTIME_DEPENDENCY_SET hone_${component}_libraries
    RUNTIME DESTINATION bin COMPONENT ${component}
    LIBRARY DESTINATION lib COMPONENT ${component} NAMELINK_SKIP)
  # Names of functions that nobody links with take several megabytes.
  foreach(target ${ARGN})
    get_target_property(type ${target} TYPE)
    set(folder lib)
    if(type STREQUAL EXECUTABLE)
      set(folder bin)
    endif()
    install(CODE "execute_process(COMMAND \"${CMAKE_STRIP}\" --strip-unneeded
      \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${folder}/$<TARGET_FILE_NAME:${target}>\")" COMPONENT ${component})
  endforeach()
  # libhone itself belongs to core; a plugin only needs it there.
  install(RUNTIME_DEPENDENCY_SET hone_${component}_libraries
    PRE_EXCLUDE_REGEXES ${HONE_BASE_LIBRARIES} "^libhone\\.so"
    LIBRARY DESTINATION lib COMPONENT ${component})
endfunction()

# Every target of a folder and the folders under it.
function(hone_targets folder out)
  get_property(found DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(below DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(child ${below})
    hone_targets(${child} more)
    list(APPEND found ${more})
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

hone_install(core hone hone_library)
hone_targets(${PROJECT_SOURCE_DIR}/src targets)
foreach(target ${targets})
  get_target_property(file ${target} OUTPUT_NAME)
  if(file MATCHES "^hone-(.+)$")
    hone_install(${CMAKE_MATCH_1} ${target})
  endif()
endforeach()
install(TARGETS hone_library LIBRARY DESTINATION lib COMPONENT dev NAMELINK_ONLY)
install(DIRECTORY include/hone DESTINATION include COMPONENT dev)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/hone-config-version.cmake COMPATIBILITY SameMinorVersion)
configure_file(cmake/hone.pc.in ${CMAKE_BINARY_DIR}/hone.pc @ONLY)
install(FILES cmake/hone-config.cmake ${CMAKE_BINARY_DIR}/hone-config-version.cmake DESTINATION lib/cmake/hone
  COMPONENT dev)
install(FILES ${CMAKE_BINARY_DIR}/hone.pc DESTINATION lib/pkgconfig COMPONENT dev)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bench/peers DESTINATION share/hone COMPONENT core USE_SOURCE_PERMISSIONS
  PATTERN node_modules EXCLUDE PATTERN __pycache__ EXCLUDE)
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md DESTINATION share/doc/hone COMPONENT core)
# README links to them.
install(DIRECTORY docs examples DESTINATION share/doc/hone COMPONENT core)
# The man page and completions are what the program says of itself.
install(CODE "
  function(hone_says file)
    get_filename_component(folder \${file} DIRECTORY)
    file(MAKE_DIRECTORY \${folder})
    execute_process(COMMAND $<TARGET_FILE:hone> \${ARGN} OUTPUT_FILE \${file} COMMAND_ERROR_IS_FATAL ANY)
  endfunction()
  set(share \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share)
  hone_says(\${share}/man/man1/hone.1 help man)
  hone_says(\${share}/bash-completion/completions/hone completion bash)
  hone_says(\${share}/zsh/site-functions/_hone completion zsh)
  hone_says(\${share}/fish/vendor_completions.d/hone.fish completion fish)
" COMPONENT core)
