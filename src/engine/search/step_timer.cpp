// See step_timer.hpp.
#include "engine/search/step_timer.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.hpp"
#include "base/out_of_memory.hpp"

namespace hone::engine {

using tensor::Tensor;

std::vector<Tensor> timing_inputs(const graph::Graph& graph) {
  std::mt19937_64 random(20231);
  std::normal_distribution<float> normal;
  std::vector<Tensor> inputs;
  for (const graph::ValueId id : graph.inputs) {
    const graph::TensorType& type = graph.value(id).type;
    Shape shape;
    for (const graph::Dim& dim : *type.dims) shape.push_back(dim.value());
    try {
      Tensor input(DType::kFloat32, shape);
      for (float& x : input.mutable_values<float>())
        x = tensor::is_floating(type.dtype) ? normal(random) : 1.0f;
      inputs.push_back(input.cast(type.dtype));
    } catch (const Error& error) {
      rethrow_within(error, fmt::format("input '{}'", graph.value(id).name));
    }
  }
  return inputs;
}

void StepTimer::sample(std::span<const Tensor> inputs) {
  program_.run(inputs, &step_times_);
  add_step_times();
}

void StepTimer::sample_uploaded() {
  program_.executor().execute(&step_times_);
  add_step_times();
}

void StepTimer::add_step_times() {
  double pending = 0;
  double total = 0;
  for (size_t i = 0; i < step_times_.size(); ++i) {
    total += step_times_[i];
    pending += step_times_[i];
    const ProgramStep& step = program_.program().steps()[i];
    if (step.node < 0) continue;
    if (step.is_piece()) piece_times_[step.key()].push_back(pending);
    std::vector<double>& times = node_times_[static_cast<size_t>(step.node)];
    times.resize(totals_.size() + 1);  // one for each run; zero when the node's first piece is reached
    times.back() += pending;
    pending = 0;
  }
  totals_.push_back(total);
}

const std::vector<double>& StepTimer::times(const StepKey& key) const {
  static const std::vector<double> kNone;
  if (key.path.empty()) return node_times(static_cast<size_t>(key.node));
  const auto found = piece_times_.find(key);
  return found == piece_times_.end() ? kNone : found->second;
}

double network_us(Execution& program) {
  const ExecutionTimes times = program.executor().execute_timed();
  return times.device_us > 0 ? times.device_us : times.enqueue_us;
}

double sample_quantile(std::vector<double> samples, double q) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  const double position = q * static_cast<double>(samples.size() - 1);
  const auto low = static_cast<size_t>(std::floor(position));
  const size_t high = std::min(low + 1, samples.size() - 1);
  return samples[low] + (position - static_cast<double>(low)) * (samples[high] - samples[low]);
}

}  // namespace hone::engine
