// Runs QuantizeLinear to bytes with one constant scale with hone's own kernel, which starts early.
#include <cmath>

#include "device/cuda/plugin/kernels/layers/byte_quantization.hpp"
#include "device/cuda/plugin/tactics/byte_chain.hpp"
#include "device/cuda/plugin/tactics/quantized_tactics.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::DType;
using tensor::Tensor;

Offer offer_quantization(const StepRequest& request, engine::WeightStore&) {
  const DType dtype = request.outputs[0].dtype;
  if (!is_byte(dtype)) return Offer::refuse("only bytes");
  const TensorDesc& x = request.inputs[0];
  const Tensor* const scale = constant_input(request, 1);
  if (!is_float_type(x.dtype) || scale == nullptr || scale->size() != 1 || scale->dtype() != DType::kFloat32)
    return Offer::refuse("only floats, and one constant scale");
  const float step = scale->values<float>()[0];
  if (!(step > 0) || !std::isfinite(1 / step)) return Offer::refuse("the scale has no reciprocal");
  int zero_point = 0;
  if (request.node.has_input(2)) {
    const Tensor* const constant = constant_input(request, 2);
    if (constant == nullptr || constant->size() != 1) return Offer::refuse("the zero point is computed");
    zero_point = static_cast<int>(constant->to_double()[0]);
  }
  const TensorDesc source{x.dtype, x.shape, x.layout};
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  offer.inputs[0] = source;
  offer.outputs = {{dtype, x.shape, x.layout}};
  const int64_t count = tensor::element_count(x.shape);
  offer.kernel = std::make_shared<LaunchKernel>(
      "a quantization",
      [=, type = float_type(x.dtype)](auto inputs, auto outputs, void*, const LaunchOptions& options) {
        return quantize_bytes(inputs[0], type, outputs[0], dtype == DType::kUInt8, step, zero_point, count,
                              options);
      },
      true);
  return offer;
}

}  // namespace

void add_byte_quantization_tactics(TacticList& list) {
  list.push_back({.name = "byte_quantization",
                  .operators = {"QuantizeLinear"},
                  .requirements = {engine::nonempty_output},
                  .starts_early = true,
                  .make = offer_quantization});
}

}  // namespace hone::device::cuda
