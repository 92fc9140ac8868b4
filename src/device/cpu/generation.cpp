// Operators that create tensors from a few numbers: ConstantOfShape, Range, OneHot and Trilu.
#include "device/cpu/generation.hpp"

#include <algorithm>
#include <cstring>

#include "device/cpu/around_axis.hpp"
#include "device/cpu/ranges.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::DType;

/// Elements that are worth starting threads for.
constexpr int64_t kWorthThreads = 1 << 17;

/// The operand in the graph's own type, plain.
TensorDesc plain(const StepRequest& request, size_t input) {
  return {request.graph.value(request.node.inputs[input]).type.dtype, request.inputs[input].shape,
          Layout::kPlain};
}

/// Writes `count` copies of an element.
void fill(void* to, const void* element, int64_t count, size_t size) {
  const auto repeat = [&]<class T>(T value) {
    std::memcpy(&value, element, sizeof value);
    std::fill_n(static_cast<T*>(to), count, value);
  };
  switch (size) {
    case 1: return repeat(uint8_t{});
    case 2: return repeat(uint16_t{});
    case 4: return repeat(uint32_t{});
    default: return repeat(uint64_t{});
  }
}

/// The graph has output 0 in a type of 1, 2, 4 or 8 bytes that the step stores as it is.
Refusal only_simple_elements(const StepRequest& request) {
  const size_t size = tensor::dtype_size(request.outputs[0].dtype);
  if (size == 1 || size == 2 || size == 4 || size == 8) return {};
  return fmt::format("elements of {}", tensor::dtype_name(request.outputs[0].dtype));
}

class ConstantKernel final : public engine::Kernel {
 public:
  ConstantKernel(tensor::Tensor value, int64_t count) : value_(std::move(value)), count_(count) {}

  void run(const engine::Run& run) const override {
    const size_t size = tensor::dtype_size(value_.dtype());
    in_ranges(count_, count_ > kWorthThreads, [&](int64_t begin, int64_t end) {
      fill(static_cast<std::byte*>(run.outputs[0]) + static_cast<size_t>(begin) * size, value_.bytes(),
           end - begin, size);
    });
  }

 private:
  tensor::Tensor value_;
  int64_t count_;
};

Offer offer_constant(const StepRequest& request, engine::WeightStore&) {
  const auto& value = request.node.attributes.get<tensor::Tensor>("value");
  if (value.size() != 1) return Offer::refuse("the value is no single element");
  Offer offer;
  offer.inputs = {{}};
  offer.outputs = request.outputs;
  offer.kernel = std::make_shared<ConstantKernel>(value, tensor::element_count(request.outputs[0].shape));
  return offer;
}

/// start + i * delta, floating-point numbers rounded once.
template <class T, class Compute>
class RangeKernel final : public engine::Kernel {
 public:
  explicit RangeKernel(int64_t length) : length_(length) {}

  void run(const engine::Run& run) const override {
    const auto start = static_cast<Compute>(*static_cast<const T*>(run.inputs[0]));
    const auto delta = static_cast<Compute>(*static_cast<const T*>(run.inputs[2]));
    auto* to = static_cast<T*>(run.outputs[0]);
    for (int64_t i = 0; i < length_; ++i) to[i] = static_cast<T>(start + static_cast<Compute>(i) * delta);
  }

 private:
  int64_t length_;
};

Offer offer_range(const StepRequest& request, engine::WeightStore&) {
  Offer offer;
  for (size_t i = 0; i < 3; ++i) {
    offer.inputs.push_back(plain(request, i));
    if (tensor::element_count(offer.inputs[i].shape) != 1) return Offer::refuse("operands are no numbers");
  }
  // The limit has done its work.
  offer.inputs[1] = {};
  offer.outputs = request.outputs;
  const int64_t length = request.outputs[0].shape[0];
  switch (request.outputs[0].dtype) {
    // Integers wrap, which only unsigned ones may do in C++.
    case DType::kInt32: offer.kernel = std::make_shared<RangeKernel<int32_t, uint32_t>>(length); break;
    case DType::kInt64: offer.kernel = std::make_shared<RangeKernel<int64_t, uint64_t>>(length); break;
    case DType::kFloat32: offer.kernel = std::make_shared<RangeKernel<float, double>>(length); break;
    default:
      return Offer::refuse(fmt::format("no loop over {}", tensor::dtype_name(request.outputs[0].dtype)));
  }
  return offer;
}

/// Indices outside of the depth, counted from either end, select nothing.
class OneHotKernel final : public engine::Kernel {
 public:
  OneHotKernel(const Shape& shape, int64_t axis, DType index, size_t size)
      : around_(shape, axis), index_(index), size_(size) {}

