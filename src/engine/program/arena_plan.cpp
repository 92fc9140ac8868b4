// See arena_plan.hpp.
#include "engine/program/arena_plan.hpp"

namespace hone::engine {

ArenaPlan::ArenaPlan(SlotTable& slots, const std::vector<DraftStep>& ordered) : slots_(slots) {
  slots.find_lives(ordered);
  std::vector<BufferLife> buffers;
  for (int32_t id = 0; id < slots.size(); ++id) {
    const Slot& slot = slots.at(id);
    if (slot.storage != Operand::Storage::kArena || slot.parent >= 0 || slot.last < 0) continue;
    buffer_of_[id] = buffers.size();
    buffers.push_back({slot.desc.bytes(), slot.first, slot.last});
  }
  memory_ = plan_memory(buffers);
}

Operand ArenaPlan::operand(int32_t id) const {
  if (id < 0) return {};
  const Slot& slot = slots_.at(id);
  Operand result{.storage = slot.storage, .position = slot.index, .data = slot.data, .desc = slot.desc};
  const auto [root, offset] = slots_.root(id);
  if (slots_.at(root).storage == Operand::Storage::kOutput) {
    result.storage = Operand::Storage::kOutput;
    result.position = slots_.at(root).index;
  } else if (slot.storage == Operand::Storage::kArena) {
    result.position = memory_.offsets[buffer_of_.at(root)] + offset;
  }
  return result;
}

}  // namespace hone::engine
