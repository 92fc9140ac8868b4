// Recognizes the Gelu activation (Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016) that an exporter
// wrote as several nodes: x/2 (1 + erf(x / sqrt 2)), and its approximation x/2 (1 + tanh(sqrt(2 / pi) (x +
// 0.044715 x^3))).
#include <cmath>
#include <numbers>

#include "transform/constants.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"
#include "transform/pattern.hpp"

namespace hone::transform {
namespace {

constexpr double kCubic = 0.044715;

/// True if all factors of a product are `x`.
bool is_power(const Product& product, ValueId x, size_t exponent) {
  if (product.factors.size() != exponent) return false;
  for (const ValueId factor : product.factors) {
    if (factor != x) return false;
  }
  return true;
}

/// The product that a value represents; its producers are added to the match.
std::optional<Product> value_product(const Editor& editor, ValueId id, Match& match) {
  const int32_t maker = editor.producer(id);
  if (maker < 0) return std::nullopt;
  match.inside.push_back(maker);
  return product_of(editor, maker, match);
}

bool is_erf_argument(const Editor& editor, ValueId id, ValueId x, Match& match) {
  const auto product = value_product(editor, id, match);
  return product && is_power(*product, x, 1) && is_about(product->scale, 1 / std::numbers::sqrt2);
}

/// x + 0.044715 x^3.
bool is_cubic_sum(const Editor& editor, ValueId id, ValueId x, Match& match) {
  const Node* sum = editor.made_by(id, "Add");
  if (sum == nullptr) return false;
  match.take(editor, id);
  const ValueId cube = other_operand(*sum, x);
  if (cube == kNoValue) return false;
  const auto product = value_product(editor, cube, match);
  return product && is_power(*product, x, 3) && is_about(product->scale, kCubic);
}

/// 1 + 0.044715 x^2.
bool is_square_sum(const Editor& editor, ValueId id, ValueId x, Match& match) {
  const auto square = minus_scalar(editor, id, 1, match);
  if (!square) return false;
  const auto product = value_product(editor, *square, match);
  return product && is_power(*product, x, 2) && is_about(product->scale, kCubic);
}

bool is_tanh_argument(const Editor& editor, ValueId id, ValueId x, Match& match) {
  const auto product = value_product(editor, id, match);
  if (!product || !is_about(product->scale, std::sqrt(2 / std::numbers::pi))) return false;
  if (product->factors.size() == 1) return is_cubic_sum(editor, product->factors[0], x, match);
  if (product->factors.size() != 2) return false;
  const size_t at = product->factors[0] == x ? 1 : 0;
  return product->factors[1 - at] == x && is_square_sum(editor, product->factors[at], x, match);
}

/// The `approximate` attribute, if x/2 * gate is a Gelu.
std::optional<std::string> gelu_kind(const Editor& editor, ValueId x, ValueId gate, Match& match) {
  const auto curve = minus_scalar(editor, gate, 1, match);
  if (!curve) return std::nullopt;
  const Node* erf = editor.made_by(*curve, "Erf");
  const Node* tanh = editor.made_by(*curve, "Tanh");
  if (erf == nullptr && tanh == nullptr) return std::nullopt;
  match.take(editor, *curve);
  if (erf != nullptr && is_erf_argument(editor, erf->inputs[0], x, match)) return "none";
  if (tanh != nullptr && is_tanh_argument(editor, tanh->inputs[0], x, match)) return "tanh";
  return std::nullopt;
}

void recognise(Editor& editor, int32_t index, Summary& summary) {
  Match match{index, {}};
  const auto product = product_of(editor, index, match);
  if (!product || product->factors.size() != 2 || !is_about(product->scale, 0.5)) return;
  for (const size_t i : {0, 1}) {
    Match whole = match;
    const ValueId x = product->factors[i];
    const auto kind = gelu_kind(editor, x, product->factors[1 - i], whole);
    if (!kind) continue;
    Node gelu = derived_node(editor.node(index), "Gelu", {x});
    gelu.attributes.set("approximate", *kind);
    replace_match(editor, whole, std::move(gelu), summary);
    return;
  }
}

}  // namespace

Summary gelu_recognition(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  for (int32_t i = 0; i < editor.count(); ++i) {
    if (editor.alive(i)) recognise(editor, i, summary);
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
