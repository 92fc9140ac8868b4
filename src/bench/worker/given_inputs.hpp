// Values of inputs that the user gives for a measurement, instead of generated ones.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/worker/model_info.hpp"
#include "tensor/tensor.hpp"

namespace hone::bench {

struct GivenInputs {
  /// By input name: samples along the first dimension, which runs use in turn.
  std::map<std::string, tensor::Tensor> arrays;
  /// One number for all elements.
  std::map<std::string, double> constants;

  bool empty() const { return arrays.empty() && constants.empty(); }
};

/// Parses "sr:16000" (or several, separated by commas) as constants; usage error if it is malformed.
std::map<std::string, double> parse_constants(const std::vector<std::string>& items);

/// Adds the shapes of arrays for inputs that have no shape yet.
std::map<std::string, tensor::Shape> with_given_shapes(std::map<std::string, tensor::Shape> shapes,
                                                       const GivenInputs& given);

/// Gives the inputs these values, and includes them in the model's hashes. Usage error for a name that no
/// input has; bad input for an array with another type or shape.
void give_values(const GivenInputs& given, ModelInfo* model);

}  // namespace hone::bench
