// Opens the NVIDIA driver at run time, so that code that calls it can be built without CUDA.
#pragma once

#include <dlfcn.h>

#include "base/error.hpp"

namespace hone::backend {

/// The library stays open. Environment error if the machine has no driver.
inline void* open_driver_library() {
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    fail_environment("no NVIDIA driver is loaded on this machine, so nothing can run on a GPU");
  return library;
}

/// Environment error for a driver that is too old to have the function.
template <class F>
void find_in_driver(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(::dlsym(library, name));
  if (function == nullptr) fail_environment("the NVIDIA driver has no {}: install a newer one", name);
}

}  // namespace hone::backend
