// The implementation of a context of the public API, for the engine that makes it.
#pragma once

#include <memory>
#include <utility>

#include "api/one_user.hpp"
#include "engine/context.hpp"
#include "hone/context.hpp"

namespace hone {

struct Context::State {
  explicit State(std::shared_ptr<engine::LoadedEngine> loaded) : context(std::move(loaded)) {}

  engine::Context context;
  api::OneUser user;
};

}  // namespace hone
