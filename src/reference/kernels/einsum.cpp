// Reference kernel of Einsum: one sum of products over all values of all labels.
#include "graph/einsum.hpp"

#include <map>

#include "reference/compute.hpp"
#include "reference/kernels/parts.hpp"
#include "reference/strided.hpp"

namespace hone::reference {
namespace {

/// The index space of all labels, with one axis for each; operands are views of it.
struct LabelSpace {
  std::map<int, size_t> axes;
  Shape lengths;
};

LabelSpace label_space(const graph::EinsumEquation& equation, const std::vector<Tensor>& inputs) {
  LabelSpace space;
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (size_t d = 0; d < inputs[i].shape().size(); ++d) {
      const int64_t length = inputs[i].shape()[d];
      const auto [found, is_new] = space.axes.emplace(equation.inputs[i][d], space.lengths.size());
      if (is_new) {
        space.lengths.push_back(length);
        continue;
      }
      int64_t& common = space.lengths[found->second];
      if (common != length && common != 1 && length != 1) {
        fail_bad_input("an axis of the equation has length {} and {}", common, length);
      }
      if (common == 1) common = length;
    }
  }
  return space;
}

/// Strides of an operand in the label space; for a label that occurs twice, the stride follows the diagonal.
Shape label_strides(const LabelSpace& space, const std::vector<int>& labels, const Shape& shape) {
  const Shape own = tensor::row_major_strides(shape);
  Shape strides(space.lengths.size(), 0);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != 1) strides[space.axes.at(labels[d])] += own[d];
  }
  return strides;
}

/// Calls f with the offset of every combination of labels in each operand.
template <class F>
void for_each_combination(const Shape& lengths, const std::vector<Shape>& strides, F&& f) {
  if (tensor::element_count(lengths) == 0) return;
  std::vector<int64_t> offsets(strides.size(), 0);
  Shape index(lengths.size(), 0);
  while (true) {
    f(offsets);
    size_t axis = lengths.size();
    for (; axis > 0; --axis) {
      const size_t d = axis - 1;
      const bool wraps = ++index[d] == lengths[d];
      for (size_t n = 0; n < offsets.size(); ++n)
        offsets[n] += wraps ? strides[n][d] * (1 - lengths[d]) : strides[n][d];
      if (!wraps) break;
      index[d] = 0;
    }
    if (axis == 0) return;
  }
}

void einsum(KernelContext& context) {
  const DType dtype = context.input(0).dtype();
  std::vector<Tensor> inputs;
  std::vector<int64_t> ranks;
  for (size_t i = 0; i < context.inputs.size(); ++i) {
    if (context.input(i).dtype() != dtype) fail_bad_input("inputs 0 and {} have different types", i);
    inputs.push_back(widened(context.input(i)));
    ranks.push_back(inputs.back().rank());
  }
  const auto equation = graph::parse_einsum(context.attributes().get_string("equation"), ranks);
  const LabelSpace space = label_space(equation, inputs);
  Shape shape;
  for (const int label : equation.output) shape.push_back(space.lengths[space.axes.at(label)]);
  visit_compute(dtype, [&]<class T>() {
    Tensor y(compute_dtype(dtype), shape);
    const auto out = y.mutable_values<T>();
    for (T& element : out) element = T{};
    std::vector<Shape> strides;
    for (size_t i = 0; i < inputs.size(); ++i) {
      strides.push_back(label_strides(space, equation.inputs[i], inputs[i].shape()));
    }
    strides.push_back(label_strides(space, equation.output, shape));
    for_each_combination(space.lengths, strides, [&](const std::vector<int64_t>& offsets) {
      T product{1};
      for (size_t i = 0; i < inputs.size(); ++i) {
        product = multiply(product, inputs[i].values<T>()[static_cast<size_t>(offsets[i])]);
      }
      T& element = out[static_cast<size_t>(offsets.back())];
      element = add(element, product);
    });
    context.outputs[0] = y.cast(dtype);
  });
}

constexpr KernelEntry kKernels[] = {{"Einsum", einsum}};

}  // namespace

std::span<const KernelEntry> einsum_kernels() { return kKernels; }

}  // namespace hone::reference
