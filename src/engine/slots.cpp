// See slots.hpp.
#include "engine/slots.hpp"

#include <algorithm>

namespace hone::engine {
namespace {

bool owns_bytes(const Slot& slot) { return slot.place == Operand::Place::kArena && slot.parent < 0; }

/// Puts the inputs of a concatenation into its output, or its output around inputs that already lie in a row.
void place_concatenation(SlotTable& slots, DraftStep& step) {
  const int32_t output = step.outputs[0];
  if (slots.at(output).place != Operand::Place::kArena) return;
  // Feature lists grow by concatenation (DenseNet): the inputs may already lie in a row in a later, longer
  // list.
  if (owns_bytes(slots.at(output))) {
    const auto [root, begin] = slots.root(step.inputs[0]);
    int64_t expected = begin;
    bool in_row = root != step.inputs[0] && slots.at(root).place == Operand::Place::kArena;
    for (const int32_t input : step.inputs) {
      in_row = in_row && slots.root(input) == std::pair(root, expected);
      expected += slots.at(input).desc.bytes();
    }
    if (in_row) {
      slots.place_inside(output, root, begin);
      step.elided = true;
      return;
    }
  }
  int64_t offset = 0;
  bool all = true;
  for (const int32_t input : step.inputs) {
    const bool repeated = std::count(step.inputs.begin(), step.inputs.end(), input) > 1;
    if (!repeated && owns_bytes(slots.at(input)) && slots.root(output).first != input) {
      slots.place_inside(input, output, offset);
    }
    const auto [root, position] = slots.root(output);
    all = all && slots.root(input) == std::pair(root, position + offset);
    offset += slots.at(input).desc.bytes();
  }
  step.elided = all;
}

bool share_with_input(SlotTable& slots, const DraftStep& step, int32_t time, int operand) {
  const int32_t input = step.inputs[static_cast<size_t>(operand)];
  const int32_t output = step.outputs[0];
  if (input < 0 || !owns_bytes(slots.at(output))) return false;
  const int32_t root = slots.root(input).first;
  if (slots.at(root).place != Operand::Place::kArena || root == output) return false;
  if (slots.at(output).desc.bytes() != slots.at(input).desc.bytes()) return false;
  if (slots.at(input).last > time) return false;
  if (std::count(step.inputs.begin(), step.inputs.end(), input) > 1) return false;
  if (slots.shared_after(input, time)) return false;
  for (const int32_t other : step.inputs) {
    if (other >= 0 && other != input && slots.root(other).first == root) return false;
  }
  slots.place_inside(output, input, 0);
  return true;
}

}  // namespace

int32_t SlotTable::add(Slot slot) {
  slots_.push_back(std::move(slot));
  return size() - 1;
}

std::pair<int32_t, int64_t> SlotTable::root(int32_t id) const {
  int64_t offset = 0;
  while (at(id).parent >= 0) {
    offset += at(id).offset;
    id = at(id).parent;
  }
  return {id, offset};
}

void SlotTable::place_inside(int32_t child, int32_t parent, int64_t offset) {
  at(child).parent = parent;
  at(child).offset = offset;
}

void SlotTable::find_lives(const std::vector<DraftStep>& steps) {
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto time = static_cast<int32_t>(i);
    const auto touch = [&](int32_t id) {
      // A use of a view is a use of what it looks at.
      for (; id >= 0; id = at(id).parent) {
        at(id).first = std::min(at(id).first, time);
        at(id).last = std::max(at(id).last, time);
      }
    };
    for (const int32_t id : steps[i].inputs) touch(id);
    for (const int32_t id : steps[i].outputs) touch(id);
  }
}

bool SlotTable::is_ancestor(int32_t ancestor, int32_t id) const {
  for (id = at(id).parent; id >= 0; id = at(id).parent) {
    if (id == ancestor) return true;
  }
  return false;
}

bool SlotTable::shared_after(int32_t id, int32_t time) const {
  const auto [own_root, begin] = root(id);
  const int64_t end = begin + at(id).desc.bytes();
  for (int32_t other = 0; other < size(); ++other) {
    if (other == id || at(other).last < time) continue;
    const auto [other_root, other_begin] = root(other);
    if (other_root != own_root) continue;
    const bool overlaps = other_begin < end && begin < other_begin + at(other).desc.bytes();
    // The ancestors' lives include this slot's own; those that live no longer than it are not readers of
    // their own.
    if (overlaps && (at(other).last > time || !is_ancestor(other, id))) return true;
  }
  return false;
}

std::vector<PendingCopy> share_slots(SlotTable& slots, std::vector<DraftStep>& steps) {
  slots.find_lives(steps);
  for (size_t i = steps.size(); i-- > 0;) {
    if (steps[i].concatenates) place_concatenation(slots, steps[i]);
  }
  std::vector<PendingCopy> copies;
  for (size_t i = 0; i < steps.size(); ++i) {
    DraftStep& step = steps[i];
    const auto time = static_cast<int32_t>(i);
    if (step.accumulate_input >= 0) {
      if (!share_with_input(slots, step, time, step.accumulate_input)) {
        copies.push_back({time, step.inputs[static_cast<size_t>(step.accumulate_input)], step.outputs[0]});
      }
    } else if (step.in_place_input >= 0) {
      share_with_input(slots, step, time, step.in_place_input);
    }
  }
  return copies;
}

}  // namespace hone::engine
