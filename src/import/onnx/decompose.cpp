// See decompose.hpp. Formulas are those of ONNX's operator descriptions.
#include "import/onnx/decompose.hpp"

#include <algorithm>
#include <memory>
#include <numbers>

#include "graph/infer.hpp"
#include "import/onnx/expand/expansion.hpp"

namespace hone::importer {
namespace {

using graph::DType;
using graph::Graph;
using graph::Node;
using graph::ValueId;

/// x / 2 * (1 + erf(x / √2)), or with tanh(√(2/π) * (x + 0.044715 x³)) instead of erf.
void gelu(Expansion& e) {
  const ValueId x = e.in(0);
  ValueId bend = graph::kNoValue;
  if (e.text("approximate", "none") == "tanh") {
    const ValueId cube = e.op("Mul", {e.op("Mul", {x, x}), x});
    const ValueId sum = e.op("Add", {x, e.op("Mul", {cube, e.number_like(0.044715, x)})});
    const double scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
    bend = e.op("Tanh", {e.op("Mul", {sum, e.number_like(scale, x)})});
  } else {
    bend = e.op("Erf", {e.op("Div", {x, e.number_like(std::numbers::sqrt2, x)})});
  }
  const ValueId share = e.op("Add", {bend, e.number_like(1, x)});
  e.give(0, e.op("Mul", {e.op("Mul", {x, share}), e.number_like(0.5, x)}));
}

/// x * tanh(softplus(x))
void mish(Expansion& e) {
  const ValueId x = e.in(0);
  e.give(0, e.op("Mul", {x, e.op("Tanh", {e.op("Softplus", {x})})}));
}

/// x * hardsigmoid(x; 1/6, 1/2)
void hard_swish(Expansion& e) {
  const ValueId x = e.in(0);
  const ValueId gate = e.op("HardSigmoid", {x}, attributes({{"alpha", 1.0F / 6}, {"beta", 0.5F}}));
  e.give(0, e.op("Mul", {x, gate}));
}

/// The normalized values over these axes, in float32 if `stash_type` requests it.
ValueId normalized(Expansion& e, ValueId x, const std::vector<int64_t>& axes, float epsilon) {
  const ValueId mean = e.op("ReduceMean", {x, e.ints(axes)});
  const ValueId centred = e.op("Sub", {x, mean});
  const ValueId variance = e.op("ReduceMean", {e.op("Mul", {centred, centred}), e.ints(axes)});
  const ValueId deviation = e.op("Sqrt", {e.op("Add", {variance, e.number_like(epsilon, x)})});
  return e.op("Div", {centred, deviation});
}

ValueId widened(Expansion& e, ValueId x) {
  return e.integer("stash_type", 1) == 1 ? e.cast(x, DType::kFloat32) : x;
}

void layer_normalization(Expansion& e) {
  const ValueId x = e.in(0);
  const int64_t rank = e.rank(x);
  int64_t axis = e.integer("axis", -1);
  if (axis < 0) axis += rank;
  std::vector<int64_t> axes;
  for (int64_t i = axis; i < rank; ++i) axes.push_back(i);
  ValueId result = e.cast(normalized(e, widened(e, x), axes, e.real("epsilon", 1e-5F)), e.dtype(x));
  result = e.op("Mul", {result, e.in(1)});
  e.give(0, e.has_in(2) ? e.op("Add", {result, e.in(2)}) : result);
}

/// Normalizes groups of channels as rows, then applies the scale and bias of each channel.
void group_normalization(Expansion& e) {
  const ValueId x = e.in(0);
  const int64_t groups = e.count("num_groups");
  const int64_t rank = e.rank(x);
  std::vector<int64_t> rows = {0, groups, -1};
  const ValueId grouped = e.op("Reshape", {widened(e, x), e.ints(rows)});
  const ValueId flat = e.cast(normalized(e, grouped, {2}, e.real("epsilon", 1e-5F)), e.dtype(x));
  const ValueId shaped = e.op("Reshape", {flat, e.op("Shape", {x})});
  std::vector<int64_t> behind;
  for (int64_t i = 1; i + 1 < rank; ++i) behind.push_back(i);
  const auto of_channels = [&](size_t input) {
    return behind.empty() ? e.in(input) : e.unsqueeze(e.in(input), behind);
  };
  e.give(0, e.op("Add", {e.op("Mul", {shaped, of_channels(1)}), of_channels(2)}));
}

/// Takes all dimensions, then the range of them that the attributes select.
void shape(Expansion& e) {
  const ValueId x = e.in(0);
  const int64_t rank = e.rank(x);
  const int64_t begin = e.integer("start", 0);
  const int64_t end = e.integer("end", rank);
  const ValueId all = e.op("Shape", {x});
  e.give(0, begin == 0 && end >= rank ? all : e.slice(all, 0, begin, end));
}

constexpr ExpansionRule kRules[] = {
    {"", "Gelu", 0, gelu},
    {"", "GroupNormalization", 0, group_normalization},
    {"", "HardSwish", 0, hard_swish},
    {"", "LayerNormalization", 0, layer_normalization},
    {"", "Mish", 0, mish},
    {"", "Shape", 0, shape},
};

const ExpansionRule* rule_for(const Node& node, const std::set<std::string_view>& operators) {
  if (!operators.contains(node.op)) return nullptr;
  const auto* const found = std::find_if(std::begin(kRules), std::end(kRules),
                                         [&](const ExpansionRule& rule) { return rule.op == node.op; });
  return found == std::end(kRules) ? nullptr : &*found;
}

void decompose_bodies(Node& node, const std::set<std::string_view>& operators) {
  const graph::Attributes before = node.attributes;
  for (const auto& [name, attribute] : before) {
    if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute);
        body != nullptr && *body != nullptr)
      node.attributes.set(name, std::make_shared<Graph>(decompose(**body, operators)));
  }
}

}  // namespace

Graph decompose(const Graph& original, const std::set<std::string_view>& operators) {
  constexpr int kOpset = 22;
  Graph result = original;
  std::vector<Node> nodes = std::move(result.nodes);
  result.nodes.clear();
  for (Node& node : nodes) {
    decompose_bodies(node, operators);
    if (const ExpansionRule* rule = rule_for(node, operators)) {
      expand_node(result, std::move(node), kOpset, *rule);
    } else {
      result.add_node(std::move(node));
    }
  }
  return result;
}

}  // namespace hone::importer
