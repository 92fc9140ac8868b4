// See pointwise_steps.hpp.
#include "device/cuda/plugin/tactics/pointwise_steps.hpp"

#include <limits>

#include "device/cuda/plugin/tactics/byte_chain.hpp"
#include "graph/region.hpp"

namespace hone::device::cuda {
namespace {

using engine::Shape;
using engine::StepRequest;
using tensor::DType;

/// Operations of the chain language that have the operator's name and take constants from attributes.
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

/// The name of a post-op in the chain language.
std::string_view chain_name(graph::PostOp op) {
  constexpr std::string_view kNames[] = {
      "Relu", "LeakyRelu", "Clip",     "Sigmoid",  "Tanh", "HardSwish", "HardSigmoid", "Swish",
      "Elu",  "GeluErf",   "GeluTanh", "Softplus", "Mish", "Add",       "Mul",         "Sub"};
  return kNames[static_cast<size_t>(op)];
}

/// Divides the sum of the inputs by their number.
void add_mean(int inputs, PointwiseStep sum, PointwiseProgram& program) {
  sum.operation = "Sum";
  program.steps = {
      std::move(sum), {"Constant", {inputs}, static_cast<double>(inputs)}, {"Div", {inputs, inputs + 1}}};
}

/// Appends steps to a program with `inputs` operands.
class Steps {
 public:
  Steps(size_t inputs, PointwiseProgram& program) : inputs_(static_cast<int>(inputs)), program_(program) {}

  /// Returns the number of the step's value.
  int add(PointwiseStep step) {
    program_.steps.push_back(std::move(step));
    return inputs_ + static_cast<int>(program_.steps.size()) - 1;
  }
  int to_float(int value, DType dtype) {
    return tensor::is_floating(dtype) ? value : add({"Cast", {value}, 0, 0, Storage::kFloat});
  }

 private:
  int inputs_;
  PointwiseProgram& program_;
};

struct Bounds {
  double lowest;
  double highest;
};

std::optional<Bounds> bounds(DType dtype) {
  const auto of = []<class T>(T) -> Bounds {
    return {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()};
  };
  switch (dtype) {
    case DType::kInt8: return of(int8_t{});
    case DType::kUInt8: return of(uint8_t{});
    case DType::kInt16: return of(int16_t{});
    case DType::kUInt16: return of(uint16_t{});
    default: return std::nullopt;
  }
}

/// Computes saturate(round(x / scale) + zero point) with the rounding of the reference: a float quotient,
/// with ties to even.
Refusal read_quantization(const StepRequest& request, PointwiseProgram& program) {
  if (request.node.attributes.get_int("block_size") != 0) return "a scale for each block";
  const auto range = bounds(request.outputs[0].dtype);
  if (!range) return "an element type without kernels";
  Steps steps(request.inputs.size(), program);
  const int x = steps.to_float(0, request.inputs[0].dtype);
  const int scale = steps.to_float(1, request.inputs[1].dtype);
  int value = steps.add({"Round", {steps.add({"Div", {x, scale}})}});
  if (request.node.has_input(2))
    value = steps.add({"Add", {value, steps.to_float(2, request.inputs[2].dtype)}});
  steps.add({"Saturate", {value}, range->lowest, range->highest});
  return {};
}

/// Computes (x - zero point) * scale.
Refusal read_dequantization(const StepRequest& request, PointwiseProgram& program) {
  if (request.node.attributes.get_int("block_size") != 0) return "a scale for each block";
  // The numbers may be sums of products (a bias, or a result with one), which exceed fp16's range.
  if (request.inputs[0].dtype == DType::kInt32 && request.storage() == DType::kFloat16)
    return "int32 in fp16";
  Steps steps(request.inputs.size(), program);
  const int x = request.node.has_input(2) ? steps.add({"Sub", {0, 2}}) : 0;
  steps.add({"Mul", {steps.to_float(x, request.inputs[0].dtype), 1}});
  return {};
}

/// Reads a region of elementwise operations on bytes. Scales are constants of the program.
class MapReader {
 public:
  MapReader(const StepRequest& request, PointwiseProgram& program)
      : request_(request), steps_(request.inputs.size(), program) {}

  Refusal run(const graph::QuantizedChain& chain) {
    const auto x = byte_scale(request_, chain.x);
    if (!x || request_.inputs[chain.x.value].shape != request_.outputs[0].shape)
      return "its first operand is no bytes of one constant scale";
    if (chain.stages.empty() || !chain.stages.back().rounds()) return "its result is not rounded";
    int value = dequantized(chain.x.value, *x);
    for (size_t i = 0; i < chain.stages.size(); ++i) {
      const graph::QuantizedStage& stage = chain.stages[i];
      Refusal reason =
          stage.rounds() ? round(stage, i + 1 == chain.stages.size(), value) : apply(stage, value);
      if (reason) return reason;
    }
    return {};
  }

