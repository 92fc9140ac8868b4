// Typical sizes of open dimensions, which a model's author stores in its metadata as "size.<symbol>". A
// benchmark or a build uses them unless the user gives sizes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "import/model.hpp"

namespace hone::importer {

/// Sizes by symbol. Throws bad input for a value that is not a positive number.
std::map<std::string, int64_t> typical_sizes(const Metadata& metadata);

void set_typical_size(std::string_view symbol, int64_t size, Metadata* metadata);

}  // namespace hone::importer
