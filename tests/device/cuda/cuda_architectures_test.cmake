# usage: cmake -P cuda_architectures_test.cmake              checks what names stand for
#        cmake -DNAME=… -P cuda_architectures_test.cmake     fails where that name is refused
include(${CMAKE_CURRENT_LIST_DIR}/../../../cmake/cuda_architectures.cmake)

if(DEFINED NAME)
  hone_cuda_architectures(got ${NAME})
  return()
endif()

function(expect names expected)
  hone_cuda_architectures(got ${names})
  if(NOT "${got}" STREQUAL "${expected}")
    message(SEND_ERROR "${names} gave ${got}, not ${expected}")
  endif()
endfunction()

expect("90a-real" "90a-real")
expect("80;89-real;120a" "80-real;89-real;120a-real")
expect("90" "90a-real")
expect("75;90-real" "75-real;90a-real")
expect("90;90a" "90a-real")
expect("native" "native")

foreach(name all all-major 80-virtual hopper)
  execute_process(COMMAND ${CMAKE_COMMAND} -DNAME=${name} -P ${CMAKE_CURRENT_LIST_FILE}
    RESULT_VARIABLE code ERROR_VARIABLE sentence)
  if(code EQUAL 0 OR NOT sentence MATCHES "HONE_CUDA_ARCHITECTURES names ${name}")
    message(SEND_ERROR "${name} was not refused: ${sentence}")
  endif()
endforeach()
