// See plugin.hpp.
#include "base/plugin.hpp"

#include <dlfcn.h>

#include <filesystem>

#include "base/error.hpp"
#include "base/plugin_manifest.hpp"

namespace hone::base {
namespace {

std::string remedy_for(std::string_view name) {
  for (const PluginManifest& manifest : plugin_manifests()) {
    if (manifest.name == name) return manifest.remedy;
  }
  for (const DamagedManifest& manifest : damaged_manifests()) {
    if (manifest.name == name) return manifest.sentence;
  }
  return fmt::format("nor is its manifest libhone-{}.json; install hone again", name);
}

}  // namespace

std::string library_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&library_folder), &info) == 0 || info.dli_fname == nullptr) {
    fail_internal("cannot find the folder of libhone.so");
  }
  return std::filesystem::weakly_canonical(info.dli_fname).parent_path().string();
}

std::string plugin_file(std::string_view name) {
  std::string file = fmt::format("{}/libhone-{}.so", library_folder(), name);
  if (!std::filesystem::exists(file))
    fail_environment("the plugin libhone-{}.so is not installed ({})", name, remedy_for(name));
  return file;
}

void* load_plugin_symbol(std::string_view name, const char* symbol) {
  const std::string file = plugin_file(name);
  // Handles are kept for the life of the process: plugins register state that cannot be unloaded.
  void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    fail_environment("the plugin libhone-{}.so cannot be loaded: {} ({})", name, ::dlerror(),
                     remedy_for(name));
  void* address = ::dlsym(handle, symbol);
  if (address == nullptr) fail_environment("the plugin {} has no symbol {}", file, symbol);
  return address;
}

}  // namespace hone::base
