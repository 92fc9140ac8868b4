// Elementwise operators and chains: one kernel each, written for the chain and compiled with NVRTC.
#include <algorithm>
#include <limits>
#include <stdexcept>

#include "device/cuda/plugin/kernels/pointwise_jit.hpp"
#include "device/cuda/plugin/tactics.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::DType;

std::optional<Storage> storage(DType dtype) {
  switch (dtype) {
    case DType::kFloat32: return Storage::kFloat;
    case DType::kFloat16: return Storage::kHalf;
    case DType::kBFloat16: return Storage::kBfloat16;
    case DType::kBool: return Storage::kBool;
    case DType::kInt8: return Storage::kInt8;
    case DType::kUInt8: return Storage::kUint8;
    case DType::kInt16: return Storage::kInt16;
    case DType::kInt32: return Storage::kInt32;
    case DType::kInt64: return Storage::kInt64;
    default: return std::nullopt;
  }
}

/// Operations of the chain language that are named after the operator and whose constants are attributes.
struct Constants {
  std::string_view op;
  const char* alpha;
  const char* beta;
};
constexpr Constants kConstants[] = {
    {"LeakyRelu", "alpha", nullptr}, {"Elu", "alpha", nullptr},  {"HardSigmoid", "alpha", "beta"},
    {"Selu", "alpha", "gamma"},      {"Celu", "alpha", nullptr}, {"ThresholdedRelu", "alpha", nullptr},
    {"Shrink", "bias", "lambd"},
};

/// A post-op's name in the chain language.
std::string_view chain_name(graph::PostOp op) {
  constexpr std::string_view kNames[] = {
      "Relu", "LeakyRelu", "Clip",     "Sigmoid",  "Tanh", "HardSwish", "HardSigmoid", "Swish",
      "Elu",  "GeluErf",   "GeluTanh", "Softplus", "Mish", "Add",       "Mul",         "Sub"};
  return kNames[static_cast<size_t>(op)];
}

/// The sum of that many inputs, divided by their number.
void add_mean(int inputs, PointwiseStep sum, PointwiseProgram& program) {
  sum.operation = "Sum";
  program.steps = {
      std::move(sum), {"Constant", {inputs}, static_cast<double>(inputs)}, {"Div", {inputs, inputs + 1}}};
}

/// The steps of the node's program over its inputs. Empty when they are filled in.
std::string read_steps(const StepRequest& request, PointwiseProgram& program) {
  const graph::Node& node = request.node;
  const graph::Attributes& attributes = node.attributes;
  const int inputs = static_cast<int>(node.inputs.size());
  if (node.op == "FusedElementwise") {
    const auto& names = attributes.get<std::vector<std::string>>("post_ops");
    const auto& alphas = attributes.get<std::vector<float>>("post_alphas");
    const auto& betas = attributes.get<std::vector<float>>("post_betas");
    int value = 0;
    int extra = 1;
    for (size_t i = 0; i < names.size(); ++i) {
      const auto op = graph::find_post_op(names[i]);
      if (!op) return fmt::format("post-op '{}' is not in a chain", names[i]);
      PointwiseStep step{std::string(chain_name(*op)), {value}, alphas[i], betas[i]};
      if (graph::is_binary(*op)) step.arguments.push_back(extra++);
      value = inputs + static_cast<int>(program.steps.size());
      program.steps.push_back(std::move(step));
    }
    return "";
  }
  PointwiseStep step{node.op, {}};
  for (int i = 0; i < inputs; ++i) step.arguments.push_back(i);
  if (node.op == "Clip") {
    // ONNX: with min above max every element becomes max, as clip() of a chain gives.
    step.arguments = {0};
    step.alpha = -std::numeric_limits<double>::infinity();
    step.beta = std::numeric_limits<double>::infinity();
    if (!tensor::is_floating(request.inputs[0].dtype)) return "integers";
    for (size_t i = 1; i <= 2; ++i) {
      if (!node.has_input(i)) continue;
      const tensor::Tensor* bound = request.graph.constant(node.inputs[i]);
      if (bound == nullptr || bound->size() != 1) return "the bounds are not constant";
      (i == 1 ? step.alpha : step.beta) = bound->to_double()[0];
    }
  } else if (node.op == "Gelu") {
    step.operation = attributes.get_string("approximate") == "tanh" ? "GeluTanh" : "GeluErf";
  } else if (node.op == "Mod") {
    step.operation = attributes.get_int("fmod") != 0 ? "Fmod" : "Mod";
  } else if (node.op == "Mean") {
    add_mean(inputs, std::move(step), program);
    return "";
  } else if (node.op == "Cast" || node.op == "CastLike") {
    step.operation = "Cast";
    step.arguments = {0};
    const auto to = storage(request.outputs[0].dtype);
    if (!to) return "an element type without kernels";
    step.to = *to;
  } else if (node.op == "IsInf") {
    step.alpha = static_cast<double>(attributes.get_int("detect_negative"));
    step.beta = static_cast<double>(attributes.get_int("detect_positive"));
  }
  for (const Constants& constants : kConstants) {
    if (constants.op != node.op) continue;
    step.alpha = attributes.get_float(constants.alpha);
    if (constants.beta != nullptr) step.beta = attributes.get_float(constants.beta);
  }
  program.steps.push_back(std::move(step));
  return "";
}

