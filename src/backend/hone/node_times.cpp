// See node_times.hpp.
#include "backend/hone/node_times.hpp"

#include <algorithm>
#include <set>

#include "backend/hone/build_request.hpp"
#include "base/error.hpp"
#include "base/statistics.hpp"
#include "engine/context.hpp"
#include "graph/operator.hpp"

namespace hone::backend {
namespace {

constexpr int kWarmupRuns = 3;
constexpr int kRuns = 15;

/// Divides a step's time among those of its nodes that have weights, or among all if none has.
void share_out(double time, const std::vector<std::string>& sources, const std::set<std::string>& weighted,
               std::map<std::string, double>& nodes) {
  std::vector<std::string> takers;
  std::ranges::copy_if(sources, std::back_inserter(takers),
                       [&](const auto& n) { return weighted.contains(n); });
  if (takers.empty()) takers = sources;
  for (const std::string& name : takers) nodes[name] += time / static_cast<double>(takers.size());
}

quantize::NodeTimes timed(const graph::Graph& graph, const ResolvedBuild& resolved,
                          std::span<const tensor::Tensor> example) {
  const auto engine = build(resolved);
  engine::Context context(engine, resolved.device, engine->threads);
  std::vector<engine::Shape> shapes;
  for (const tensor::Tensor& input : example) shapes.push_back(input.shape());
  const auto execution = context.execution(shapes);
  std::vector<double> times;
  for (int i = 0; i < kWarmupRuns; ++i) execution->run(example, &times);
  std::vector<std::vector<double>> samples(times.size());
  for (int i = 0; i < kRuns; ++i) {
    execution->run(example, &times);
    for (size_t step = 0; step < times.size(); ++step) samples[step].push_back(times[step]);
  }
  std::set<std::string> weighted;
  for (const graph::Node& node : graph.nodes) {
    if (graph::traits_of(node).product != graph::Product::kNone) weighted.insert(node.name);
  }
  quantize::NodeTimes result;
  for (size_t step = 0; step < samples.size(); ++step) {
    const double time = base::median(samples[step]);
    result.whole += time;
    share_out(time, execution->program().steps()[step].sources, weighted, result.nodes);
  }
  return result;
}

}  // namespace

quantize::TimeNodes node_timer(const std::string& device, int threads,
                               const std::function<void(const base::Progress&)>& progress) {
  return [=](const graph::Graph& graph,
             std::span<const tensor::Tensor> example) -> std::optional<quantize::NodeTimes> {
    BuildRequest request;
    request.device = device;
    request.threads = threads;
    request.progress = progress;
    for (size_t i = 0; i < example.size(); ++i)
      request.shapes[graph.value(graph.inputs[i]).name].opt = example[i].shape();
    importer::Model model;
    model.graph = std::make_shared<const graph::Graph>(graph);
    try {
      return timed(graph, resolve(request, model), example);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kEnvironment) return std::nullopt;
      throw;
    }
  };
}

}  // namespace hone::backend
