// The JSON library under a short name; only files that read or write JSON include this.
#pragma once

#include <nlohmann/json.hpp>

namespace hone {
/// Keeps insertion order, so that written files read as a person would order them.
using Json = nlohmann::ordered_json;
}  // namespace hone
