// Which nodes are computed and kept in float32 whatever the precision of an engine, since rounding to 16 bits
// would make other angles, positions or indices of their results.
#pragma once

#include <vector>

#include "graph/graph.hpp"

namespace hone::engine {

/// One entry a node of the graph, whose shapes are known as far as they ever are. True where all that is made
/// of a node's results, however many cheap nodes lie between, are sines, integers, truth values or places to
/// read at (of GridSample, say): what makes those reads float32 where it is given that, whatever its own
/// policy. Convolutions, products of long rows and what holds a graph stay as they are: their own errors are
/// larger than that of rounding the result, and float32 would cost much there. Two exceptions keep quantized
/// models to what they say: products of what a DequantizeLinear makes, and regions of quantized numbers.
std::vector<bool> float32_nodes(const graph::Graph& graph);

/// How many numbers in constants that the other nodes read lie beyond the range of an element type of 16
/// bits, so that an engine that stores in it keeps its largest number in their place.
int64_t count_saturated_constants(const graph::Graph& graph, tensor::DType storage);

}  // namespace hone::engine
