// See executable.hpp.
#include "backend/torch/plugin/executable.hpp"

#include <c10/core/InferenceMode.h>

#include "backend/torch/plugin/convert.hpp"
#include "backend/torch/plugin/cuda.hpp"
#include "backend/torch/plugin/observer.hpp"

namespace hone::backend::aten {
namespace {

/// What a reader of bf16 numbers from this CPU must know.
std::vector<std::string> cpu_notes(Precision precision) {
  if (precision != Precision::kBf16) return {};
  // What PyTorch asks for before it hands bf16 convolutions and products to oneDNN.
  const bool avx512 = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512dq");
  if (!avx512) return {"bf16 runs in PyTorch's plain loops: this CPU has no AVX-512 (BW, VL, DQ)"};
  if (!__builtin_cpu_supports("avx512bf16")) {
    return {"bf16 is emulated by oneDNN: this CPU has no AVX-512 BF16"};
  }
  return {};
}

/// Errors of PyTorch outside of any operator: copies, and failures of the device that show when it is waited
/// for.
template <class F>
void translated(F action) {
  try {
    action();
  } catch (const c10::Error& error) {
    throw Error(error_kind(error), "PyTorch says: " + message_line(error));
  }
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
    for (const tensor::Tensor& input : inputs) views.push_back(view_of(input));
    runner_->set_inputs(views);
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
