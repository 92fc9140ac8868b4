// See window.hpp.
#include "backend/torch/plugin/ops/window.hpp"

#include <algorithm>

namespace hone::backend::aten {
namespace {

/// SAME_UPPER and SAME_LOWER (ONNX Conv): ceil(in / stride)
/// outputs, with the odd pad at the end or the start.
void pad_same(Window& window, const std::vector<int64_t>& dims, bool upper) {
  for (size_t i = 0; i < window.rank(); ++i) {
    const int64_t outputs = (dims[i] + window.strides[i] - 1) / window.strides[i];
    const int64_t total = std::max<int64_t>(0, (outputs - 1) * window.strides[i] + window.reach(i) - dims[i]);
    window.begin[i] = upper ? total / 2 : total - total / 2;
    window.end[i] = total - window.begin[i];
  }
}

}  // namespace

std::vector<int64_t> spatial_dims(const Lowering& lowering, graph::ValueId id) {
  const graph::TensorType& type = lowering.graph.value(id).type;
  if (!type.fully_known()) lowering.refuse("the shape of {} depends on data", lowering.graph.value(id).name);
  std::vector<int64_t> result;
  for (size_t i = 2; i < type.dims->size(); ++i) result.push_back((*type.dims)[i].value());
  return result;
}

Window window_of(const Lowering& lowering, std::vector<int64_t> kernel) {
  const size_t rank = kernel.size();
  Window window;
  window.kernel = std::move(kernel);
  window.strides = lowering.ints_or("strides", std::vector<int64_t>(rank, 1));
  window.dilations = lowering.ints_or("dilations", std::vector<int64_t>(rank, 1));
  std::vector<int64_t> pads = lowering.ints_or("pads", std::vector<int64_t>(2 * rank, 0));
  if (window.strides.size() != rank || window.dilations.size() != rank || pads.size() != 2 * rank) {
    lowering.refuse("strides, dilations or pads do not have the rank of the kernel");
  }
  const std::string& automatic = lowering.attributes().get_string("auto_pad");
  if (automatic != "NOTSET") std::fill(pads.begin(), pads.end(), 0);
  const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(rank);
  window.begin.assign(pads.begin(), middle);
  window.end.assign(middle, pads.end());
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    pad_same(window, spatial_dims(lowering, lowering.node.input(0)), automatic == "SAME_UPPER");
  }
  return window;
}

std::vector<int64_t> pad_list(const std::vector<int64_t>& begin, const std::vector<int64_t>& end) {
  std::vector<int64_t> result;
  for (size_t i = begin.size(); i-- > 0;) {
    result.push_back(begin[i]);
    result.push_back(end[i]);
  }
  return result;
}

}  // namespace hone::backend::aten
