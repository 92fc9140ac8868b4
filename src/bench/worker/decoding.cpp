// See decoding.hpp.
#include "bench/worker/decoding.hpp"

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "engine/carried_state.hpp"
#include "graph/infer.hpp"
#include "import/typical_sizes.hpp"

namespace hone::bench {
namespace {

using graph::Dim;
using graph::Graph;
using graph::Value;
using tensor::Shape;

/// A cache length for probing how much caches grow.
constexpr int64_t kProbe = 3;

/// The shapes of all inputs for one length of the caches.
class DecoderShapes {
 public:
  DecoderShapes(const importer::Model& model, const std::map<std::string, Shape>& given,
                std::vector<engine::Carry> carries)
      : graph_(*model.graph),
        given_(given),
        carries_(std::move(carries)),
        typical_(importer::typical_sizes(model.metadata)) {
    for (const engine::Carry& carry : carries_) {
      const Value& cache = input(carry.input);
      bound_.insert(cache.name);
      if (given.contains(cache.name))
        fail_usage("--shapes gives the input '{}', whose shape follows from --context as it is bound",
                   cache.name);
      past_.insert(past_of(cache));
    }
    for (const auto& [name, shape] : given) note(name, shape);
  }

  /// The number of tokens that a run adds to the caches.
  int64_t growth() const {
    std::map<std::string, Shape> shapes = at(kProbe, 0);
    // A mask is as long as a dimension that is not known yet.
    std::erase_if(shapes, [&](const auto& item) { return is_mask(item.first); });
    const Graph probed = graph::with_input_shapes(graph_, shapes);
    int64_t growth = -1;
    for (const engine::Carry& carry : carries_) {
      const Value& cache = input(carry.input);
      const auto& output = probed.value(probed.outputs[carry.output]).type;
      const Dim dim = output.ranked() ? (*output.dims)[axis_of(cache)] : Dim();
      const int64_t grown = dim.known() ? dim.value() - kProbe : -1;
      if (grown < 1)
        fail_usage("--context is for caches that grow: of '{}' it is not known by how much", cache.name);
      if (growth >= 0 && grown != growth)
        fail_usage("--context is for caches that grow alike: '{}' grows by {}, others by {}", cache.name,
                   grown, growth);
      growth = grown;
    }
    return growth;
  }

  std::map<std::string, Shape> at(int64_t past, int64_t context) const {
    std::map<std::string, Shape> shapes;
    for (const graph::ValueId id : graph_.inputs) {
      const Value& value = graph_.value(id);
      const auto given = given_.find(value.name);
      if (given != given_.end()) {
        shapes[value.name] = given->second;
      } else if (value.type.ranked()) {
        shapes[value.name] = shape_of(value, past, context);
      }
    }
    return shapes;
  }

 private:
  const Value& input(size_t index) const { return graph_.value(graph_.inputs[index]); }

  /// The only open dimension after the batch.
  static size_t axis_of(const Value& cache) {
    size_t axis = 0;
    const size_t rank = cache.type.ranked() ? cache.type.dims->size() : 0;
    for (size_t i = 1; i < rank; ++i) {
      if ((*cache.type.dims)[i].known()) continue;
      if (axis > 0) axis = rank;
      if (axis == 0) axis = i;
    }
    if (axis == 0 || axis >= rank)
      fail_usage("--context is for caches with one open dimension after the batch, '{}' is of type {}",
                 cache.name, cache.type.text());
    return axis;
  }

  static std::string past_of(const Value& cache) { return (*cache.type.dims)[axis_of(cache)].symbol(); }

  bool is_mask(const std::string& name) const {
    return std::any_of(graph_.inputs.begin(), graph_.inputs.end(), [&](graph::ValueId id) {
      return graph_.value(id).name == name && !given_.contains(name) &&
             values_of(graph_, id).kind == InputValues::Kind::kOnes;
    });
  }

  void note(const std::string& name, const Shape& shape) {
    for (const graph::ValueId id : graph_.inputs) {
      const Value& value = graph_.value(id);
      if (value.name != name || !value.type.ranked() || value.type.dims->size() != shape.size()) continue;
      for (size_t i = 1; i < shape.size(); ++i) typical_[(*value.type.dims)[i].symbol()] = shape[i];
    }
    typical_.erase("");
  }

  Shape shape_of(const Value& value, int64_t past, int64_t context) const {
    Shape shape;
    for (const Dim& dim : *value.type.dims) {
      const bool is_batch = shape.empty();
      const bool is_past =
          past_.contains(dim.symbol()) && (!dim.symbol().empty() || bound_.contains(value.name));
      const auto typical = typical_.find(dim.symbol());
      if (dim.known()) {
        shape.push_back(dim.value());
      } else if (is_batch) {
        shape.push_back(1);
      } else if (is_past) {
        shape.push_back(past);
      } else if (is_mask(value.name)) {
        shape.push_back(context);
      } else {
        shape.push_back(typical == typical_.end() ? 1 : typical->second);
      }
    }
    return shape;
  }

  const Graph& graph_;
  const std::map<std::string, Shape>& given_;
  std::vector<engine::Carry> carries_;
  std::set<std::string> bound_;
  /// The symbols of the open dimensions of the caches.
  std::set<std::string> past_;
  /// By symbol: the size that the user gave, else a typical size.
  std::map<std::string, int64_t> typical_;
};

}  // namespace

ModelInfo describe_decoder(const importer::Model& model, const std::string& spec,
                           const std::map<std::string, Shape>& shapes, const Decoding& decoding) {
  if (model.graph == nullptr)
    fail_usage("--bind needs the names of inputs and outputs, which {} does not list", model.name);
  const auto carries = engine::parse_carries(*model.graph, decoding.bind);
  if (decoding.context == 0) return describe_model(model, spec, shapes);
  const DecoderShapes decoder(model, shapes, carries);
  const int64_t growth = decoder.growth();
  const int64_t past = decoding.context - growth;
  if (past < 1)
    fail_usage("--context {} has no room for a cache besides the {} of a run", decoding.context,
               growth == 1 ? std::string("token") : fmt::format("{} tokens", growth));
  ModelInfo info = describe_model(model, spec, decoder.at(past, decoding.context));
  info.bind = decoding.bind;
  info.context = decoding.context;
  for (InputInfo& input : info.inputs) {
    if (input.values.kind == InputValues::Kind::kCounting) input.values.first = past;
  }
  return info;
}

}  // namespace hone::bench
