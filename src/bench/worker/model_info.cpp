// See model_info.hpp.
#include "bench/worker/model_info.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

#include "base/error.hpp"
#include "bench/worker/protocol.hpp"
#include "engine/example_shapes.hpp"
#include "import/typical_sizes.hpp"

namespace hone::bench {
namespace {

/// Hashes 64 bits at a time with the mixing step of SplitMix64, which is fast enough for hundreds of
/// megabytes of weights.
class Hash {
 public:
  void add(uint64_t word) {
    state_ ^= word;
    state_ = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9u;
    state_ = (state_ ^ (state_ >> 27)) * 0x94d049bb133111ebu;
    state_ ^= state_ >> 31;
    state_ += 0x9e3779b97f4a7c15u;
  }
  void add_bytes(const void* data, size_t size) {
    add(size);
    const char* bytes = static_cast<const char*>(data);
    for (; size > 0;) {
      uint64_t word = 0;
      const size_t step = std::min(size, sizeof(word));
      std::memcpy(&word, bytes, step);
      add(word);
      bytes += step;
      size -= step;
    }
  }
  void add_text(std::string_view text) { add_bytes(text.data(), text.size()); }
  uint64_t value() const { return state_; }

 private:
  uint64_t state_ = 0;
};

void hash_graph(const graph::Graph& graph, Hash* hash);

void hash_tensor(const tensor::Tensor& tensor, Hash* hash) {
  hash->add(static_cast<uint64_t>(tensor.dtype()));
  hash->add_bytes(tensor.shape().data(), tensor.shape().size() * sizeof(int64_t));
  hash->add_bytes(tensor.bytes(), tensor.byte_size());
}

void hash_attribute(const graph::Attribute& attribute, Hash* hash) {
  hash->add(attribute.index());
  std::visit(
      [hash](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_arithmetic_v<T>) {
          hash->add_bytes(&value, sizeof(value));
        } else if constexpr (std::is_same_v<T, std::string>) {
          hash->add_text(value);
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          for (const std::string& text : value) hash->add_text(text);
        } else if constexpr (std::is_same_v<T, tensor::Tensor>) {
          hash_tensor(value, hash);
        } else if constexpr (std::is_same_v<T, std::shared_ptr<graph::Graph>>) {
          hash_graph(*value, hash);
        } else {
          hash->add_bytes(value.data(), value.size() * sizeof(value[0]));
        }
      },
      attribute);
}

void hash_ids(const std::vector<graph::ValueId>& ids, Hash* hash) {
  hash->add_bytes(ids.data(), ids.size() * sizeof(graph::ValueId));
}

void hash_graph(const graph::Graph& graph, Hash* hash) {
  for (const graph::Value& value : graph.values) {
    if (value.constant) hash_tensor(*value.constant, hash);
  }
  for (const graph::Node& node : graph.nodes) {
    hash->add_text(node.op);
    hash_ids(node.inputs, hash);
    hash_ids(node.outputs, hash);
    for (const auto& [name, attribute] : node.attributes) {
      hash->add_text(name);
      hash_attribute(attribute, hash);
    }
  }
  hash_ids(graph.inputs, hash);
  hash_ids(graph.outputs, hash);
}

/// Workers use this text to load the model.
void check_spec(const std::string& spec) {
  try {
    (void)line_of(spec);
  } catch (const Error& error) {
    throw error.within(spec);
  }
}

/// Sizes by symbol, for the dimensions after the batch: the size that the user gave for an input, else a
/// typical size.
std::map<std::string, int64_t> open_sizes(const importer::Model& model,
                                          const std::map<std::string, tensor::Shape>& shapes) {
  std::map<std::string, int64_t> sizes;
  for (const graph::ValueId id : model.graph->inputs) {
    const graph::Value& value = model.graph->value(id);
    const auto given = shapes.find(value.name);
    if (given == shapes.end() || !value.type.ranked() || value.type.dims->size() != given->second.size())
      continue;
    for (size_t i = 1; i < given->second.size(); ++i)
      sizes.try_emplace((*value.type.dims)[i].symbol(), given->second[i]);
  }
  sizes.erase("");  // dimensions without a name are independent of each other
  sizes.merge(importer::typical_sizes(model.metadata));
  return sizes;
}

InputInfo describe_input(const graph::Graph& graph, const graph::Value& value,
                         const std::map<std::string, tensor::Shape>& shapes,
                         const std::map<std::string, int64_t>& sizes) {
  InputInfo input;
  input.name = value.name;
  input.dtype = value.type.dtype;
  const auto given = shapes.find(value.name);
  if (!value.type.ranked()) {
    if (given == shapes.end())
      fail_usage("input '{0}' has no shape: give --shapes {0}:1x3x224x224", value.name);
    input.shape = given->second;
    return input;
  }
  const graph::Dims& dims = *value.type.dims;
  if (given != shapes.end() && given->second.size() != dims.size()) {
    fail_usage("--shapes gives input '{}' {} dimensions, but it has {}", value.name, given->second.size(),
               dims.size());
  }
  input.batched = !dims.empty() && !dims.front().known();
  for (size_t i = 0; i < dims.size(); ++i) {
    if (input.batched && i == 0) {
      input.shape.push_back(1);
    } else if (dims[i].known()) {
      if (given != shapes.end() && given->second[i] != dims[i].value()) {
        fail_usage("--shapes gives dimension {} of input '{}' as {}, the model fixes it at {}", i, value.name,
                   given->second[i], dims[i].value());
      }
      input.shape.push_back(dims[i].value());
    } else if (given != shapes.end()) {
      input.shape.push_back(given->second[i]);
    } else if (const auto size = sizes.find(dims[i].symbol()); size != sizes.end()) {
      input.shape.push_back(size->second);
    } else {
      const std::string named = engine::example_dims(graph, sizes);
      fail_usage("dimension {} ('{}') of input '{}' is open: give --shapes {}{}", i, dims[i].text(),
                 value.name, engine::example_shapes(graph, sizes), named.empty() ? "" : " or --dim " + named);
    }
  }
  return input;
}

}  // namespace

