// Operators that only move elements, by the positions that each axis of the result shows: Slice, Split, Pad,
// Expand, Tile, Gather of constant positions, and Resize to nearest neighbours.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "device/cpu/axis_copy.hpp"
#include "device/cpu/tactics.hpp"
#include "graph/resize_taps.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::DType;
using tensor::Tensor;

/// The elements of one output: the input seen with the output's rank, and the sources of each axis.
struct Movement {
  Shape input;
  AxisSources sources;
  size_t output = 0;
};

using Movements = std::vector<Movement>;

/// Input `i` where it is known; throws nothing where it is absent.
const Tensor* known(const StepRequest& request, size_t i) {
  return request.node.has_input(i) ? request.graph.constant(request.node.inputs[i]) : nullptr;
}

bool is_computed(const StepRequest& request, size_t i) {
  return request.node.has_input(i) && known(request, i) == nullptr;
}

Movement whole(const Shape& shape) {
  Movement movement{shape, {}};
  for (const int64_t length : shape) movement.sources.push_back(counting(length));
  return movement;
}

Refusal slice(const StepRequest& request, Movements& movements) {
  for (size_t i = 1; i < 5; ++i) {
    if (is_computed(request, i)) return "the range is computed";
  }
  const Shape& shape = request.inputs[0].shape;
  const auto rank = static_cast<int64_t>(shape.size());
  const auto starts = known(request, 1)->to_int64();
  std::vector<int64_t> axes(starts.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (known(request, 3) != nullptr) axes = known(request, 3)->to_int64();
  std::vector<int64_t> steps(starts.size(), 1);
  if (known(request, 4) != nullptr) steps = known(request, 4)->to_int64();
  Movement movement = whole(shape);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(tensor::normalize_axis(axes[i], rank));
    const int64_t length = shape[axis];
    const int64_t count = request.outputs[0].shape[axis];
    // The shape rule has clamped the end already: it is where `count` steps lead.
    const int64_t start = std::clamp(starts[i] < 0 ? starts[i] + length : starts[i], int64_t{0},
                                     steps[i] > 0 ? length : std::max<int64_t>(length - 1, 0));
    movement.sources[axis].resize(static_cast<size_t>(count));
    for (int64_t k = 0; k < count; ++k)
      movement.sources[axis][static_cast<size_t>(k)] = k == 0 ? start : start + k * steps[i];
  }
  movements.push_back(std::move(movement));
  return {};
}

Refusal split(const StepRequest& request, Movements& movements) {
  if (is_computed(request, 1)) return "the lengths are computed";
  const Shape& shape = request.inputs[0].shape;
  const auto axis = static_cast<size_t>(
      tensor::normalize_axis(request.node.attributes.get_int("axis"), static_cast<int64_t>(shape.size())));
  int64_t begin = 0;
  for (size_t i = 0; i < request.outputs.size(); ++i) {
    if (!request.node.has_output(i)) return "a part is not wanted";
    Movement movement = whole(shape);
    movement.output = i;
    movement.sources[axis] = counting(request.outputs[i].shape[axis]);
    for (int64_t& source : movement.sources[axis]) source += begin;
    begin += request.outputs[i].shape[axis];
    movements.push_back(std::move(movement));
  }
  return {};
}

/// The input position that an output position of a padded axis shows; `at` counts from the first element.
int64_t padded_source(const std::string& mode, int64_t at, int64_t length) {
  if (at >= 0 && at < length) return at;
  if (mode == "constant") return kFill;
  if (mode == "edge") return at < 0 ? 0 : length - 1;
  const auto modulo = [](int64_t a, int64_t b) { return (a % b + b) % b; };
  if (mode == "wrap") return modulo(at, length);
  if (length == 1) return 0;
  const int64_t period = 2 * (length - 1);
  const int64_t folded = modulo(at, period);
  return folded < length ? folded : period - folded;
}

Refusal pad(const StepRequest& request, Movements& movements) {
  if (is_computed(request, 1) || is_computed(request, 3)) return "the padding is computed";
  const Shape& shape = request.inputs[0].shape;
  const std::string& mode = request.node.attributes.get_string("mode");
  const auto pads = known(request, 1)->to_int64();
  std::vector<int64_t> axes = counting(static_cast<int64_t>(shape.size()));
  if (known(request, 3) != nullptr) axes = known(request, 3)->to_int64();
  Movement movement = whole(shape);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis =
        static_cast<size_t>(tensor::normalize_axis(axes[i], static_cast<int64_t>(shape.size())));
    if (shape[axis] == 0 && mode != "constant") return "an axis is empty";
    movement.sources[axis].clear();
    for (int64_t at = 0; at < request.outputs[0].shape[axis]; ++at)
      movement.sources[axis].push_back(padded_source(mode, at - pads[i], shape[axis]));
  }
  movements.push_back(std::move(movement));
  return {};
}

/// Expand and Tile: each position modulo the length of the input's axis.
Refusal repeat(const StepRequest& request, Movements& movements) {
  const Shape& output = request.outputs[0].shape;
  Movement movement;
  movement.input.assign(output.size() - request.inputs[0].shape.size(), 1);
  movement.input.insert(movement.input.end(), request.inputs[0].shape.begin(), request.inputs[0].shape.end());
  for (size_t d = 0; d < output.size(); ++d) {
    movement.sources.push_back(counting(output[d]));
    for (int64_t& source : movement.sources[d]) source %= std::max<int64_t>(movement.input[d], 1);
  }
  movements.push_back(std::move(movement));
  return {};
}

