// See io_buffers.hpp.
#include "device/cuda/plugin/execution/io_buffers.hpp"

#include "engine/tensor_desc.hpp"

namespace hone::device::cuda {
namespace {

int64_t bytes_of(const graph::TensorType& type) {
  if (!type.fully_known()) return 0;
  engine::TensorDesc desc{type.dtype, {}, engine::Layout::kPlain};
  for (const graph::Dim& dim : *type.dims) desc.shape.push_back(dim.value());
  return desc.bytes();
}

}  // namespace

template <class Buffer>
IoBuffers<Buffer>::IoBuffers(const graph::Graph& graph) {
  for (const graph::ValueId id : graph.inputs) inputs.emplace_back(bytes_of(graph.value(id).type));
  for (const graph::ValueId id : graph.outputs) outputs.emplace_back(bytes_of(graph.value(id).type));
}

template struct IoBuffers<DeviceBytes>;
template struct IoBuffers<PinnedBytes>;

}  // namespace hone::device::cuda