/// True if a node has a result of this type, also in loops and branches. A model that only stores halves
/// computes in float32.
bool computes_in(const graph::Graph& graph, tensor::DType dtype) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const graph::Node& node) {
    const bool own = std::any_of(node.outputs.begin(), node.outputs.end(), [&](graph::ValueId id) {
      return id != graph::kNoValue && graph.value(id).type.dtype == dtype;
    });
    return own || std::any_of(node.attributes.begin(), node.attributes.end(), [&](const auto& item) {
             const auto* inner = std::get_if<std::shared_ptr<graph::Graph>>(&item.second);
             return inner != nullptr && computes_in(**inner, dtype);
           });
  });
}

tensor::Precision precision_of(const graph::Graph& graph) {
  if (computes_in(graph, tensor::DType::kBFloat16)) return tensor::Precision::kBf16;
  return computes_in(graph, tensor::DType::kFloat16) ? tensor::Precision::kFp16 : tensor::Precision::kFp32;
}

std::map<std::string, tensor::Shape> ModelInfo::shapes_at(int64_t batch) const {
  std::map<std::string, tensor::Shape> shapes;
  for (const InputInfo& input : inputs) {
    tensor::Shape& shape = shapes[input.name] = input.shape;
    if (input.batched) shape.front() = batch;
  }
  return shapes;
}

std::string way_to_other_batches(const ModelInfo& model) {
  if (!model.engine_precision.empty())
    return "hone build with --minShapes and --maxShapes makes an engine for a range of batches";
  return fmt::format("hone export {} -o NEW.onnx --dynamic-batch opens it where the graph allows that",
                     model.spec);
}

void require_runs_at(const ModelInfo& model, int64_t batch) {
  if (model.runs_at(batch)) return;
  fail_usage("the batch of {0} is fixed at {1}: give --batch {1}; {2}", model.name, model.fixed_batch,
             way_to_other_batches(model));
}

