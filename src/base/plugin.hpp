// Plugins: heavy third-party systems (libtorch, OpenCV, CUDA) live in shared libraries that are loaded
// only when named, and that are found beside the program.
#pragma once

#include <string>
#include <string_view>

namespace hone::base {

/// Loads `libhone-<name>.so` from the folder of libhone.so and returns the address of its C symbol.
/// Environment error, in one sentence with `advice`, when the plugin or a library it needs is missing.
void* load_plugin_symbol(std::string_view name, const char* symbol, std::string_view advice);

/// The folder that holds libhone.so, and with it every plugin.
std::string library_folder();

}  // namespace hone::base
