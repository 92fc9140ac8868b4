// Executables over one set of weights for several threads: an interface that those have besides
// backend::Executable where the system can.
#pragma once

#include <memory>

#include "backend/backend.hpp"

namespace hone::backend {

class Shareable {
 public:
  virtual ~Shareable() = default;
  /// Another executable over the same weights, for another thread. It may outlive this one.
  virtual std::unique_ptr<Executable> share() const = 0;
};

}  // namespace hone::backend
