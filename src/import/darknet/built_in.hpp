// The networks that hone brings along, as the text of cfg files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone::importer::darknet {

std::vector<std::string> built_in_names();
/// Internal error for a name that is none of them.
std::string built_in_cfg(std::string_view name);

}  // namespace hone::importer::darknet
