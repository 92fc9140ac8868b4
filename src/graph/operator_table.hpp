// The families that make up the operator table; each file of operators/ holds one.
#pragma once

#include <vector>

#include "graph/operator.hpp"

namespace hone::graph {

/// Appends its family's entries. Order within a family is free; the table sorts by name.
using OperatorFamily = void (*)(std::vector<OperatorDef>& table);

void add_elementwise_operators(
    std::vector<OperatorDef>& table);  ///< unary, binary, variadic, comparison, logic, Where, Clip, Cast
void add_reduction_operators(
    std::vector<OperatorDef>& table);  ///< Reduce*, ArgMax/Min, Softmax family, CumSum, TopK
void add_shape_operators(
    std::vector<OperatorDef>& table);  ///< Reshape, Transpose, Concat, Slice, Gather*, Pad, …
void add_convolution_operators(std::vector<OperatorDef>& table);  ///< Conv, ConvTranspose, pooling, Resize, …
void add_matrix_operators(std::vector<OperatorDef>& table);       ///< MatMul, Gemm, Einsum, Det
void add_normalization_operators(
    std::vector<OperatorDef>& table);  ///< BatchNormalization, LayerNormalization, LRN, …
void add_quantization_operators(
    std::vector<OperatorDef>& table);  ///< Quantize/DequantizeLinear, QLinear*, *Integer
void add_recurrent_operators(std::vector<OperatorDef>& table);  ///< RNN, GRU, LSTM
void add_control_operators(std::vector<OperatorDef>& table);    ///< If, Loop, Scan
void add_detection_operators(std::vector<OperatorDef>& table);  ///< NonMaxSuppression, RoiAlign, MaxRoiPool
void add_signal_operators(std::vector<OperatorDef>& table);     ///< DFT, STFT, windows, MelWeightMatrix
void add_loss_operators(
    std::vector<OperatorDef>& table);  ///< NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss
void add_fused_operators(std::vector<OperatorDef>& table);  ///< forms made by passes
void add_region_operator(std::vector<OperatorDef>& table);  ///< Region

}  // namespace hone::graph
