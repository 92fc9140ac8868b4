// The tactics of the CPU device, one factory per file of this folder.
#pragma once

#include <memory>
#include <vector>

#include "engine/kernel.hpp"

namespace hone::device::cpu {

using TacticList = std::vector<std::unique_ptr<engine::Tactic>>;

/// Conv and FusedConv through oneDNN: direct, Winograd, one image at a time, and on plain memory.
void add_convolution_tactics(TacticList& list);
/// Gemm, MatMul and their fused forms through oneDNN.
void add_matrix_tactics(TacticList& list);
/// MaxPool and AveragePool through oneDNN, GlobalAveragePool with a loop of ours.
void add_pooling_tactics(TacticList& list);
/// Elementwise operators and chains.
void add_elementwise_tactics(TacticList& list);
/// Concat, written in place where the engine can arrange it.
void add_concat_tactics(TacticList& list);
/// Softmax, LRN and LayerNormalization through oneDNN.
void add_normalization_tactics(TacticList& list);
/// LSTM, GRU and RNN through oneDNN.
void add_recurrent_tactics(TacticList& list);
/// Transpose, DepthToSpace and SpaceToDepth through oneDNN's reorder.
void add_reorder_tactics(TacticList& list);

/// Operators that a tactic of this device is for; the device asks it for those only.
class CpuTactic : public engine::Tactic {
 public:
  virtual bool handles(const std::string& op) const = 0;
};

}  // namespace hone::device::cpu
