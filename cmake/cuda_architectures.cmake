# Which GPUs kernels are built for.

# Puts into `result` what these names of CMAKE_CUDA_ARCHITECTURES stand for here; a fatal error for others.
function(hone_cuda_architectures result)
  set(names ${ARGN})
  # Machine code alone: what a driver makes of code for an older GPU lacks the waits that the newer GPU's launches rely on.
  foreach(name ${names})
    if(NOT name MATCHES "^([0-9]+[af]?(-real)?|native)$")
      message(FATAL_ERROR "HONE_CUDA_ARCHITECTURES names ${name}: it takes 90a or 90a-real, say, and native")
    endif()
  endforeach()
  list(TRANSFORM names REPLACE "^([0-9]+[af]?)$" "\\1-real")
  # What only Hopper has, and most kernels for it use, is in code for 90a alone.
  list(TRANSFORM names REPLACE "^90-real$" "90a-real")
  list(REMOVE_DUPLICATES names)
  set(${result} ${names} PARENT_SCOPE)
endfunction()
