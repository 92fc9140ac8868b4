// Reference kernel of Pad: every output position copies one input position or the constant.
#include <cstring>
#include <numeric>

#include "base/checked.hpp"
#include "reference/kernels/pad.hpp"
#include "reference/strided.hpp"

namespace hone::reference {
namespace {

/// The input position that an output position of one axis copies, or -1 for the constant; `at` is the output
/// position, counted from the first input element.
int64_t source(const std::string& mode, int64_t at, int64_t length) {
  if (at >= 0 && at < length) return at;
  if (mode == "constant") return -1;
  if (length == 0) fail_bad_input("an empty axis cannot be padded in mode '{}'", mode);
  if (mode == "edge") return at < 0 ? 0 : length - 1;
  const auto modulo = [](int64_t a, int64_t b) { return (a % b + b) % b; };
  if (mode == "wrap") return modulo(at, length);
  if (length == 1) return 0;
  const int64_t period = 2 * (length - 1);
  const int64_t folded = modulo(at, period);
  return folded < length ? folded : period - folded;
}

}  // namespace

void pad(KernelContext& context) {
  const Tensor& x = context.input(0);
  const auto pads = context.input(1).to_int64();
  std::vector<int64_t> axes(x.shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  if (context.has_input(3)) axes = distinct_axes(context.input(3).to_int64(), x.rank());
  if (pads.size() != 2 * axes.size()) fail_bad_input("{} pads for {} axes", pads.size(), axes.size());
  const std::string& mode = context.attributes().get_string("mode");
  const size_t size = tensor::dtype_size(x.dtype());
  std::vector<std::byte> constant(size, std::byte{0});
  if (context.has_input(2)) {
    if (context.input(2).size() != 1 || context.input(2).dtype() != x.dtype()) {
      fail_bad_input("the constant is no single {}", tensor::dtype_name(x.dtype()));
    }
    std::memcpy(constant.data(), context.input(2).bytes(), size);
  }
  Shape shape = x.shape();
  Shape before(shape.size(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(axes[i]);
    before[axis] = pads[i];
    shape[axis] = base::checked_add(shape[axis], base::checked_add(pads[i], pads[i + axes.size()]));
  }
  Tensor& y = context.make_output(0, x.dtype(), std::move(shape));
  // Offsets of the sources along each axis, -1 for the constant.
  const Shape strides = tensor::row_major_strides(x.shape());
  std::vector<Shape> sources(strides.size());
  for (size_t d = 0; d < strides.size(); ++d) {
    if (y.size() == 0) break;
    for (int64_t at = 0; at < y.shape()[d]; ++at) {
      const int64_t from = source(mode, at - before[d], x.shape()[d]);
      sources[d].push_back(from < 0 ? -1 : from * strides[d]);
    }
  }
  std::byte* out = y.mutable_bytes();
  Shape index(strides.size(), 0);
  for (int64_t n = 0; n < y.size(); ++n, out += size) {
    int64_t offset = 0;
    for (size_t d = 0; d < index.size() && offset >= 0; ++d) {
      const int64_t part = sources[d][static_cast<size_t>(index[d])];
      offset = part < 0 ? -1 : offset + part;
    }
    std::memcpy(out, offset < 0 ? constant.data() : x.bytes() + static_cast<size_t>(offset) * size, size);
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < y.shape()[d]) break;
      index[d] = 0;
    }
  }
}

}  // namespace hone::reference
