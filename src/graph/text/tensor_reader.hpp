// Reads the numbers, types and tensors in the text of a graph.
#pragma once

#include <cstdint>
#include <optional>

#include "graph/graph.hpp"
#include "graph/text/lexer.hpp"

namespace hone::graph {

/// Limits for one text with all graphs in it, and the counts so far.
struct TextBudget {
  /// Bytes of constants that the text describes without spelling them out: fill, seeded and elided ones.
  int64_t bytes = 0;
  /// Elided constants are filled with this number; without it they are refused, or accepted without bytes.
  std::optional<double> elided_fill;
  bool keep_elided = false;
  size_t nodes = 0;
  size_t values = 0;
};

/// Throws bad input with line and column if the next token is not an integer or does not fit into 64 bits.
int64_t read_int(Lexer& lexer);
float read_float(Lexer& lexer);

/// "float32[N, 3, ?, 8]"; see spelling.hpp.
TensorType read_type(Lexer& lexer);

/// A type with known dimensions, and the elements: one number for a scalar, a list in row-major order,
/// fill(NUMBER), seeded(SEED), or "..." of an elided tensor.
///
/// seeded: for floating types, nearly normal numbers with mean 0 and variance 1; for integers, 16 times that,
/// without the fraction, and without the sign if the type is unsigned; for bool, true if it is positive. The
/// numbers are in row-major order and the same on every machine.
Tensor read_tensor(Lexer& lexer, TextBudget& budget);

}  // namespace hone::graph
