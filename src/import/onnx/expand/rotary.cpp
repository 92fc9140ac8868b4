// RotaryEmbedding of the standard and of com.microsoft: each pair of channels is rotated by an angle that
// depends on its position.
#include "import/onnx/expand/rotary.hpp"

#include "import/onnx/expand/rules.hpp"

namespace hone::importer {

using graph::kNoValue;
using graph::ValueId;

namespace {

/// The two halves of the rotated channels: the real parts and the imaginary parts.
struct Turned {
  ValueId real, imaginary;
};

Turned turn(Expansion& e, ValueId real, ValueId imaginary, ValueId cos, ValueId sin) {
  return {e.op("Sub", {e.op("Mul", {real, cos}), e.op("Mul", {imaginary, sin})}),
          e.op("Add", {e.op("Mul", {real, sin}), e.op("Mul", {imaginary, cos})})};
}

}  // namespace

ValueId rotate(Expansion& e, ValueId x, ValueId cos, ValueId sin, bool interleaved) {
  if (!interleaved) {
    const auto halves = e.split(x, -1, 2);
    const Turned turned = turn(e, halves[0], halves[1], cos, sin);
    return e.concat({turned.real, turned.imaginary}, -1);
  }
  std::vector<Extent> shape;
  for (int64_t axis = 0; axis < e.rank(x); ++axis) shape.push_back(e.extent(x, axis));
  std::vector<Extent> paired = shape;
  paired.back() = e.div(shape.back(), 2);
  paired.emplace_back(2);
  const auto pair = e.split(e.reshape(x, paired), -1, 2);
  const Turned turned = turn(e, pair[0], pair[1], e.unsqueeze(cos, {-1}), e.unsqueeze(sin, {-1}));
  return e.reshape(e.concat({turned.real, turned.imaginary}, -1), shape);
}

ValueId rotate_first(Expansion& e, ValueId x, const Extent& channels, ValueId cos, ValueId sin,
                     bool interleaved) {
  const Extent all = e.extent(x, -1);
  if (channels.known() && channels.number == all.number) return rotate(e, x, cos, sin, interleaved);
  if (channels.known() && (*channels.number < 0 || *channels.number % 2 != 0 ||
                           (all.known() && *channels.number > *all.number))) {
    fail_bad_input("{} channels to rotate do not fit a head of {}", *channels.number,
                   all.known() ? std::to_string(*all.number) : "unknown size");
  }
  const ValueId turned = rotate(e, e.slice(x, -1, 0, channels), cos, sin, interleaved);
  return e.concat({turned, e.slice(x, -1, channels, INT64_MAX)}, -1);
}

namespace {

/// Expands RotaryEmbedding of either domain. If `position_ids` is absent, the tables have a row for each
/// position of each sample.
void rotary(Expansion& e, ValueId position_ids, ValueId cos, ValueId sin) {
  const ValueId input = e.in(0);
  const int64_t rank = e.rank(input);
  if (rank != 3 && rank != 4) fail_bad_input("input 0 has rank {}, expected 3 or 4", rank);
  const int64_t channels = e.integer("rotary_embedding_dim", 0);
  const bool interleaved = e.integer("interleaved", 0) != 0;
  const int64_t heads = e.integer("num_heads", 0);
  if (position_ids != kNoValue) {
    cos = e.op("Gather", {cos, position_ids}, attributes({{"axis", int64_t{0}}}));
    sin = e.op("Gather", {sin, position_ids}, attributes({{"axis", int64_t{0}}}));
  }
  // The heads are axis 1 of four axes, and axis 2 of three.
  const int64_t head_axis = rank == 4 ? 1 : 2;
  cos = e.unsqueeze(cos, {head_axis});
  sin = e.unsqueeze(sin, {head_axis});
  const auto turn_heads = [&](ValueId x) {
    return rotate_first(e, x, channels == 0 ? e.extent(x, -1) : channels, cos, sin, interleaved);
  };
  if (rank == 4) return e.give(0, turn_heads(input));
  const Extent width = e.extent(input, 2);
  const Extent batch = e.extent(input, 0);
  const Extent sequence = e.extent(input, 1);
  Extent depth = 0;
  if (heads > 0) {
    if (width.known() && *width.number % heads != 0)
      fail_bad_input("{} columns are no multiple of {} heads", *width.number, heads);
    depth = e.div(width, heads);
  } else {
    if (channels != 0) fail_bad_input("attribute 'num_heads' is missing, which an input of rank 3 needs");
    depth = e.mul(e.extent(cos, -1), 2);
  }
  const ValueId split = e.reshape(input, {batch, sequence, e.div(width, depth), depth});
  e.give(0, e.reshape(turn_heads(split), {batch, sequence, width}));
}

void standard_rotary(Expansion& e) { rotary(e, e.maybe_in(3), e.in(1), e.in(2)); }

/// A single position is that of the first token of every sample.
ValueId all_positions(Expansion& e, ValueId input, ValueId position_ids) {
  const graph::Dims& dims = e.dims(position_ids);
  if (dims.size() == 2) return position_ids;
  if (dims.size() != 1) fail_bad_input("input 1 has rank {}, expected 1 or 2", dims.size());
  const Extent sequence = e.extent(input, e.rank(input) == 4 ? 2 : 1);
  const ValueId positions = e.op("Add", {e.cast(position_ids, graph::DType::kInt64), e.positions(sequence)});
  return e.op("Expand", {positions, e.list({e.extent(input, 0), sequence})});
}

void microsoft_rotary(Expansion& e) {
  if (e.integer("is_packed_batching", 0) != 0)
    fail_bad_input("attribute 'is_packed_batching' is 1, which is not supported");
  if (e.real("scale", 1.0f) != 1.0f) fail_bad_input("attribute 'scale' is not 1, which is not supported");
  const ValueId positions = all_positions(e, e.in(0), e.in(1));
  rotary(e, positions, e.in(2), e.in(3));
}

constexpr ExpansionRule kRules[] = {{"", "RotaryEmbedding", 23, standard_rotary},
                                    {kMicrosoft, "RotaryEmbedding", 0, microsoft_rotary}};

}  // namespace

std::span<const ExpansionRule> rotary_expansions() { return kRules; }

}  // namespace hone::importer
