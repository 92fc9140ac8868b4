// See memory_plan.hpp.
#include "engine/program/memory_plan.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/checked.hpp"

namespace hone::engine {
namespace {

constexpr int64_t kAlignment = 64;

/// Comparing all buffers with overlapping lifetimes takes quadratic time. If there are more buffers than
/// this, which no known network has, they are placed in order of time instead.
constexpr size_t kMaxCompared = 4096;

int64_t align(int64_t bytes) { return base::checked_add(bytes, kAlignment - 1) / kAlignment * kAlignment; }

bool alive_together(const BufferLife& a, const BufferLife& b) {
  return a.first <= b.last && b.first <= a.last;
}

int64_t lower_bound(const std::vector<BufferLife>& buffers) {
  std::map<int32_t, int64_t> change;
  for (const BufferLife& buffer : buffers) {
    int64_t& come = change[buffer.first];
    come = base::checked_add(come, align(buffer.bytes));
    int64_t& gone = change[buffer.last + 1];
    gone = base::checked_add(gone, -align(buffer.bytes));
  }
  int64_t alive = 0;
  int64_t peak = 0;
  for (const auto& [step, delta] : change) {
    alive = base::checked_add(alive, delta);
    peak = std::max(peak, alive);
  }
  return peak;
}

/// The free parts of an arena that grows on demand.
class Arena {
 public:
  /// Takes the smallest gap that is large enough, or new memory at the end.
  int64_t take(int64_t size) {
    const auto gap = by_size_.lower_bound({size, 0});
    if (gap == by_size_.end()) return grow(size);
    const auto [found, offset] = *gap;
    erase(offset, found);
    if (found > size) insert(offset + size, found - size);
    return offset;
  }

  void give_back(int64_t offset, int64_t size) {
    auto next = gaps_.lower_bound(offset);
    if (next != gaps_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == offset) {
        offset = before->first;
        size += before->second;
        erase(before->first, before->second);
      }
    }
    if (next != gaps_.end() && offset + size == next->first) {
      size += next->second;
      erase(next->first, next->second);
    }
    insert(offset, size);
  }

  int64_t size() const { return end_; }

 private:
  /// Takes memory at the end, including a gap that ends there.
  int64_t grow(int64_t size) {
    int64_t offset = end_;
    if (!gaps_.empty() && gaps_.rbegin()->first + gaps_.rbegin()->second == end_) {
      offset = gaps_.rbegin()->first;
      erase(offset, end_ - offset);
    }
    end_ = offset + size;
    return offset;
  }

  void insert(int64_t offset, int64_t size) {
    gaps_.emplace(offset, size);
    by_size_.emplace(size, offset);
  }

  void erase(int64_t offset, int64_t size) {
    gaps_.erase(offset);
    by_size_.erase({size, offset});
  }

  std::map<int64_t, int64_t> gaps_;
  std::set<std::pair<int64_t, int64_t>> by_size_;
  int64_t end_ = 0;
};

/// Places buffers in the order in which their lifetimes begin and end; O(n log n).
void place_in_time(const std::vector<BufferLife>& buffers, MemoryPlan& plan) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return buffers[a].first < buffers[b].first; });
  Arena arena;
  std::set<std::pair<int32_t, size_t>> alive;
  for (const size_t index : order) {
    while (!alive.empty() && alive.begin()->first < buffers[index].first) {
      const size_t over = alive.begin()->second;
      arena.give_back(plan.offsets[over], align(buffers[over].bytes));
      alive.erase(alive.begin());
    }
    plan.offsets[index] = arena.take(align(buffers[index].bytes));
    alive.emplace(buffers[index].last, index);
  }
  plan.peak_bytes = arena.size();
}

/// Places large buffers first, each at the lowest offset that is free during its lifetime.
void place_by_size(const std::vector<BufferLife>& buffers, MemoryPlan& plan) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return buffers[a].bytes > buffers[b].bytes; });

  std::vector<size_t> placed;
  for (const size_t index : order) {
    const int64_t size = align(buffers[index].bytes);
    // Placed buffers with overlapping lifetimes, sorted by offset: the first gap that is large enough is the
    // lowest.
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
}

}  // namespace

MemoryPlan plan_memory(const std::vector<BufferLife>& buffers) {
  MemoryPlan plan;
  plan.offsets.assign(buffers.size(), 0);
  plan.lower_bound_bytes = lower_bound(buffers);
  for (const BufferLife& buffer : buffers)
    plan.naive_bytes = base::checked_add(plan.naive_bytes, align(buffer.bytes));
  if (buffers.size() > kMaxCompared) {
    place_in_time(buffers, plan);
  } else {
    place_by_size(buffers, plan);
  }
  return plan;
}

}  // namespace hone::engine
