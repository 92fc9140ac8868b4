// Operators that read or write elements by index: Gather, GatherElements, GatherND, ScatterElements and
// ScatterND. Indices are checked and made offsets first; then threads copy.
#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "device/cpu/ranges.hpp"
#include "device/cpu/tactics.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::DType;

/// Bytes that are worth starting threads for.
constexpr int64_t kWorthThreads = 1 << 18;

/// The indices of a step, of 32 or 64 bits.
struct Indices {
  DType dtype = DType::kInt64;
  int64_t count = 0;
  /// The step's node, for errors.
  std::string node;

  int64_t at(const void* data, int64_t i) const {
    return dtype == DType::kInt32 ? int64_t{static_cast<const int32_t*>(data)[i]}
                                  : static_cast<const int64_t*>(data)[i];
  }

  /// The position on an axis, counted from its end where the index is negative.
  int64_t checked(const void* data, int64_t i, int64_t length) const {
    const int64_t index = at(data, i);
    const int64_t position = index < 0 ? index + length : index;
    if (position < 0 || position >= length)
      fail_bad_input("{}: index {} is outside an axis of length {}", node, index, length);
    return position;
  }
};

void copy_element(const std::byte* from, std::byte* to, size_t element) {
  switch (element) {
    case 1: *to = *from; return;
    case 2: std::memcpy(to, from, 2); return;
    case 4: std::memcpy(to, from, 4); return;
    default: std::memcpy(to, from, 8); return;
  }
}

/// Slices of `slice` bytes of the data, at the offsets of Gather and GatherND, one after the other. The data
/// are `batches` parts of `batch` bytes, and every part is read at the same offsets (Gather) or at its own.
class GatherSlicesKernel final : public engine::Kernel {
 public:
  struct Geometry {
    Indices indices;
    /// For each index of a tuple the length of its axis, and its step in bytes.
    std::vector<int64_t> lengths;
    std::vector<int64_t> steps;
    int64_t batches = 1;
    int64_t batch = 0;
    bool same_for_all = true;
    size_t slice = 0;
  };

  explicit GatherSlicesKernel(Geometry geometry) : g_(std::move(geometry)) {}

  int64_t tuples() const { return g_.indices.count / static_cast<int64_t>(g_.lengths.size()); }

  void run(const engine::Run& run) const override {
    auto* offsets = static_cast<int64_t*>(run.scratch);
    const auto width = static_cast<int64_t>(g_.lengths.size());
    for (int64_t t = 0; t < tuples(); ++t) {
      offsets[t] = 0;
      for (int64_t k = 0; k < width; ++k) {
        const auto axis = static_cast<size_t>(k);
        offsets[t] += g_.indices.checked(run.inputs[1], t * width + k, g_.lengths[axis]) * g_.steps[axis];
      }
    }
    const auto* data = static_cast<const std::byte*>(run.inputs[0]);
    auto* to = static_cast<std::byte*>(run.outputs[0]);
    const int64_t each = g_.same_for_all ? tuples() : tuples() / g_.batches;
    const int64_t slices = each * g_.batches;
    in_ranges(slices, slices * static_cast<int64_t>(g_.slice) > kWorthThreads,
              [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  const int64_t batch = i / each;
                  const std::byte* from = data + batch * g_.batch + offsets[g_.same_for_all ? i % each : i];
                  std::memcpy(to + static_cast<size_t>(i) * g_.slice, from, g_.slice);
                }
              });
  }

 private:
  Geometry g_;
};

/// Where the elements of GatherElements and ScatterElements lie: position and step on the axis from the
/// index, the rest from where the index stands.
class ElementOffsets {
 public:
  ElementOffsets(const Shape& data, const Shape& indices, size_t axis)
      : sizes_(indices),
        strides_(tensor::row_major_strides(data)),
        length_(data[axis]),
        step_(strides_[axis]) {
    strides_[axis] = 0;
  }

  /// Calls f(element of the indices, offset of the row) for all rows of the indices' last axis in [begin,
  /// end).
  template <class F>
  void for_rows(int64_t begin, int64_t end, F&& f) const {
    const int64_t row_length = sizes_.back();
    for (int64_t row = begin; row < end; ++row) {
      int64_t offset = 0;
      int64_t rest = row;
      for (size_t d = sizes_.size() - 1; d-- > 0;) {
        offset += rest % sizes_[d] * strides_[d];
        rest /= sizes_[d];
      }
      f(row * row_length, offset);
    }
  }

