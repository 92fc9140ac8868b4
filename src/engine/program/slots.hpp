// The storage of values while a program is built: one slot for each value and arrangement. Slots can be
// inside other slots (views, concatenated parts, accumulations), so that bytes are shared instead of copied.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/program/program.hpp"

namespace hone::engine {

struct Slot {
  TensorDesc desc;
  Operand::Storage storage = Operand::Storage::kArena;
  /// kInput, kOutput: index; kDynamic: value id.
  int64_t index = 0;
  const void* data = nullptr;
  /// The slot that contains this one, and the offset in it; -1: it has its own memory. When a slot is added
  /// to a table, the outermost slot is stored here.
  int32_t parent = -1;
  int64_t offset = 0;
  /// First step that writes it, and last step that uses it.
  int32_t first = INT32_MAX;
  int32_t last = -1;
};

/// Describes a value of known shape as the graph declares it.
TensorDesc plain_desc(const graph::TensorType& type);

/// True if a Cast to `to` does not change the bytes of `kept`: it is a cast from float32, which the policy
/// stores in 16 bits, to that type or back. The caches of such an engine have the same bytes inside and
/// outside.
bool is_stored_alike(DType kept, DType to, const NumericPolicy& policy);

/// A step before its storage is decided; operands are slot numbers, -1 if absent.
struct DraftStep {
  ProgramStep step;
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
  std::vector<SharedOperand> accumulations;  ///< see Offer
  int in_place_input = -1;
  bool concatenates = false;
  int64_t part_alignment = 1;  ///< see Offer
  /// True if every input is already inside the output, so that nothing remains to be done.
  bool elided = false;
};

class SlotTable {
 public:
  int32_t add(Slot slot);
  Slot& at(int32_t id) { return slots_[static_cast<size_t>(id)]; }
  const Slot& at(int32_t id) const { return slots_[static_cast<size_t>(id)]; }
  int32_t size() const { return static_cast<int32_t>(slots_.size()); }

  /// The outermost slot around `id`, and the offset in it.
  std::pair<int32_t, int64_t> root(int32_t id) const;
  /// Places a slot with its own memory inside another one.
  void place_inside(int32_t child, int32_t parent, int64_t offset);
  /// Finds the first and last use of every slot; a use of a slot is also a use of its root.
  void find_lives(const std::vector<DraftStep>& steps);
  /// True if another slot that shares memory with `id` is used after step `time`. The times of consecutive
  /// calls must not decrease, because slots that are no longer used are removed. Also true if too many slots
  /// would have to be examined, because a chain of n steps must not take O(n * n) time.
  bool shared_after(int32_t id, int32_t time);

 private:
  std::vector<int32_t>& inside(int32_t id) { return inside_[static_cast<size_t>(id)]; }

  std::vector<Slot> slots_;
  /// For each root, the slots inside it, without those that shared_after found to be no longer used.
  std::vector<std::vector<int32_t>> inside_;
};

/// Decides which slots share memory: first concatenated parts, then accumulations and in-place steps.
/// Accumulations that cannot share are returned as (step, input slot, output slot); they must be copied
/// before the step.
struct PendingCopy {
  int32_t step;
  int32_t from;
  int32_t to;
};
std::vector<PendingCopy> share_slots(SlotTable& slots, std::vector<DraftStep>& steps);

}  // namespace hone::engine