 private:
  int constant(double number, int like) { return steps_.add({"Constant", {like}, number}); }

  int dequantized(size_t input, const ByteScale& scale) {
    const int value = steps_.add({"Cast", {static_cast<int>(input)}, 0, 0, Storage::kFloat});
    return scaled(value, scale);
  }
  int scaled(int value, const ByteScale& scale) {
    if (scale.zero_point != 0) value = steps_.add({"Sub", {value, constant(scale.zero_point, value)}});
    return steps_.add({"Mul", {value, constant(scale.scale, value)}});
  }

  Refusal round(const graph::QuantizedStage& stage, bool last, int& value) {
    const auto to = byte_scale(request_, stage);
    if (!to) return "numbers are rounded to other than bytes of one constant scale";
    const auto range = bounds(to->dtype);
    value = steps_.add({"Round", {steps_.add({"Div", {value, constant(to->scale, value)}})}});
    if (to->zero_point != 0) value = steps_.add({"Add", {value, constant(to->zero_point, value)}});
    value = steps_.add({"Saturate", {value}, range->lowest, range->highest});
    if (!last) value = scaled(value, *to);
    return {};
  }

  Refusal apply(const graph::QuantizedStage& stage, int& value) {
    const auto op = graph::find_post_op(stage.op);
    if (!op) return "a function that no chain has";
    PointwiseStep step{std::string(chain_name(*op)), {value}, stage.alpha, stage.beta};
    if (graph::is_binary(*op)) {
      const graph::QuantizedOperand& operand = stage.operand;
      const auto scale = byte_scale(request_, operand);
      if (operand.is_quantized() && !scale) return "an operand that is no bytes of one constant scale";
      step.arguments.push_back(scale ? dequantized(operand.value, *scale) : static_cast<int>(operand.value));
    }
    value = steps_.add(std::move(step));
    return {};
  }

  const StepRequest& request_;
  Steps steps_;
};

Refusal read_map(const StepRequest& request, PointwiseProgram& program) {
  const auto chain = graph::read_quantized_chain(request.node);
  if (!chain || chain->core != nullptr) return "no map of dequantized operands";
  return MapReader(request, program).run(*chain);
}

}  // namespace

std::optional<Storage> pointwise_storage(DType dtype) {
  switch (dtype) {
    case DType::kFloat32: return Storage::kFloat;
    case DType::kFloat16: return Storage::kHalf;
    case DType::kBFloat16: return Storage::kBfloat16;
    case DType::kBool: return Storage::kBool;
    case DType::kInt8: return Storage::kInt8;
    case DType::kUInt8: return Storage::kUint8;
    case DType::kInt16: return Storage::kInt16;
    case DType::kUInt16: return Storage::kUint16;
    case DType::kInt32: return Storage::kInt32;
    case DType::kUInt32: return Storage::kUint32;
    case DType::kInt64: return Storage::kInt64;
    default: return std::nullopt;
  }
}

Refusal read_pointwise_steps(const StepRequest& request, PointwiseProgram& program) {
  const graph::Node& node = request.node;
  const graph::Attributes& attributes = node.attributes;
  const int inputs = static_cast<int>(node.inputs.size());
  if (node.op == "QuantizeLinear") return read_quantization(request, program);
  if (node.op == "DequantizeLinear") return read_dequantization(request, program);
  if (graph::is_region(node)) return read_map(request, program);
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
    return {};
  }
  PointwiseStep step{node.op, {}};
  for (int i = 0; i < inputs; ++i) step.arguments.push_back(i);
  if (node.op == "Clip") {
    // In ONNX, if min is above max, every element becomes max, like clip() of a chain.
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
    return {};
  } else if (node.op == "Cast" || node.op == "CastLike") {
    step.operation = "Cast";
    step.arguments = {0};
    const auto to = pointwise_storage(request.outputs[0].dtype);
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
  return {};
}

Shape broadcast_shape(const StepRequest& request, size_t input) {
  const std::string& op = request.node.op;
  Shape shape = request.inputs[input].shape;
  const bool scales = input > 0 && (op == "QuantizeLinear" || op == "DequantizeLinear");
  if (!scales) return shape;
  if (tensor::element_count(shape) == 1) return {};  // a vector has one more dimension than a scalar
  const auto rank = static_cast<int64_t>(request.inputs[0].shape.size());
  const int64_t axis =
      tensor::normalize_axis(request.node.attributes.get_int("axis"), rank, "attribute 'axis'");
  shape.resize(static_cast<size_t>(rank - axis), 1);
  return shape;
}

}  // namespace hone::device::cuda