  int64_t rows() const { return tensor::element_count(sizes_) / std::max<int64_t>(sizes_.back(), 1); }
  int64_t row_length() const { return sizes_.back(); }
  int64_t row_step() const { return strides_.back(); }
  int64_t length() const { return length_; }
  int64_t step() const { return step_; }

 private:
  Shape sizes_;
  Shape strides_;
  int64_t length_;
  int64_t step_;
};

void check_all(const Indices& indices, const void* data, int64_t length) {
  for (int64_t i = 0; i < indices.count; ++i) indices.checked(data, i, length);
}

class GatherElementsKernel final : public engine::Kernel {
 public:
  GatherElementsKernel(ElementOffsets offsets, Indices indices, size_t element)
      : offsets_(std::move(offsets)), indices_(std::move(indices)), element_(element) {}

  void run(const engine::Run& run) const override {
    check_all(indices_, run.inputs[1], offsets_.length());
    const auto* data = static_cast<const std::byte*>(run.inputs[0]);
    auto* to = static_cast<std::byte*>(run.outputs[0]);
    in_ranges(offsets_.rows(), indices_.count * 8 > kWorthThreads, [&](int64_t begin, int64_t end) {
      offsets_.for_rows(begin, end, [&](int64_t first, int64_t offset) {
        for (int64_t i = 0; i < offsets_.row_length(); ++i) {
          const int64_t position = indices_.checked(run.inputs[1], first + i, offsets_.length());
          const int64_t at = offset + i * offsets_.row_step() + position * offsets_.step();
          copy_element(data + static_cast<size_t>(at) * element_,
                       to + static_cast<size_t>(first + i) * element_, element_);
        }
      });
    });
  }

 private:
  ElementOffsets offsets_;
  Indices indices_;
  size_t element_;
};

/// Adds `bytes` of floats at `updates` to those at `to`.
void add_floats(const std::byte* updates, std::byte* to, size_t bytes) {
  const auto* from = reinterpret_cast<const float*>(updates);
  auto* y = reinterpret_cast<float*>(to);
  for (size_t i = 0; i < bytes / sizeof(float); ++i) y[i] += from[i];
}

/// Copies the updates over the data in their order, so that where an index comes twice the last one stays, or
/// adds them to it.
class ScatterElementsKernel final : public engine::Kernel {
 public:
  ScatterElementsKernel(ElementOffsets offsets, Indices indices, size_t element, bool adds)
      : offsets_(std::move(offsets)), indices_(std::move(indices)), element_(element), adds_(adds) {}

  void run(const engine::Run& run) const override {
    auto* y = static_cast<std::byte*>(run.outputs[0]);
    const auto* updates = static_cast<const std::byte*>(run.inputs[2]);
    check_all(indices_, run.inputs[1], offsets_.length());
    offsets_.for_rows(0, offsets_.rows(), [&](int64_t first, int64_t offset) {
      for (int64_t i = 0; i < offsets_.row_length(); ++i) {
        const int64_t position = indices_.checked(run.inputs[1], first + i, offsets_.length());
        const int64_t at = offset + i * offsets_.row_step() + position * offsets_.step();
        const std::byte* const from = updates + static_cast<size_t>(first + i) * element_;
        if (adds_) {
          add_floats(from, y + static_cast<size_t>(at) * element_, element_);
        } else {
          copy_element(from, y + static_cast<size_t>(at) * element_, element_);
        }
      }
    });
  }

 private:
  ElementOffsets offsets_;
  Indices indices_;
  size_t element_;
  /// Floats instead of copying.
  bool adds_;
};

class ScatterSlicesKernel final : public engine::Kernel {
 public:
  ScatterSlicesKernel(Indices indices, std::vector<int64_t> lengths, std::vector<int64_t> steps, size_t slice,
                      bool adds)
      : indices_(std::move(indices)),
        lengths_(std::move(lengths)),
        steps_(std::move(steps)),
        slice_(slice),
        adds_(adds) {}

  void run(const engine::Run& run) const override {
    auto* y = static_cast<std::byte*>(run.outputs[0]);
    const auto* updates = static_cast<const std::byte*>(run.inputs[2]);
    const auto width = static_cast<int64_t>(lengths_.size());
    for (int64_t t = 0; t < indices_.count / width; ++t) {
      int64_t offset = 0;
      for (int64_t k = 0; k < width; ++k) {
        const auto axis = static_cast<size_t>(k);
        offset += indices_.checked(run.inputs[1], t * width + k, lengths_[axis]) * steps_[axis];
      }
      const std::byte* const from = updates + static_cast<size_t>(t) * slice_;
      if (adds_) {
        add_floats(from, y + offset, slice_);
      } else {
        std::memcpy(y + offset, from, slice_);
      }
    }
  }

