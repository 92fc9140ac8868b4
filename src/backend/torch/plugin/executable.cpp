// See executable.hpp.
#include "backend/torch/plugin/executable.hpp"

#include <c10/core/InferenceMode.h>

#include "backend/torch/plugin/convert.hpp"
#include "backend/torch/plugin/cuda.hpp"
#include "backend/torch/plugin/observer.hpp"
#include "base/clock.hpp"

namespace hone::backend::aten {
namespace {

/// Notes for readers of bf16 figures from this CPU.
std::vector<std::string> cpu_notes(Precision precision) {
  if (precision != Precision::kBf16) return {};
  // PyTorch requires these instructions before it passes bf16 convolutions and products to oneDNN.
  const bool avx512 = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512dq");
  if (!avx512) return {"bf16 runs in PyTorch's plain loops: this CPU has no AVX-512 (BW, VL, DQ)"};
  if (!__builtin_cpu_supports("avx512bf16")) {
    return {"bf16 is emulated by oneDNN: this CPU has no AVX-512 BF16"};
  }
  return {};
}

}  // namespace

RunnerExecutable::RunnerExecutable(const LoadOptions& options, at::Device device)
    : threads_(options.threads), placement_{options.precision, device} {
  use_settings(placement_, threads_);
}

std::vector<tensor::Tensor> RunnerExecutable::run(std::span<const tensor::Tensor> inputs) {
  set_inputs(inputs);
  compute();
  return download();
}

void RunnerExecutable::upload(std::span<const tensor::Tensor> inputs) {
  set_inputs(inputs);
  translated([&] { synchronize(placement_.device); });
  input_bytes_.clear();
  for (const tensor::Tensor& input : inputs) input_bytes_.push_back(static_cast<int64_t>(input.byte_size()));
}

void RunnerExecutable::execute() {
  compute();
  translated([&] { synchronize(placement_.device); });
}

void RunnerExecutable::set_inputs(std::span<const tensor::Tensor> inputs) {
  use_settings(placement_, threads_);
  const c10::InferenceMode inference;
  translated([&] {
    runner_ = &runner_for(inputs);
    std::vector<at::Tensor> views;
    for (const tensor::Tensor& input : inputs) views.push_back(torch_view_of(input));
    runner_->set_inputs(views, /*pinned=*/false);
  });
}

void RunnerExecutable::compute() {
  const c10::InferenceMode inference;
  results_ = runner_->run();
}

std::vector<tensor::Tensor> RunnerExecutable::download() {
  const c10::InferenceMode inference;
  std::vector<tensor::Tensor> outputs;
  translated([&] {
    for (size_t i = 0; i < results_.size(); ++i) {
      outputs.push_back(copy_of(results_[i], output_type(i, results_[i])));
    }
  });
  results_.clear();
  return outputs;
}

RunPhases RunnerExecutable::time_phases(bool cold) {
  if (!has_phases()) return {};
  const c10::InferenceMode inference;
  const at::Device device = placement_.device;
  return translated([&] {
    RunPhases phases;
    phases.h2d_ms = time_copies(device, input_bytes_, Direction::kToDevice);
    phases.device_ms = runner_->time_on_device(cold);
    const auto start = base::Clock::now();
    const std::vector<at::Tensor> outputs = runner_->run();
    phases.enqueue_ms = base::milliseconds_between(start, base::Clock::now());
    synchronize(device);
    std::vector<int64_t> output_bytes;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto size = static_cast<int64_t>(tensor::dtype_size(output_type(i, outputs[i])));
      output_bytes.push_back(outputs[i].numel() * size);
    }
    phases.d2h_ms = time_copies(device, output_bytes, Direction::kToHost);
    return phases;
  });
}

std::unique_ptr<Pipeline> RunnerExecutable::make_pipeline(int streams, bool transfers,
                                                          std::span<const std::vector<tensor::Tensor>> sets) {
  if (!has_pipeline()) return nullptr;
  use_settings(placement_, threads_);
  const c10::InferenceMode inference;
  return translated([&] {
    return make_stream_pipeline(
        runner_for(sets[0]), streams, transfers, sets,
        [this](size_t i, const at::Tensor& output) { return output_type(i, output); });
  });
}

Bound RunnerExecutable::bind(std::span<const tensor::TensorView> inputs, DeviceExchange& exchange) {
  if (!placement_.device.is_cuda()) return Executable::bind(inputs, exchange);
  use_settings(placement_, threads_);
  // The runner depends on types and shapes.
  std::vector<tensor::Tensor> described;
  for (const tensor::TensorView& input : inputs)
    described.emplace_back(input.dtype, input.shape, input.data(), nullptr);
  const c10::InferenceMode inference;
  return translated([&]() -> Bound {
    return {make_stream_runs(runner_for(described), inputs, exchange,
                             [this](size_t i, const at::Tensor& output) { return output_type(i, output); }),
            {}};
  });
}

std::string RunnerExecutable::bus_id() const { return aten::bus_id(placement_.device); }

MemoryUse RunnerExecutable::memory() const {
  if (current() == nullptr) return {};
  const int64_t weights = current()->weight_bytes();
  return {weights, std::max<int64_t>(0, held_bytes(placement_.device) - weights)};
}

std::unique_ptr<Observer> RunnerExecutable::observe(const ObserveOptions& options) {
  return observe_torch(options);
}

std::vector<StepInfo> RunnerExecutable::steps() const {
  return current() == nullptr ? std::vector<StepInfo>() : current()->steps();
}

std::vector<std::string> RunnerExecutable::notes() const {
  if (placement_.device.is_cpu()) return cpu_notes(placement_.precision);
  std::vector<std::string> notes;
  if (!layout_note_.empty()) notes.push_back(layout_note_);
  if (current() != nullptr) {
    notes.push_back(fmt::format("without data transfers, inputs lie on the device as the run takes them ({})",
                                current()->placement().text()));
  }
  return notes;
}

}  // namespace hone::backend::aten
