// The two parts of a FusedStem.
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "device/cuda/plugin/tactics.hpp"
#include "graph/operator.hpp"

namespace hone::device::cuda {

/// A FusedStem as the FusedConvMaxPool and the FusedConv that it is made of. Holds the nodes that the
/// requests name.
struct StemParts {
  /// What of the whole node's inputs each part reads, where there is one; the second reads output 0 first.
  static constexpr std::array<size_t, 3> kPooledInputs = {0, 1, 3};
  static constexpr std::array<size_t, 2> kNextInputs = {2, 4};

  graph::Node pooled_node;
  graph::Node next_node;
  engine::StepRequest pooled;
  engine::StepRequest next;

  explicit StemParts(const engine::StepRequest& whole)
      : pooled_node(make_pooled(whole.node)),
        next_node(make_next(whole.node)),
        pooled(request(whole, pooled_node, 0)),
        next(request(whole, next_node, 1)) {
    pooled.inputs = picked(whole.inputs, kPooledInputs);
    next.inputs = behind(whole.outputs[0], picked(whole.inputs, kNextInputs));
  }
  StemParts(const StemParts&) = delete;
  StemParts& operator=(const StemParts&) = delete;

  /// Of something that the whole node has one of for each input, what a part has.
  template <class All, size_t kCount, class T = typename All::value_type>
  static std::vector<T> picked(const All& all, const std::array<size_t, kCount>& inputs, T missing = {}) {
    std::vector<T> result;
    for (const size_t i : inputs) result.push_back(i < all.size() ? all[i] : missing);
    return result;
  }
  template <class T>
  static std::vector<T> behind(const T& first, std::vector<T> others) {
    others.insert(others.begin(), first);
    return others;
  }

  /// An offer for the whole of one for each part, but for its kernel.
  static engine::Offer joined(const engine::StepRequest& whole, engine::Offer pooled,
                              const engine::Offer& next) {
    const engine::Offer first = pooled;
    pooled.inputs.assign(whole.inputs.size(), {});
    const auto place = [&](size_t input, const engine::TensorDesc& desc) {
      if (input < pooled.inputs.size()) pooled.inputs[input] = desc;
    };
    for (size_t i = 0; i < kPooledInputs.size(); ++i) place(kPooledInputs[i], first.inputs[i]);
    for (size_t i = 0; i < kNextInputs.size(); ++i) place(kNextInputs[i], next.inputs[i + 1]);
    pooled.outputs.push_back(next.outputs[0]);
    pooled.packed.insert(pooled.packed.end(), next.packed.begin(), next.packed.end());
    pooled.scratch_bytes = std::max(pooled.scratch_bytes, next.scratch_bytes);
    return pooled;
  }

 private:
  static graph::Node make_pooled(const graph::Node& whole) {
    graph::Node node = whole;
    node.op = "FusedConvMaxPool";
    for (const auto& [name, value] : whole.attributes) {
      if (name.starts_with("next_")) node.attributes.erase(name);
    }
    node.inputs = picked(whole.inputs, kPooledInputs, graph::kNoValue);
    node.outputs.resize(1);
    return node;
  }

  static graph::Node make_next(const graph::Node& whole) {
    graph::Node node;
    node.name = whole.name;
    node.op = "FusedConv";
    node.attributes = whole.attributes.part("next_");
    node.inputs = behind(whole.outputs[0], picked(whole.inputs, kNextInputs, graph::kNoValue));
    node.outputs = {whole.outputs[1]};
    graph::complete_node(node);
    return node;
  }

  static engine::StepRequest request(const engine::StepRequest& whole, const graph::Node& part,
                                     size_t output) {
    return {whole.graph,
            part,
            {},
            {whole.outputs[output]},
            whole.precision,
            whole.compute_dtype,
            whole.layout,
            whole.round_bf16,
            whole.exhaustive};
  }
};

}  // namespace hone::device::cuda
