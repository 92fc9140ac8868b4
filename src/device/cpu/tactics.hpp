// The table of the CPU device: each file of this folder with tactics adds its rows.
#pragma once

#include "engine/kernel.hpp"

namespace hone::device::cpu {

using engine::TacticList;

/// Conv and FusedConv through oneDNN: direct, Winograd, one image at a time, and on plain memory.
void add_convolution_tactics(TacticList& list);
/// Gemm, MatMul and their fused forms through oneDNN.
void add_matrix_tactics(TacticList& list);
/// Tactics for rows and a constant matrix, with loops of ours.
void add_tiled_matrix_tactics(TacticList& list);
/// MaxPool and AveragePool through oneDNN, GlobalAveragePool with a loop of ours.
void add_pooling_tactics(TacticList& list);
/// Regions of attention, by blocks of rows.
void add_attention_tactics(TacticList& list);
/// Elementwise operators and chains.
void add_elementwise_tactics(TacticList& list);
/// Concat, written in place where the engine can arrange it.
void add_concat_tactics(TacticList& list);
/// Comparisons, logic, Where and arithmetic of any types and broadcasting.
void add_map_tactics(TacticList& list);
/// Cast and CastLike.
void add_cast_tactics(TacticList& list);
/// Slice, Split, Pad, Expand, Tile and Resize to nearest neighbours.
void add_movement_tactics(TacticList& list);
/// Resize by interpolation.
void add_interpolation_tactics(TacticList& list);
void add_grid_sample_tactics(TacticList& list);
/// Gather, GatherElements, GatherND, ScatterElements and ScatterND.
void add_indexing_tactics(TacticList& list);
void add_top_k_tactics(TacticList& list);
void add_cumulative_sum_tactics(TacticList& list);
/// Softmax along any axis with loops of ours.
void add_softmax_tactics(TacticList& list);
/// Softmax and LRN through oneDNN.
void add_normalization_tactics(TacticList& list);
/// LayerNormalization.
void add_row_normalization_tactics(TacticList& list);
/// GroupNormalization and InstanceNormalization, with activations after them.
void add_group_normalization_tactics(TacticList& list);
/// Regions squeeze_excite.
void add_squeeze_excite_tactics(TacticList& list);
/// Reductions over any axes, ArgMax and ArgMin.
void add_reduction_tactics(TacticList& list);
/// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear.
void add_quantization_tactics(TacticList& list);
/// Convolutions and matrix products of 8-bit integers through oneDNN.
void add_integer_tactics(TacticList& list);
/// Tactics for these operators with loops of ours, which need no VNNI.
void add_integer_sums_tactics(TacticList& list);
/// True if there are any with the oneDNN at hand.
bool multiplies_bytes();
/// LSTM, GRU and RNN through oneDNN.
void add_recurrent_tactics(TacticList& list);
/// Tactics for these operators with loops of ours.
void add_tiled_recurrent_tactics(TacticList& list);
/// Transpose, DepthToSpace and SpaceToDepth through oneDNN's reorder.
void add_reorder_tactics(TacticList& list);

}  // namespace hone::device::cpu
