// Operator table entries of the shape family; shape_parts.hpp lists its parts.
#include "graph/operator_table.hpp"
#include "graph/operators/shape_parts.hpp"

namespace hone::graph {

Dims unknown_dims(int64_t rank) { return Dims(static_cast<size_t>(rank)); }

std::optional<int64_t> described_rank(const InferenceContext& context, size_t i) {
  // No sensible model has a larger rank, and memory would be allocated for it.
  constexpr int64_t kMaxRank = 64;
  if (!context.ranked(i)) return std::nullopt;
  context.require_rank(i, 1, 1);
  const Dim& length = context.dims(i)[0];
  if (!length.known()) return std::nullopt;
  context.require(length.value() <= kMaxRank, "input {} describes rank {}, more than {}", i, length.value(),
                  kMaxRank);
  return length.value();
}

Dim unify(const InferenceContext& context, const Dim& a, const Dim& b, std::string_view what) {
  context.require(!a.known() || !b.known() || a.same_as(b), "{} is {} and {} in different inputs", what,
                  a.text(), b.text());
  if (a.known() || !(b.known() || a.symbol().empty())) return a;
  return b;
}

void add_shape_operators(std::vector<OperatorDef>& table) {
  add_layout_operators(table);
  add_region_operators(table);
  add_indexing_operators(table);
  add_generator_operators(table);
}

}  // namespace hone::graph
