// Fuses what a decoder's token runs through: products of few rows with constant matrices, and the
// normalization that makes these rows. A step of so few rows takes as long as its matrices take to be read
// and a kernel to begin, so that each kernel less counts.
//   products of one value side by side          queries, keys and values
//   a product times the result of another one   gated layers (Shazeer, "GLU Variants Improve Transformer",
//   2020) the normalization of their rows             in front of either
#include <algorithm>

#include "device/cuda/passes/pass_list.hpp"
#include "device/cuda/regions/row_products/row_product.hpp"
#include "graph/post_op.hpp"
#include "graph/region.hpp"
#include "transform/fusion.hpp"
#include "transform/region.hpp"

namespace hone::device::cuda {

using namespace transform;

namespace {

constexpr size_t kMostPairPostOps = 2;
/// The index of the first extra input of a fused product.
constexpr size_t kFirstExtra = 3;

/// True if the node normalizes the rows of its first input by constants.
bool is_normalization(const Graph& graph, const Node& node) {
  if (node.op == "LayerNormalization") {
    if (node.has_output(1) || node.has_output(2)) return false;
    const auto rank = static_cast<int64_t>(graph.value(node.outputs[0]).type.dims->size());
    const int64_t axis = node.attributes.get_int("axis");
    if (axis != -1 && axis != rank - 1) return false;
    return graph.constant(node.inputs[1]) != nullptr &&
           (!node.has_input(2) || graph.constant(node.inputs[2]) != nullptr);
  }
  if (!graph::is_region(node) || graph::kind_of(node) != "rms_normalization") return false;
  // Rows, axes, epsilon and scale.
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (graph.constant(node.inputs[i]) == nullptr) return false;
  }
  return true;
}

/// Products that become one region.
struct Group {
  int32_t pair = -1;  ///< whose result multiplies that of the only other one
  std::vector<int32_t> products;
};

class RowProducts {
 public:
  RowProducts(Editor& editor, Summary& summary) : editor_(editor), summary_(summary) {}

  /// Fuses what reads these rows.
  void visit(ValueId x) {
    std::vector<int32_t> products;
    bool others = editor_.is_output(x);
    for (const int32_t reader : editor_.readers(x)) {
      const Node& node = editor_.node(reader);
      if (is_row_product(editor_.graph(), node) && node.inputs[0] == x) {
        products.push_back(reader);
      } else {
        others = true;
      }
    }
    if (products.empty()) return;
    const int32_t producer = editor_.producer(x);
    const bool normalized =
        producer >= 0 && !others && is_normalization(editor_.graph(), editor_.node(producer));
    for (const Group& group : groups_of(products)) {
      if (!normalized && group.pair < 0 && group.products.size() == 1) continue;
      fuse(group, normalized ? producer : -1);
    }
    if (normalized) editor_.remove(producer);
  }

 private:
  /// The product whose result only the first binary post-op of `index` takes; -1 where there is none.
  int32_t pair_of(int32_t index, const std::vector<int32_t>& products) const {
    const Node& node = editor_.node(index);
    const PostOps post_ops = post_ops_of(node);
    if (post_ops.extras.empty()) return -1;
    const ValueId other = node.inputs[kFirstExtra];
    const int32_t maker = editor_.producer(other);
    const bool beside = std::find(products.begin(), products.end(), maker) != products.end();
    if (maker < 0 || maker == index || !beside || !editor_.read_once(other)) return -1;
    const auto type_of = [&](int32_t product) {
      return editor_.graph().value(editor_.node(product).outputs[0]).type;
    };
    const PostOps own = post_ops_of(editor_.node(maker));
    const bool fits = own.extras.empty() && own.ops.size() <= kMostPairPostOps;
    return fits && same_shape(type_of(maker), type_of(index)) ? maker : -1;
  }

  std::vector<Group> groups_of(const std::vector<int32_t>& products) const {
    std::vector<Group> groups;
    std::vector<int32_t> plain;
    std::vector<int32_t> taken;
    for (const int32_t index : products) {
      const int32_t pair = pair_of(index, products);
      if (pair < 0) continue;
      groups.push_back({pair, {index}});
      taken.insert(taken.end(), {pair, index});
    }
    for (const int32_t index : products) {
      if (std::find(taken.begin(), taken.end(), index) != taken.end()) continue;
      if (post_ops_of(editor_.node(index)).ops.empty()) {
        plain.push_back(index);
      } else {
        groups.push_back({-1, {index}});
      }
    }
    for (size_t first = 0; first < plain.size(); first += kMostProducts) {
      const auto begin = plain.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end = begin + static_cast<std::ptrdiff_t>(std::min(kMostProducts, plain.size() - first));
      groups.push_back({-1, {begin, end}});
    }
    return groups;
  }

  void fuse(const Group& group, int32_t normalization) {
    std::vector<Part> parts;
    std::vector<ValueId> results;
    if (normalization >= 0) parts.push_back({"norm", editor_.node(normalization)});
    if (group.pair >= 0) parts.push_back({"pair", editor_.node(group.pair)});
    for (const int32_t index : group.products) {
      const size_t number = results.size();
      parts.push_back({number == 0 ? "product" : fmt::format("product{}", number), editor_.node(index)});
      results.push_back(editor_.node(index).outputs[0]);
    }
    Node region = make_region("row_products", parts, results);
    summary_.change(fmt::format("'{}' became one step of few rows", region.name));
    // All that several products read is there before the first of them.
    const int32_t place = *std::min_element(group.products.begin(), group.products.end());
    for (const int32_t index : group.products) {
      if (index != place) editor_.remove(index);
    }
    if (group.pair >= 0) editor_.remove(group.pair);
    editor_.replace(place, std::move(region));
  }

  Editor& editor_;
  Summary& summary_;
};

}  // namespace

Summary row_product_fusion(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  RowProducts products(editor, summary);
  const int32_t count = editor.count();
  for (int32_t i = 0; i < count; ++i) {
    if (editor.alive(i) && is_row_product(editor.graph(), editor.node(i)))
      products.visit(editor.node(i).inputs[0]);
  }
  editor.commit();
  return summary;
}

}  // namespace hone::device::cuda
