// Replaces a chain of nodes that only change the order of rows along the last axis with one Gather, so that
// rolling and cutting windows, or the reverse, is a single movement.
#include <algorithm>
#include <numeric>

#include "transform/constants.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"

namespace hone::transform {
namespace {

using Ints = std::vector<int64_t>;

/// Limit on the indices that one chain may add to a model.
constexpr int64_t kMostRows = 1 << 18;

/// Known dimensions; nullopt if one is unknown or there are fewer than two.
std::optional<Ints> known_dims(const Graph& graph, ValueId id) {
  const graph::TensorType& type = graph.value(id).type;
  if (!type.ranked() || type.dims->size() < 2 || !graph::all_known(*type.dims)) return std::nullopt;
  Ints dims;
  for (const graph::Dim& dim : *type.dims) dims.push_back(dim.value());
  return dims;
}

/// True if the node moves whole rows of a tensor with a known shape, or only changes the shape around them.
bool keeps_rows(const Graph& graph, const Node& node) {
  if (node.op != "Gather" && node.op != "Transpose" && node.op != "Reshape") return false;
  const auto from = known_dims(graph, node.inputs[0]);
  const auto to = known_dims(graph, node.outputs[0]);
  if (!from || !to || from->back() != to->back() || from->back() == 0) return false;
  const auto rank = static_cast<int64_t>(from->size());
  if (node.op == "Gather") {
    const bool behind = tensor::normalize_axis(node.attributes.get_int("axis"), rank) + 1 < rank;
    return behind && graph.constant(node.inputs[1]) != nullptr;
  }
  if (node.op == "Reshape") return true;
  const auto perm = node.attributes.get_or<Ints>("perm", {});
  return !perm.empty() && perm.back() + 1 == rank;
}

bool moves(const Node& node) { return node.op != "Reshape"; }

/// The rows of a tensor, by their numbers in another tensor.
struct Rows {
  Ints dims;  ///< all except the last
  Ints numbers;
};

Rows gathered(const Rows& rows, size_t axis, const Ints& indices, const Ints& dims) {
  const int64_t outer =
      std::accumulate(rows.dims.begin(), rows.dims.begin() + static_cast<std::ptrdiff_t>(axis), int64_t{1},
                      std::multiplies<>());
  const int64_t length = rows.dims[axis];
  const int64_t inner = std::accumulate(rows.dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1,
                                        rows.dims.end(), int64_t{1}, std::multiplies<>());
  Rows result{dims, {}};
  for (int64_t o = 0; o < outer; ++o) {
    for (const int64_t index : indices) {
      const int64_t at = index < 0 ? index + length : index;
      if (at < 0 || at >= length) return {};  // the device reports it at run time
      const auto begin = rows.numbers.begin() + (o * length + at) * inner;
      result.numbers.insert(result.numbers.end(), begin, begin + inner);
    }
  }
  return result;
}

Rows transposed(const Rows& rows, const Ints& perm, const Ints& dims) {
  const Ints strides = tensor::row_major_strides(rows.dims);
  Rows result{dims, {}};
  Ints at(dims.size(), 0);
  for (size_t i = 0; i < rows.numbers.size(); ++i) {
    int64_t from = 0;
    for (size_t axis = 0; axis < dims.size(); ++axis)
      from += at[axis] * strides[static_cast<size_t>(perm[axis])];
    result.numbers.push_back(rows.numbers[static_cast<size_t>(from)]);
    for (size_t axis = dims.size(); axis-- > 0;) {
      if (++at[axis] < dims[axis]) break;
      at[axis] = 0;
    }
  }
  return result;
}

/// The rows of the node's result; none if an index of a Gather is out of range.
Rows moved(const Graph& graph, const Node& node, const Rows& rows) {
  Ints dims = *known_dims(graph, node.outputs[0]);
  dims.pop_back();
  if (node.op == "Reshape") return {dims, rows.numbers};
  if (node.op == "Transpose") return transposed(rows, node.attributes.get_ints("perm"), dims);
  const auto rank = static_cast<int64_t>(rows.dims.size()) + 1;
  const auto axis = static_cast<size_t>(tensor::normalize_axis(node.attributes.get_int("axis"), rank));
  return gathered(rows, axis, graph.constant(node.inputs[1])->to_int64(), dims);
}

/// Nodes that end with `last`, in the order in which they run; each is the only reader of the previous one.
std::vector<int32_t> chain_to(const Editor& editor, int32_t last) {
  std::vector<int32_t> chain;
  for (int32_t node = last; node >= 0 && keeps_rows(editor.graph(), editor.node(node));) {
    chain.push_back(node);
    const ValueId input = editor.node(node).inputs[0];
    node = editor.read_once(input) ? editor.producer(input) : -1;
  }
  std::reverse(chain.begin(), chain.end());
  const auto first =
      std::find_if(chain.begin(), chain.end(), [&](int32_t node) { return moves(editor.node(node)); });
  chain.erase(chain.begin(), first);
  return chain;
}

/// The order of rows within one image if it is the same for every image; otherwise the order over all images.
struct Order {
  int64_t images = 1;
  Ints numbers;
};

Order order_of(const Rows& rows, int64_t images, int64_t count) {
  const auto result = static_cast<int64_t>(rows.numbers.size());
  const Order whole{1, rows.numbers};
  if (images < 2 || result % images != 0) return whole;
  const int64_t of_image = result / images;
  for (int64_t i = of_image; i < result; ++i) {
    if (rows.numbers[static_cast<size_t>(i)] !=
        rows.numbers[static_cast<size_t>(i % of_image)] + i / of_image * (count / images))
      return whole;
  }
  return {images, Ints(rows.numbers.begin(), rows.numbers.begin() + of_image)};
}

bool gather(Editor& editor, int32_t last, Summary& summary) {
  const std::vector<int32_t> chain = chain_to(editor, last);
  const auto count = [&](const auto& wanted) {
    return std::count_if(chain.begin(), chain.end(), [&](int32_t node) { return wanted(editor.node(node)); });
  };
  if (count(moves) < 2 || count([](const Node& node) { return node.op == "Gather"; }) == 0) return false;
  const ValueId x = editor.node(chain.front()).inputs[0];
  Rows rows{*known_dims(editor.graph(), x), {}};
  const int64_t columns = rows.dims.back();
  rows.dims.pop_back();
  const int64_t images = rows.dims[0];
  const int64_t x_rows = tensor::element_count(rows.dims);
  const auto makes_many = [&](int32_t node) {
    const Ints dims = *known_dims(editor.graph(), editor.node(node).outputs[0]);
    return tensor::element_count(dims) / columns > kMostRows;
  };
  if (x_rows > kMostRows || x_rows == 0) return false;
  if (std::any_of(chain.begin(), chain.end(), makes_many)) return false;
  rows.numbers.resize(static_cast<size_t>(x_rows));
  std::iota(rows.numbers.begin(), rows.numbers.end(), 0);
  for (const int32_t node : chain) {
    rows = moved(editor.graph(), editor.node(node), rows);
    if (rows.numbers.empty()) return false;
  }
  const Order order = order_of(rows, images, x_rows);
  const Node end = editor.node(last);
  const auto constant = [&](const char* what, const Ints& values) {
    return editor.add_constant(end.name + what,
                               tensor::Tensor::of<int64_t>(values, {static_cast<int64_t>(values.size())}));
  };
  const auto insert = [&](const char* op, const char* what, std::vector<ValueId> inputs) {
    Node node = derived_node(end, op, std::move(inputs));
    node.name = end.name + what;
    node.outputs = {editor.add_value(node.name, editor.graph().value(x).type.dtype)};
    return node;
  };
  Node flat = insert("Reshape", ".rows",
                     {x, constant(".rows_shape", {order.images, x_rows / order.images, columns})});
  Node picked = insert("Gather", ".gathered", {flat.outputs[0], constant(".order", order.numbers)});
  picked.attributes.set("axis", int64_t{1});
  Ints shape = rows.dims;
  shape.push_back(columns);
  Node result = derived_node(end, "Reshape", {picked.outputs[0], constant(".shape", shape)});
  std::vector<const Node*> parts;
  std::vector<Node> copies;
  for (const int32_t node : chain) copies.push_back(editor.node(node));
  for (const Node& node : copies) parts.push_back(&node);
  join_names(picked, parts);
  summary.change(fmt::format("'{}' and {} more became one Gather of rows", end.name, chain.size() - 1));
  for (size_t i = 0; i + 1 < chain.size(); ++i) editor.remove(chain[i]);
  editor.insert_before(last, std::move(flat));
  editor.insert_before(last, std::move(picked));
  editor.replace(last, std::move(result));
  return true;
}

}  // namespace

Summary row_gathering(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  for (int32_t i = editor.count() - 1; i >= 0; --i) {
    if (!editor.alive(i) || !keeps_rows(editor.graph(), editor.node(i))) continue;
    const int32_t reader = editor.single_reader(editor.node(i).outputs[0]);
    if (reader >= 0 && editor.node(reader).inputs[0] == editor.node(i).outputs[0] &&
        keeps_rows(editor.graph(), editor.node(reader)))
      continue;  // it belongs to a longer chain
    gather(editor, i, summary);
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
