// See regions.hpp.
#include "backend/partition/regions.hpp"

#include <algorithm>
#include <map>

#include "graph/infer.hpp"
#include "graph/operator.hpp"
#include "graph/region.hpp"
#include "graph/verify.hpp"

namespace hone::backend::partition {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::Value;
using graph::ValueId;

/// The elements of an integer value that shape inference knows completely.
std::optional<tensor::Tensor> known_elements(const Value& value) {
  if (!value.data || !graph::all_known(*value.data) || !value.type.fully_known()) return std::nullopt;
  if (!tensor::is_integer(value.type.dtype)) return std::nullopt;
  tensor::Shape shape;
  int64_t count = 1;
  for (const graph::Dim& dim : *value.type.dims) {
    shape.push_back(dim.value());
    count *= dim.value();
  }
  if (count != static_cast<int64_t>(value.data->size())) return std::nullopt;
  std::vector<int64_t> elements;
  for (const graph::Dim& dim : *value.data) elements.push_back(dim.value());
  return tensor::Tensor::of(elements, shape).cast(value.type.dtype);
}

class RegionMaker {
 public:
  RegionMaker(const Graph& typed, std::span<const Block> blocks, const std::vector<std::string>& backends)
      : typed_(typed),
        blocks_(blocks),
        backends_(backends),
        block_of_(block_of_nodes(typed.nodes.size(), blocks)),
        links_(typed) {}

  Graph make() {
    result_.name = typed_.name;
    result_.values = typed_.values;
    result_.inputs = typed_.inputs;
    result_.outputs = typed_.outputs;
    fold_crossings();
    for (size_t block = 0; block < blocks_.size(); ++block) add_region(block);
    graph::verify(result_, "partitioning");
    return std::move(result_);
  }

  size_t folded() const { return constants_.size(); }

 private:
  int32_t maker_of(ValueId id) const {
    const int32_t producer = links_.producer_of(id);
    return producer < 0 ? -1 : block_of_[static_cast<size_t>(producer)];
  }

  void fold_crossings() {
    for (size_t i = 0; i < typed_.values.size(); ++i) {
      const auto id = static_cast<ValueId>(i);
      const int32_t maker = maker_of(id);
      const bool crosses = maker >= 0 && std::any_of(links_.consumers[i].begin(), links_.consumers[i].end(),
                                                     [&](int32_t node) {
                                                       return block_of_[static_cast<size_t>(node)] != maker;
                                                     });
      if (!crosses) continue;
      if (auto elements = known_elements(typed_.value(id)))
        constants_[id] = result_.add_constant(typed_.value(id).name, std::move(*elements));
    }
  }

  /// The input through which a block reads a value of another block.
  ValueId outside(ValueId id) const {
    const auto found = constants_.find(id);
    return found == constants_.end() ? id : found->second;
  }

  bool is_handed_out(ValueId id, int32_t block) const {
    const auto i = static_cast<size_t>(id);
    if (links_.is_output[i]) return true;
    if (constants_.contains(id)) return false;
    return std::any_of(links_.consumers[i].begin(), links_.consumers[i].end(),
                       [&](int32_t node) { return block_of_[static_cast<size_t>(node)] != block; });
  }

  void add_region(size_t index) {
    const auto block = static_cast<int32_t>(index);
    auto body = std::make_shared<Graph>();
    body->name = fmt::format("block{}", index);
    Node region;
    region.name = body->name;
    region.op = graph::kRegion;
    std::map<ValueId, ValueId> inner;
    const auto read = [&](ValueId id) {
      if (id == kNoValue) return id;
      if (const auto known = inner.find(id); known != inner.end()) return known->second;
      const ValueId made = body->add_value(typed_.value(id).name);
      inner[id] = made;
      body->inputs.push_back(made);
      region.inputs.push_back(outside(id));
      return made;
    };
    for (const int32_t index_of_node : blocks_[index].nodes) {
      Node node = typed_.nodes[static_cast<size_t>(index_of_node)];
      region.sources.insert(region.sources.end(), node.sources.begin(), node.sources.end());
      for (ValueId& id : node.inputs) id = read(id);
      for (ValueId& id : node.outputs) {
        if (id == kNoValue) continue;
        const ValueId made = body->add_value(typed_.value(id).name);
        inner[id] = made;
        if (is_handed_out(id, block)) {
          body->outputs.push_back(made);
          region.outputs.push_back(id);
        }
        id = made;
      }
      body->add_node(std::move(node));
    }
    if (region.outputs.empty()) return;
    region.attributes.set("kind", backends_.at(static_cast<size_t>(blocks_[index].backend)));
    region.attributes.set("body", std::move(body));
    graph::complete_node(region);
    result_.add_node(std::move(region));
  }

  const Graph& typed_;
  std::span<const Block> blocks_;
  const std::vector<std::string>& backends_;
  std::vector<int32_t> block_of_;
  graph::Links links_;
  std::map<ValueId, ValueId> constants_;
  Graph result_;
};

}  // namespace

Graph with_regions(const Graph& typed, std::span<const Block> blocks,
                   const std::vector<std::string>& backends, size_t* folded) {
  RegionMaker maker(typed, blocks, backends);
  Graph result = maker.make();
  if (folded != nullptr) *folded = maker.folded();
  return result;
}

importer::Model block_model(const Graph& graph, const Node& region) {
  auto body = std::make_shared<Graph>(graph::typed_body(graph, region));
  std::erase_if(body->inputs, [&](ValueId id) { return body->value(id).constant.has_value(); });
  // Types of inputs are declared; types of results are inferred again for other shapes.
  graph::verify(*body, "cutting a block out");
  return {.name = region.name, .file = {}, .graph = body, .metadata = {}};
}

}  // namespace hone::backend::partition
