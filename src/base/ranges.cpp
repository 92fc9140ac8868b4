// See ranges.hpp.
#include "base/ranges.hpp"

#include <atomic>

namespace hone::base {
namespace {

std::atomic<RangeListener*> current = nullptr;

}  // namespace

void listen_to_ranges(RangeListener* listener) { current.store(listener, std::memory_order_release); }

RangeListener* range_listener() { return current.load(std::memory_order_acquire); }

}  // namespace hone::base
