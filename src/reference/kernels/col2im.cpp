// Reference kernel of the convolution family: Col2Im, which adds overlapping blocks at their positions.
#include "reference/kernels/convolution_family.hpp"
#include "reference/kernels/rounding.hpp"
#include "reference/kernels/window_walk.hpp"

namespace hone::reference {
namespace {

using graph::Range;
using graph::WindowAxis;

/// The offset of a tap of the block at `output` in its plane, or -1 for the padding.
int64_t plane_offset(const std::vector<WindowAxis>& axes, const std::vector<int64_t>& output,
                     const std::vector<int64_t>& tap) {
  int64_t offset = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t position = axes[i].position(output[i], tap[i]);
    if (position < 0 || position >= axes[i].input) return -1;
    offset = offset * axes[i].input + position;
  }
  return offset;
}

}  // namespace

void col2im(KernelContext& context) {
  const Tensor& x = context.input(0);
  const std::vector<int64_t> image = context.input(1).to_int64();
  const auto window = graph::read_window(context.attributes(), context.input(2).to_int64());
  const auto axes = resolve_window(window, image);
  std::vector<Range> taps;
  int64_t block = 1;
  int64_t blocks = 1;
  for (const WindowAxis& axis : axes) {
    taps.push_back({0, axis.kernel});
    block *= axis.kernel;
    blocks *= axis.output;
  }
  if (x.rank() != 3 || x.shape()[1] % block != 0 || x.shape()[2] != blocks) {
    fail_bad_input("input 0 has shape {}, expected blocks of {} in {} places", tensor::shape_text(x.shape()),
                   block, blocks);
  }
  Shape shape{x.shape()[0], x.shape()[1] / block};
  shape.insert(shape.end(), image.begin(), image.end());
  Tensor& y = context.make_output(0, x.dtype(), shape);
  const int64_t plane = tensor::element_count(image);
  const std::vector<double> columns = x.to_double();
  std::vector<double> result(static_cast<size_t>(y.size()), 0.0);
  for (int64_t p = 0; p < shape[0] * shape[1]; ++p) {
    std::vector<int64_t> tap(axes.size(), 0);
    for (int64_t row = 0; row < block; ++row, next_index(tap, taps)) {
      visit_outputs(axes, [&](int64_t flat, const std::vector<int64_t>& output) {
        const int64_t offset = plane_offset(axes, output, tap);
        if (offset < 0) return;
        result[static_cast<size_t>(p * plane + offset)] +=
            columns[static_cast<size_t>((p * block + row) * blocks + flat)];
      });
    }
  }
  store_rounded(y, result);
}

}  // namespace hone::reference
