// Plugins: heavy third-party systems (libtorch, OpenCV, CUDA) are in shared libraries next to libhone, which
// are loaded only when they are needed.
#pragma once

#include <string>
#include <string_view>

namespace hone::base {

/// The folder of libhone.so and all plugins.
std::string library_folder();

/// The path of `libhone-<name>.so` in this folder. Environment error, with the remedy from its manifest, if
/// it is missing.
std::string plugin_file(std::string_view name);

/// Loads the plugin and returns the address of its C symbol. If the plugin or a library that it needs is
/// missing, environment error with one sentence and the remedy.
void* load_plugin_symbol(std::string_view name, const char* symbol);

}  // namespace hone::base
