// Sizes that a model's author gives its open dimensions, kept with its metadata as "size.<symbol>": what a
// benchmark or a build takes where the user names none.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "import/model.hpp"

namespace hone::importer {

/// Sizes by symbol. Bad input for a value that is no positive number.
std::map<std::string, int64_t> typical_sizes(const Metadata& metadata);

void set_typical_size(std::string_view symbol, int64_t size, Metadata* metadata);

}  // namespace hone::importer