  void run(const engine::Run& run) const override {
    const auto* values = static_cast<const std::byte*>(run.inputs[2]);
    auto* to = static_cast<std::byte*>(run.outputs[0]);
    const int64_t row = around_.length * around_.inner;
    in_ranges(around_.outer, around_.outer * row > kWorthThreads, [&](int64_t begin, int64_t end) {
      std::byte* const first = to + static_cast<size_t>(begin * row) * size_;
      fill(first, values, (end - begin) * row, size_);
      for (int64_t i = begin * around_.inner; i < end * around_.inner; ++i) {
        int64_t index = index_ == DType::kInt64 ? static_cast<const int64_t*>(run.inputs[0])[i]
                                                : static_cast<const int32_t*>(run.inputs[0])[i];
        if (index < 0) index += around_.length;
        if (index < 0 || index >= around_.length) continue;
        const int64_t at = around_.first_of(i) + index * around_.inner;
        std::memcpy(to + static_cast<size_t>(at) * size_, values + size_, size_);
      }
    });
  }

 private:
  AroundAxis around_;
  DType index_;
  size_t size_;
};

Offer offer_one_hot(const StepRequest& request, engine::WeightStore&) {
  Offer offer;
  for (size_t i = 0; i < 3; ++i) offer.inputs.push_back(plain(request, i));
  const DType index = offer.inputs[0].dtype;
  if (index != DType::kInt64 && index != DType::kInt32)
    return Offer::refuse(fmt::format("indices of {}", tensor::dtype_name(index)));
  if (tensor::element_count(offer.inputs[2].shape) != 2) return Offer::refuse("other than two values");
  // The depth is in the output's shape.
  offer.inputs[1] = {};
  offer.outputs = request.outputs;
  const Shape& shape = request.outputs[0].shape;
  const int64_t axis =
      tensor::normalize_axis(request.node.attributes.get_int("axis"), static_cast<int64_t>(shape.size()));
  offer.kernel =
      std::make_shared<OneHotKernel>(shape, axis, index, tensor::dtype_size(request.outputs[0].dtype));
  return offer;
}

/// Keeps what lies on one side of a diagonal of each matrix.
class TriangleKernel final : public engine::Kernel {
 public:
  TriangleKernel(const Shape& shape, bool upper, bool has_diagonal, size_t size)
      : rows_(shape[shape.size() - 2]),
        columns_(shape.back()),
        all_rows_(tensor::element_count(shape) / shape.back()),
        upper_(upper),
        has_diagonal_(has_diagonal),
        size_(size) {}

  void run(const engine::Run& run) const override {
    const int64_t k = has_diagonal_ ? *static_cast<const int64_t*>(run.inputs[1]) : 0;
    const auto* from = static_cast<const std::byte*>(run.inputs[0]);
    auto* to = static_cast<std::byte*>(run.outputs[0]);
    const size_t row_bytes = static_cast<size_t>(columns_) * size_;
    in_ranges(all_rows_, all_rows_ * columns_ > kWorthThreads, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        // The first column beyond the diagonal, or on it where the upper triangle is kept. k may be any
        // number.
        const int64_t bound = std::clamp(k, -rows_, columns_) + row % rows_ + (upper_ ? 0 : 1);
        const size_t left = static_cast<size_t>(std::clamp<int64_t>(bound, 0, columns_)) * size_;
        const size_t at = static_cast<size_t>(row) * row_bytes;
        std::memcpy(to + at, from + at, row_bytes);
        if (upper_) {
          std::memset(to + at, 0, left);
        } else {
          std::memset(to + at + left, 0, row_bytes - left);
        }
      }
    });
  }

 private:
  int64_t rows_;
  int64_t columns_;
  int64_t all_rows_;
  bool upper_;
  bool has_diagonal_;
  size_t size_;
};

Offer offer_triangle(const StepRequest& request, engine::WeightStore&) {
  const Shape& shape = request.inputs[0].shape;
  if (shape.size() < 2) return Offer::refuse("no matrix");
  Offer offer;
  offer.inputs = {plain(request, 0)};
  const bool has_diagonal = request.node.has_input(1);
  if (request.node.inputs.size() > 1) offer.inputs.push_back(has_diagonal ? plain(request, 1) : TensorDesc{});
  if (has_diagonal && tensor::element_count(offer.inputs[1].shape) != 1)
    return Offer::refuse("the diagonal is no single number");
  offer.outputs = request.outputs;
  offer.kernel = std::make_shared<TriangleKernel>(shape, request.node.attributes.get_int("upper") != 0,
                                                  has_diagonal, tensor::dtype_size(offer.inputs[0].dtype));
  return offer;
}

}  // namespace

void add_generation_tactics(TacticList& list) {
  list.push_back({.name = "fill",
                  .operators = {"ConstantOfShape"},
                  .requirements = {only_simple_elements},
                  .make = offer_constant});
  list.push_back({.name = "range",
                  .operators = {"Range"},
                  .requirements = {engine::nonempty_output},
                  .make = offer_range});
  list.push_back({.name = "one_hot",
                  .operators = {"OneHot"},
                  .requirements = {only_simple_elements, engine::nonempty_output},
                  .make = offer_one_hot});
  list.push_back({.name = "triangle",
                  .operators = {"Trilu"},
                  .requirements = {only_simple_elements, engine::nonempty_output},
                  .make = offer_triangle});
}

}  // namespace hone::device::cpu