/// Sizes of the output in the order of its memory, and the element strides of an operand over them.
class Geometry {
 public:
  Geometry(const Shape& output, Layout layout) : output_(output), last_(layout == Layout::kChannelsLast) {}

  std::vector<int64_t> sizes() const { return in_memory_order(output_); }

  /// `layout`: that of the output for an operand of its shape, plain for one that is broadcast.
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

class PointwiseTactic final : public CudaTactic {
 public:
  std::string_view name() const override { return "pointwise"; }
  bool handles(const std::string& op) const override {
    return op == "FusedElementwise" || op == "Gelu" || op == "Mean" || op == "CastLike" ||
           (op != "Identity" && op != "Constant" && find_pointwise_operation(op) != nullptr);
  }

  Offer offer(const StepRequest& request, engine::WeightStore&) const override {
    try {
      return make(request);
    } catch (const std::invalid_argument& error) {
      return Offer::refuse(error.what());
    } catch (const std::runtime_error& error) {
      // hone::Error is one too; either way the step has no such kernel.
      return Offer::refuse(error.what());
    }
  }

 private:
  static Offer make(const StepRequest& request) {
    const DType declared = request.outputs[0].dtype;
    const Shape& shape = request.outputs[0].shape;
    const DType result_type = declared == DType::kFloat32 ? request.compute_dtype : declared;
    const auto result_storage = storage(result_type);
    if (!result_storage) return Offer::refuse("an element type without kernels");
    if (tensor::element_count(shape) == 0) return Offer::refuse("the output is empty");
    if (shape.size() > 8) return Offer::refuse("more than 8 dimensions");
    PointwiseProgram program;
    if (std::string reason = read_steps(request, program); !reason.empty())
      return Offer::refuse(std::move(reason));

    // Images stay in the order in which the first full operand comes.
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
    // What the steps do not read (bounds of Clip) is no operand.
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
      const auto type = storage(input.dtype);
      if (!type) return Offer::refuse("an element type without kernels");
      const Layout arranged = input.shape == shape ? layout : Layout::kPlain;
      offer.inputs[i] = {input.dtype, input.shape, arranged};
      program.operands.push_back(*type);
      where.strides.push_back(geometry.strides(input.shape, arranged));
    }
    offer.outputs = {{result_type, shape, layout}};
    program.results = {static_cast<int>(read.size() + program.steps.size()) - 1};
    program.outputs = {*result_storage};
    const auto kernel = std::make_shared<const PointwiseKernel>(program, where);
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
};

}  // namespace

void add_pointwise_tactics(TacticList& list) { list.push_back(std::make_unique<PointwiseTactic>()); }

}  // namespace hone::device::cuda
