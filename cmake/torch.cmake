# libtorch, for the torch plugin: Debian's libtorch-dev, or any other one (a Python wheel's torch folder,
# an unpacked libtorch) named by HONE_TORCH_PREFIX or CMAKE_PREFIX_PATH. Neither TorchConfig.cmake is used:
# Debian's asks for packages that no caller needs. Defines the target torch_library when it is found.
set(HONE_TORCH_PREFIX "" CACHE PATH "Folder with libtorch's include/ and lib/, for example a wheel's site-packages/torch")

# Another prefix makes the results cached for the last one stale.
if(NOT "${HONE_TORCH_PREFIX}" STREQUAL "${HONE_TORCH_PREFIX_SEEN}")
  unset(TORCH_INCLUDE CACHE)
  unset(TORCH_CPU_LIBRARY CACHE)
  unset(TORCH_C10_LIBRARY CACHE)
  unset(TORCH_CUDA_LIBRARY CACHE)
  unset(TORCH_C10_CUDA_LIBRARY CACHE)
  unset(HONE_TORCH_LINKS CACHE)
  set(HONE_TORCH_PREFIX_SEEN "${HONE_TORCH_PREFIX}" CACHE INTERNAL "")
endif()

set(torch_search)
if(HONE_TORCH_PREFIX)
  set(torch_search NO_DEFAULT_PATH)
endif()
find_path(TORCH_INCLUDE torch/csrc/jit/api/module.h PATHS ${HONE_TORCH_PREFIX}/include ${torch_search})
find_library(TORCH_CPU_LIBRARY torch_cpu PATHS ${HONE_TORCH_PREFIX}/lib ${torch_search})
find_library(TORCH_C10_LIBRARY c10 PATHS ${HONE_TORCH_PREFIX}/lib ${torch_search})
mark_as_advanced(TORCH_INCLUDE TORCH_CPU_LIBRARY TORCH_C10_LIBRARY)

if(NOT TORCH_INCLUDE OR NOT TORCH_CPU_LIBRARY OR NOT TORCH_C10_LIBRARY)
  message(STATUS "libtorch not found: the backends of PyTorch are left out "
                 "(apt install libtorch-dev, or -DHONE_TORCH_PREFIX=.../site-packages/torch)")
  return()
endif()

add_library(torch_library INTERFACE IMPORTED GLOBAL)
target_include_directories(torch_library INTERFACE
  ${TORCH_INCLUDE} ${TORCH_INCLUDE}/torch/csrc/api/include)
target_link_libraries(torch_library INTERFACE ${TORCH_CPU_LIBRARY} ${TORCH_C10_LIBRARY})

# With CUDA, when this libtorch has it and the toolkit's headers are there. The CUDA runtime is not linked: the
# one that libtorch loads is the one to call.
find_library(TORCH_CUDA_LIBRARY torch_cuda PATHS ${HONE_TORCH_PREFIX}/lib ${torch_search})
find_library(TORCH_C10_CUDA_LIBRARY c10_cuda PATHS ${HONE_TORCH_PREFIX}/lib ${torch_search})
find_package(CUDAToolkit QUIET)
mark_as_advanced(TORCH_CUDA_LIBRARY TORCH_C10_CUDA_LIBRARY)
if(TORCH_CUDA_LIBRARY AND TORCH_C10_CUDA_LIBRARY AND CUDAToolkit_FOUND
   AND EXISTS ${TORCH_INCLUDE}/c10/cuda/impl/cuda_cmake_macros.h)
  add_library(torch_cuda_library INTERFACE IMPORTED GLOBAL)
  target_include_directories(torch_cuda_library INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
  target_link_libraries(torch_cuda_library INTERFACE torch_library ${TORCH_CUDA_LIBRARY} ${TORCH_C10_CUDA_LIBRARY})
  target_link_options(torch_cuda_library INTERFACE -Wl,--allow-shlib-undefined)
endif()

# Wheels before 2.6 were built for the old std::string and cannot be linked.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES torch_library)
set(CMAKE_REQUIRED_LINK_OPTIONS -Wl,--allow-shlib-undefined)
check_cxx_source_compiles("
  #include <c10/util/Exception.h>
  int main() { return c10::Error(std::string(), std::string()).msg().empty() ? 0 : 1; }"
  HONE_TORCH_LINKS)
unset(CMAKE_REQUIRED_LIBRARIES)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
