// See int8_engine.hpp.
#include "backend/hone/int8_engine.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>

#include "backend/hone/int8_model.hpp"
#include "base/random.hpp"
#include "base/statistics.hpp"
#include "engine/context.hpp"
#include "engine/description.hpp"
#include "engine/loaded_engine.hpp"
#include "graph/infer.hpp"
#include "graph/operator.hpp"
#include "graph/quantized_chain.hpp"
#include "graph/region.hpp"

namespace hone::backend {
namespace {

/// The name of the operator without its "Fused" prefix.
std::string_view plain_name(std::string_view op) {
  constexpr std::string_view kFused = "Fused";
  return op.starts_with(kFused) ? op.substr(kFused.size()) : op;
}

bool is_product(const graph::Node& node) { return graph::traits_of(node).product != graph::Product::kNone; }

/// Counts the operations of a graph's products.
struct Operations {
  double all = 0;
  double quantized = 0;
};

/// True if both operands represent quantized numbers.
bool is_quantized(const graph::Graph& graph, const graph::Links& links, const graph::Node& node) {
  if (graph::traits_of(node).quantization) return true;
  const auto is_dequantized = [&](size_t input) {
    const int32_t producer = links.producer_of(node.inputs[input]);
    return producer >= 0 && graph.nodes[static_cast<size_t>(producer)].op == "DequantizeLinear";
  };
  return is_dequantized(0) && is_dequantized(1);
}

Operations product_operations(const graph::Graph& graph, const std::vector<engine::Shape>& shapes) {
  std::map<std::string, tensor::Shape> named;
  for (size_t i = 0; i < graph.inputs.size(); ++i) named[graph.value(graph.inputs[i]).name] = shapes[i];
  const graph::Graph sized = graph::with_input_shapes(graph, named);
  const graph::Links links(sized);
  Operations operations;
  for (const graph::Node& node : sized.nodes) {
    if (!is_product(node)) continue;
    const auto cost = graph::node_cost(sized, node);
    if (!cost) continue;
    operations.all += cost->flops;
    if (is_quantized(sized, links, node)) operations.quantized += cost->flops;
  }
  return operations;
}

/// Operations of the products in a region's body, including nested regions.
double body_operations(const graph::Graph& graph, const graph::Node& region) {
  const graph::Graph body = graph::typed_body(graph, region);
  double operations = 0;
  for (graph::Node part : body.nodes) {
    if (graph::is_region(part)) operations += body_operations(body, part);
    if (!is_product(part)) continue;
    part.op = std::string(plain_name(part.op));
    operations += graph::node_cost(body, part).value_or(graph::Cost()).flops;
  }
  return operations;
}

/// Operations of the products in a step that multiplies integers; 0 for any other step.
double integer_operations(const engine::Program& program, const engine::ProgramStep& step) {
  const bool has_integers = step.kind == graph::kQuantizedProduct || step.kind == graph::kQuantizedSum ||
                            step.kind == graph::kIntegerProduct;
  const graph::Node* const node = program.node_of(step);
  if (!has_integers || node == nullptr || step.plan.tactic.text().starts_with("reference")) return 0;
  return body_operations(program.graph(), *node);
}

/// An engine with generated inputs on its device.
class Timed {
 public:
  Timed(const std::shared_ptr<const engine::Engine>& engine, const engine::Device& device)
      : context_(engine, device, engine->threads) {
    base::Random random(1);
    std::vector<engine::Shape> shapes = engine::tuned_shapes(*engine);
    for (size_t i = 0; i < shapes.size(); ++i) {
      const tensor::DType dtype = engine->graph->value(engine->graph->inputs[i]).type.dtype;
      tensor::Tensor numbers(tensor::DType::kFloat32, shapes[i]);
      const bool whole = !tensor::is_floating(dtype);
      for (float& number : numbers.mutable_values<float>())
        number = whole ? 1.0F : static_cast<float>(random.normal());
      inputs_.push_back(dtype == tensor::DType::kFloat32 ? numbers : numbers.cast(dtype));
    }
    execution_ = context_.execution(shapes);
    execution_->upload(inputs_);
  }

  /// Measures with the device's clock, or with the host's clock if some steps run there.
  double run_ms() {
    const auto begin = std::chrono::steady_clock::now();
    const double device_us = execution_->executor().time_phases(false).device_us;
    const std::chrono::duration<double, std::milli> whole = std::chrono::steady_clock::now() - begin;
    return device_us > 0 ? device_us * 1e-3 : whole.count();
  }

 private:
  engine::Context context_;
  std::vector<tensor::Tensor> inputs_;
  std::shared_ptr<engine::Execution> execution_;
};

}  // namespace

std::optional<double> int8_share_of(const engine::Engine& engine) {
  const auto told = engine.metadata.find(kInt8Share);
  if (told == engine.metadata.end()) return std::nullopt;
  double share = 0;
  const char* const end = told->second.data() + told->second.size();
  const auto [stop, code] = std::from_chars(told->second.data(), end, share);
  const bool sound = code == std::errc() && stop == end && share >= 0 && share <= 1;
  return sound ? std::optional(share) : std::nullopt;
}

Int8Shares int8_shares(const std::shared_ptr<const engine::Engine>& engine, const engine::Device& device,
                       const graph::Graph& graph) {
  engine::LoadedEngine loaded(engine, device, engine->threads);
  const std::vector<engine::Shape> shapes = engine::tuned_shapes(*engine);
  double integers = 0;
  const auto program = loaded.program(shapes);
  for (const engine::ProgramStep& step : program->steps()) integers += integer_operations(*program, step);
  const Operations operations = product_operations(graph, shapes);
  if (operations.all <= 0) return {};
  return {operations.quantized / operations.all, integers / operations.all};
}

std::string int8_note(const Int8Shares& shares, std::string_view origin, std::string_view device) {
  if (shares.quantized == 0) {
    return fmt::format(
        "int8 in 0.0 % of the multiply-adds: nothing has a form that is multiplied as integers on {}, {}",
        device, origin);
  }
  if (shares.executed == 0) {
    return fmt::format(
        "int8 in 0.0 % of the multiply-adds: what is quantized is computed in floating point on {}, {}",
        device, origin);
  }
  constexpr double kShown = 0.0005;
  if (shares.executed > shares.quantized - kShown)
    return fmt::format("int8 in {:.1f} % of the multiply-adds, {}", 100 * shares.executed, origin);
  return fmt::format(
      "int8 in {:.1f} % of the multiply-adds, {:.1f} % more are quantized and computed in floating point, {}",
      100 * shares.executed, 100 * (shares.quantized - shares.executed), origin);
}

RunTimes compare_engines(const std::shared_ptr<const engine::Engine>& first,
                         const std::shared_ptr<const engine::Engine>& second, const engine::Device& device,
                         const engine::SearchBudget& budget) {
  constexpr int kWarmUp = 5;
  constexpr int kRuns = 41;
  constexpr size_t kFewestRuns = 3;
  Timed a(first, device);
  Timed b(second, device);
  std::vector<double> of_a;
  std::vector<double> of_b;
  for (int i = 0; i < kWarmUp + kRuns && (of_a.size() < kFewestRuns || !budget.is_over()); ++i) {
    const double times[] = {a.run_ms(), b.run_ms()};
    const bool warms_up = i == 0 || (i < kWarmUp && !budget.is_over());
    if (warms_up) continue;
    of_a.push_back(times[0]);
    of_b.push_back(times[1]);
  }
  return {base::median(std::move(of_a)), base::median(std::move(of_b))};
}

}  // namespace hone::backend
