// Resize by a kernel of ours.
#include <functional>
#include <iterator>

#include "device/cuda/plugin/kernels/layers/resize.hpp"
#include "device/cuda/plugin/tactics/resize_tables.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;

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

Offer offer_resize(Gpu& gpu, const StepRequest& request, engine::WeightStore&) {
  ResizeTables tables = resize_tables(request);
  if (tables.refusal) return Offer::refuse(std::move(tables.refusal));
  const engine::Shape& shape = request.inputs[0].shape;
  ResizeSize size;
  size.batch = shape[0];
  size.channels = shape[1];
  DeviceTables kept;
  const size_t first = std::size(size.axes) - tables.axes.size();
  for (size_t i = 0; i < tables.axes.size(); ++i) size.axes[first + i] = on_device(tables.axes[i], gpu, kept);
  const Layout layout = engine::layout_for_shape(request.layout, shape);
  Offer offer;
  offer.inputs = {{request.storage(), shape, layout}};
  offer.inputs.resize(request.inputs.size());
  offer.outputs = {{request.storage(), request.outputs[0].shape, layout}};
  const FloatType type = float_type(request.storage());
  const ImageOrder order = image_order(layout);
  offer.kernel = std::make_shared<LaunchKernel>(
      "a resize", [=, kept = std::move(kept), extrapolation = tables.extrapolation](
                      auto inputs, auto outputs, void*, const LaunchOptions& options) {
        return resize(inputs[0], outputs[0], type, order, size, extrapolation, options);
      });
  return offer;
}

}  // namespace

void add_resize_tactics(TacticList& list, Gpu& gpu) {
  list.push_back({.name = "resize",
                  .operators = {"Resize"},
                  .requirements = {engine::only_float32},
                  .make = std::bind_front(offer_resize, std::ref(gpu))});
}

}  // namespace hone::device::cuda
