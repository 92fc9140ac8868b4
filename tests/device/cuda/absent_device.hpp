// A GPU that is not here as a device: programs are built for it, not run.
#pragma once

#include "device/cuda/absent_gpus.hpp"
#include "device/cuda/plugin/tactics/matrix_request.hpp"

namespace hone::device::cuda::test_support {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using tensor::Precision;

/// Stands in for cuBLASLt, which takes what read_product() reads.
inline Offer offer_product(const StepRequest& request, engine::WeightStore&) {
  Product product;
  if (Refusal reason = read_product(request, product)) return Offer::refuse(std::move(reason));
  Offer offer;
  offer.inputs = request.inputs;
  offer.outputs = {{product.result, request.outputs[0].shape, Layout::kPlain}};
  offer.kernel = std::make_shared<LaunchKernel>(
      "a product", [](auto, auto, void*, const LaunchOptions&) { return cudaSuccess; });
  return offer;
}

class AbsentGpu final : public engine::Device {
 public:
  explicit AbsentGpu(Gpu& gpu) : tactics_(own_tactics(gpu)) {
    tactics_.push_back({.name = "library", .operators = product_operators(), .make = offer_product});
  }

  std::string_view name() const override { return "cuda"; }
  std::string fingerprint() const override { return "cuda; absent"; }
  std::vector<Layout> image_layouts(Precision) const override { return {Layout::kChannelsLast}; }
  std::vector<const engine::Tactic*> tactics(const graph::Node& node) const override {
    return engine::tactics_for(tactics_, node);
  }
  std::shared_ptr<const engine::Kernel> make_reorder(const engine::TensorDesc& from,
                                                     const engine::TensorDesc& to) const override {
    return make_reorder_kernel(from, to);
  }
  /// Nothing runs, so nobody reads it.
  void arrange_constant(const engine::TensorDesc&, const engine::TensorDesc&, const void*,
                        void*) const override {}
  bool computes_in(Precision) const override { return true; }
  std::shared_ptr<const engine::Kernel> make_rounding(std::shared_ptr<const engine::Kernel> kernel,
                                                      std::vector<engine::TensorDesc>) const override {
    return kernel;
  }
  void set_threads(int) const override {}
  std::vector<std::string> notes(const engine::NumericPolicy&) const override { return {}; }

 private:
  TacticList tactics_;
};

}  // namespace hone::device::cuda::test_support
