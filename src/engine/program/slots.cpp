// See slots.hpp.
#include "engine/program/slots.hpp"

#include <algorithm>
#include <unordered_map>

namespace hone::engine {
namespace {

/// Limit on the slots in use that shared_after examines.
constexpr int kMaxLooks = 1024;

bool owns_bytes(const Slot& slot) { return slot.storage == Operand::Storage::kArena && slot.parent < 0; }

/// True if every input would begin at the alignment that its readers and writers need.
bool parts_are_aligned(const SlotTable& slots, const DraftStep& step) {
  int64_t offset = 0;
  return std::all_of(step.inputs.begin(), step.inputs.end(), [&](int32_t input) {
    const bool aligned = offset % step.part_alignment == 0;
    offset += slots.at(input).desc.bytes();
    return aligned;
  });
}

/// Places the inputs of a concatenation inside its output, or the output around inputs that are already
/// adjacent.
void place_concatenation(SlotTable& slots, DraftStep& step) {
  const int32_t output = step.outputs[0];
  if (slots.at(output).storage != Operand::Storage::kArena || !parts_are_aligned(slots, step)) return;
  // Feature lists grow by concatenation (DenseNet), so the inputs may already be adjacent in a later, longer
  // list.
  if (owns_bytes(slots.at(output))) {
    const auto [root, begin] = slots.root(step.inputs[0]);
    int64_t expected = begin;
    bool in_row = root != step.inputs[0] && slots.at(root).storage == Operand::Storage::kArena;
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
  std::unordered_map<int32_t, int> uses;
  for (const int32_t input : step.inputs) ++uses[input];
  for (const int32_t input : step.inputs) {
    if (uses[input] == 1 && owns_bytes(slots.at(input)) && slots.root(output).first != input) {
      slots.place_inside(input, output, offset);
    }
    const auto [root, position] = slots.root(output);
    all = all && slots.root(input) == std::pair(root, position + offset);
    offset += slots.at(input).desc.bytes();
  }
  step.elided = all;
}

bool share(SlotTable& slots, const DraftStep& step, int32_t time, const SharedOperand& operand) {
  const int32_t input = step.inputs[operand.input];
  const int32_t output = step.outputs[operand.output];
  if (input < 0 || !owns_bytes(slots.at(output))) return false;
  const int32_t root = slots.root(input).first;
  if (slots.at(root).storage != Operand::Storage::kArena || root == output) return false;
  if (slots.at(output).desc.bytes() != slots.at(input).desc.bytes()) return false;
  if (slots.at(input).last > time) return false;
  if (std::count(step.inputs.begin(), step.inputs.end(), input) > 1) return false;
  for (const int32_t other : step.inputs) {
    if (other >= 0 && other != input && slots.root(other).first == root) return false;
  }
  if (slots.shared_after(input, time)) return false;
  slots.place_inside(output, input, 0);
  return true;
}

}  // namespace

TensorDesc plain_desc(const graph::TensorType& type) {
  Shape shape;
  for (const graph::Dim& dim : *type.dims) shape.push_back(dim.value());
  return {type.dtype, std::move(shape), Layout::kPlain};
}

bool is_stored_alike(DType kept, DType to, const NumericPolicy& policy) {
  return !policy.is_emulated() && tensor::is_half(kept) &&
         kept == (to == DType::kFloat32 ? policy.storage : to);
}

int32_t SlotTable::add(Slot slot) {
  const int32_t id = size();
  const int32_t parent = slot.parent;
  const int64_t offset = slot.offset;
  slot.parent = -1;
  slots_.push_back(std::move(slot));
  inside_.emplace_back();
  if (parent >= 0) place_inside(id, parent, offset);
  return id;
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
  const auto [outermost, begin] = root(parent);
  at(child).parent = outermost;
  at(child).offset = begin + offset;
  inside(outermost).push_back(child);
  inside(outermost).insert(inside(outermost).end(), inside(child).begin(), inside(child).end());
  inside(child) = {};
}

void SlotTable::find_lives(const std::vector<DraftStep>& steps) {
  for (Slot& slot : slots_) {
    slot.first = INT32_MAX;
    slot.last = -1;
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto time = static_cast<int32_t>(i);
    const auto touch = [&](int32_t id) {
      at(id).first = std::min(at(id).first, time);
      at(id).last = std::max(at(id).last, time);
    };
    const auto use = [&](int32_t id) {
      if (id < 0) return;
      touch(id);
      touch(root(id).first);
    };
    for (const int32_t id : steps[i].inputs) use(id);
    for (const int32_t id : steps[i].outputs) use(id);
  }
}

bool SlotTable::shared_after(int32_t id, int32_t time) {
  const auto [own_root, begin] = root(id);
  const int64_t end = begin + at(id).desc.bytes();
  // The content of a root slot begins at 0 and has its size, so a root that is used later shares its bytes.
  if (own_root != id && at(own_root).last > time) return true;
  std::vector<int32_t>& others = inside(own_root);
  int looks = 0;
  for (size_t i = 0; i < others.size();) {
    const Slot& other = at(others[i]);
    if (other.last <= time) {
      others[i] = others.back();
      others.pop_back();
      continue;
    }
    if (++looks > kMaxLooks) return true;
    const int64_t other_begin = root(others[i]).second;
    if (others[i] != id && other_begin < end && begin < other_begin + other.desc.bytes()) return true;
    ++i;
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
    for (const SharedOperand& operand : step.accumulations) {
      if (!share(slots, step, time, operand))
        copies.push_back({time, step.inputs[operand.input], step.outputs[operand.output]});
    }
    if (step.accumulations.empty() && step.in_place_input >= 0)
      share(slots, step, time, {0, static_cast<size_t>(step.in_place_input)});
  }
  return copies;
}

}  // namespace hone::engine
