// Values of a model that are computed once, so that the nodes after them can be run again and again.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "quantize/data.hpp"
#include "quantize/runner.hpp"

namespace hone::quantize {

/// Values of one run of the model: its inputs, its outputs, and those that were asked for.
using CapturedValues = std::map<graph::ValueId, tensor::Tensor>;

/// One entry for each of the samples.
std::vector<CapturedValues> capture(const graph::Graph& graph, const std::set<graph::ValueId>& wanted,
                                    const std::vector<Samples>& samples, const MakeRunner& make_runner);

/// An output in float32, where it is of another floating-point type; else as it is. Functions that compare
/// outputs read only float32.
tensor::Tensor comparable(tensor::Tensor output);

/// The mean over outputs of |actual - expected|^2 / |expected|^2; 0/0 is 0. Outputs that are no floats or
/// have another shape count as equal, and elements that are not finite are left out: masked scores may be
/// infinite.
double mean_square(const std::vector<tensor::Tensor>& actual,
                   const std::vector<const tensor::Tensor*>& expected);

}  // namespace hone::quantize
