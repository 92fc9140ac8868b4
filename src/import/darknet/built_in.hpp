// The built-in darknet networks, as the text of cfg files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone::importer::darknet {

std::vector<std::string> built_in_names();
/// Throws an internal error for an unknown name.
std::string built_in_cfg(std::string_view name);

}  // namespace hone::importer::darknet
