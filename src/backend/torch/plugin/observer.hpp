// PyTorch's own account of its runs: its operators and its allocators' work.
#pragma once

#include <memory>

#include "backend/observer.hpp"

namespace hone::backend::aten {

/// Operators of all threads, memory of the calling one. One at a time; without one, PyTorch runs as if there
/// were none.
std::unique_ptr<Observer> observe_torch(const ObserveOptions& options);

}  // namespace hone::backend::aten
