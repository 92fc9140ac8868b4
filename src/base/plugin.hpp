// Plugins: heavy third-party systems (libtorch, OpenCV, CUDA) live in shared libraries that are loaded only
// when named, and that are found next to the program.
#pragma once

#include <string>
#include <string_view>

namespace hone::base {

/// The folder that holds libhone.so, and with it every plugin.
std::string library_folder();

/// `libhone-<name>.so` in that folder. Environment error, with the remedy of its manifest, when it is
/// missing.
std::string plugin_file(std::string_view name);

/// Loads the plugin and returns the address of its C symbol. Environment error, in one sentence with the
/// remedy, when the plugin or a library it needs is missing.
void* load_plugin_symbol(std::string_view name, const char* symbol);

}  // namespace hone::base
