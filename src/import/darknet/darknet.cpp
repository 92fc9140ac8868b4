// See darknet.hpp.
#include "import/darknet/darknet.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "base/file.hpp"
#include "graph/verify.hpp"
#include "import/darknet/built_in.hpp"
#include "import/darknet/cfg.hpp"
#include "import/darknet/limits.hpp"
#include "import/darknet/network.hpp"
#include "import/darknet/weights.hpp"

namespace hone::importer {
namespace {

using darknet::Layer;
using darknet::Network;
namespace fs = std::filesystem;

constexpr const char* kInput = "data";
constexpr uint64_t kMaxNamesBytes = 1 << 20;

/// The bytes of a file, valid as long as `owner` is held.
struct Bytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

std::string output_name(size_t layer) { return fmt::format("layer_{}", layer); }

darknet::Rules rules_of(const LoadModelOptions& options) {
  if (options.darknet_rules == "pjreddie") return darknet::Rules::kPjreddie;
  if (options.darknet_rules.empty() || options.darknet_rules == "alexeyab") return darknet::Rules::kAlexeyAb;
  fail_usage("--darknet-rules is '{}': alexeyab or pjreddie", options.darknet_rules);
}

std::vector<size_t> all_layers(const Network& network) {
  std::vector<size_t> layers(network.layers.size());
  for (size_t i = 0; i < layers.size(); ++i) layers[i] = i;
  return layers;
}

/// Detection heads, and sections that no other section reads.
std::vector<size_t> heads_of(const Network& network) {
  const auto& layers = network.layers;
  std::vector<bool> read(layers.size(), false);
  for (size_t i = 0; i < layers.size(); ++i) {
    if (layers[i].is_cost) continue;
    if (layers[i].reads_previous && i > 0) read[i - 1] = true;
    for (const size_t source : layers[i].reads) read[source] = true;
  }
  std::vector<size_t> heads;
  for (size_t i = 0; i < layers.size(); ++i) {
    if (!layers[i].is_cost && (!read[i] || !layers[i].head.empty())) heads.push_back(i);
  }
  if (heads.empty()) fail_bad_input("no section gives a result: all of them are [cost]");
  return heads;
}

size_t named_layer(const Network& network, const std::string& name) {
  for (size_t i = 0; i < network.layers.size(); ++i) {
    if (output_name(i) == name) return i;
  }
  fail_usage("--outputs: there is no section '{}': they are layer_0 to layer_{}, also 'heads' and 'all'",
             name, network.layers.size() - 1);
}

/// In the order of the file, each once.
std::vector<size_t> outputs_of(const Network& network, const LoadModelOptions& options) {
  std::set<size_t> chosen;
  const auto add = [&](const std::vector<size_t>& layers) { chosen.insert(layers.begin(), layers.end()); };
  for (const std::string& name : options.outputs) {
    if (name == "all") {
      add(all_layers(network));
    } else if (name == "heads") {
      add(heads_of(network));
    } else {
      chosen.insert(named_layer(network, name));
    }
  }
  if (options.outputs.empty()) add(heads_of(network));
  return {chosen.begin(), chosen.end()};
}

Metadata metadata_of(const Network& network) {
  Metadata metadata{{"darknet.channels", std::to_string(network.input.channels)},
                    {"darknet.height", std::to_string(network.input.height)},
                    {"darknet.width", std::to_string(network.input.width)},
                    {"darknet.letter_box", network.letter_box ? "1" : "0"},
                    {"darknet.resize_corners", network.resize_corners ? "1" : "0"}};
  int heads = 0;
  for (size_t i = 0; i < network.layers.size(); ++i) {
    const darknet::HeadFacts& facts = network.layers[i].head;
    if (facts.empty()) continue;
    const std::string prefix = fmt::format("darknet.head.{}.", heads++);
    metadata[prefix + "output"] = output_name(i);
    for (const auto& [key, value] : facts) metadata[prefix + key] = value;
    metadata["darknet.nms_kind"] = facts.at("nms_kind");
    metadata["darknet.beta_nms"] = facts.at("beta_nms");
  }
  metadata["darknet.heads"] = std::to_string(heads);
  return metadata;
}

/// Writes the layers in order, so that the weights are requested in the order of the file.
std::vector<ValueId> write_layers(const Network& network, const std::vector<size_t>& wanted,
                                  WeightSource& weights, GraphBuilder& net) {
  std::vector<bool> needed(network.layers.size(), false);
  for (const size_t output : wanted) needed[output] = true;
  for (size_t i = network.layers.size(); i-- > 0;) {
    if (!needed[i]) continue;
    const Layer& layer = network.layers[i];
    if (layer.reads_previous && i > 0) needed[i - 1] = true;
    for (const size_t source : layer.reads) needed[source] = true;
  }
  std::vector<ValueId> values(network.layers.size(), graph::kNoValue);
  for (size_t i = 0; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    const std::string name = output_name(i);
    if (!needed[i]) {
      // The layer becomes no node, but has its place in the weights file.
      for (const ParameterSpec& parameter : layer.parameters) weights.make(parameter);
      continue;
    }
    darknet::Emission emission{net, name, i == 0 ? net.input() : values[i - 1], {}, {}};
    for (const size_t source : layer.reads) emission.reads.push_back(values[source]);
    for (const ParameterSpec& parameter : layer.parameters)
      emission.parameters.push_back(net.parameter(parameter));
    values[i] = layer.emit(emission);
  }
  return values;
}

graph::Graph write_graph(const std::string& name, const Network& network, const std::vector<size_t>& outputs,
                         WeightSource& weights) {
  GraphBuilder net(name, kHalfOfMean, weights);
  const darknet::Volume& in = network.input;
  net.input(kInput, tensor::DType::kFloat32, {graph::Dim::symbol("batch"), in.channels, in.height, in.width});
  const std::vector<ValueId> values = write_layers(network, outputs, weights, net);
  std::set<ValueId> named{net.input()};
  for (const size_t output : outputs) {
    ValueId value = values[output];
    // If an output is a section that passes on the output of another section, or constants, it needs its own
    // node.
    const bool constant = network.layers[output].type == "implicit";
    if (constant || !named.insert(value).second) value = net.node("Identity", output_name(output), {value});
    net.output(output_name(output), value);
  }
  graph::Graph graph = net.finish();
  graph::verify(graph, "reading the cfg");
  return graph;
}

void warn(const LoadModelOptions& options, const std::string& where,
          const std::vector<std::string>& warnings) {
  if (!options.warn) return;
  for (const std::string& warning : warnings) options.warn(fmt::format("{}: {}", where, warning));
}

/// Weights from a seed, or from the file.
std::unique_ptr<WeightSource> source_of(const Network& network, const Bytes& weights,
                                        const std::string& where, const LoadModelOptions& options) {
  if (weights.bytes.data() == nullptr) {
    darknet::check_memory(network);
    return seeded_weights(options.seed);
  }
  std::vector<std::string> warnings;
  try {
    auto source = darknet::weights_of(weights.bytes, network, weights.owner, &warnings);
    warn(options, where, warnings);
    return source;
  } catch (const Error& error) {
    throw error.within(where);
  }
}

bool is_transposed(const Bytes& weights, const std::string& where) {
  if (weights.bytes.data() == nullptr) return false;
  try {
    return darknet::read_header(weights.bytes).transposed();
  } catch (const Error& error) {
    throw where.empty() ? error : error.within(where);
  }
}

/// Errors name the file that caused them. `warnings` are reported together with those of the cfg.
Model import_model(const std::string& name, std::string_view cfg, const Bytes& weights,
                   const std::string& cfg_file, const std::string& weights_file,
                   const LoadModelOptions& options, std::vector<std::string> warnings = {}) {
  Network network;
  std::vector<size_t> outputs;
  try {
    const auto sections = darknet::parse_cfg(cfg, &warnings);
    network =
        darknet::read_network(sections, rules_of(options), is_transposed(weights, weights_file), &warnings);
    outputs = outputs_of(network, options);
  } catch (const Error& error) {
    const bool of_weights = !weights_file.empty() && error.where() == weights_file;
    if (error.kind() != ErrorKind::kBadInput || cfg_file.empty() || of_weights) throw;
    throw error.within(cfg_file);
  }
  warn(options, cfg_file.empty() ? name : cfg_file, warnings);
  const auto source = source_of(network, weights, weights_file, options);
  try {
    auto graph = std::make_shared<graph::Graph>(write_graph(name, network, outputs, *source));
    return {name, cfg_file, std::move(graph), metadata_of(network)};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadInput || weights_file.empty()) throw;
    throw error.within(weights_file);
  }
}

Bytes mapped(const fs::path& file) {
  const auto content = std::make_shared<const base::MappedFile>(file);
  // An empty file maps to no bytes, but it is a file.
  static constexpr std::byte kNothing{};
  return {content->bytes().empty() ? std::span(&kNothing, 0) : content->bytes(), content};
}

/// The file in the options, else NAME.weights or NAME_best.weights next to the cfg; empty if there is none.
fs::path weights_beside(const fs::path& cfg, const LoadModelOptions& options) {
  if (!options.weights.empty()) return options.weights;
  const std::string stem = (cfg.parent_path() / cfg.stem()).string();
  for (const char* ending : {".weights", "_best.weights"}) {
    if (fs::is_regular_file(stem + ending)) return stem + ending;
  }
  return {};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    std::erase(line, '\r');
    lines.push_back(std::move(line));
    begin = end + 1;
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

/// Adds the names of classes from NAME.names next to the cfg.
void add_labels(const fs::path& cfg, Metadata* metadata) {
  fs::path file = cfg;
  file.replace_extension(".names");
  if (!fs::is_regular_file(file)) return;
  const std::vector<std::string> names = lines_of(base::read_file(file, kMaxNamesBytes));
  for (int i = 0; i < std::stoi(metadata->at("darknet.heads")); ++i) {
    const std::string& classes = metadata->at(fmt::format("darknet.head.{}.classes", i));
    if (std::to_string(names.size()) != classes)
      throw Error(ErrorKind::kBadInput,
                  fmt::format("it names {} classes, {} of {} has {}", names.size(),
                              metadata->at(fmt::format("darknet.head.{}.output", i)), cfg.filename().string(),
                              classes),
                  file.string());
  }
  (*metadata)["labels"] = fmt::format("{}", fmt::join(names, "\n"));
}

}  // namespace

Model import_darknet(const std::string& name, std::string_view cfg, std::span<const std::byte> weights,
                     const LoadModelOptions& options) {
  return import_model(name, cfg, {weights, nullptr}, "", "", options);
}

Model load_darknet(const std::string& file, const LoadModelOptions& options) {
  const std::string cfg = base::read_file(file, darknet::kMaxCfgBytes);
  const fs::path weights = weights_beside(file, options);
  const std::string stem = fs::path(file).stem().string();
  std::vector<std::string> warnings;
  if (weights.empty())
    warnings.push_back(fmt::format(
        "there is neither --weights nor {0}.weights or {0}_best.weights next to it: the weights come from "
        "a seed, so results mean nothing",
        stem));
  Model model = import_model(stem, cfg, weights.empty() ? Bytes{} : mapped(weights), file, weights.string(),
                             options, warnings);
  add_labels(file, &model.metadata);
  return model;
}

Model load_built_in_darknet(const std::string& name, const LoadModelOptions& options) {
  const Bytes weights = options.weights.empty() ? Bytes{} : mapped(options.weights);
  return import_model(name, darknet::built_in_cfg(name), weights, "", options.weights.string(), options);
}

std::vector<std::string> darknet_names() { return darknet::built_in_names(); }

}  // namespace hone::importer
