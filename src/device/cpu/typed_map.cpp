// Elementwise operators of any element types and any broadcasting: comparisons, logic, choices, arithmetic of
// integers, and what a chain does not broadcast.
#include <algorithm>
#include <cmath>

#include "device/cpu/clones.hpp"
#include "device/cpu/ranges.hpp"
#include "device/cpu/strided_dims.hpp"
#include "device/cpu/tactics.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::DType;

constexpr size_t kMostOperands = 3;
/// Elements that are worth starting threads for.
constexpr int64_t kWorthThreads = 1 << 17;

/// A run of elements; each operand's step from one to the next is 1 or 0.
struct Row {
  const void* from[kMostOperands];
  bool varies[kMostOperands];
  void* to;
  int64_t count;
};

using RowFunction = void (*)(const Row& row);

template <class A, class R, class F>
HONE_INLINE void map_two(const Row& row, F f) {
  const auto* a = static_cast<const A*>(row.from[0]);
  const auto* b = static_cast<const A*>(row.from[1]);
  auto* to = static_cast<R*>(row.to);
  if (row.varies[0] && row.varies[1]) {
    for (int64_t i = 0; i < row.count; ++i) to[i] = f(a[i], b[i]);
  } else if (row.varies[0]) {
    const A w = *b;
    for (int64_t i = 0; i < row.count; ++i) to[i] = f(a[i], w);
  } else {
    const A v = *a;
    const bool varies = row.varies[1];
    for (int64_t i = 0; i < row.count; ++i) to[i] = f(v, b[varies ? i : 0]);
  }
}

template <class T>
HONE_INLINE void choose(const Row& row) {
  const auto* condition = static_cast<const uint8_t*>(row.from[0]);
  const auto* a = static_cast<const T*>(row.from[1]);
  const auto* b = static_cast<const T*>(row.from[2]);
  auto* to = static_cast<T*>(row.to);
  if (!row.varies[0]) {
    const bool first = *condition != 0;
    const T* from = first ? a : b;
    if (row.varies[first ? 1 : 2]) {
      std::copy(from, from + row.count, to);
    } else {
      std::fill(to, to + row.count, *from);
    }
  } else if (row.varies[1] && row.varies[2]) {
    for (int64_t i = 0; i < row.count; ++i) to[i] = condition[i] != 0 ? a[i] : b[i];
  } else if (row.varies[1]) {
    const T w = *b;
    for (int64_t i = 0; i < row.count; ++i) to[i] = condition[i] != 0 ? a[i] : w;
  } else if (row.varies[2]) {
    const T v = *a;
    for (int64_t i = 0; i < row.count; ++i) to[i] = condition[i] != 0 ? v : b[i];
  } else {
    const T v = *a;
    const T w = *b;
    for (int64_t i = 0; i < row.count; ++i) to[i] = condition[i] != 0 ? v : w;
  }
}

#define HONE_TWO(name, type, result, expression)                                                \
  HONE_CLONES void name(const Row& row) {                                                       \
    map_two<type, result>(                                                                      \
        row, [](type v, type w) __attribute__((always_inline))->result { return expression; }); \
  }
