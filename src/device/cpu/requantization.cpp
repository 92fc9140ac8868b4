// See requantization.hpp.
#include "device/cpu/requantization.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace hone::device::cpu {
namespace {

using engine::TensorDesc;
using tensor::DType;
using tensor::Quantization;

/// The scale and the zero point of every element: element i has those at i / inner % count. Floats have 1
/// and 0.
struct Scales {
  std::vector<float> scales = {1.0f};
  std::vector<float> zero_points = {0.0f};
  int64_t inner = 1;

  Scales() = default;
  Scales(const Quantization& quantization, const tensor::Shape& shape)
      : scales(quantization.scales),
        zero_points(quantization.zero_points.begin(), quantization.zero_points.end()) {
    if (quantization.axis < 0) return;
    for (size_t i = static_cast<size_t>(quantization.axis) + 1; i < shape.size(); ++i) inner *= shape[i];
  }

  size_t index(int64_t element) const {
    return scales.size() == 1 ? 0 : static_cast<size_t>(element / inner) % scales.size();
  }
};

/// Rounds to nearest, ties to even, as QuantizeLinear does, and stops at the type's ends; no number becomes
/// the zero point.
template <class To>
To quantized(float real, float scale, float zero_point) {
  if constexpr (std::is_same_v<To, float>) {
    return real;
  } else {
    const float value = std::isnan(real) ? zero_point : std::nearbyint(real / scale) + zero_point;
    return static_cast<To>(std::clamp(value, static_cast<float>(std::numeric_limits<To>::min()),
                                      static_cast<float>(std::numeric_limits<To>::max())));
  }
}

template <class From, class To>
class RequantizationKernel final : public engine::Kernel {
 public:
  RequantizationKernel(Scales from, Scales to, int64_t count)
      : from_(std::move(from)), to_(std::move(to)), count_(count) {}

  void run(const engine::Run& run) const override {
    const auto* x = static_cast<const From*>(run.inputs[0]);
    auto* y = static_cast<To*>(run.outputs[0]);
    constexpr int64_t kMostAlone = 1 << 13;
#pragma omp parallel for schedule(static) if (count_ > kMostAlone)
    for (int64_t i = 0; i < count_; ++i) {
      const size_t a = from_.index(i);
      const size_t b = to_.index(i);
      const float real = (static_cast<float>(x[i]) - from_.zero_points[a]) * from_.scales[a];
      y[i] = quantized<To>(real, to_.scales[b], to_.zero_points[b]);
    }
  }

 private:
  Scales from_;
  Scales to_;
  int64_t count_;
};

template <class From>
std::shared_ptr<const engine::Kernel> make_from(const Scales& of_from, const Scales& of_to, DType to,
                                                int64_t count) {
  switch (to) {
    case DType::kFloat32: return std::make_shared<RequantizationKernel<From, float>>(of_from, of_to, count);
    case DType::kInt8: return std::make_shared<RequantizationKernel<From, int8_t>>(of_from, of_to, count);
    case DType::kUInt8: return std::make_shared<RequantizationKernel<From, uint8_t>>(of_from, of_to, count);
    default: return nullptr;
  }
}

/// Floats without a quantization, integers with one that fits the shape.
bool is_sound(const TensorDesc& desc, const Quantization* quantization) {
  if (desc.layout != engine::Layout::kPlain) return false;
  if (quantization == nullptr) return desc.dtype == DType::kFloat32;
  if (desc.dtype == DType::kFloat32) return false;
  if (quantization->axis < 0) return quantization->scales.size() == 1;
  const auto axis = static_cast<size_t>(quantization->axis);
  return axis < desc.shape.size() && std::cmp_equal(desc.shape[axis], quantization->scales.size());
}

}  // namespace

std::shared_ptr<const engine::Kernel> make_requantization_kernel(const TensorDesc& from, const TensorDesc& to,
                                                                 const Quantization* of_from,
                                                                 const Quantization* of_to) {
  if (from.shape != to.shape || !is_sound(from, of_from) || !is_sound(to, of_to)) return nullptr;
  const Scales scales_from = of_from == nullptr ? Scales() : Scales(*of_from, from.shape);
  const Scales scales_to = of_to == nullptr ? Scales() : Scales(*of_to, to.shape);
  const int64_t count = tensor::element_count(from.shape);
  switch (from.dtype) {
    case DType::kFloat32: return make_from<float>(scales_from, scales_to, to.dtype, count);
    case DType::kInt8: return make_from<int8_t>(scales_from, scales_to, to.dtype, count);
    case DType::kUInt8: return make_from<uint8_t>(scales_from, scales_to, to.dtype, count);
    default: return nullptr;
  }
}

}  // namespace hone::device::cpu
