// Computes values of a model once, so that the nodes after them can be run repeatedly.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "quantize/data.hpp"
#include "quantize/runner.hpp"

namespace hone::quantize {

/// Values of one run of the model: its inputs, its outputs, and the requested values.
using CapturedValues = std::map<graph::ValueId, tensor::Tensor>;

/// Returns one entry for each sample.
std::vector<CapturedValues> capture(const graph::Graph& graph, const std::set<graph::ValueId>& wanted,
                                    const std::vector<Samples>& samples, const MakeRunner& make_runner);

/// Converts an output of another floating-point type to float32, because functions that compare outputs read
/// only float32. Other outputs are unchanged.
tensor::Tensor comparable(tensor::Tensor output);

/// The mean over outputs of |actual - expected|^2 / |expected|^2, with 0/0 = 0. Outputs that are not
/// floating-point or have different shapes count as equal. Elements that are not finite are ignored, because
/// masked scores may be infinite.
double mean_square(const std::vector<tensor::Tensor>& actual,
                   const std::vector<const tensor::Tensor*>& expected);

}  // namespace hone::quantize
