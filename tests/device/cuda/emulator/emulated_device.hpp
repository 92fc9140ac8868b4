// A device whose tactics are those of the CUDA device, run by the emulator; it computes in the host's memory.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device/cuda/emulator/emulator.hpp"
#include "device/cuda/plugin/queue.hpp"
#include "device/cuda/plugin/tactics/quantized_tactics.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"
#include "engine/program/program.hpp"

namespace hone::device::cuda::emulator {

/// Copies an image of the first arrangement to one of the second.
class ReorderKernel final : public engine::Kernel {
 public:
  ReorderKernel(engine::TensorDesc from, engine::TensorDesc to)
      : from_(std::move(from)), to_(std::move(to)) {}

  void run(const engine::Run& run) const override {
    const engine::Shape& shape = to_.shape;
    const int64_t channels = shape.size() > 1 ? shape[1] : 1;
    const int64_t images = shape.empty() ? 1 : shape[0];
    const int64_t pixels = tensor::element_count(shape) / std::max<int64_t>(images * channels, 1);
    for (int64_t n = 0; n < images; ++n) {
      for (int64_t c = 0; c < channels; ++c) {
        for (int64_t pixel = 0; pixel < pixels; ++pixel) {
          const auto place = [&](engine::Layout layout) {
            return layout == engine::Layout::kChannelsLast ? (n * pixels + pixel) * channels + c
                                                           : (n * channels + c) * pixels + pixel;
          };
          write(run.outputs[0], place(to_.layout), read(run.inputs[0], place(from_.layout)));
        }
      }
    }
  }

 private:
  float read(const void* memory, int64_t at) const {
    switch (from_.dtype) {
      case tensor::DType::kFloat16: return __half2float(static_cast<const __half*>(memory)[at]);
      case tensor::DType::kBFloat16: return __bfloat162float(static_cast<const __nv_bfloat16*>(memory)[at]);
      case tensor::DType::kUInt8: return static_cast<const uint8_t*>(memory)[at];
      default: return static_cast<const float*>(memory)[at];
    }
  }
  void write(void* memory, int64_t at, float value) const {
    switch (to_.dtype) {
      case tensor::DType::kFloat16: static_cast<__half*>(memory)[at] = __float2half_rn(value); break;
      case tensor::DType::kBFloat16:
        static_cast<__nv_bfloat16*>(memory)[at] = __float2bfloat16_rn(value);
        break;
      case tensor::DType::kUInt8: static_cast<uint8_t*>(memory)[at] = static_cast<uint8_t>(value); break;
      default: static_cast<float*>(memory)[at] = value;
    }
  }

  engine::TensorDesc from_;
  engine::TensorDesc to_;
};

class EmulatedDevice final : public engine::Device {
 public:
  /// That asks for these passes, and has every tactic of fused operators but `without`, of general
  /// convolutions and matrix products `gemm` alone.
  explicit EmulatedDevice(std::vector<std::string> passes, const std::string& without = "",
                          const std::string& gemm = "")
      : passes_(std::move(passes)) {
    add_gemm_tactics(tactics_, gpu_);
    add_layer_tactics(tactics_, gpu_);
    add_row_product_tactics(tactics_, gpu_);
    std::erase_if(tactics_, [&](const auto& tactic) { return tactic.name != gemm; });
    add_byte_product_tactics(tactics_, gpu_);
    add_byte_sum_tactics(tactics_, gpu_);
    add_sum_convolution_tactics(tactics_, gpu_);
    add_global_pooled_convolution_tactics(tactics_, gpu_);
    add_bottleneck_tactics(tactics_, gpu_);
    add_squeeze_excite_tactics(tactics_, gpu_);
    add_stem_tactics(tactics_, gpu_);
    add_stationary_convolution_tactics(tactics_, gpu_);
    std::erase_if(tactics_, [&](const auto& tactic) { return tactic.name == without; });
  }

  std::string_view name() const override { return "emulated"; }
  std::string fingerprint() const override { return "emulated; 1"; }
  std::vector<engine::Layout> image_layouts(tensor::Precision) const override {
    return {engine::Layout::kChannelsLast};
  }
  std::vector<std::string> passes(tensor::Precision, int64_t) const override { return passes_; }
  std::vector<const engine::Tactic*> tactics(const graph::Node& node) const override {
    return engine::tactics_for(tactics_, node);
  }
  std::shared_ptr<const engine::Kernel> make_reorder(const engine::TensorDesc& from,
                                                     const engine::TensorDesc& to) const override {
    return std::make_shared<ReorderKernel>(from, to);
  }
  bool splits_batches() const override { return false; }
  bool computes_in(tensor::Precision) const override { return true; }
  std::shared_ptr<const engine::Kernel> make_rounding(std::shared_ptr<const engine::Kernel> kernel,
                                                      std::vector<engine::TensorDesc>) const override {
    return kernel;  // no precision is emulated
  }
  std::unique_ptr<engine::Executor> make_executor(const engine::Program& program) const override {
    return engine::make_host_executor(program, &queue_);
  }
  void set_threads(int) const override {}
  std::vector<std::string> notes(const engine::NumericPolicy&) const override { return {}; }

 private:
  std::vector<std::string> passes_;
  Gpu gpu_{properties()};
  TacticList tactics_;
  Stream stream_;
  CudaQueue queue_{stream_, properties()};
};

}  // namespace hone::device::cuda::emulator
