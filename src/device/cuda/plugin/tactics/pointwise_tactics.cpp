// Runs elementwise operators and chains, each with one kernel that is generated for the chain and compiled
// with NVRTC.
#include <algorithm>
#include <functional>
#include <stdexcept>

#include "device/cuda/plugin/kernels/pointwise/pointwise_jit.hpp"
#include "device/cuda/plugin/tactics/pointwise_steps.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::DType;

/// Sizes of the output in memory order, and the strides of an operand over them, in elements.
class Geometry {
 public:
  Geometry(const Shape& output, Layout layout) : output_(output), last_(layout == Layout::kChannelsLast) {}

  std::vector<int64_t> sizes() const { return in_memory_order(output_); }

  /// `layout` is that of the output for an operand with the output's shape, and plain for a broadcast
  /// operand.
  std::vector<int64_t> strides(const Shape& operand, Layout layout) const {
    Shape padded(output_.size() - operand.size(), 1);
    padded.insert(padded.end(), operand.begin(), operand.end());
    std::vector<int64_t> strides;
    if (layout == Layout::kChannelsLast) {
      strides = tensor::row_major_strides(in_memory_order(padded));
      return without_broadcast(std::move(strides), in_memory_order(padded));
    }
    strides = in_memory_order(tensor::row_major_strides(padded));
    return without_broadcast(std::move(strides), in_memory_order(padded));
  }

 private:
  std::vector<int64_t> in_memory_order(std::vector<int64_t> values) const {
    if (last_) std::rotate(values.begin() + 1, values.begin() + 2, values.end());
    return values;
  }
  std::vector<int64_t> without_broadcast(std::vector<int64_t> strides,
                                         const std::vector<int64_t>& sizes) const {
    const std::vector<int64_t> wanted = in_memory_order(output_);
    for (size_t i = 0; i < strides.size(); ++i) {
      if (sizes[i] == 1 && wanted[i] != 1) strides[i] = 0;
    }
    return strides;
  }

  Shape output_;
  bool last_;
};

/// An operand that is compared with a value that was rounded between steps must be rounded in the same way.
DType operand_type(const StepRequest& request, size_t input) {
  const DType dtype = request.inputs[input].dtype;
  const PointwiseOperation* const operation = find_pointwise_operation(request.node.op);
  const bool compares = operation != nullptr && operation->kind == PointwiseOperation::Kind::kCompare;
  if (!compares || dtype != DType::kFloat32 || request.graph.constant(request.node.inputs[input]) == nullptr)
    return dtype;
  return request.inputs[1 - input].dtype == request.storage() ? request.storage() : dtype;
}

Offer make(const DeviceProperties& device, const StepRequest& request) {
  const DType declared = request.outputs[0].dtype;
  const Shape& shape = request.outputs[0].shape;
  const DType result_type = declared == DType::kFloat32 ? request.storage() : declared;
  const auto result_storage = pointwise_storage(result_type);
  if (!result_storage) return Offer::refuse("an element type without kernels");
  if (shape.size() > 8) return Offer::refuse("more than 8 dimensions");
  PointwiseProgram program;
  if (Refusal reason = read_pointwise_steps(request, program)) return Offer::refuse(std::move(reason));

  // Images keep the layout of the first full operand.
  Layout layout = Layout::kPlain;
  for (const TensorDesc& input : request.inputs) {
    if (input.shape == shape && input.dtype != DType::kUndefined) {
      layout = input.layout;
      break;
    }
  }
  const Geometry geometry(shape, layout);
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  PointwiseGeometry where;
  where.sizes = geometry.sizes();
  // An input that the steps do not read (such as the bounds of Clip) is no operand.
  std::vector<size_t> read;
  const int total = static_cast<int>(request.inputs.size());
  for (const PointwiseStep& step : program.steps) {
    for (const int argument : step.arguments) {
      if (argument < total && std::find(read.begin(), read.end(), argument) == read.end())
        read.push_back(static_cast<size_t>(argument));
    }
  }
  std::sort(read.begin(), read.end());
  const auto renumber = [&](int value) {
    if (value >= total) return value - total + static_cast<int>(read.size());
    return static_cast<int>(std::find(read.begin(), read.end(), static_cast<size_t>(value)) - read.begin());
  };
  for (PointwiseStep& step : program.steps)
    std::transform(step.arguments.begin(), step.arguments.end(), step.arguments.begin(), renumber);
  for (const size_t i : read) {
    const TensorDesc& input = request.inputs[i];
    const DType dtype = operand_type(request, i);
    const auto type = pointwise_storage(dtype);
    if (!type) return Offer::refuse("an element type without kernels");
    const Layout arranged = input.shape == shape ? layout : Layout::kPlain;
    offer.inputs[i] = {dtype, input.shape, arranged};
    program.operands.push_back(*type);
    where.strides.push_back(geometry.strides(broadcast_shape(request, i), arranged));
  }
  offer.outputs = {{result_type, shape, layout}};
  program.results = {static_cast<int>(read.size() + program.steps.size()) - 1};
  program.outputs = {*result_storage};
  const auto kernel = std::make_shared<const PointwiseKernel>(program, where, device.architecture());
  for (const size_t i : read) {
    if (offer.in_place_input < 0 && offer.inputs[i] == offer.outputs[0])
      offer.in_place_input = static_cast<int>(i);
  }
  offer.kernel = std::make_shared<LaunchKernel>(
      "an elementwise chain", [=](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        std::vector<const void*> operands;
        for (const size_t i : read) operands.push_back(inputs[i]);
        return kernel->launch(operands, outputs, options);
      });
  return offer;
}

Offer offer_pointwise(const Gpu& gpu, const StepRequest& request, engine::WeightStore&) {
  try {
    return make(gpu.properties(), request);
  } catch (const std::invalid_argument& error) {
    return Offer::refuse(error.what());
  } catch (const PointwiseLoadError& error) {
    check(error.status, "loading an elementwise chain");
    throw;
  } catch (const std::runtime_error& error) {
    // This error concerns the machine, not the step; if the step were refused, it would run on the host from
    // now on.
    fail_environment("{}", error.what());
  }
}

}  // namespace

void add_pointwise_tactics(TacticList& list, Gpu& gpu) {
  engine::Tactic pointwise{.name = "pointwise",
                           .operators = {"FusedElementwise", "Gelu", "Mean", "CastLike", "QuantizeLinear",
                                         "DequantizeLinear", "Region:quantized_map"},
                           .requirements = {engine::nonempty_output},
                           .make = std::bind_front(offer_pointwise, std::cref(gpu))};
  for (const PointwiseOperation& operation : pointwise_operations()) {
    if (operation.name != "Identity" && operation.name != "Constant")
      pointwise.operators.emplace_back(operation.name);
  }
  list.push_back(std::move(pointwise));
}

}  // namespace hone::device::cuda
