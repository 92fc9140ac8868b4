// Operators on sequences of tensors whose structure is known when the model is read. A sequence is then a
// list of values, and its operators leave no nodes in the graph.
#pragma once

#include "import/onnx/expand/expansion.hpp"

namespace hone::importer {

using Sequence = std::vector<graph::ValueId>;

/// True for SplitToSequence, ConcatFromSequence and Sequence*, except SequenceMap, which has a body.
bool is_sequence_operator(std::string_view op);

/// True if output 0 of the operator is a sequence.
bool makes_sequence(std::string_view op);

/// Evaluates the operator. `sequence` is its input 0, or null if that is a tensor; the result is its output 0
/// if that is a sequence. Throws bad input if a length or a position is not known.
Sequence expand_sequence(Expansion& e, std::string_view op, const Sequence* sequence);

}  // namespace hone::importer
