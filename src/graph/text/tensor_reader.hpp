// Reads the numbers, types and tensors in the text of a graph.
#pragma once

#include <cstdint>
#include <optional>

#include "graph/graph.hpp"
#include "graph/text/lexer.hpp"

namespace hone::graph {

/// Limits of one text, all graphs in it together, and the counts so far.
struct TextBudget {
  /// Bytes of constants that the text only describes: fills, seeded and elided ones.
  int64_t bytes = 0;
  /// Elided constants are filled with this number; none: they are refused, or taken without bytes.
  std::optional<double> elided_fill;
  bool keep_elided = false;
  size_t nodes = 0;
  size_t values = 0;
};

/// Bad input with line and column when the next token is no such number or it does not fit.
int64_t read_int(Lexer& lexer);
float read_float(Lexer& lexer);

/// "float32[N, 3, ?, 8]"; see spelling.hpp.
TensorType read_type(Lexer& lexer);

/// A type with known dimensions, and the elements: one number for a scalar, a list in row-major order,
/// fill(NUMBER), seeded(SEED), or "..." of an elided tensor.
///
/// seeded: of floating types nearly normal numbers with mean 0 and variance 1; of integers 16 times that,
/// without fraction, and without sign where the type has none; of bool whether it is positive. Row-major, the
/// same on every machine.
Tensor read_tensor(Lexer& lexer, TextBudget& budget);

}  // namespace hone::graph
