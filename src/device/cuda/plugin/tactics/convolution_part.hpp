// The convolution of a node that pools what it makes.
#pragma once

#include <string>

#include "device/cuda/plugin/tactics/tactics.hpp"

namespace hone::device::cuda {

/// The convolution of a FusedConvMaxPool or FusedConvGlobalPool alone. Holds the node that the request names.
struct ConvolutionPart {
  graph::Node node;
  engine::StepRequest request;
  graph::Convolution geometry;

  explicit ConvolutionPart(const engine::StepRequest& whole)
      : node(plain(whole.node)),
        request{whole.graph,  node,         whole.inputs,     whole.outputs,
                whole.policy, whole.layout, whole.exhaustive, whole.quantizations},
        geometry(graph::read_convolution(node.attributes, request.inputs[0].shape, request.inputs[1].shape)) {
    request.outputs[0].shape = geometry.output_shape();
  }
  ConvolutionPart(const ConvolutionPart&) = delete;
  ConvolutionPart& operator=(const ConvolutionPart&) = delete;

 private:
  static graph::Node plain(const graph::Node& fused) {
    graph::Node node = fused;
    node.op = "FusedConv";
    for (const auto& [name, value] : fused.attributes) {
      if (name.starts_with("pool_")) node.attributes.erase(name);
    }
    return node;
  }
};

}  // namespace hone::device::cuda
