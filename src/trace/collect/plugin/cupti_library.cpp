// See cupti_library.hpp.
#include "trace/collect/plugin/cupti_library.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdlib>

namespace hone::trace::inject {
namespace {

Cupti& functions() {
  static Cupti instance;
  return instance;
}

void* library = nullptr;

void* open_library() {
  if (const char* named = std::getenv("HONE_CUPTI"); named != nullptr && *named != '\0')
    return dlopen(named, RTLD_NOW | RTLD_LOCAL);
  constexpr std::array kNames = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
  for (const char* name : kNames) {
    if (void* loaded = dlopen(name, RTLD_NOW | RTLD_NOLOAD)) return loaded;
  }
  for (const char* name : kNames) {
    if (void* loaded = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return loaded;
  }
  for (const char* path :
       {"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so", "/usr/local/cuda/lib64/libcupti.so"}) {
    if (void* loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL)) return loaded;
  }
  return nullptr;
}

}  // namespace

std::string load_cupti() {
  library = open_library();
  if (library == nullptr) {
    const char* error = dlerror();
    return std::string("CUPTI cannot be loaded (") + (error == nullptr ? "unknown error" : error) + ")";
  }
#define HONE_RESOLVE(name)                                                       \
  functions().name = reinterpret_cast<decltype(&::name)>(dlsym(library, #name)); \
  if (functions().name == nullptr) return "CUPTI is too old: it has no " #name;
  HONE_CUPTI_FUNCTIONS(HONE_RESOLVE)
#undef HONE_RESOLVE
  return "";
}

void* cupti_symbol(const char* name) { return dlsym(library, name); }

const Cupti& cupti() { return functions(); }

}  // namespace hone::trace::inject
