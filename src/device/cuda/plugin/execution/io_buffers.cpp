// See io_buffers.hpp.
#include "device/cuda/plugin/execution/io_buffers.hpp"

#include "engine/tensor_desc.hpp"

namespace hone::device::cuda {

int64_t bytes_of(const graph::Graph& graph, graph::ValueId id) {
  const graph::TensorType& type = graph.value(id).type;
  if (!type.fully_known()) return 0;
  engine::TensorDesc desc{type.dtype, {}, engine::Layout::kPlain};
  for (const graph::Dim& dim : *type.dims) desc.shape.push_back(dim.value());
  return desc.bytes();
}

engine::IoAddresses addresses_of(const DeviceIo& io) {
  engine::IoAddresses addresses;
  for (const DeviceBytes& input : io.inputs) addresses.inputs.push_back(input.data());
  for (const DeviceBytes& output : io.outputs) addresses.outputs.push_back(output.data());
  return addresses;
}

}  // namespace hone::device::cuda
