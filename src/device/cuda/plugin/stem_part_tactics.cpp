// A FusedStem as two kernels, or what else its parts take, where no one kernel is both.
#include "device/cuda/plugin/stem_parts.hpp"

namespace hone::device::cuda {
namespace {

using engine::Kernel;
using engine::Offer;
using engine::StepRequest;
using engine::TensorDesc;

/// The pooled convolution and the one that reads its result. They share a scratch area: each waits for the
/// kernel before it.
class StemPartsKernel final : public EarlyKernel {
 public:
  StemPartsKernel(std::shared_ptr<Kernel> pooled, std::shared_ptr<Kernel> next)
      : pooled_(std::move(pooled)), next_(std::move(next)) {}

  void run(std::span<const void* const> inputs, std::span<void* const> outputs, void* scratch) override {
    {
      const NextWaits next(waits(*next_));
      pooled_->run(StemParts::picked(inputs, StemParts::kPooledInputs), outputs.first(1), scratch);
    }
    next_->run(StemParts::behind<const void*>(outputs[0], StemParts::picked(inputs, StemParts::kNextInputs)),
               outputs.subspan(1), scratch);
  }
  bool waits() const override { return waits(*pooled_); }

 private:
  static bool waits(const Kernel& kernel) {
    const auto* const early = dynamic_cast<const EarlyKernel*>(&kernel);
    return early != nullptr && early->waits();
  }

  std::shared_ptr<Kernel> pooled_;
  std::shared_ptr<Kernel> next_;
};

class StemPartsTactic final : public CudaTactic {
 public:
  StemPartsTactic(const CudaTactic& pooled, std::vector<const CudaTactic*> convolutions)
      : pooled_(pooled),
        convolutions_(std::move(convolutions)),
        name_(std::string(pooled.name()) + "+next") {}

  std::string_view name() const override { return name_; }
  bool handles(const std::string& op) const override { return op == "FusedStem"; }

  std::vector<std::string> variants(const StepRequest& request) const override {
    return pooled_.variants(StemParts(request).pooled);
  }
  void expect(const StepRequest& request, const std::vector<std::string>& variants) const override {
    pooled_.expect(StemParts(request).pooled, variants);
  }
  Offer offer(const StepRequest& request, engine::WeightStore& weights) const override {
    const StemParts parts(request);
    return both(request, parts, pooled_.offer(parts.pooled, weights), weights);
  }
  Offer offer_variant(const StepRequest& request, engine::WeightStore& weights,
                      std::string_view variant) const override {
    const StemParts parts(request);
    return both(request, parts, pooled_.offer_variant(parts.pooled, weights, variant), weights);
  }

 private:
  Offer both(const StepRequest& whole, const StemParts& parts, Offer pooled,
             engine::WeightStore& weights) const {
    if (!pooled.refusal.empty()) return pooled;
    Offer next = next_offer(parts.next, pooled.outputs[0], weights);
    if (!next.refusal.empty()) return next;
    auto kernel = std::make_shared<StemPartsKernel>(std::move(pooled.kernel), std::move(next.kernel));
    Offer offer = StemParts::joined(whole, std::move(pooled), next);
    offer.kernel = std::move(kernel);
    return offer;
  }

  /// The first way to convolve what was pooled as it lies.
  Offer next_offer(const StepRequest& request, const TensorDesc& pooled, engine::WeightStore& weights) const {
    const auto reads = [&](const Offer& offer) {
      return offer.refusal.empty() && offer.inputs[0].dtype == pooled.dtype &&
             offer.inputs[0].layout == pooled.layout;
    };
    for (const CudaTactic* tactic : convolutions_) {
      const std::vector<std::string> variants = tactic->variants(request);
      if (variants.empty()) {
        if (Offer offer = tactic->offer(request, weights); reads(offer)) return offer;
      }
      for (const std::string& variant : variants) {
        if (Offer offer = tactic->offer_variant(request, weights, variant); reads(offer)) return offer;
      }
    }
    return Offer::refuse("nothing convolves what it pools");
  }

  const CudaTactic& pooled_;
  std::vector<const CudaTactic*> convolutions_;
  std::string name_;
};

}  // namespace

void add_stem_part_tactics(TacticList& list) {
  std::vector<const CudaTactic*> pooled;
  std::vector<const CudaTactic*> convolutions;
  for (const auto& each : list) {
    const auto& tactic = static_cast<const CudaTactic&>(*each);
    if (tactic.handles("FusedConvMaxPool")) pooled.push_back(&tactic);
    if (tactic.handles("FusedConv")) convolutions.push_back(&tactic);
  }
  for (const CudaTactic* tactic : pooled)
    list.push_back(std::make_unique<StemPartsTactic>(*tactic, convolutions));
}

}  // namespace hone::device::cuda
