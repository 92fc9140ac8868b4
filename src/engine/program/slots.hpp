// The storage of values while a program is built: one slot per value and arrangement. Slots can lie inside
// other slots (views, concatenated parts, accumulations), so that bytes are shared, not copied.
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
  /// The slot this one lies in, and where; -1: it has bytes of its own. Once in a table, the outermost one
  /// when it was put there.
  int32_t parent = -1;
  int64_t offset = 0;
  /// First step that writes it and last step that touches it.
  int32_t first = INT32_MAX;
  int32_t last = -1;
};

/// A value of known shape as the graph declares it.
TensorDesc plain_desc(const graph::TensorType& type);

/// True if a Cast to `to` leaves the bytes of `kept` as they are: between float32, which the policy keeps in
/// 16 bits, and that type. Caches of such an engine lie outside as they lie inside.
bool is_stored_alike(DType kept, DType to, const NumericPolicy& policy);

/// A step before storage is decided; operands are slot numbers, -1 where absent.
struct DraftStep {
  ProgramStep step;
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
  std::vector<SharedOperand> accumulations;  ///< see Offer
  int in_place_input = -1;
  bool concatenates = false;
  int64_t part_alignment = 1;  ///< see Offer
  /// Every input lies in the output already: nothing is left to do.
  bool elided = false;
};

class SlotTable {
 public:
  int32_t add(Slot slot);
  Slot& at(int32_t id) { return slots_[static_cast<size_t>(id)]; }
  const Slot& at(int32_t id) const { return slots_[static_cast<size_t>(id)]; }
  int32_t size() const { return static_cast<int32_t>(slots_.size()); }

  /// The outermost slot around `id` and the offset in it.
  std::pair<int32_t, int64_t> root(int32_t id) const;
  /// Puts a slot that has bytes of its own into another one.
  void place_inside(int32_t child, int32_t parent, int64_t offset);
  /// Notes first and last use of every slot; a use of a slot is also one of its root.
  void find_lives(const std::vector<DraftStep>& steps);
  /// True if another slot that shares bytes with `id` is used after step `time`. Times that are asked for
  /// never fall, so what is over is forgotten. True also where very many slots that are still used would have
  /// to be looked at: a chain of n steps may not take n * n looks.
  bool shared_after(int32_t id, int32_t time);

 private:
  std::vector<int32_t>& inside(int32_t id) { return inside_[static_cast<size_t>(id)]; }

  std::vector<Slot> slots_;
  /// For each root, the slots that lie in it; less those that shared_after found to be over.
  std::vector<std::vector<int32_t>> inside_;
};

/// Decides which slots share bytes: concatenated parts first, then accumulations and in-place steps.
/// Accumulations that cannot share are returned as (step, input slot, output slot) to be copied before the
/// step.
struct PendingCopy {
  int32_t step;
  int32_t from;
  int32_t to;
};
std::vector<PendingCopy> share_slots(SlotTable& slots, std::vector<DraftStep>& steps);

}  // namespace hone::engine
