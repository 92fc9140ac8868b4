// The plans of an engine as JSON, for its file: fields "places", "policies" and "plans".
#pragma once

#include "base/json.hpp"
#include "engine/engine.hpp"

namespace hone::engine {

void write_plans(const Engine& engine, Json& header);

/// Reads plans into an engine that has its graph. Bad input, naming the field, for plans that no builder
/// writes; throws JSON errors for missing or mistyped fields.
void read_plans(const Json& header, Engine& engine);

}  // namespace hone::engine
