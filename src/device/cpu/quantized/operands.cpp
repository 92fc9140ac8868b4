// See operands.hpp.
#include "device/cpu/quantized/operands.hpp"

#include <algorithm>
#include <cmath>

#include "device/cpu/onednn.hpp"

namespace hone::device::cpu {

using tensor::DType;
using tensor::Tensor;

namespace {

bool sums_bytes_exactly() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::avx2_vnni:
    case dnnl::cpu_isa::avx512_core_vnni:
    case dnnl::cpu_isa::avx512_core_bf16:
    case dnnl::cpu_isa::avx512_core_amx: return true;
    default: return false;
  }
}

}  // namespace

Refusal refuse_saturation(DType first, const Tensor* weights) {
  if (sums_bytes_exactly()) return {};
  // 255 * 64 + 255 * 64 fits into 16 bits.
  constexpr double kSafe = 64;
  if (first != DType::kUInt8 || weights == nullptr)
    return "without VNNI, sums of two products saturate at 16 bits";
  const double middle = weights->dtype() == DType::kUInt8 ? 128 : 0;
  const auto values = weights->to_double();
  const bool safe = std::all_of(values.begin(), values.end(),
                                [&](double value) { return std::abs(value - middle) <= kSafe; });
  return safe ? Refusal()
              : Refusal("without VNNI, sums of two products with such weights saturate at 16 bits");
}

}  // namespace hone::device::cpu
