// Converts the plans of an engine to JSON for its file: fields "places", "policies" and "plans".
#pragma once

#include "base/json.hpp"
#include "engine/engine.hpp"

namespace hone::engine {

void write_plans(const Engine& engine, Json& header);

/// Reads plans into an engine that has its graph. Bad input that names the field for plans that no builder
/// writes; throws JSON errors for fields that are missing or have a wrong type.
void read_plans(const Json& header, Engine& engine);

}  // namespace hone::engine
