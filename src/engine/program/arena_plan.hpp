// Assigns addresses in the arena to the slots of a program's steps.
#pragma once

#include <map>
#include <span>

#include "engine/program/memory_plan.hpp"
#include "engine/program/slots.hpp"

namespace hone::engine {

class ArenaPlan {
 public:
  /// Finds the lifetimes of slots in these steps. Buffers are the root slots in the arena; each lives as long
  /// as any slot inside it. The table must outlive the plan.
  ArenaPlan(SlotTable& slots, const std::vector<DraftStep>& ordered);

  const MemoryPlan& memory() const { return memory_; }
  /// The operand of a slot; no operand for -1.
  Operand operand(int32_t id) const;

 private:
  const SlotTable& slots_;
  MemoryPlan memory_;
  std::map<int32_t, size_t> buffer_of_;
};

}  // namespace hone::engine
