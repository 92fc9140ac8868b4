// See step_graphs.hpp.
#include "device/cuda/plugin/execution/step_graphs.hpp"

namespace hone::device::cuda {

std::vector<StepStretch> step_stretches(const std::vector<bool>& on_host) {
  std::vector<StepStretch> stretches;
  for (size_t first = 0; first < on_host.size();) {
    size_t end = first + 1;
    while (end < on_host.size() && on_host[end] == on_host[first]) ++end;
    stretches.push_back({first, end - first, !on_host[first] && end - first > 1});
    first = end;
  }
  return stretches;
}

StepGraphs::StepGraphs(ProgramSteps& steps, const BoundSteps& bound, const Stream& stream)
    : steps_(steps), bound_(bound) {
  std::vector<bool> on_host;
  for (const engine::ProgramStep& step : steps.program().steps()) on_host.push_back(step.runs_on_host());
  stretches_ = step_stretches(on_host);
  for (const StepStretch& stretch : stretches_) {
    const auto record = [&] {
      for (size_t i = 0; i < stretch.count; ++i) steps_.run_step(stretch.first + i, bound_, stream.get());
    };
    graphs_.push_back(stretch.captured ? std::make_unique<CapturedGraph>(stream, Graph(stream, record))
                                       : nullptr);
  }
}

void StepGraphs::launch(cudaStream_t stream) const {
  for (size_t i = 0; i < stretches_.size(); ++i) {
    if (graphs_[i] != nullptr) {
      graphs_[i]->launch(stream);
      continue;
    }
    for (size_t step = 0; step < stretches_[i].count; ++step)
      steps_.run_step(stretches_[i].first + step, bound_, stream);
  }
}

}  // namespace hone::device::cuda