ModelInfo describe_model(const importer::Model& model, const std::string& spec,
                         const std::map<std::string, tensor::Shape>& shapes) {
  check_spec(spec);
  ModelInfo info;
  info.name = model.name;
  info.spec = spec;
  info.file = model.file.string();
  info.has_graph = model.graph != nullptr;
  Hash hash;
  hash.add_text(model.name);
  if (info.has_graph) {
    hash_graph(*model.graph, &hash);
    info.precision = precision_of(*model.graph);
    const std::map<std::string, int64_t> sizes = open_sizes(model, shapes);
    for (const graph::ValueId id : model.graph->inputs) {
      const graph::Value& value = model.graph->value(id);
      info.inputs.push_back(describe_input(*model.graph, value, shapes, sizes));
      info.inputs.back().values = values_of(*model.graph, id);
      if (info.batch_symbol.empty() && info.inputs.back().batched)
        info.batch_symbol = value.type.dims->front().symbol();
    }
    for (const graph::ValueId id : model.graph->outputs)
      info.outputs.push_back(model.graph->value(id).type.dims);
  } else {
    if (shapes.empty()) {
      fail_usage(
          "{} is a TorchScript archive: give --shapes NAME:1x3x224x224 for each argument of its forward "
          "(to a wrong NAME the answer has the right ones)",
          model.name);
    }
    for (const auto& [name, shape] : shapes) {
      InputInfo input{name, tensor::DType::kFloat32, shape, !shape.empty()};
      if (input.batched) input.shape[0] = 1;
      info.inputs.push_back(std::move(input));
    }
  }
  for (const InputInfo& input : info.inputs) info.dynamic_batch = info.dynamic_batch || input.batched;
  if (!info.dynamic_batch && !info.inputs.empty() && !info.inputs.front().shape.empty()) {
    info.fixed_batch = info.inputs.front().shape.front();
  }
  info.hash = hash.value();
  for (const InputInfo& input : info.inputs) {
    hash.add_text(input.name);
    hash.add_text(tensor::dtype_name(input.dtype));
    hash.add_bytes(input.shape.data(), input.shape.size() * sizeof(input.shape[0]));
  }
  info.outputs_hash = hash.value();
  return info;
}

void check_shapes(const std::map<std::string, tensor::Shape>& shapes, std::span<const ModelInfo> models,
                  std::span<const int64_t> batches) {
  for (const ModelInfo& model : models) {
    for (const InputInfo& input : model.inputs) {
      const auto given = shapes.find(input.name);
      if (!input.batched || given == shapes.end()) continue;
      const int64_t batch = given->second.front();
      if (batch != 1 && (batches.size() != 1 || batches.front() != batch))
        fail_usage("--shapes gives input '{}' a batch of {}: --batches says which are run", input.name,
                   batch);
    }
  }
  for (const auto& [name, shape] : shapes) {
    const auto has_input = [&name = name](const ModelInfo& model) {
      return std::any_of(model.inputs.begin(), model.inputs.end(),
                         [&](const InputInfo& input) { return input.name == name; });
    };
    if (std::any_of(models.begin(), models.end(), has_input)) continue;
    const auto some = std::find_if(models.begin(), models.end(),
                                   [](const ModelInfo& model) { return !model.inputs.empty(); });
    if (some == models.end())
      fail_usage("--shapes names an input '{}', {} has no inputs", name, models.front().name);
    fail_usage("--shapes names an input '{}', the first input of {} is '{}'", name, some->name,
               some->inputs.front().name);
  }
}

void parse_shapes(const std::string& text, std::map<std::string, tensor::Shape>* shapes) {
  std::string_view rest = text;
  while (!rest.empty()) {
    std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    const size_t colon = item.rfind(':');
    if (colon == std::string_view::npos || colon == 0 || item.ends_with('x')) {
      fail_usage("a shape is written name:1x3x224x224, not '{}'", item);
    }
    tensor::Shape shape;
    std::string_view dims = item.substr(colon + 1);
    while (!dims.empty()) {
      const std::string_view dim = dims.substr(0, dims.find('x'));
      dims.remove_prefix(std::min(dims.size(), dim.size() + 1));
      int64_t value = 0;
      const auto [end, error] = std::from_chars(dim.data(), dim.data() + dim.size(), value);
      if (error != std::errc() || end != dim.data() + dim.size() || value < 1) {
        fail_usage("'{}' in the shape '{}' is no positive dimension", dim, item);
      }
      shape.push_back(value);
    }
    const std::string_view name = item.substr(0, colon);
    if (!shapes->emplace(name, std::move(shape)).second)
      fail_usage("input '{}' is given two shapes, the second with '{}'", name, item);
  }
}

}  // namespace hone::bench
