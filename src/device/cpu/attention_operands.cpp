// See attention_operands.hpp.
#include "device/cpu/attention_operands.hpp"

#include <algorithm>
#include <cmath>

#include "device/cpu/clones.hpp"
#include "device/cpu/vector_math.hpp"
#include "graph/region.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::TensorDesc;
using graph::StridedView;
using tensor::DType;

/// Elements whose sum is a float; sums of more are carried in double.
constexpr size_t kBlock = 4096;
/// The logarithm of 2^-100: smaller weights are zeros. They would vanish next to the largest, which is 1, and
/// as subnormal numbers, which a mask of -100 makes, they would slow a product down 20 times.
constexpr float kLeastExponent = -69.3147181f;

HONE_CLONES void scale(float* x, float factor, size_t n) {
  for (size_t i = 0; i < n; ++i) x[i] *= factor;
}

HONE_CLONES void add_row(float* __restrict x, const float* __restrict y, size_t n) {
  for (size_t i = 0; i < n; ++i) x[i] += y[i];
}

HONE_CLONES void add_number(float* x, float y, size_t n) {
  for (size_t i = 0; i < n; ++i) x[i] += y;
}

/// x[i] += y[i * stride].
void add_to_row(float* x, const float* y, int64_t stride, size_t n) {
  if (stride == 1) return add_row(x, y, n);
  if (stride == 0) return add_number(x, *y, n);
  for (size_t i = 0; i < n; ++i) x[i] += y[static_cast<int64_t>(i) * stride];
}

HONE_CLONES void fill_where(float* __restrict x, const uint8_t* __restrict mask, uint8_t where, float fill,
                            size_t n) {
  for (size_t i = 0; i < n; ++i) x[i] = mask[i] == where ? fill : x[i];
}

/// x[i] = fill where mask[i * stride] is `where`.
void fill_row(float* x, const bool* mask, int64_t stride, bool where, float fill, size_t n) {
  if (stride == 1)
    return fill_where(x, reinterpret_cast<const uint8_t*>(mask), static_cast<uint8_t>(where), fill, n);
  for (size_t i = 0; i < n; ++i) x[i] = mask[static_cast<int64_t>(i) * stride] == where ? fill : x[i];
}

HONE_INLINE float largest_of(const float* x, size_t n) {
  float largest = -std::numeric_limits<float>::infinity();
#pragma omp simd reduction(max : largest)
  for (size_t i = 0; i < n; ++i) largest = x[i] > largest ? x[i] : largest;
  return largest;
}

/// x[i] = e^(x[i] - shift); the sum.
HONE_INLINE float exponentiate(float* x, float shift, size_t n) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < n; ++i) {
    const float exponent = x[i] - shift;
    x[i] = exponent < kLeastExponent ? 0.0f : bounded_exp(exponent);
    sum += x[i];
  }
  return sum;
}

/// All is masked where the largest score is minus infinity, and the sum is NaN then.
HONE_CLONES void normalize(float* x, size_t n, bool guarded) {
  const float largest = largest_of(x, n);
  double sum = 0;
  for (size_t i = 0; i < n; i += kBlock)
    sum += static_cast<double>(exponentiate(x + i, largest, n - i < kBlock ? n - i : kBlock));
  const bool empty = guarded && sum != sum;
  const auto factor = static_cast<float>(1 / sum);
  for (size_t i = 0; i < n; ++i) x[i] = empty ? 0.0f : x[i] * factor;
}

/// nullopt where rows or columns need several loops.
std::optional<Matrices> matrices(const StridedView& view, size_t operand) {
  const size_t leading = view.dimensions.size() - 2;
  const auto rows = view.stride(leading);
  const auto columns = view.stride(leading + 1);
  if (!rows || !columns) return std::nullopt;
  const tensor::Shape shape = view.shape();
  return Matrices{operand, shape[leading], shape[leading + 1], view.leading_offsets(leading),
                  *rows,   *columns};
}

}  // namespace

void AttentionOperands::weigh(std::span<const void* const> inputs, size_t head, int64_t row,
                              float* scores) const {
  const auto n = static_cast<size_t>(keys());
  if (scale != 1) cpu::scale(scores, scale, n);
  for (const ScoreMask& mask : masks) {
    const Matrices& m = mask.matrices;
    const void* const operand = inputs[m.operand];
    const int64_t at = m.offsets[head] + row * m.row_stride;
    if (mask.fill) {
      fill_row(scores, static_cast<const bool*>(operand) + at, m.column_stride, mask.where, *mask.fill, n);
    } else {
      add_to_row(scores, static_cast<const float*>(operand) + at, m.column_stride, n);
    }
  }
  normalize(scores, n, guarded);
}

Refusal arrange_attention(const engine::StepRequest& request, engine::Offer& offer,
                          AttentionOperands& operands) {
  const graph::Graph body = graph::typed_body(request.graph, request.node);
  const auto attention = graph::read_attention(body);
  if (!attention) return "its body is no attention of float32 with operands that lie evenly";
  offer.inputs.resize(request.inputs.size());
  offer.outputs = {{request.storage(), request.outputs[0].shape, Layout::kPlain}};
  operands.scale = static_cast<float>(attention->scale);
  operands.guarded = attention->guarded;
  operands.storage = request.storage();
  const auto place = [&](const StridedView& view, DType dtype, Matrices& out) -> Refusal {
    const auto operand = static_cast<size_t>(std::find(body.inputs.begin(), body.inputs.end(), view.base) -
                                             body.inputs.begin());
    const auto found = matrices(view, operand);
    if (!found) return "rows of an operand lie unevenly";
    out = *found;
    const TensorDesc desc{dtype, request.inputs[operand].shape, Layout::kPlain};
    TensorDesc& wanted = offer.inputs[operand];
    if (wanted.dtype != DType::kUndefined && wanted != desc) return "a mask is an operand of a product too";
    wanted = desc;
    return {};
  };
  for (const auto& [view, out] :
       {std::pair(&attention->q, &operands.q), std::pair(&attention->k, &operands.k),
        std::pair(&attention->v, &operands.v)}) {
    if (Refusal reason = place(*view, operands.storage, *out)) return reason;
  }
  for (const graph::AttentionMask& mask : attention->masks) {
    ScoreMask& placed = operands.masks.emplace_back(ScoreMask{{}, mask.fill, mask.where});
    if (Refusal reason = place(mask.view, mask.fill ? DType::kBool : DType::kFloat32, placed.matrices))
      return reason;
  }
  const auto result = matrices(attention->result, 0);
  if (!result || (result->columns != 1 && result->column_stride != 1)) return "rows of its result lie apart";
  operands.result = *result;
  if (operands.q.columns == 0 || operands.keys() == 0) return "it sums over nothing";
  return {};
}

}  // namespace hone::device::cpu
