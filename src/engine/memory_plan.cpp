// See memory_plan.hpp.
#include "engine/memory_plan.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/checked.hpp"

namespace hone::engine {
namespace {

constexpr int64_t kAlignment = 64;

int64_t align(int64_t bytes) { return base::checked_add(bytes, kAlignment - 1) / kAlignment * kAlignment; }

bool alive_together(const BufferLife& a, const BufferLife& b) {
  return a.first <= b.last && b.first <= a.last;
}

int64_t lower_bound(const std::vector<BufferLife>& buffers) {
  std::map<int32_t, int64_t> change;
  for (const BufferLife& buffer : buffers) {
    change[buffer.first] += align(buffer.bytes);
    change[buffer.last + 1] -= align(buffer.bytes);
  }
  int64_t alive = 0;
  int64_t peak = 0;
  for (const auto& [step, delta] : change) peak = std::max(peak, alive += delta);
  return peak;
}

}  // namespace

MemoryPlan plan_memory(const std::vector<BufferLife>& buffers) {
  MemoryPlan plan;
  plan.offsets.assign(buffers.size(), 0);
  plan.lower_bound_bytes = lower_bound(buffers);
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return buffers[a].bytes > buffers[b].bytes; });

  std::vector<size_t> placed;
  for (const size_t index : order) {
    const int64_t size = align(buffers[index].bytes);
    plan.naive_bytes += size;
    // Placed neighbours in time, by offset: the first gap that is large enough is the lowest.
    std::vector<size_t> neighbours;
    for (const size_t other : placed) {
      if (alive_together(buffers[index], buffers[other])) neighbours.push_back(other);
    }
    std::sort(neighbours.begin(), neighbours.end(),
              [&](size_t a, size_t b) { return plan.offsets[a] < plan.offsets[b]; });
    int64_t offset = 0;
    for (const size_t other : neighbours) {
      if (plan.offsets[other] >= offset + size) break;
      offset = std::max(offset, plan.offsets[other] + align(buffers[other].bytes));
    }
    plan.offsets[index] = offset;
    plan.peak_bytes = std::max(plan.peak_bytes, offset + size);
    placed.push_back(index);
  }
  return plan;
}

}  // namespace hone::engine