#define HONE_ORDER(suffix, type)                          \
  HONE_TWO(equal_##suffix, type, bool, v == w)            \
  HONE_TWO(greater_##suffix, type, bool, v > w)           \
  HONE_TWO(greater_or_equal_##suffix, type, bool, v >= w) \
  HONE_TWO(less_##suffix, type, bool, v < w)              \
  HONE_TWO(less_or_equal_##suffix, type, bool, v <= w)
HONE_ORDER(f32, float)
HONE_ORDER(i32, int32_t)
HONE_ORDER(i64, int64_t)
HONE_TWO(equal_u8, uint8_t, bool, v == w)
// Bytes of bool are 0 or 1.
HONE_TWO(logical_and, uint8_t, uint8_t, static_cast<uint8_t>(v& w))
HONE_TWO(logical_or, uint8_t, uint8_t, static_cast<uint8_t>(v | w))
HONE_TWO(logical_xor, uint8_t, uint8_t, static_cast<uint8_t>(v ^ w))
// Integers wrap, which only unsigned ones may do in C++.
#define HONE_INTEGERS(bits)                                          \
  HONE_TWO(add_i##bits, uint##bits##_t, uint##bits##_t, v + w)       \
  HONE_TWO(sub_i##bits, uint##bits##_t, uint##bits##_t, v - w)       \
  HONE_TWO(mul_i##bits, uint##bits##_t, uint##bits##_t, v* w)        \
  HONE_TWO(max_i##bits, int##bits##_t, int##bits##_t, v > w ? v : w) \
  HONE_TWO(min_i##bits, int##bits##_t, int##bits##_t, v < w ? v : w)
HONE_INTEGERS(32)
HONE_INTEGERS(64)
#define HONE_BITS(bits)                                      \
  HONE_TWO(and_##bits, uint##bits##_t, uint##bits##_t, v& w) \
  HONE_TWO(or_##bits, uint##bits##_t, uint##bits##_t, v | w) \
  HONE_TWO(xor_##bits, uint##bits##_t, uint##bits##_t, v ^ w)
HONE_BITS(8)
HONE_BITS(32)
HONE_BITS(64)

// No divisor is 0 here; of the lowest number by -1 the quotient wraps.
template <class T>
HONE_INLINE T quotient(T v, T w) {
  return w == -1 ? static_cast<T>(-static_cast<std::make_unsigned_t<T>>(v)) : v / w;
}
/// The remainder with the sign of the dividend.
template <class T>
HONE_INLINE T remainder_of(T v, T w) {
  return w == -1 ? 0 : v % w;
}
/// The remainder with the sign of the divisor.
template <class T>
HONE_INLINE T floored_remainder(T v, T w) {
  const T r = remainder_of(v, w);
  return r != 0 && (r < 0) != (w < 0) ? r + w : r;
}
#define HONE_DIVISIONS(bits)                                               \
  HONE_TWO(div_i##bits, int##bits##_t, int##bits##_t, quotient(v, w))      \
  HONE_TWO(fmod_i##bits, int##bits##_t, int##bits##_t, remainder_of(v, w)) \
  HONE_TWO(mod_i##bits, int##bits##_t, int##bits##_t, floored_remainder(v, w))
HONE_DIVISIONS(32)
HONE_DIVISIONS(64)
HONE_TWO(fmod_f32, float, float, std::fmod(v, w))
HONE_TWO(add_f32, float, float, v + w)
HONE_TWO(sub_f32, float, float, v - w)
HONE_TWO(mul_f32, float, float, v* w)
HONE_TWO(div_f32, float, float, v / w)
HONE_TWO(max_f32, float, float, v > w || v != v ? v : w)
HONE_TWO(min_f32, float, float, v < w || v != v ? v : w)

HONE_CLONES void choose1(const Row& row) { choose<uint8_t>(row); }
HONE_CLONES void choose2(const Row& row) { choose<uint16_t>(row); }
HONE_CLONES void choose4(const Row& row) { choose<uint32_t>(row); }
HONE_CLONES void choose8(const Row& row) { choose<uint64_t>(row); }

HONE_CLONES void logical_not(const Row& row) {
  const auto* from = static_cast<const uint8_t*>(row.from[0]);
  auto* to = static_cast<uint8_t*>(row.to);
  for (int64_t i = 0; i < row.count; ++i) to[i] = from[i] ^ 1;
}

HONE_CLONES void is_nan(const Row& row) {
  const auto* from = static_cast<const float*>(row.from[0]);
  auto* to = static_cast<bool*>(row.to);
  for (int64_t i = 0; i < row.count; ++i) to[i] = from[i] != from[i];
}

template <class T>
HONE_INLINE void invert(const Row& row) {
  const auto* from = static_cast<const T*>(row.from[0]);
  auto* to = static_cast<T*>(row.to);
  for (int64_t i = 0; i < row.count; ++i) to[i] = static_cast<T>(~from[i]);
}
HONE_CLONES void not_8(const Row& row) { invert<uint8_t>(row); }
HONE_CLONES void not_32(const Row& row) { invert<uint32_t>(row); }
HONE_CLONES void not_64(const Row& row) { invert<uint64_t>(row); }

/// Mod with attribute 'fmod', in the table below.
constexpr std::string_view kTruncatedMod = "Mod of fmod";

/// A row of the table: the operator on operands of that type.
struct Entry {
  std::string_view op;
  DType dtype;
  RowFunction function;
};

constexpr Entry kEntries[] = {
    {"Equal", DType::kFloat32, equal_f32},
    {"Equal", DType::kInt32, equal_i32},
    {"Equal", DType::kInt64, equal_i64},
    {"Equal", DType::kBool, equal_u8},
    {"Equal", DType::kUInt8, equal_u8},
    {"Equal", DType::kInt8, equal_u8},
    {"Greater", DType::kFloat32, greater_f32},
    {"Greater", DType::kInt32, greater_i32},
    {"Greater", DType::kInt64, greater_i64},
    {"GreaterOrEqual", DType::kFloat32, greater_or_equal_f32},
    {"GreaterOrEqual", DType::kInt32, greater_or_equal_i32},
    {"GreaterOrEqual", DType::kInt64, greater_or_equal_i64},
    {"Less", DType::kFloat32, less_f32},
    {"Less", DType::kInt32, less_i32},
    {"Less", DType::kInt64, less_i64},
    {"LessOrEqual", DType::kFloat32, less_or_equal_f32},
    {"LessOrEqual", DType::kInt32, less_or_equal_i32},
    {"LessOrEqual", DType::kInt64, less_or_equal_i64},
    {"And", DType::kBool, logical_and},
    {"Or", DType::kBool, logical_or},
    {"Xor", DType::kBool, logical_xor},
    {"Not", DType::kBool, logical_not},
    {"IsNaN", DType::kFloat32, is_nan},
    {"Add", DType::kInt32, add_i32},
    {"Add", DType::kInt64, add_i64},
    {"Add", DType::kFloat32, add_f32},
    {"Sub", DType::kInt32, sub_i32},
    {"Sub", DType::kInt64, sub_i64},
    {"Sub", DType::kFloat32, sub_f32},
    {"Mul", DType::kInt32, mul_i32},
    {"Mul", DType::kInt64, mul_i64},
    {"Mul", DType::kFloat32, mul_f32},
    {"Div", DType::kFloat32, div_f32},
    {"BitwiseAnd", DType::kInt8, and_8},
    {"BitwiseAnd", DType::kUInt8, and_8},
    {"BitwiseAnd", DType::kInt32, and_32},
    {"BitwiseAnd", DType::kUInt32, and_32},
    {"BitwiseAnd", DType::kInt64, and_64},
    {"BitwiseAnd", DType::kUInt64, and_64},
    {"BitwiseOr", DType::kInt8, or_8},
    {"BitwiseOr", DType::kUInt8, or_8},
    {"BitwiseOr", DType::kInt32, or_32},
    {"BitwiseOr", DType::kUInt32, or_32},
    {"BitwiseOr", DType::kInt64, or_64},
    {"BitwiseOr", DType::kUInt64, or_64},
    {"BitwiseXor", DType::kInt8, xor_8},
    {"BitwiseXor", DType::kUInt8, xor_8},
    {"BitwiseXor", DType::kInt32, xor_32},
    {"BitwiseXor", DType::kUInt32, xor_32},
    {"BitwiseXor", DType::kInt64, xor_64},
    {"BitwiseXor", DType::kUInt64, xor_64},
    {"BitwiseNot", DType::kInt8, not_8},
    {"BitwiseNot", DType::kUInt8, not_8},
    {"BitwiseNot", DType::kInt32, not_32},
    {"BitwiseNot", DType::kUInt32, not_32},
    {"BitwiseNot", DType::kInt64, not_64},
    {"BitwiseNot", DType::kUInt64, not_64},
    {"Div", DType::kInt32, div_i32},
    {"Div", DType::kInt64, div_i64},
    {"Mod", DType::kInt32, mod_i32},
    {"Mod", DType::kInt64, mod_i64},
    {kTruncatedMod, DType::kInt32, fmod_i32},
    {kTruncatedMod, DType::kInt64, fmod_i64},
    {kTruncatedMod, DType::kFloat32, fmod_f32},
    {"Max", DType::kInt32, max_i32},
    {"Max", DType::kInt64, max_i64},
    {"Max", DType::kFloat32, max_f32},
    {"Min", DType::kInt32, min_i32},
    {"Min", DType::kInt64, min_i64},
    {"Min", DType::kFloat32, min_f32},
};

RowFunction chooser(DType dtype) {
  switch (tensor::dtype_size(dtype)) {
    case 1: return choose1;
    case 2: return choose2;
    case 4: return choose4;
    case 8: return choose8;
    default: return nullptr;
  }
}

RowFunction find_function(const StepRequest& request, DType dtype) {
  if (request.node.op == "Where") return chooser(dtype);
  const bool truncates = request.node.op == "Mod" && request.node.attributes.get_int("fmod") != 0;
  const std::string_view op = truncates ? kTruncatedMod : std::string_view(request.node.op);
  for (const Entry& entry : kEntries) {
    if (entry.op == op && entry.dtype == dtype) return entry.function;
  }
  return nullptr;
}

/// Bad input for an integer division by zero in `node`.
template <class T>
void check_divisors(const std::string& node, const void* divisors, int64_t count) {
  const auto* values = static_cast<const T*>(divisors);
  if (std::find(values, values + count, T{0}) != values + count)
    fail_bad_input("{}: an integer is divided by zero", node);
}

class MapKernel final : public engine::Kernel {
 public:
  MapKernel(const graph::Node& node, RowFunction function, const std::vector<TensorDesc>& inputs,
            const TensorDesc& output)
      : node_(node.text()), function_(function), operands_(inputs.size()) {
    const bool divides = node.op == "Div" || node.op == "Mod";
    if (divides && tensor::is_integer(inputs[1].dtype)) divisors_ = inputs[1];
    walk_.sizes = output.shape;
    for (const TensorDesc& input : inputs) {
      walk_.strides.push_back(tensor::broadcast_strides(input.shape, output.shape));
      elements_.push_back(tensor::dtype_size(input.dtype));
    }
    elements_.push_back(tensor::dtype_size(output.dtype));
    walk_.merge();
  }

  void run(const engine::Run& run) const override {
    if (walk_.count() == 0) return;
    // An exception must not leave a thread.
    if (divisors_.dtype == DType::kInt32)
      check_divisors<int32_t>(node_, run.inputs[1], tensor::element_count(divisors_.shape));
    if (divisors_.dtype == DType::kInt64)
      check_divisors<int64_t>(node_, run.inputs[1], tensor::element_count(divisors_.shape));
    const bool parallel = walk_.count() > kWorthThreads;
    if (walk_.rows() == 1) {
      // One row: the threads share its elements.
      return in_ranges(walk_.inner(), parallel,
                       [&](int64_t begin, int64_t end) { run_row(run, 0, begin, end - begin); });
    }
    in_ranges(walk_.rows(), parallel, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) run_row(run, row, 0, walk_.inner());
    });
  }

 private:
  void run_row(const engine::Run& run, int64_t row, int64_t begin, int64_t count) const {
    Row part{};
    for (size_t i = 0; i < operands_; ++i) {
      const int64_t step = walk_.inner_stride(i);
      const auto offset = static_cast<size_t>(walk_.row_offset(i, row) + begin * step) * elements_[i];
      part.from[i] = static_cast<const std::byte*>(run.inputs[i]) + offset;
      part.varies[i] = step != 0;
    }
    const auto offset = static_cast<size_t>(row * walk_.inner() + begin) * elements_.back();
    part.to = static_cast<std::byte*>(run.outputs[0]) + offset;
    part.count = count;
    function_(part);
  }

  std::string node_;  ///< for errors
  RowFunction function_;
  size_t operands_;
  /// Undefined where none is an integer.
  TensorDesc divisors_;
  StridedDims walk_;
  std::vector<size_t> elements_;
};

Offer offer_map(const StepRequest& request, engine::WeightStore&) {
  if (request.inputs.size() > kMostOperands || request.inputs.empty()) return Offer::refuse("many operands");
  // The types that the graph has: comparisons and choices are exact in them.
  Offer offer;
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const DType dtype = request.graph.value(request.node.inputs[i]).type.dtype;
    offer.inputs.push_back({dtype, request.inputs[i].shape, Layout::kPlain});
  }
  const bool chooses = request.node.op == "Where";
  const DType dtype = offer.inputs.back().dtype;
  for (size_t i = chooses ? 1 : 0; i < offer.inputs.size(); ++i) {
    if (offer.inputs[i].dtype != dtype) return Offer::refuse("operands of several element types");
  }
  if (!chooses && offer.inputs.size() > 2) return Offer::refuse("more than two operands");
  const RowFunction function = find_function(request, dtype);
  if (function == nullptr) return Offer::refuse(fmt::format("no loop over {}", tensor::dtype_name(dtype)));
  const std::string& op = request.node.op;
  if (offer.inputs.size() == 1 && op != "Not" && op != "IsNaN" && op != "BitwiseNot")
    return Offer::refuse("one operand");
  offer.outputs = request.outputs;
  offer.kernel = std::make_shared<MapKernel>(request.node, function, offer.inputs, offer.outputs[0]);
  return offer;
}

}  // namespace

void add_map_tactics(TacticList& list) {
  engine::Tactic map{.name = "map", .operators = {"Where"}, .make = offer_map};
  for (const Entry& entry : kEntries) {
    if (entry.op == kTruncatedMod) continue;
    if (std::find(map.operators.begin(), map.operators.end(), entry.op) == map.operators.end())
      map.operators.emplace_back(entry.op);
  }
  list.push_back(std::move(map));
}

}  // namespace hone::device::cpu
