// Runs reductions with hone's own kernel.
#include "device/cuda/plugin/kernels/layers/reduction.hpp"

#include <algorithm>
#include <numeric>

#include "device/cuda/plugin/tactics/node_views.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::DType;

struct Kind {
  const char* op;
  ReductionKind kind;
  /// True if results stay in float32, because products and squares easily exceed fp16's range.
  bool wide = false;
};

constexpr Kind kKinds[] = {
    {"ReduceL1", ReductionKind::kL1},         {"ReduceL2", ReductionKind::kL2},
    {"ReduceLogSum", ReductionKind::kLogSum}, {"ReduceLogSumExp", ReductionKind::kLogSumExp},
    {"ReduceMax", ReductionKind::kMaximum},   {"ReduceMean", ReductionKind::kMean},
    {"ReduceMin", ReductionKind::kMinimum},   {"ReduceProd", ReductionKind::kProduct, true},
    {"ReduceSum", ReductionKind::kSum},       {"ReduceSumSquare", ReductionKind::kSumSquare, true}};

const Kind& kind_of(const std::string& op) {
  return *std::find_if(std::begin(kKinds), std::end(kKinds), [&](const Kind& kind) { return op == kind.op; });
}

Offer offer_reduction(const StepRequest& request, engine::WeightStore&) {
  const Shape& shape = request.inputs[0].shape;
  const auto rank = static_cast<int64_t>(shape.size());
  std::vector<int64_t> axes;
  if (request.node.has_input(1)) {
    const tensor::Tensor* constant = request.graph.constant(request.node.input(1));
    if (constant == nullptr) return Offer::refuse("the axes are computed");
    axes = constant->to_int64();
  }
  for (int64_t& axis : axes) axis = tensor::normalize_axis(axis, rank);
  if (axes.empty()) {
    if (request.node.attributes.get_int("noop_with_empty_axes") != 0)
      return Offer::refuse("it reduces nothing");
    axes.resize(shape.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  const auto parts = middle_axes(shape, axes);
  const StridedView moved = axes_last(shape, axes);
  if (!parts && merged(moved).sizes.size() > kMostMoved)
    return Offer::refuse("the axes lie between too many others");
  const Kind& known = kind_of(request.node.op);
  const DType dtype = known.wide ? DType::kFloat32 : request.storage();
  Offer offer;
  offer.inputs = {{dtype, shape, Layout::kPlain}};
  offer.inputs.resize(request.inputs.size());
  offer.outputs = {{dtype, request.outputs[0].shape, Layout::kPlain}};
  const FloatType type = float_type(dtype);
  const ReductionKind kind = known.kind;
  if (parts) {
    offer.kernel = std::make_shared<LaunchKernel>(
        "a reduction", [=, size = *parts](auto inputs, auto outputs, void*, const LaunchOptions& options) {
          return reduce(inputs[0], outputs[0], type, kind, size.outer, size.axis, size.inner, options);
        });
    return offer;
  }
  const size_t bytes = tensor::dtype_size(dtype);
  const int64_t rows = tensor::element_count(request.outputs[0].shape);
  const int64_t columns = tensor::element_count(shape) / rows;
  offer.scratch_bytes = offer.inputs[0].bytes();
  offer.kernel = std::make_shared<LaunchKernel>(
      "a reduction", [=](auto inputs, auto outputs, void* scratch, const LaunchOptions& options) {
        const cudaError_t status = gather_strided(inputs[0], scratch, bytes, moved, options);
        if (status != cudaSuccess) return status;
        return reduce(scratch, outputs[0], type, kind, rows, columns, 1, options);
      });
  return offer;
}

Offer offer_extreme(const StepRequest& request, engine::WeightStore&) {
  if (request.graph.value(request.node.input(0)).type.dtype != DType::kFloat32)
    return Offer::refuse("only float32 models");
  const TensorDesc& given = request.inputs[0];
  const graph::Attributes& attributes = request.node.attributes;
  const int64_t axis =
      tensor::normalize_axis(attributes.get_int("axis"), static_cast<int64_t>(given.shape.size()));
  MiddleAxes size = around_axis(given.shape, static_cast<size_t>(axis));
  // Channels of an image are adjacent if it is channels-last.
  const bool last = axis == 1 && given.layout == Layout::kChannelsLast;
  if (last) size = {size.outer * size.inner, size.axis, 1};
  Offer offer;
  offer.inputs = {{request.storage(), given.shape, last ? Layout::kChannelsLast : Layout::kPlain}};
  offer.outputs = {{DType::kInt64, request.outputs[0].shape, Layout::kPlain}};
  const FloatType type = float_type(request.storage());
  const bool largest = request.node.op == "ArgMax";
  const bool last_of_equals = attributes.get_int("select_last_index") != 0;
  offer.kernel = std::make_shared<LaunchKernel>(
      "a search for extremes", [=](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        return arg_extreme(inputs[0], static_cast<int64_t*>(outputs[0]), type, largest, last_of_equals,
                           size.outer, size.axis, size.inner, options);
      });
  return offer;
}

}  // namespace

void add_reduction_tactics(TacticList& list) {
  engine::Tactic reduction{.name = "reduce",
                           .requirements = {engine::only_float32, engine::nonempty_input},
                           .make = offer_reduction};
  for (const Kind& kind : kKinds) reduction.operators.emplace_back(kind.op);
  list.push_back(std::move(reduction));
  list.push_back({.name = "arg_extreme",
                  .operators = {"ArgMax", "ArgMin"},
                  .requirements = {engine::nonempty_input},
                  .make = offer_extreme});
}

}  // namespace hone::device::cuda
