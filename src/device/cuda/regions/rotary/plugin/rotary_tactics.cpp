// See rotary_tactics.hpp.
#include "device/cuda/regions/rotary/plugin/rotary_tactics.hpp"

#include "device/cuda/plugin/tactics/region_parts.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"
#include "device/cuda/regions/rotary/plugin/kernels/rotary.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::DType;

constexpr std::string_view kRotation =
    "first=Slice second=Slice negative=Neg(0:second) turned=Concat(0:negative 1:first) along=Mul "
    "across=Mul(0:turned) rotated=Add(0:along 1:across) -> rotated";
/// Leading dimensions that the kernel walks.
constexpr size_t kLeading = 3;

/// The one integer of a constant operand; nullopt for anything else.
std::optional<int64_t> constant_integer(const StepRequest& request, const RegionPart& part, size_t operand) {
  const int input = part.operands.position(operand);
  if (input < 0) return std::nullopt;
  const tensor::Tensor* constant = request.graph.constant(request.node.inputs[static_cast<size_t>(input)]);
  if (constant == nullptr || constant->dtype() != DType::kInt64 || constant->size() != 1) return std::nullopt;
  return constant->values<int64_t>()[0];
}

bool is_last(int64_t axis, size_t rank) { return axis == -1 || axis + 1 == static_cast<int64_t>(rank); }

/// True if the part cuts these elements out of rows.
bool cuts(const StepRequest& request, const RegionPart& part, size_t rank, int64_t begin, int64_t end,
          int64_t depth) {
  const auto start = constant_integer(request, part, 1);
  const auto stop = constant_integer(request, part, 2);
  const auto axis = constant_integer(request, part, 3);
  const bool steps = part.node.has_input(4) && constant_integer(request, part, 4) != 1;
  return start && stop && axis && !steps && is_last(*axis, rank) && *start == begin &&
         std::min(*stop, depth) == end;
}

/// Strides of the rows of a table for the leading dimensions of x; false where they do not broadcast into it.
bool read_table(const Shape& table, const Shape& x, int64_t (&strides)[kLeading]) {
  if (table.empty() || table.size() > x.size() || table.back() != x.back()) return false;
  int64_t stride = table.back();
  for (size_t i = 1; i < table.size(); ++i) {
    const int64_t size = table[table.size() - 1 - i];
    if (size != 1 && size != x[x.size() - 1 - i]) return false;
    if (size > 1) strides[kLeading - i] = stride;
    stride *= size;
  }
  return true;
}

}  // namespace

Refusal read_rotation(const StepRequest& request, Rotation& out) {
  const RegionParts parts(request);
  if (parts.form() != kRotation) return "its body is no rotation of halves";
  const RegionPart& first = parts.part("first");
  const RegionPart& second = parts.part("second");
  const RegionPart& along = parts.part("along");
  const RegionPart& across = parts.part("across");
  const int x = first.operands.position(0);
  const int cosine = along.operands.position(1);
  const int sine = across.operands.position(1);
  if (x < 0 || cosine < 0 || sine < 0 || second.operands.position(0) != x ||
      along.operands.position(0) != x || cosine == x || sine == x)
    return "its body turns something else";
  const auto shape_of = [&](int input) -> const Shape& {
    return request.inputs[static_cast<size_t>(input)].shape;
  };
  const Shape& shape = shape_of(x);
  if (shape.empty() || shape.size() > kLeading + 1)
    return fmt::format("rows lie in more than {} dimensions", kLeading);
  const int64_t depth = shape.back();
  if (depth % 2 != 0 || depth > (1 << 20) || request.outputs[0].shape != shape ||
      !is_last(parts.part("turned").node.attributes.get_int("axis"), shape.size()) ||
      !cuts(request, first, shape.size(), 0, depth / 2, depth) ||
      !cuts(request, second, shape.size(), depth / 2, depth, depth))
    return "it does not turn the halves of rows";
  RotarySize size{.type = float_type(request.storage()), .depth = static_cast<int>(depth)};
  for (size_t i = 1; i < shape.size(); ++i) size.dims[kLeading - i] = shape[shape.size() - 1 - i];
  if (!read_table(shape_of(cosine), shape, size.cosine_strides) ||
      !read_table(shape_of(sine), shape, size.sine_strides))
    return "a table is broadcast in a way no kernel has";
  out = {static_cast<size_t>(x), static_cast<size_t>(cosine), static_cast<size_t>(sine), size};
  return {};
}

namespace {

Offer offer_rotation(const StepRequest& request, engine::WeightStore&) {
  Rotation rotation;
  if (Refusal reason = read_rotation(request, rotation)) return Offer::refuse(std::move(reason));
  const DType dtype = request.storage();
  Offer offer;
  // The constants of the slices stay as they are: an engine that is loaded again reads them here.
  offer.inputs = request.inputs;
  for (const size_t input : {rotation.x, rotation.cosine, rotation.sine})
    offer.inputs[input] = {dtype, request.inputs[input].shape, Layout::kPlain};
  offer.outputs = {{dtype, request.outputs[0].shape, Layout::kPlain}};
  offer.kernel = std::make_shared<LaunchKernel>(
      "a rotation",
      [=](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        return rotate(rotation.size, inputs[rotation.x], inputs[rotation.cosine], inputs[rotation.sine],
                      outputs[0], options);
      },
      tensor::element_count(request.outputs[0].shape) != 0);
  return offer;
}

}  // namespace

engine::Tactic rotary_tactic() {
  return {.name = "rotary",
          .operators = {"Region:rotary"},
          .requirements = {engine::only_float32},
          .starts_early = true,
          .make = offer_rotation};
}

}  // namespace hone::device::cuda
