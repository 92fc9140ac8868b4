// Executables that share one set of weights between threads. An executable implements this in addition to
// backend::Executable if its system supports it.
#pragma once

#include <memory>

#include "backend/backend.hpp"

namespace hone::backend {

class Shareable {
 public:
  virtual ~Shareable() = default;
  /// Another executable with the same weights, for another thread. It may outlive this one.
  virtual std::unique_ptr<Executable> share() const = 0;
};

}  // namespace hone::backend