 private:
  Indices indices_;
  std::vector<int64_t> lengths_;
  std::vector<int64_t> steps_;
  size_t slice_;
  /// Floats instead of copying.
  bool adds_;
};

/// Data in storage's type, indices in the graph's, and updates like the data.
struct Operands {
  DType dtype;
  size_t element;
  Indices indices;
  Offer offer;
};

std::optional<Operands> read_operands(const StepRequest& request) {
  Operands operands;
  const bool floating = request.outputs[0].dtype == DType::kFloat32;
  operands.dtype = floating ? request.storage() : request.outputs[0].dtype;
  operands.element = tensor::dtype_size(operands.dtype);
  const DType indices = request.graph.value(request.node.inputs[1]).type.dtype;
  if (operands.element > 8 || (indices != DType::kInt32 && indices != DType::kInt64)) return std::nullopt;
  operands.indices = {indices, tensor::element_count(request.inputs[1].shape), request.node.text()};
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    operands.offer.inputs.push_back(
        {i == 1 ? indices : operands.dtype, request.inputs[i].shape, Layout::kPlain});
  }
  operands.offer.outputs = {{operands.dtype, request.outputs[0].shape, Layout::kPlain}};
  return operands;
}

int64_t axis_of(const StepRequest& request) {
  return tensor::normalize_axis(request.node.attributes.get_int("axis"),
                                static_cast<int64_t>(request.inputs[0].shape.size()));
}

int64_t product(const Shape& shape, size_t begin, size_t end) {
  int64_t result = 1;
  for (size_t d = begin; d < end; ++d) result *= shape[d];
  return result;
}

Offer finish_slices(Operands operands, GatherSlicesKernel::Geometry geometry) {
  auto kernel = std::make_shared<GatherSlicesKernel>(std::move(geometry));
  operands.offer.scratch_bytes = kernel->tuples() * static_cast<int64_t>(sizeof(int64_t));
  operands.offer.kernel = std::move(kernel);
  return std::move(operands.offer);
}

Offer offer_gather(const StepRequest& request, engine::WeightStore&) {
  auto operands = read_operands(request);
  if (!operands) return Offer::refuse("element types without a loop");
  const Shape& data = request.inputs[0].shape;
  const auto axis = static_cast<size_t>(axis_of(request));
  const auto element = static_cast<int64_t>(operands->element);
  GatherSlicesKernel::Geometry geometry{operands->indices};
  const int64_t slice = product(data, axis + 1, data.size()) * element;
  geometry.lengths = {data[axis]};
  geometry.steps = {slice};
  geometry.batches = product(data, 0, axis);
  geometry.batch = data[axis] * slice;
  geometry.slice = static_cast<size_t>(slice);
  return finish_slices(std::move(*operands), std::move(geometry));
}

/// The lengths of the axes that tuples index and their steps in bytes, from axis `first` on.
void read_tuple_axes(const Shape& data, size_t first, size_t width, int64_t element,
                     std::vector<int64_t>& lengths, std::vector<int64_t>& steps) {
  const Shape strides = tensor::row_major_strides(data);
  for (size_t k = first; k < first + width; ++k) {
    lengths.push_back(data[k]);
    steps.push_back(strides[k] * element);
  }
}

Offer offer_gather_nd(const StepRequest& request, engine::WeightStore&) {
  auto operands = read_operands(request);
  if (!operands) return Offer::refuse("element types without a loop");
  const Shape& data = request.inputs[0].shape;
  const Shape& indices = request.inputs[1].shape;
  const auto batch_dims = static_cast<size_t>(request.node.attributes.get_int("batch_dims"));
  const auto width = static_cast<size_t>(indices.back());
  if (width == 0 || batch_dims + width > data.size()) return Offer::refuse("tuples that do not fit the data");
  const auto element = static_cast<int64_t>(operands->element);
  GatherSlicesKernel::Geometry geometry{operands->indices};
  read_tuple_axes(data, batch_dims, width, element, geometry.lengths, geometry.steps);
  geometry.batches = product(data, 0, batch_dims);
  geometry.batch = product(data, batch_dims, data.size()) * element;
  geometry.same_for_all = geometry.batches == 1;
  geometry.slice = static_cast<size_t>(product(data, batch_dims + width, data.size()) * element);
  return finish_slices(std::move(*operands), std::move(geometry));
}

