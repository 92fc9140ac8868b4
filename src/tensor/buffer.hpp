// Memory at a place, with its owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tensor/place.hpp"
#include "tensor/queue.hpp"

namespace hone::tensor {

/// Copies share the memory.
struct Buffer {
  Place place;
  std::byte* data = nullptr;
  int64_t bytes = 0;
  /// Keeps the memory alive; null if the caller does.
  std::shared_ptr<const void> owner;
  /// The event after which the memory may be read; null if it may be read at once.
  std::shared_ptr<const Event> ready;
};

}  // namespace hone::tensor
