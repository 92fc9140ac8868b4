// See plugin.hpp.
#include "base/plugin.hpp"

#include <dlfcn.h>

#include <filesystem>

#include "base/error.hpp"
#include "base/plugin_manifest.hpp"

namespace hone::base {
namespace {

/// True if this library is in a build tree, not in an installed tree.
bool in_build() {
  return std::filesystem::exists(std::filesystem::path(library_folder()) / ".." / "CMakeCache.txt");
}

/// The remedy for this kind of tree: in a build tree, a dependency of the plugin is missing, even if the
/// plugin exists and cannot be loaded; in an installed tree, the component may be missing.
std::string remedy_for(std::string_view name, bool is_there) {
  for (const PluginManifest& manifest : plugin_manifests()) {
    if (manifest.name != name) continue;
    if (is_there || in_build()) return manifest.remedy;
    return fmt::format(
        "cmake --install BUILD --prefix {} --component {} adds it where hone was built with it, which takes: "
        "{}",
        std::filesystem::path(library_folder()).parent_path().string(), name, manifest.remedy);
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
    fail_environment("the plugin libhone-{}.so is not installed ({})", name,
                     remedy_for(name, /*is_there=*/false));
  return file;
}

void* load_plugin_symbol(std::string_view name, const char* symbol) {
  const std::string file = plugin_file(name);
  // Handles are never closed, because plugins register state that cannot be unloaded.
  void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    fail_environment("the plugin libhone-{}.so cannot be loaded: {} ({})", name, ::dlerror(),
                     remedy_for(name, /*is_there=*/true));
  void* address = ::dlsym(handle, symbol);
  if (address == nullptr) fail_environment("the plugin {} has no symbol {}", file, symbol);
  return address;
}

}  // namespace hone::base
