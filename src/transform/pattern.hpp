// Matches small expressions (products of factors, sums with a scalar) and replaces a matched group of nodes
// by one node.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/refusal.hpp"
#include "transform/editor.hpp"
#include "transform/pass.hpp"

namespace hone::transform {

/// A matched expression: the node that produces its result, and the nodes inside it, possibly with
/// repetitions.
struct Match {
  int32_t root = -1;
  std::vector<int32_t> inside;

  /// Adds the producer of a value to the match.
  void take(const Editor& editor, ValueId id) { inside.push_back(editor.producer(id)); }
};

/// True if one node `what`, whose result has the shape of its first input `x`, can replace the match: the
/// root's result has the rank of x, and no value from inside is needed outside. Otherwise false, with a
/// refusal.
bool is_replaceable(const Editor& editor, const Match& match, ValueId x, const std::string& what,
                    Summary& summary);

/// Replaces the match by one node whose result has the shape of its first input; it produces the root's
/// result and gets the joined name and sources. Returns false, with a refusal, if the match is not
/// replaceable.
bool replace_match(Editor& editor, const Match& match, Node replacement, Summary& summary);

/// The operand of a two-input node other than `id`; kNoValue if `id` is not an operand.
ValueId other_operand(const Node& node, ValueId id);

/// An expanded product: scale * factors[0] * factors[1] * ... It follows Mul, Div by a constant, and Pow 2
/// and 3 through values with one reader.
struct Product {
  double scale = 1;
  std::vector<ValueId> factors;
};
/// The product that node `index` computes; nodes inside it are added to the match. Nullopt if the node is not
/// a product, or has more than kMaxFactors.
std::optional<Product> product_of(const Editor& editor, int32_t index, Match& match);
inline constexpr size_t kMaxFactors = 4;

/// Returns v if the value is v + addend, and adds its producer to the match.
std::optional<ValueId> minus_scalar(const Editor& editor, ValueId id, double addend, Match& match);

/// True if a number equals a constant of a formula within the precision of float32.
bool is_about(double value, double expected);

}  // namespace hone::transform
