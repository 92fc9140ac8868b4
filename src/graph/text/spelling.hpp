// Spelling of names, types and elements of tensors in the text of a graph: the printer writes it, and the
// parser reads it back unchanged.
#pragma once

#include <string>
#include <string_view>

#include "graph/graph.hpp"

namespace hone::graph {

/// The text in double quotes, with escapes for quotes, backslashes and control characters.
std::string quoted(std::string_view text);
/// "%conv1", or "%"conv-1"" if the name has characters that need quotes.
std::string value_spelling(std::string_view name);
/// "float32[N, 3, ?, 8]", "float32[]" for a scalar, "float32[*]" for an unknown rank.
std::string type_spelling(const TensorType& type);

/// Shortest text that gives the same number when it is parsed.
std::string float_spelling(float value);

struct ElementOptions {
  /// A tensor with more elements is elided, unless all of them are equal.
  int64_t most_elements = 16;
  /// An elided tensor shows the CRC-32 of its bytes.
  bool checksum = true;
};
/// Type and elements: "float32[2] [0.5, 1]", "float32[] 0.5", "float32[64] fill(1)", "float32[64, 3, 7, 7]
/// ... crc32(0x1a2b3c4d)"; only "..." if the tensor has no bytes.
std::string tensor_spelling(const Tensor& tensor, const ElementOptions& options);

}  // namespace hone::graph