Offer offer_gather_elements(const StepRequest& request, engine::WeightStore&) {
  auto operands = read_operands(request);
  if (!operands) return Offer::refuse("element types without a loop");
  if (request.inputs[0].shape.empty()) return Offer::refuse("a scalar");
  operands->offer.kernel = std::make_shared<GatherElementsKernel>(
      ElementOffsets(request.inputs[0].shape, request.inputs[1].shape, static_cast<size_t>(axis_of(request))),
      operands->indices, operands->element);
  return std::move(operands->offer);
}

bool adds(const StepRequest& request) { return request.node.attributes.get_string("reduction") == "add"; }

Refusal only_copies_and_sums(const StepRequest& request) {
  const std::string& reduction = request.node.attributes.get_string("reduction");
  if (reduction == "none") return {};
  if (reduction != "add") return "updates that are combined with the data";
  if (request.outputs[0].dtype != DType::kFloat32 || request.storage() != DType::kFloat32)
    return "sums of other elements than float32";
  return {};
}

/// Kernels take it that shapes fit, as the shape rules see to; empty ones are left to the reference.
Refusal nonempty(const StepRequest& request) {
  for (const TensorDesc& input : request.inputs) {
    if (tensor::element_count(input.shape) == 0) return "an operand is empty";
  }
  return {};
}

Refusal fitting(const StepRequest& request) {
  const Shape& data = request.inputs[0].shape;
  const Shape& indices = request.inputs[1].shape;
  const bool scatters = request.inputs.size() > 2;
  if (data.size() != indices.size() || (scatters && request.inputs[2].shape != indices))
    return "indices that do not fit the data";
  for (size_t d = 0; d < data.size(); ++d) {
    if (static_cast<int64_t>(d) != axis_of(request) && indices[d] > data[d])
      return "indices that do not fit the data";
  }
  return {};
}

Offer offer_scatter_elements(const StepRequest& request, engine::WeightStore&) {
  auto operands = read_operands(request);
  if (!operands) return Offer::refuse("element types without a loop");
  operands->offer.accumulate(0);
  operands->offer.kernel = std::make_shared<ScatterElementsKernel>(
      ElementOffsets(request.inputs[0].shape, request.inputs[1].shape, static_cast<size_t>(axis_of(request))),
      operands->indices, operands->element, adds(request));
  return std::move(operands->offer);
}

Offer offer_scatter_nd(const StepRequest& request, engine::WeightStore&) {
  auto operands = read_operands(request);
  if (!operands) return Offer::refuse("element types without a loop");
  const Shape& data = request.inputs[0].shape;
  const Shape& indices = request.inputs[1].shape;
  const auto width = static_cast<size_t>(indices.back());
  if (width > data.size()) return Offer::refuse("tuples that do not fit the data");
  Shape expected(indices.begin(), indices.end() - 1);
  expected.insert(expected.end(), data.begin() + static_cast<std::ptrdiff_t>(width), data.end());
  if (request.inputs[2].shape != expected) return Offer::refuse("updates that do not fit the data");
  const auto element = static_cast<int64_t>(operands->element);
  std::vector<int64_t> lengths;
  std::vector<int64_t> steps;
  read_tuple_axes(data, 0, width, element, lengths, steps);
  operands->offer.accumulate(0);
  operands->offer.kernel = std::make_shared<ScatterSlicesKernel>(
      operands->indices, std::move(lengths), std::move(steps),
      static_cast<size_t>(product(data, width, data.size()) * element), adds(request));
  return std::move(operands->offer);
}

}  // namespace

void add_indexing_tactics(TacticList& list) {
  list.push_back(
      {.name = "gather", .operators = {"Gather"}, .requirements = {nonempty}, .make = offer_gather});
  list.push_back(
      {.name = "gather", .operators = {"GatherND"}, .requirements = {nonempty}, .make = offer_gather_nd});
  list.push_back({.name = "gather",
                  .operators = {"GatherElements"},
                  .requirements = {nonempty, fitting},
                  .make = offer_gather_elements});
  list.push_back({.name = "scatter",
                  .operators = {"ScatterElements"},
                  .requirements = {nonempty, fitting, only_copies_and_sums},
                  .make = offer_scatter_elements});
  list.push_back({.name = "scatter",
                  .operators = {"ScatterND"},
                  .requirements = {nonempty, only_copies_and_sums},
                  .make = offer_scatter_nd});
}

}  // namespace hone::device::cpu
