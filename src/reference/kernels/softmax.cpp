// Reference kernels of the reduction family that normalise along one axis.
#include <algorithm>
#include <cmath>

#include "reference/kernels/parts.hpp"
#include "reference/strided.hpp"

namespace hone::reference {
namespace {

/// One row along the axis, with elements at a distance of `stride`.
struct Row {
  double* first;
  int64_t length, stride;
  double& operator[](int64_t i) const { return first[i * stride]; }
  double maximum() const {
    double result = first[0];
    for (int64_t i = 1; i < length; ++i) result = std::max(result, (*this)[i]);
    return result;
  }
};

/// Output 0 is input 0 with f applied to every row along attribute `axis`, in place, in double.
template <class F>
void map_rows(KernelContext& context, F&& f) {
  const Tensor& x = context.input(0);
  const int64_t axis = tensor::normalize_axis(context.attributes().get_int("axis"), x.rank());
  const AxisSplit split = split_at(x.shape(), axis);
  Tensor y = x.dtype() == DType::kFloat64 ? x.clone() : x.cast(DType::kFloat64);
  for (int64_t outer = 0; outer < split.outer && y.size() > 0; ++outer) {
    for (int64_t inner = 0; inner < split.inner; ++inner) {
      double* first = y.mutable_values<double>().data() + outer * split.length * split.inner + inner;
      f(Row{first, split.length, split.inner});
    }
  }
  context.outputs[0] = y.cast(x.dtype());
}

/// exp(x - max) / sum; subtracting the maximum prevents overflow.
void softmax(KernelContext& context) {
  map_rows(context, [](const Row& row) {
    const double maximum = row.maximum();
    double sum = 0;
    for (int64_t i = 0; i < row.length; ++i) sum += row[i] = std::exp(row[i] - maximum);
    for (int64_t i = 0; i < row.length; ++i) row[i] /= sum;
  });
}

void log_softmax(KernelContext& context) {
  map_rows(context, [](const Row& row) {
    const double maximum = row.maximum();
    double sum = 0;
    for (int64_t i = 0; i < row.length; ++i) sum += std::exp(row[i] - maximum);
    const double shift = maximum + std::log(sum);
    for (int64_t i = 0; i < row.length; ++i) row[i] -= shift;
  });
}

/// 1 at the first largest element, 0 elsewhere.
void hardmax(KernelContext& context) {
  map_rows(context, [](const Row& row) {
    int64_t best = 0;
    for (int64_t i = 1; i < row.length; ++i) best = row[i] > row[best] ? i : best;
    for (int64_t i = 0; i < row.length; ++i) row[i] = i == best ? 1 : 0;
  });
}

constexpr KernelEntry kKernels[] = {{"Hardmax", hardmax}, {"LogSoftmax", log_softmax}, {"Softmax", softmax}};

}  // namespace

std::span<const KernelEntry> softmax_kernels() { return kKernels; }

}  // namespace hone::reference
