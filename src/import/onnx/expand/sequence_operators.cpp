// See sequence_operators.hpp.
#include "import/onnx/expand/sequence_operators.hpp"

#include <algorithm>

namespace hone::importer {

using graph::DType;
using graph::ValueId;

namespace {

/// Limit on the elements of a sequence, because a few bytes of a file could request any number.
constexpr int64_t kMostElements = 10'000;

/// The constant integers of input i.
std::vector<int64_t> known_integers(Expansion& e, size_t i) {
  const ValueId id = e.in(i);
  if (const graph::Tensor* constant = e.graph.constant(id)) return constant->to_int64();
  const auto& data = e.graph.value(id).data;
  if (!data || !graph::all_known(*data))
    fail_bad_input("input {} is not known when the model is read, which sequences need", i);
  std::vector<int64_t> result;
  for (const graph::Dim& dim : *data) result.push_back(dim.value());
  return result;
}

/// The position in input i among `count` elements, counted from the end if negative; `fallback` without it.
int64_t position(Expansion& e, size_t i, int64_t count, int64_t fallback) {
  if (!e.has_in(i)) return fallback;
  const auto numbers = known_integers(e, i);
  if (numbers.size() != 1) fail_bad_input("input {} has {} elements, expected one", i, numbers.size());
  const int64_t at = numbers[0] < 0 ? numbers[0] + count : numbers[0];
  if (at < 0 || at >= count) fail_bad_input("position {} lies outside {} elements", numbers[0], count);
  return at;
}

/// Splits into parts of the lengths in an input; only the number of parts must be known.
Sequence split_as_listed(Expansion& e, ValueId x, int64_t axis) {
  const Extent count = e.extent(e.in(1), 0);
  if (!count.known() || *count.number > kMostElements)
    fail_bad_input("the count of parts is not known when the model is read, or above {}", kMostElements);
  if (count.is(0)) return {};
  return e.ops("Split", {x, e.in(1)}, static_cast<size_t>(*count.number), attributes({{"axis", axis}}));
}

/// Splits into parts of equal length, except that the last may be shorter.
Sequence split_evenly(Expansion& e, ValueId x, int64_t axis, int64_t part) {
  if (part < 1) fail_bad_input("input 1 asks for parts of length {}", part);
  const Extent length = e.extent(x, axis);
  if (!length.known())
    fail_bad_input("the length of axis {} is not known when the model is read, which sequences need", axis);
  if (*length.number / part > kMostElements)
    fail_bad_input("the sequence would have more than {} elements", kMostElements);
  std::vector<int64_t> lengths(static_cast<size_t>(*length.number / part), part);
  if (*length.number % part != 0) lengths.push_back(*length.number % part);
  return lengths.empty() ? Sequence{} : e.split(x, axis, lengths);
}

Sequence split_to_sequence(Expansion& e) {
  const ValueId x = e.in(0);
  const int64_t axis = e.integer("axis", 0);
  const bool squeezed = e.integer("keepdims", 1) == 0 && !e.has_in(1);
  if (e.has_in(1) && e.rank(e.in(1)) == 1) return split_as_listed(e, x, axis);
  const auto given = e.has_in(1) ? known_integers(e, 1) : std::vector<int64_t>{1};
  Sequence parts = split_evenly(e, x, axis, given.empty() ? 0 : given[0]);
  if (squeezed) {
    for (ValueId& part : parts) part = e.op("Squeeze", {part, e.ints({axis})});
  }
  return parts;
}

void concat_from_sequence(Expansion& e, const Sequence& sequence) {
  const int64_t axis = e.integer("axis", 0);
  if (sequence.empty()) fail_bad_input("the sequence is empty");
  Sequence parts = sequence;
  if (e.integer("new_axis", 0) != 0) {
    for (ValueId& part : parts) part = e.unsqueeze(part, {axis});
  }
  e.give(0, e.concat(parts, axis));
}

Sequence construct(Expansion& e) {
  Sequence result;
  for (size_t i = 0; i < e.input_count(); ++i) result.push_back(e.in(i));
  return result;
}

Sequence insert(Expansion& e, Sequence sequence) {
  const auto count = static_cast<int64_t>(sequence.size());
  if (count >= kMostElements) fail_bad_input("the sequence would have more than {} elements", kMostElements);
  // An element may also be inserted after the last one.
  const bool at_end = !e.has_in(2) || known_integers(e, 2) == std::vector<int64_t>{count};
  const int64_t at = at_end ? count : position(e, 2, count, count);
  e.maybe_in(2);
  sequence.insert(sequence.begin() + at, e.in(1));
  return sequence;
}

Sequence erase(Expansion& e, Sequence sequence) {
  const auto count = static_cast<int64_t>(sequence.size());
  if (count == 0) fail_bad_input("the sequence is empty");
  sequence.erase(sequence.begin() + position(e, 1, count, count - 1));
  return sequence;
}

}  // namespace

bool is_sequence_operator(std::string_view op) {
  constexpr std::string_view kOperators[] = {"SplitToSequence",   "ConcatFromSequence", "SequenceAt",
                                             "SequenceConstruct", "SequenceEmpty",      "SequenceErase",
                                             "SequenceInsert",    "SequenceLength"};
  return std::find(std::begin(kOperators), std::end(kOperators), op) != std::end(kOperators);
}

bool makes_sequence(std::string_view op) {
  return op != "ConcatFromSequence" && op != "SequenceAt" && op != "SequenceLength";
}

Sequence expand_sequence(Expansion& e, std::string_view op, const Sequence* sequence) {
  if (op == "SplitToSequence") return split_to_sequence(e);
  if (op == "SequenceConstruct") return construct(e);
  if (op == "SequenceEmpty") {
    e.ignore("dtype");
    return {};
  }
  if (sequence == nullptr) fail_bad_input("input 0 is no sequence");
  const auto count = static_cast<int64_t>(sequence->size());
  if (op == "SequenceInsert") return insert(e, *sequence);
  if (op == "SequenceErase") return erase(e, *sequence);
  if (op == "Identity") return *sequence;
  if (op == "ConcatFromSequence") {
    concat_from_sequence(e, *sequence);
  } else if (op == "SequenceLength") {
    e.give(0, e.number(static_cast<double>(count), DType::kInt64));
  } else {
    e.in(1);
    if (count == 0) fail_bad_input("the sequence is empty");
    e.give(0, (*sequence)[static_cast<size_t>(position(e, 1, count, 0))]);
  }
  return {};
}

}  // namespace hone::importer
