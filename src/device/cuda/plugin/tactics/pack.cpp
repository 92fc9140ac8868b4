// Packs constants on the host into the arrangements that kernels of this device need; see tactics.hpp.
#include <cstring>

#include "base/checked.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"
#include "tensor/saturate.hpp"

namespace hone::device::cuda {
namespace {

using engine::Shape;
using engine::StepRequest;
using engine::WeightKey;
using engine::WeightStore;
using tensor::DType;
using tensor::FilterAxis;
using tensor::Tensor;

/// Converts the constant's elements to `dtype`.
Tensor in_type(const graph::Value& value, DType dtype, FilterAxis axis, WeightStore& weights) {
  const Tensor& constant = *value.constant;
  if (constant.dtype() == dtype) return constant;
  const bool rounds = tensor::dtype_size(dtype) == 2 && tensor::can_round_weights(constant);
  return rounds ? weights.rounded(value.name, constant, dtype, axis) : tensor::saturated(constant, dtype);
}

/// Returns the packed form from the store, or makes it with `fill(plain elements of dtype, packed elements)`.
/// The name of a form that does not replace the constant begins with kFinalForm, and so does its key.
template <class Fill>
PackedConstant pack(Gpu& gpu, const StepRequest& request, size_t operand, DType dtype, FilterAxis axis,
                    const std::string& format, int64_t count, WeightStore& weights, Fill&& fill) {
  const graph::Value& value = request.graph.value(request.node.inputs[operand]);
  const bool final = format.starts_with(engine::kFinalForm);
  const WeightKey key{value.name, fmt::format("{}cuda-{}:{}", final ? format.substr(0, 1) : "",
                                              tensor::dtype_name(dtype), format.substr(final ? 1 : 0))};
  const int64_t bytes = base::checked_mul(count, static_cast<int64_t>(tensor::dtype_size(dtype)));
  if (const Tensor* found = weights.find(key)) {
    if (static_cast<int64_t>(found->byte_size()) != bytes) {
      fail_bad_input("packed constant '{}' has {} bytes, its format needs {}", value.name, found->byte_size(),
                     bytes);
    }
    return {gpu.copies().of(*found), key};
  }
  if (value.constant->bytes() == nullptr) throw engine::MissingForm(key);
  Tensor packed(DType::kUInt8, {bytes});
  std::memset(packed.mutable_bytes(), 0, packed.byte_size());
  const Tensor plain = in_type(value, dtype, axis, weights);
  if (tensor::dtype_size(dtype) == 2) {
    fill(reinterpret_cast<const uint16_t*>(plain.bytes()),
         reinterpret_cast<uint16_t*>(packed.mutable_bytes()));
  } else {
    fill(reinterpret_cast<const uint32_t*>(plain.bytes()),
         reinterpret_cast<uint32_t*>(packed.mutable_bytes()));
  }
  return {gpu.copies().of(weights.add(key, std::move(packed))), key};
}

/// Rounds to the nearest number with tf32's 11 bits, ties away from zero; infinities and NaN do not change.
uint32_t round_to_tf32(uint32_t bits) {
  constexpr uint32_t kExponent = 0x7f800000;
  constexpr uint32_t kHalf = 0x1000;
  return (bits & kExponent) == kExponent ? bits : (bits + kHalf) & ~(2 * kHalf - 1);
}
uint16_t round_to_tf32(uint16_t) { fail_internal("tf32 has elements of four bytes"); }

std::string_view name_of(FilterOrder order) {
  switch (order) {
    case FilterOrder::kKrsc: return "krsc";
    case FilterOrder::kKrscTf32: return "krsc-tf32-";
    case FilterOrder::kRsck: break;
  }
  return "rsck";
}

}  // namespace

PackedConstant pack_filter(Gpu& gpu, const StepRequest& request, size_t operand, DType dtype,
                           FilterOrder order, int64_t channels, WeightStore& weights, int64_t padded) {
  const Shape& shape = request.graph.value(request.node.inputs[operand]).constant->shape();
  const int64_t filters = shape[0];
  const int64_t width = padded == 0 ? filters : padded;
  const int64_t depth = shape[1];
  const int64_t taps = tensor::element_count(shape) / std::max<int64_t>(filters * depth, 1);
  const bool filters_first = order != FilterOrder::kRsck;
  const bool rounds = order == FilterOrder::kKrscTf32;
  const std::string format =
      fmt::format("{}{}{}", name_of(order), channels == depth ? "" : std::to_string(channels),
                  width == filters ? "" : fmt::format("x{}", width));
  return pack(gpu, request, operand, dtype, FilterAxis::kFirst, format, width * taps * channels, weights,
              [&](const auto* from, auto* to) {
                for (int64_t k = 0; k < filters; ++k) {
                  for (int64_t c = 0; c < depth; ++c) {
                    for (int64_t t = 0; t < taps; ++t) {
                      const int64_t at =
                          filters_first ? (k * taps + t) * channels + c : (t * channels + c) * width + k;
                      const auto value = from[(k * depth + c) * taps + t];
                      to[at] = rounds ? round_to_tf32(value) : value;
                    }
                  }
                }
              });
}

PackedConstant pack_fragments(Gpu& gpu, const StepRequest& request, size_t operand, DType dtype,
                              const char* order, const FragmentPlace& place, WeightStore& weights) {
  const Shape& shape = request.graph.value(request.node.inputs[operand]).constant->shape();
  const int64_t taps = tensor::element_count(shape) / std::max<int64_t>(shape[0] * shape[1], 1);
  // The kernels that use this form run only on one architecture, and not for every image.
  return pack(gpu, request, operand, dtype, FilterAxis::kFirst, fmt::format("!{}", order),
              tensor::element_count(shape), weights, [&](const auto* from, auto* to) {
                for (int64_t k = 0; k < shape[0]; ++k) {
                  for (int64_t c = 0; c < shape[1]; ++c) {
                    for (int64_t tap = 0; tap < taps; ++tap) to[place(k, tap, c)] = *from++;
                  }
                }
              });
}

PackedConstant pack_bias(Gpu& gpu, const StepRequest& request, size_t operand, int64_t count,
                         WeightStore& weights) {
  const Shape& shape = request.graph.value(request.node.inputs[operand]).constant->shape();
  const auto bytes = static_cast<size_t>(tensor::element_count(shape)) * sizeof(float);
  return pack(gpu, request, operand, DType::kFloat32, FilterAxis::kFirst, fmt::format("row{}", count), count,
              weights, [&](const auto* from, auto* to) { std::memcpy(to, from, bytes); });
}

PackedConstant pack_stem(Gpu& gpu, const StepRequest& request, size_t operand, DType dtype,
                         const StemLayout& layout, StemOrder order, WeightStore& weights) {
  const Shape& shape = request.graph.value(request.node.inputs[operand]).constant->shape();
  return pack(gpu, request, operand, dtype, FilterAxis::kFirst, layout.form(order),
              static_cast<int64_t>(layout.weight_elements()), weights, [&](const auto* from, auto* to) {
                for (int k = 0; k < shape[0]; ++k) {
                  for (int c = 0; c < shape[1]; ++c) {
                    for (int r = 0; r < shape[2]; ++r) {
                      for (int s = 0; s < shape[3]; ++s) to[layout.weight_index(order, k, r, s, c)] = *from++;
                    }
                  }
                }
              });
}

PackedConstant pack_winograd(Gpu& gpu, const StepRequest& request, size_t operand, const Winograd& size,
                             WeightStore& weights) {
  return pack(gpu, request, operand, DType::kFloat32, FilterAxis::kFirst,
              fmt::format("winograd{}", size.taps), size.filter_elements(), weights,
              [&](const auto* from, auto* to) {
                winograd_filter(size, reinterpret_cast<const float*>(from), reinterpret_cast<float*>(to));
              });
}

PackedConstant pack_matrix(Gpu& gpu, const StepRequest& request, size_t operand, DType dtype, bool transposed,
                           WeightStore& weights) {
  const Shape& shape = request.graph.value(request.node.inputs[operand]).constant->shape();
  const int64_t columns = shape[transposed ? 0 : 1];
  const int64_t depth = shape[transposed ? 1 : 0];
  const FilterAxis axis = transposed ? FilterAxis::kFirst : FilterAxis::kLast;
  // Two nodes may read one matrix, one of them transposed.
  return pack(gpu, request, operand, dtype, axis, transposed ? "rows" : "columns", columns * depth, weights,
              [&](const auto* from, auto* to) {
                if (transposed) {
                  std::memcpy(to, from, static_cast<size_t>(columns * depth) * sizeof *to);
                  return;
                }
                for (int64_t d = 0; d < depth; ++d) {
                  for (int64_t c = 0; c < columns; ++c) to[c * depth + d] = from[d * columns + c];
                }
              });
}

}  // namespace hone::device::cuda
