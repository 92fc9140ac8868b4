// See layout.hpp.
#include "backend/torch/plugin/layout.hpp"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

#include "backend/torch/plugin/convert.hpp"
#include "backend/torch/plugin/cuda.hpp"

namespace hone::backend::aten {
namespace {

using Clock = std::chrono::steady_clock;

/// In these runs cuDNN tries its algorithms, and TorchScript's profiling executor finishes optimizing.
constexpr int kWarmUpRuns = 5;
constexpr int kMinRuns = 11;
constexpr std::chrono::milliseconds kEnough{200};

struct Attempt {
  std::unique_ptr<Runner> runner;
  double ms = std::numeric_limits<double>::infinity();
  std::optional<Error> error;
};

Attempt attempt(const BoundGraph& graph, const Placement& placement, MakeRunner make,
                const Measure& measure) {
  Attempt result;
  try {
    result.runner = make(graph, placement);
    result.ms = measure(*result.runner);
  } catch (const Error& error) {
    result.error = error;
  } catch (const c10::Error& error) {
    result.error = Error(error_kind(error), "PyTorch cannot load the model: " + message_line(error));
  }
  if (result.error) result.runner.reset();
  return result;
}

}  // namespace

bool convolves_images(const graph::Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const graph::Node& node) {
    if (node.op != "Conv" && node.op != "ConvTranspose") return false;
    const graph::TensorType& type = graph.value(node.input(0)).type;
    return type.ranked() && type.dims->size() == 4;
  });
}

ChosenRunner choose_layout(const BoundGraph& graph, Placement placement, MakeRunner make,
                           const Measure& measure) {
  placement.channels_last = false;
  Attempt plain = attempt(graph, placement, make, measure);
  plain.runner.reset();
  release_cache(placement.device);
  placement.channels_last = true;
  Attempt last = attempt(graph, placement, make, measure);
  if (plain.error && last.error) throw *plain.error;
  if (last.ms < plain.ms) {
    if (plain.error)
      return {std::move(last.runner), "channels-last, since NCHW " + std::string(plain.error->what())};
    return {std::move(last.runner),
            fmt::format("channels-last: {:.3g} ms a run at load, NCHW took {:.3g} ms", last.ms, plain.ms)};
  }
  last.runner.reset();
  release_cache(placement.device);
  placement.channels_last = false;
  std::string note = last.error ? fmt::format("NCHW, since channels-last failed: {}", last.error->what())
                                : fmt::format("NCHW: {:.3g} ms a run at load, channels-last took {:.3g} ms",
                                              plain.ms, last.ms);
  return {make(graph, placement), std::move(note)};
}

double measure_runs(const graph::Graph& graph, Runner& runner) {
  std::vector<at::Tensor> zeros;
  for (const graph::ValueId id : graph.inputs) {
    const graph::TensorType& type = graph.value(id).type;
    std::vector<int64_t> shape;
    for (const graph::Dim& dim : *type.dims) shape.push_back(dim.value());
    zeros.push_back(at::zeros(shape, at::TensorOptions().dtype(to_scalar_type(type.dtype))));
  }
  runner.set_inputs(zeros, /*pinned=*/false);
  const at::Device device = runner.placement().device;
  for (int i = 0; i < kWarmUpRuns; ++i) runner.run();
  synchronize(device);
  std::vector<double> times;
  const auto start = Clock::now();
  for (auto before = start; times.size() < kMinRuns || before - start < kEnough;) {
    runner.run();
    synchronize(device);
    const auto after = Clock::now();
    times.push_back(std::chrono::duration<double, std::milli>(after - before).count());
    before = after;
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

}  // namespace hone::backend::aten
