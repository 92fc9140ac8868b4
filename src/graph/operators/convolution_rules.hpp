// Shape rules and work estimates that convolutions of all families share (Conv, ConvInteger, QLinearConv,
// FusedConv), and the functions that add the parts of the convolution family.
#pragma once

#include <optional>
#include <vector>

#include "graph/operator.hpp"

namespace hone::graph {

/// auto_pad, dilations, group, kernel_shape, pads, strides.
std::vector<AttributeDef> convolution_attributes();

/// Attribute `group`, at least 1.
int64_t convolution_group(const InferenceContext& context);

/// The common rank of inputs `x` and `w` (at least 3); nullopt if neither is known.
std::optional<int64_t> convolution_rank(const InferenceContext& context, size_t x, size_t w);

/// Output dimensions of a convolution of input `x` [N, C, spatial...] with weights `w` [M, C / group,
/// kernel...]; nullopt if neither rank is known.
std::optional<Dims> convolution_output(const InferenceContext& context, size_t x, size_t w);

/// Input `input`, if present, must be a vector of `channels` elements.
void check_channel_vector(const InferenceContext& context, size_t input, const Dim& channels);

/// The index for an operator without a bias.
inline constexpr size_t kNoBias = ~size_t{0};

/// Two operations per multiply-add of a convolution with the weights at input `w`, and one per output
/// element if there is a bias at input `bias`.
double convolution_flops(const Graph& graph, const Node& node, size_t w, size_t bias);

/// Elements of a value whose type is fully known.
double value_elements(const Graph& graph, ValueId id);

void add_pooling_operators(std::vector<OperatorDef>& table);
void add_resize_operator(std::vector<OperatorDef>& table);
void add_sampling_operators(std::vector<OperatorDef>& table);

}  // namespace hone::graph
