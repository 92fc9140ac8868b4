// Operators on sequences of tensors whose structure is known when the model is read: a sequence is a list of
// values then, and no node is left of it.
#pragma once

#include "import/onnx/expand/expansion.hpp"

namespace hone::importer {

using Sequence = std::vector<graph::ValueId>;

/// SplitToSequence, ConcatFromSequence and Sequence*, but for SequenceMap, which has a body.
bool is_sequence_operator(std::string_view op);

/// True if output 0 of the operator is a sequence.
bool makes_sequence(std::string_view op);

/// Does what the operator does. `sequence` is its input 0, null where that is a tensor; the result is its
/// output 0 where that is a sequence. Bad input where a length or a position is not known.
Sequence expand_sequence(Expansion& e, std::string_view op, const Sequence* sequence);

}  // namespace hone::importer
