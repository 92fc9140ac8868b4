// Records PyTorch's operators and the work of its allocators.
#pragma once

#include <memory>

#include "backend/observer.hpp"

namespace hone::backend::aten {

/// Observes operators of all threads, and memory of the calling one. Only one observer can exist at a time;
/// without one, PyTorch runs without any overhead.
std::unique_ptr<Observer> observe_torch(const ObserveOptions& options);

}  // namespace hone::backend::aten