Refusal resize(const StepRequest& request, Movements& movements) {
  const graph::ResizeOptions options(request.node.attributes);
  if (options.mode != "nearest") return "not the nearest neighbour";
  for (size_t i = 1; i < 4; ++i) {
    if (is_computed(request, i)) return "the sizes are computed";
  }
  const auto numbers = [&](size_t i) -> std::optional<std::vector<double>> {
    const Tensor* values = known(request, i);
    if (values == nullptr || values->size() == 0) return std::nullopt;
    return values->to_double();
  };
  graph::ResizeInputs inputs{numbers(1), numbers(2), std::nullopt};
  if (numbers(3)) inputs.sizes = known(request, 3)->to_int64();
  Movement movement{request.inputs[0].shape, {}};
  for (const graph::ResizeAxis& axis : read_resize(request.node.attributes, movement.input, inputs)) {
    std::vector<int64_t> sources;
    for (const graph::ResizeTaps& taps : graph::resize_taps(options, axis)) {
      if (taps.positions.empty()) return "positions outside of the input are extrapolated";
      sources.push_back(taps.positions[0]);
    }
    movement.sources.push_back(std::move(sources));
  }
  movements.push_back(std::move(movement));
  return {};
}

struct Mover {
  std::string_view op;
  Refusal (*read)(const StepRequest& request, Movements& movements);
};

constexpr Mover kMovers[] = {{"Slice", slice},   {"Split", split}, {"Pad", pad},
                             {"Expand", repeat}, {"Tile", repeat}, {"Resize", resize}};

class MovementKernel final : public engine::Kernel {
 public:
  MovementKernel(std::vector<AxisCopy> copies, bool has_fill, size_t element)
      : copies_(std::move(copies)), has_fill_(has_fill), element_(element) {}

  void run(const engine::Run& run) const override {
    std::byte fill[8] = {};
    if (has_fill_) std::memcpy(fill, run.inputs[2], element_);
    for (size_t i = 0; i < copies_.size(); ++i) {
      copies_[i].run(static_cast<const std::byte*>(run.inputs[0]), static_cast<std::byte*>(run.outputs[i]),
                     fill);
    }
  }

 private:
  std::vector<AxisCopy> copies_;
  bool has_fill_;
  size_t element_;
};

/// Most positions of an axis, so that tables of positions stay small.
constexpr int64_t kMostPositions = int64_t{1} << 20;

Refusal refuse_long_axes(const StepRequest& request) {
  const auto refuse = [](const Shape& shape) -> Refusal {
    const auto longest = std::max_element(shape.begin(), shape.end());
    if (longest == shape.end() || *longest <= kMostPositions) return {};
    return fmt::format("an axis of {} elements, {} at most", *longest, kMostPositions);
  };
  if (Refusal reason = refuse(request.inputs[0].shape)) return reason;
  for (const TensorDesc& output : request.outputs) {
    if (Refusal reason = refuse(output.shape)) return reason;
  }
  return {};
}

Offer offer_movement(const StepRequest& request, Layout layout) {
  if (Refusal reason = refuse_long_axes(request)) return Offer::refuse(std::move(reason));
  Movements movements;
  for (const Mover& mover : kMovers) {
    if (mover.op != request.node.op) continue;
    if (Refusal reason = mover.read(request, movements)) return Offer::refuse(std::move(reason));
  }
  const bool floating = request.outputs[0].dtype == DType::kFloat32;
  const DType dtype = floating ? request.storage() : request.outputs[0].dtype;
  const size_t element = tensor::dtype_size(dtype);
  if (element == 0 || element > 8) return Offer::refuse("elements of no fixed size");
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  offer.inputs[0] = {dtype, request.inputs[0].shape, layout};
  const bool has_fill = request.node.op == "Pad" && request.node.has_input(2);
  if (has_fill) offer.inputs[2] = {dtype, request.inputs[2].shape, Layout::kPlain};
  std::vector<AxisCopy> copies;
  for (const Movement& movement : movements) {
    const auto axes = memory_axes(movement.sources, movement.input, layout);
    if (!axes) return Offer::refuse("blocks of channels do not stay whole");
    copies.emplace_back(*axes, element);
    offer.outputs.push_back({dtype, request.outputs[movement.output].shape, layout});
  }
  offer.kernel = std::make_shared<MovementKernel>(std::move(copies), has_fill, element);
  return offer;
}

Offer offer_plain(const StepRequest& request, engine::WeightStore&) {
  return offer_movement(request, Layout::kPlain);
}

/// The layout in which the input lies already, where all tensors have it.
Offer offer_in_layout(const StepRequest& request, engine::WeightStore&) {
  const Layout layout = request.inputs[0].layout;
  if (layout == Layout::kPlain) return Offer::refuse("the input lies plain");
  for (const TensorDesc& output : request.outputs) {
    if (output.shape.size() != request.inputs[0].shape.size()) return Offer::refuse("the ranks differ");
  }
  return offer_movement(request, layout);
}

}  // namespace

void add_movement_tactics(TacticList& list) {
  std::vector<std::string> operators;
  for (const Mover& mover : kMovers) operators.emplace_back(mover.op);
  list.push_back({.name = "axis_copy", .operators = operators, .make = offer_in_layout});
  list.push_back({.name = "axis_copy_plain", .operators = operators, .make = offer_plain});
}

}  // namespace hone::device::cpu
