// Matching of small expressions: products of factors, sums with a scalar, and the replacement of a
// matched group of nodes by one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/refusal.hpp"
#include "transform/editor.hpp"
#include "transform/pass.hpp"

namespace hone::transform {

/// A matched expression: the node that makes its result, and the nodes inside it, repetitions allowed.
struct Match {
  int32_t root = -1;
  std::vector<int32_t> inside;

  /// Takes the maker of a value into the match.
  void take(const Editor& editor, ValueId id) { inside.push_back(editor.producer(id)); }
};

/// True if one node `what` that gives its first input `x` the same shape again may stand for the match: the
/// root's result has the rank of x, and nothing outside needs a value from inside. Else false, with a
/// refusal.
bool is_replaceable(const Editor& editor, const Match& match, ValueId x, const std::string& what,
                    Summary& summary);

/// Replaces the match by one node, with a result of its first input's shape, that makes the root's result;
/// the node gets the joined name and sources. False, with a refusal, when the match is not replaceable.
bool replace_match(Editor& editor, const Match& match, Node replacement, Summary& summary);

/// The operand of a two-input node that is not `id`; kNoValue when `id` is no operand.
ValueId other_operand(const Node& node, ValueId id);

/// A product written out: scale * factors[0] * factors[1] * ... Mul, Div by a constant, and Pow 2 and 3
/// are followed through values that have one reader.
struct Product {
  double scale = 1;
  std::vector<ValueId> factors;
};
/// The product that node `index` makes; nodes inside it are added to the match. Nullopt when the node
/// is no product or one of more than kMaxFactors.
std::optional<Product> product_of(const Editor& editor, int32_t index, Match& match);
inline constexpr size_t kMaxFactors = 4;

/// v where the value is v + addend, its maker added to the match.
std::optional<ValueId> minus_scalar(const Editor& editor, ValueId id, double addend, Match& match);

/// True if a number is a constant of a formula, as float32 holds it.
bool is_about(double value, double expected);

}  // namespace hone::transform
