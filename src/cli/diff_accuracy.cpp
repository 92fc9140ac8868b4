// See diff_accuracy.hpp.
#include "cli/diff_accuracy.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "backend/hone/layer_values.hpp"
#include "base/json.hpp"
#include "cli/command.hpp"
#include "cli/run_inputs.hpp"
#include "cli/terminal.hpp"
#include "engine/engine_file.hpp"
#include "import/load.hpp"
#include "quantize/float_graph.hpp"
#include "report/terminal/sheet.hpp"
#include "tensor/metrics.hpp"

namespace hone::cli {
namespace {

using tensor::Tensor;

/// Relative errors above which a layer counts as different. For floating point it is about a hundred rounding
/// errors of the type; for int8 it is 10 %, the error of a tensor with a long tail that has only 127 levels.
constexpr double kFp32 = 1e-4;
constexpr double kFp16 = 5e-2;
constexpr double kBf16 = 2e-1;
constexpr double kInt8 = 1e-1;

struct Side {
  std::string file;
  std::shared_ptr<const engine::Engine> engine;  ///< null if the file is a model
  importer::Model model;
  double tolerance = kFp32;
  std::string text;
  backend::LayerValues values;
};

double tolerance_of(tensor::Precision precision) {
  switch (precision) {
    case tensor::Precision::kBf16: return kBf16;
    case tensor::Precision::kFp16:
    case tensor::Precision::kTf32: return kFp16;
    case tensor::Precision::kInt8: return kInt8;
    case tensor::Precision::kFp32: break;
  }
  return kFp32;
}

Side load(const std::string& file) {
  Side side;
  side.file = file;
  if (!engine::is_engine_file(file)) {
    side.model = importer::load_model(file, {});
    if (side.model.graph == nullptr)
      fail_usage("{} is a TorchScript archive, whose layers cannot be compared: export it as ONNX", file);
    const bool quantized = !quantize::quantized_part(*side.model.graph).empty();
    side.tolerance = quantized ? kInt8 : kFp32;
    side.text = quantized ? "a quantized model, by the reference" : "a model, by the reference";
    return side;
  }
  side.engine = engine::load_engine(file);
  side.model = {side.engine->model, file, side.engine->graph, side.engine->metadata};
  for (const engine::NumericPolicy& policy : side.engine->policies)
    side.tolerance = std::max(side.tolerance, tolerance_of(engine::precision_of(policy)));
  const bool integers = backend::has_integers(*side.engine);
  if (integers) side.tolerance = std::max(side.tolerance, kInt8);
  side.text = fmt::format("an engine, {}{}", integers ? "int8 and " : "",
                          tensor::precision_name(side.engine->precision()));
  return side;
}

std::vector<Tensor> inputs_of(const AccuracyDiffOptions& options, const importer::Model& model) {
  std::vector<InputSlot> slots;
  for (const graph::ValueId id : model.graph->inputs)
    slots.push_back({model.graph->value(id).name, model.graph->value(id).type});
  RunInputs inputs = read_run_inputs(slots, options.inputs, preprocessing_for(options.images, model.metadata),
                                     layout_for(options.images));
  note_fitted(inputs.fitted);
  return std::move(inputs.tensors);
}

void check_same_inputs(const Side& a, const Side& b) {
  const auto names = [](const Side& side) {
    std::vector<std::string> result;
    for (const graph::ValueId id : side.model.graph->inputs)
      result.push_back(side.model.graph->value(id).name);
    return result;
  };
  if (names(a) != names(b))
    fail_usage("{} and {} have different inputs: only two forms of one model can be compared", a.file,
               b.file);
}

struct Layer {
  std::string name;
  std::string op;
  double between = 0;
  std::optional<double> own_a;
  std::optional<double> own_b;
};

/// Returns the layers that both sides have, in the order of `order`.
std::vector<Layer> layers_of(const Side& a, const Side& b, const graph::Graph& order) {
  std::vector<Layer> layers;
  for (const graph::Node& node : order.nodes) {
    for (const graph::ValueId id : node.outputs) {
      if (id == graph::kNoValue) continue;
      const std::string& name = order.value(id).name;
      const auto in_a = a.values.find(name);
      const auto in_b = b.values.find(name);
      if (in_a == a.values.end() || in_b == b.values.end()) continue;
      if (in_a->second.shape() != in_b->second.shape()) continue;
      layers.push_back({name, node.op, tensor::relative_l2(in_b->second, in_a->second), {}, {}});
    }
  }
  return layers;
}

struct Comparison {
  Side a;
  Side b;
  std::string reference;  ///< name of the file; empty if there is no reference
  double tolerance = 0;
  std::vector<Layer> layers;
  std::optional<size_t> first;  ///< index of the first layer that differs
};

void add_own_errors(Comparison& result, const graph::Graph& reference, const std::vector<Tensor>& inputs) {
  const auto a = backend::own_errors(reference, inputs, result.a.values);
  const auto b = backend::own_errors(reference, inputs, result.b.values);
  for (Layer& layer : result.layers) {
    if (const auto found = a.find(layer.name); found != a.end()) layer.own_a = found->second;
    if (const auto found = b.find(layer.name); found != b.end()) layer.own_b = found->second;
  }
}

void fill_values(Side& side, const AccuracyDiffOptions& options, const std::vector<Tensor>& inputs,
                 const std::map<std::string, std::string>& quantized) {
  speaking_of(side.file, [&] {
    side.values = side.engine != nullptr
                      ? backend::engine_values(*side.engine, {}, options.threads, inputs, quantized)
                      : backend::reference_values(*side.model.graph, inputs);
  });
}

/// Returns the model in floating point that errors are measured against, or null if there is none.
std::shared_ptr<const graph::Graph> reference_of(const AccuracyDiffOptions& options, Comparison& result) {
  const auto is_plain = [](const Side& side) {
    return side.engine == nullptr && quantize::quantized_part(*side.model.graph).empty();
  };
  if (!options.reference.empty()) {
    Side side = load(options.reference);
    if (!is_plain(side))
      fail_usage("--reference {}: it is {}, and not a model in floating point", options.reference, side.text);
    check_same_inputs(result.a, side);
    result.reference = options.reference;
    return side.model.graph;
  }
  for (const Side* side : {&result.a, &result.b}) {
    if (!is_plain(*side)) continue;
    result.reference = side->file;
    return side->model.graph;
  }
  return nullptr;
}

Comparison compare(const AccuracyDiffOptions& options) {
  Comparison result{load(options.a), load(options.b), {}, 0, {}, {}};
  check_same_inputs(result.a, result.b);
  const auto reference = reference_of(options, result);
  const std::vector<Tensor> inputs = inputs_of(options, result.a.model);
  std::map<std::string, std::string> quantized;
  for (const Side* side : {&result.a, &result.b}) {
    if (side->engine == nullptr) quantized.merge(backend::quantized_names(*side->model.graph));
  }
  fill_values(result.a, options, inputs, quantized);
  fill_values(result.b, options, inputs, quantized);
  const graph::Graph& order = reference != nullptr ? *reference : *result.a.model.graph;
  result.layers = layers_of(result.a, result.b, order);
  if (result.layers.empty())
    fail_usage("{} and {} have no value of one name and shape: only two forms of one model can be compared",
               options.a, options.b);
  if (reference != nullptr) add_own_errors(result, *reference, inputs);
  result.tolerance = options.tolerance.value_or(std::max(result.a.tolerance, result.b.tolerance));
  const auto first = std::ranges::find_if(
      result.layers, [&](const Layer& layer) { return !(layer.between <= result.tolerance); });
  if (first != result.layers.end()) result.first = static_cast<size_t>(first - result.layers.begin());
  return result;
}

report::Cell share(const std::optional<double>& value) {
  if (!value) return report::no_cell();
  return {fmt::format("{:.4f} %", 100 * *value), fmt::format("{:.9g}", 100 * *value)};
}

report::Sheet sheet_of(const Comparison& result) {
  report::Sheet sheet;
  sheet.title = "Layers in the order they run";
  sheet.columns = {{"Value", "", false}, {"Op", "", false, true}, {"A to B", "%"},
                   {"A's own", "%"},     {"B's own", "%"},        {"", "", false}};
  for (size_t i = 0; i < result.layers.size(); ++i) {
    const Layer& layer = result.layers[i];
    sheet.rows.push_back({report::text_cell(layer.name), report::text_cell(layer.op), share(layer.between),
                          share(layer.own_a), share(layer.own_b),
                          report::text_cell(result.first == i ? "first to diverge" : "")});
  }
  if (result.reference.empty()) {
    sheet.notes.emplace_back("for the error that each layer adds by itself, give the model as --reference");
  } else {
    sheet.notes.push_back(fmt::format(
        "own: the relative error of a layer, or of the fused region that it ends, on its own inputs, "
        "against {} by the reference",
        result.reference));
  }
  return sheet;
}

Json json_of(const Comparison& result) {
  Json json;
  json["a"] = result.a.file;
  json["b"] = result.b.file;
  json["reference"] = result.reference;
  json["tolerance"] = result.tolerance;
  json["first_diverging"] = result.first ? result.layers[*result.first].name : "";
  json["layers"] = Json::array();
  for (const Layer& layer : result.layers) {
    Json one{{"value", layer.name}, {"op", layer.op}, {"between", layer.between}};
    if (layer.own_a) one["own_a"] = *layer.own_a;
    if (layer.own_b) one["own_b"] = *layer.own_b;
    json["layers"].push_back(std::move(one));
  }
  return json;
}

/// Names the layer with the largest error of its own, and the side on which it has this error.
std::string worst_text(const Comparison& result) {
  const Layer* worst = nullptr;
  const auto own = [](const Layer& layer) {
    return std::max(layer.own_a.value_or(0), layer.own_b.value_or(0));
  };
  for (const Layer& layer : result.layers) {
    if (worst == nullptr || own(layer) > own(*worst)) worst = &layer;
  }
  if (worst == nullptr || own(*worst) <= 0) return {};
  return fmt::format("'{}' adds most by itself: {:.4f} % in {}", report::printable(worst->name),
                     100 * own(*worst), worst->own_b.value_or(0) >= worst->own_a.value_or(0) ? "B" : "A");
}

void print(const Comparison& result, size_t rows) {
  fmt::print("A: {}, {}\nB: {}, {}\n\n", result.a.file, result.a.text, result.b.file, result.b.text);
  for (const std::string& line : report::sheet_text(sheet_of(result), terminal_style(rows)))
    fmt::print("{}\n", line);
  fmt::print("\n");
  if (result.first) {
    const Layer& layer = result.layers[*result.first];
    fmt::print("first to differ by more than {:.3g} %: '{}' ({}), {:.4f} %\n", 100 * result.tolerance,
               report::printable(layer.name), layer.op, 100 * layer.between);
  } else {
    fmt::print("no layer differs by more than {:.3g} %\n", 100 * result.tolerance);
  }
  if (const std::string worst = worst_text(result); !worst.empty()) fmt::print("{}\n", worst);
}

}  // namespace

void diff_accuracy(const AccuracyDiffOptions& options) {
  if (options.inputs.empty()) fail_usage("--accuracy needs --input: layers are compared on real inputs");
  const Comparison result = compare(options);
  if (options.json) {
    fmt::print("{}\n", json_of(result).dump(2, ' ', false, Json::error_handler_t::replace));
  } else if (options.csv) {
    for (const std::string& line : report::sheet_csv(sheet_of(result))) fmt::print("{}\n", line);
  } else {
    print(result, options.rows);
  }
  if (options.tolerance && result.first)
    throw Error(ErrorKind::kThreshold,
                fmt::format("'{}' differs by {:.4g} %, more than {:.4g} %", result.layers[*result.first].name,
                            100 * result.layers[*result.first].between, 100 * result.tolerance));
}

}  // namespace hone::cli
