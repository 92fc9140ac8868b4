// Represents a convolution or product as rows of weights that are multiplied with rows of its input.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.hpp"

namespace hone::quantize {

/// The weights of an output channel form one row. For each position of the result, the corresponding inputs
/// form another row with the same length and order.
class LayerRows {
 public:
  /// Returns nullopt for operators that are not a convolution, Gemm or MatMul, and for padding that depends
  /// on shapes (auto_pad).
  static std::optional<LayerRows> of(const graph::Node& node, const tensor::Tensor& weights, int64_t axis);

  /// Length of a row.
  size_t length() const { return length_; }
  /// Groups of the convolution; 1 for products.
  size_t groups() const { return groups_; }
  /// Index into the weights of entry k in the row of an output channel.
  size_t weight_at(size_t output, size_t k) const {
    return weights_are_rows_ ? output * length_ + k : k * outputs_ + output;
  }
  /// Returns rows of the input that a group reads, one after the other. They are sampled evenly; for `parts`
  /// inputs together there are at most 4,096 rows, or four times their length.
  std::vector<float> read(const tensor::Tensor& input, size_t group, size_t parts) const;

 private:
  std::vector<float> read_product(const tensor::Tensor& input, size_t most) const;
  std::vector<float> read_convolution(const tensor::Tensor& input, size_t group, size_t most) const;

  size_t length_ = 0;
  size_t outputs_ = 0;
  size_t groups_ = 1;
  bool weights_are_rows_ = true;
  /// The window of convolutions; empty for products.
  std::vector<int64_t> kernel_;
  std::vector<int64_t> strides_;
  std::vector<int64_t> dilations_;
  std::vector<int64_t> pads_;
};

}  // namespace hone::quantize
