// Inputs and outputs of a program: on the device, where its steps read and write them, and in pinned memory
// on the host, which the device copies from and to.
#pragma once

#include <vector>

#include "device/cuda/plugin/runtime.hpp"
#include "engine/program/executor.hpp"
#include "graph/graph.hpp"

namespace hone::device::cuda {

/// Bytes of the value; 0 if its shape is not known.
int64_t bytes_of(const graph::Graph& graph, graph::ValueId id);

/// One buffer for each input and output, in graph order; empty if its shape is not known.
template <class Buffer>
struct IoBuffers {
  /// `memory` is a GpuMemory for buffers on the device, and absent for other buffers.
  template <class... Memory>
  explicit IoBuffers(const graph::Graph& graph, Memory&... memory) {
    for (const graph::ValueId id : graph.inputs) inputs.emplace_back(memory..., bytes_of(graph, id));
    for (const graph::ValueId id : graph.outputs) outputs.emplace_back(memory..., bytes_of(graph, id));
  }

  std::vector<Buffer> inputs;
  std::vector<Buffer> outputs;
};

using DeviceIo = IoBuffers<DeviceBytes>;
using PinnedIo = IoBuffers<PinnedBytes>;

engine::IoAddresses addresses_of(const DeviceIo& io);

/// Calls `copy(to, from, bytes)` for each input.
template <class Copy>
void copy_inputs(const PinnedIo& from, const DeviceIo& to, Copy&& copy) {
  for (size_t i = 0; i < to.inputs.size(); ++i)
    copy(to.inputs[i].data(), from.inputs[i].data(), static_cast<size_t>(to.inputs[i].size()));
}

/// Calls `copy(to, from, bytes)` for each output.
template <class Copy>
void copy_outputs(const DeviceIo& from, const PinnedIo& to, Copy&& copy) {
  for (size_t i = 0; i < from.outputs.size(); ++i)
    copy(to.outputs[i].data(), from.outputs[i].data(), static_cast<size_t>(from.outputs[i].size()));
}

}  // namespace hone::device::cuda
