// Runs Resize with hone's own kernel.
#include <algorithm>
#include <functional>
#include <iterator>

#include "device/cuda/plugin/kernels/layers/resize.hpp"
#include "device/cuda/plugin/tactics/byte_chain.hpp"
#include "device/cuda/plugin/tactics/resize_tables.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using tensor::DType;

using DeviceTables = std::vector<std::shared_ptr<const DeviceBytes>>;

ResizeAxisTaps on_device(const ResizeTable& table, Gpu& gpu, DeviceTables& kept) {
  ResizeAxisTaps axis{table.input, table.output, table.taps};
  if (table.stays()) return axis;
  kept.push_back(gpu.copies().of_content(table.positions));
  axis.positions = reinterpret_cast<const int32_t*>(kept.back()->data());
  kept.push_back(gpu.copies().of_content(table.weights));
  axis.weights = reinterpret_cast<const float*>(kept.back()->data());
  return axis;
}

/// True if every output is an element of the input.
bool only_picks(const ResizeTables& tables) {
  return std::all_of(tables.axes.begin(), tables.axes.end(), [](const ResizeTable& axis) {
    if (axis.stays()) return true;
    const auto positions = axis.positions.values<int32_t>();
    const auto weights = axis.weights.values<float>();
    return axis.taps == 1 && std::ranges::all_of(positions, [](int32_t at) { return at >= 0; }) &&
           std::ranges::all_of(weights, [](float weight) { return weight == 1; });
  });
}

Offer offer_resize(Gpu& gpu, const StepRequest& request, engine::WeightStore&) {
  const DType dtype = request.outputs[0].dtype;
  const bool bytes = is_byte(dtype);
  if (!bytes && dtype != DType::kFloat32) return Offer::refuse("neither floats nor bytes");
  ResizeTables tables = resize_tables(request);
  if (tables.refusal) return Offer::refuse(std::move(tables.refusal));
  if (bytes && !only_picks(tables)) return Offer::refuse("bytes are picked, not computed with");
  const DType stored = bytes ? dtype : request.storage();
  const engine::Shape& shape = request.inputs[0].shape;
  ResizeSize size;
  size.batch = shape[0];
  size.channels = shape[1];
  DeviceTables kept;
  const size_t first = std::size(size.axes) - tables.axes.size();
  for (size_t i = 0; i < tables.axes.size(); ++i) size.axes[first + i] = on_device(tables.axes[i], gpu, kept);
  const Layout layout = engine::layout_for_shape(request.layout, shape);
  Offer offer;
  offer.inputs = {{stored, shape, layout}};
  offer.inputs.resize(request.inputs.size());
  offer.outputs = {{stored, request.outputs[0].shape, layout}};
  const FloatType type = bytes ? FloatType::kFloat : float_type(stored);
  const ImageOrder order = image_order(layout);
  offer.kernel = std::make_shared<LaunchKernel>(
      "a resize", [=, kept = std::move(kept), extrapolation = tables.extrapolation](
                      auto inputs, auto outputs, void*, const LaunchOptions& options) {
        if (bytes) return resize_bytes(inputs[0], outputs[0], order, size, options);
        return resize(inputs[0], outputs[0], type, order, size, extrapolation, options);
      });
  return offer;
}

}  // namespace

void add_resize_tactics(TacticList& list, Gpu& gpu) {
  list.push_back(
      {.name = "resize", .operators = {"Resize"}, .make = std::bind_front(offer_resize, std::ref(gpu))});
}

}  // namespace hone::device::cuda
