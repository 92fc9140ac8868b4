// The parts of a context of the public API, for the engine that makes it.
#pragma once

#include "engine/context.hpp"
#include "hone/context.hpp"

namespace hone {

struct Context::State {
  engine::Context context;
};

}  // namespace hone
