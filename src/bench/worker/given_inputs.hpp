// Values that a user gives a model's inputs for a measurement, instead of generated ones.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/worker/model_info.hpp"
#include "tensor/tensor.hpp"

namespace hone::bench {

struct GivenInputs {
  /// Samples along the first dimension, which runs take in turn; by the input's name.
  std::map<std::string, tensor::Tensor> arrays;
  /// One number for all elements.
  std::map<std::string, double> constants;

  bool empty() const { return arrays.empty() && constants.empty(); }
};

/// "sr:16000" (several with commas) as constants; usage error when malformed.
std::map<std::string, double> parse_constants(const std::vector<std::string>& items);

/// The shapes with those of arrays for inputs that have none.
std::map<std::string, tensor::Shape> with_given_shapes(std::map<std::string, tensor::Shape> shapes,
                                                       const GivenInputs& given);

/// Gives the inputs these values, and includes them in the model's hashes. Usage error for a name that no
/// input has; bad input for an array of another type or shape.
void give_values(const GivenInputs& given, ModelInfo* model);

}  // namespace hone::bench
