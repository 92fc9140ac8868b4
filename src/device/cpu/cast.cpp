// Cast between the element types that networks use.
#include <bit>

#include "device/cpu/chain_math.hpp"
#include "device/cpu/clones.hpp"
#include "device/cpu/ranges.hpp"
#include "device/cpu/tactics.hpp"
#include "tensor/convert.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using tensor::BFloat16;
using tensor::DType;
using tensor::Half;

using CastFunction = void (*)(const void* from, void* to, int64_t count);

constexpr int64_t kWorthThreads = 1 << 17;

template <class From, class To>
void cast_all(const void* from, void* to, int64_t count) {
  const auto* x = static_cast<const From*>(from);
  auto* y = static_cast<To*>(to);
  for (int64_t i = 0; i < count; ++i) y[i] = tensor::convert<To>(x[i]);
}

void widen_all(const void* from, void* to, int64_t count) {
  widen(static_cast<const BFloat16*>(from), static_cast<float*>(to), static_cast<size_t>(count));
}

void narrow_all(const void* from, void* to, int64_t count) {
  narrow(static_cast<const float*>(from), static_cast<BFloat16*>(to), static_cast<size_t>(count));
}

#if defined(__x86_64__)
__attribute__((target("avx,f16c"))) void halve_by_instruction(const void* from, void* to, int64_t count) {
  const auto* x = static_cast<const float*>(from);
  auto* y = static_cast<Half*>(to);
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i packed = _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i), packed);
  }
  for (; i < count; ++i) y[i] = Half(x[i]);
}

__attribute__((target("avx,f16c"))) void widen_by_instruction(const void* from, void* to, int64_t count) {
  const auto* x = static_cast<const Half*>(from);
  auto* y = static_cast<float*>(to);
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm256_storeu_ps(y + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i))));
  for (; i < count; ++i) y[i] = static_cast<float>(x[i]);
}

/// Every CPU with AVX2 has them, and clang 14 cannot ask for them by name.
bool has_f16c() { return __builtin_cpu_supports("avx2") != 0; }
#endif

CastFunction to_half() {
#if defined(__x86_64__)
  if (has_f16c()) return halve_by_instruction;
#endif
  return cast_all<float, Half>;
}

CastFunction from_half() {
#if defined(__x86_64__)
  if (has_f16c()) return widen_by_instruction;
#endif
  return cast_all<Half, float>;
}

template <class From>
CastFunction cast_from(DType to) {
  switch (to) {
    case DType::kFloat32: return cast_all<From, float>;
    case DType::kFloat64: return cast_all<From, double>;
    case DType::kInt32: return cast_all<From, int32_t>;
    case DType::kInt64: return cast_all<From, int64_t>;
    case DType::kInt8: return cast_all<From, int8_t>;
    case DType::kUInt8: return cast_all<From, uint8_t>;
    case DType::kBool: return cast_all<From, bool>;
    default: return nullptr;
  }
}

CastFunction find_cast(DType from, DType to) {
  if (from == DType::kFloat32 && to == DType::kFloat16) return to_half();
  if (from == DType::kFloat16 && to == DType::kFloat32) return from_half();
  if (from == DType::kFloat32 && to == DType::kBFloat16) return narrow_all;
  if (from == DType::kBFloat16 && to == DType::kFloat32) return widen_all;
  switch (from) {
    case DType::kFloat32: return cast_from<float>(to);
    case DType::kFloat64: return cast_from<double>(to);
    case DType::kInt32: return cast_from<int32_t>(to);
    case DType::kInt64: return cast_from<int64_t>(to);
    case DType::kInt8: return cast_from<int8_t>(to);
    case DType::kUInt8: return cast_from<uint8_t>(to);
    case DType::kBool: return cast_from<bool>(to);
    default: return nullptr;
  }
}

class CastKernel final : public engine::Kernel {
 public:
  CastKernel(CastFunction function, int64_t count, size_t from, size_t to)
      : function_(function), count_(count), from_(from), to_(to) {}

  void run(const engine::Run& run) const override {
    in_ranges(count_, count_ > kWorthThreads, [&](int64_t begin, int64_t end) {
      function_(static_cast<const std::byte*>(run.inputs[0]) + static_cast<size_t>(begin) * from_,
                static_cast<std::byte*>(run.outputs[0]) + static_cast<size_t>(begin) * to_, end - begin);
    });
  }

 private:
  CastFunction function_;
  int64_t count_;
  size_t from_;
  size_t to_;
};

Offer offer_cast(const StepRequest& request, engine::WeightStore&) {
  const DType from = request.graph.value(request.node.inputs[0]).type.dtype;
  const DType to = request.outputs[0].dtype;
  const CastFunction function = find_cast(from, to);
  if (function == nullptr) {
    return Offer::refuse(
        fmt::format("no loop from {} to {}", tensor::dtype_name(from), tensor::dtype_name(to)));
  }
  Offer offer;
  offer.inputs = {{from, request.inputs[0].shape, Layout::kPlain}};
  offer.inputs.resize(request.inputs.size());
  offer.outputs = request.outputs;
  offer.kernel = std::make_shared<CastKernel>(function, tensor::element_count(request.inputs[0].shape),
                                              tensor::dtype_size(from), tensor::dtype_size(to));
  return offer;
}

}  // namespace

void add_cast_tactics(TacticList& list) {
  list.push_back({.name = "cast", .operators = {"Cast", "CastLike"}, .make = offer_cast});
}

}  // namespace hone::device::cpu
