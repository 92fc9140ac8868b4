# The CUDA toolkit with cuDNN 9, for the cuda plugin. Defines the target cuda_libraries when all of it is
# found and the language CUDA is enabled.
set(HONE_CUDA_ARCHITECTURES "90a-real" CACHE STRING
  "GPU architectures to build kernels for, as CMAKE_CUDA_ARCHITECTURES takes them (75 to 120)")
# Machine code alone: what a driver makes of code for an older GPU lacks the waits that the newer GPU's launches rely on.
if(HONE_CUDA_ARCHITECTURES MATCHES "virtual")
  message(FATAL_ERROR "HONE_CUDA_ARCHITECTURES is ${HONE_CUDA_ARCHITECTURES}: hone is built for real architectures alone")
endif()
list(TRANSFORM HONE_CUDA_ARCHITECTURES REPLACE "^([0-9]+[af]?)$" "\\1-real")

find_program(HONE_NVCC nvcc HINTS ENV CUDA_HOME PATHS /usr/local/cuda/bin)
if(NOT HONE_NVCC)
  message(STATUS "nvcc was not found: the device cuda is left out")
  return()
endif()
set(CMAKE_CUDA_COMPILER ${HONE_NVCC})
set(CMAKE_CUDA_ARCHITECTURES ${HONE_CUDA_ARCHITECTURES})
enable_language(CUDA)
# CMake 3.25 is older than nvcc 13 and does not know how it is asked for C++20.
set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
find_package(CUDAToolkit REQUIRED)
if(CUDAToolkit_VERSION VERSION_LESS 13)
  message(STATUS "CUDA ${CUDAToolkit_VERSION} was found, 13 is needed: the device cuda is left out")
  return()
endif()
find_path(CUDNN_INCLUDE_DIR cudnn_graph.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_library(CUDNN_LIBRARY cudnn HINTS ${CUDAToolkit_LIBRARY_DIR} ${CUDAToolkit_LIBRARY_ROOT}/lib)
if(NOT CUDNN_INCLUDE_DIR OR NOT CUDNN_LIBRARY)
  message(STATUS "cuDNN 9 was not found: the device cuda is left out")
  return()
endif()
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

add_library(cuda_libraries INTERFACE)
target_include_directories(cuda_libraries SYSTEM INTERFACE ${CUDNN_INCLUDE_DIR} ${CUDAToolkit_INCLUDE_DIRS})
target_link_libraries(cuda_libraries INTERFACE CUDA::cudart_static CUDA::cublasLt CUDA::nvrtc ${CUDNN_LIBRARY})
