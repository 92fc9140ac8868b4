// TensorScatter and CumProd of the standard.
#include "import/onnx/expand/rules.hpp"

namespace hone::importer {
namespace {

using graph::DType;
using graph::kNoValue;
using graph::ValueId;

int64_t checked_axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) fail_bad_input("axis {} is outside rank {}", axis, rank);
  return axis < 0 ? axis + rank : axis;
}

/// Writes `update` into the cache, from a separate position for each sample on.
void tensor_scatter(Expansion& e) {
  const ValueId cache = e.in(0);
  const ValueId update = e.in(1);
  const int64_t rank = e.rank(cache);
  const int64_t axis = checked_axis(e.integer("axis", -2), rank);
  if (axis == 0) fail_bad_input("attribute 'axis' names the batch, expected another axis");
  const auto mode = e.text("mode", "linear");
  if (mode != "linear" && mode != "circular")
    fail_bad_input("attribute 'mode' is '{}', expected linear or circular", mode);
  std::vector<Extent> along(static_cast<size_t>(rank), 1);
  along[static_cast<size_t>(axis)] = e.extent(update, axis);
  ValueId indices = e.reshape(e.positions(e.extent(update, axis)), along);
  if (e.has_in(2)) {
    std::vector<int64_t> starts(static_cast<size_t>(rank), 1);
    starts[0] = -1;
    const ValueId first = e.op("Reshape", {e.cast(e.in(2), DType::kInt64), e.ints(starts)});
    indices = e.op("Add", {indices, first});
  }
  if (mode == "circular") indices = e.op("Mod", {indices, e.vector(e.extent(cache, axis))});
  std::vector<Extent> shape;
  for (int64_t i = 0; i < rank; ++i) shape.push_back(e.extent(update, i));
  indices = e.op("Expand", {indices, e.list(shape)});
  e.give(0, e.op("ScatterElements", {cache, indices, update}, attributes({{"axis", axis}})));
}

/// A Scan over the axis, whose state is the product of the elements so far.
ValueId scan_products(Expansion& e, ValueId x, int64_t axis, bool exclusive, bool reverse) {
  graph::TensorType row = e.graph.value(x).type;
  row.dims->erase(row.dims->begin() + axis);
  auto body = std::make_shared<graph::Graph>();
  body->name = "cumulative_product";
  const ValueId state = body->add_value("state", row);
  const ValueId element = body->add_value("element", row);
  const ValueId product = body->add_value("product", row);
  const ValueId kept = body->add_value("kept", row);
  body->inputs = {state, element};
  body->add_node({.name = "multiply", .op = "Mul", .inputs = {state, element}, .outputs = {product}});
  body->add_node(
      {.name = "keep", .op = "Identity", .inputs = {exclusive ? state : product}, .outputs = {kept}});
  body->outputs = {product, kept};

  std::vector<Extent> shape;
  for (int64_t i = 0; i < e.rank(x); ++i) {
    if (i != axis) shape.push_back(e.extent(x, i));
  }
  const ValueId ones = e.op("Expand", {e.number_like(1, x), e.list(shape)});
  const std::vector<int64_t> directions = {reverse ? 1 : 0};
  return e.ops("Scan", {ones, x}, 2,
               attributes({{"body", body},
                           {"num_scan_inputs", int64_t{1}},
                           {"scan_input_axes", std::vector<int64_t>{axis}},
                           {"scan_input_directions", directions},
                           {"scan_output_axes", std::vector<int64_t>{axis}},
                           {"scan_output_directions", directions}}))[1];
}

/// The axis is an input. If it is not constant, the products along every axis are computed and one is
/// selected.
void cumulative_product(Expansion& e) {
  const ValueId x = e.in(0);
  const bool exclusive = e.integer("exclusive", 0) != 0;
  const bool reverse = e.integer("reverse", 0) != 0;
  const int64_t rank = e.rank(x);
  if (rank == 0) fail_bad_input("input 0 has no axis");
  const graph::Tensor* constant = e.graph.constant(e.in(1));
  if (constant != nullptr && constant->size() == 1) {
    const int64_t axis = checked_axis(constant->to_int64()[0], rank);
    return e.give(0, scan_products(e, x, axis, exclusive, reverse));
  }
  const ValueId counted = e.op("Reshape", {e.cast(e.in(1), DType::kInt64), e.ints({})});
  const ValueId axis = e.op("Mod", {counted, e.number(static_cast<double>(rank), DType::kInt64)});
  ValueId result = scan_products(e, x, 0, exclusive, reverse);
  for (int64_t i = 1; i < rank; ++i) {
    const ValueId chosen = e.op("Equal", {axis, e.number(static_cast<double>(i), DType::kInt64)});
    result = e.op("Where", {chosen, scan_products(e, x, i, exclusive, reverse), result});
  }
  e.give(0, result);
}

constexpr ExpansionRule kRules[] = {{"", "TensorScatter", 24, tensor_scatter},
                                    {"", "CumProd", 26, cumulative_product}};

}  // namespace

std::span<const ExpansionRule> sequence_expansions() { return kRules; }

}  // namespace hone::importer
