// A convolution and the pool behind it as two kernels, where no one kernel is both or is as fast.
#include <algorithm>
#include <iterator>

#include "device/cuda/plugin/kernels/layers/pooling.hpp"
#include "device/cuda/plugin/tactics/convolution_part.hpp"

namespace hone::device::cuda {
namespace {

using engine::Kernel;
using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using engine::TensorDesc;

/// From what a convolution has made to the step's result.
using Pool = std::function<cudaError_t(const void* from, void* to, const LaunchOptions& options)>;

Pool max_pool(const ConvolutionPart& part, const StepRequest& whole, const TensorDesc& from) {
  const PoolSize size =
      pool_size(from.shape[0], from.shape[1], graph::pool_axes(whole.node.attributes, part.geometry));
  return [=, type = float_type(from.dtype), order = image_order(from.layout)](const void* result, void* to,
                                                                              const LaunchOptions& options) {
    return pool(result, to, type, order, PoolKind::kMax, size, options);
  };
}

Pool global_average_pool(const TensorDesc& from) {
  const int64_t batch = from.shape[0];
  const int64_t channels = from.shape[1];
  const int64_t pixels = tensor::element_count(from.shape) / (batch * channels);
  return [=, type = float_type(from.dtype), order = image_order(from.layout)](const void* result, void* to,
                                                                              const LaunchOptions& options) {
    return global_pool(result, type, order, to, type, false, batch, channels, pixels, options);
  };
}

/// The convolution into the end of the scratch area, and the pool of that.
class PooledKernel final : public EarlyKernel {
 public:
  PooledKernel(std::shared_ptr<const Kernel> convolution, int64_t result_at, Pool pool)
      : convolution_(std::move(convolution)), result_at_(result_at), pool_(std::move(pool)) {}

  void run(const engine::Run& run) const override {
    void* const result = static_cast<std::byte*>(run.scratch) + result_at_;
    engine::Run convolution = run;
    convolution.outputs = {&result, 1};
    // What comes after the convolution is the pool, which waits itself, whatever the next step does.
    convolution.neighbours.next_waits = true;
    convolution_->run(convolution);
    check(pool_(result, run.outputs[0], launch_options(run)), "launching a pool");
  }
  bool waits() const override {
    const auto* first = dynamic_cast<const EarlyKernel*>(convolution_.get());
    return first != nullptr && first->waits();
  }

 private:
  std::shared_ptr<const Kernel> convolution_;
  int64_t result_at_;
  Pool pool_;
};

Offer pooled(const ConvolutionPart& part, const StepRequest& whole, Offer offer) {
  if (offer.refusal) return offer;
  constexpr int64_t kAlignment = 256;
  const TensorDesc result = offer.outputs[0];
  const int64_t result_at = (offer.scratch_bytes + kAlignment - 1) / kAlignment * kAlignment;
  offer.scratch_bytes = result_at + tensor::element_count(result.shape) *
                                        static_cast<int64_t>(tensor::dtype_size(result.dtype));
  offer.outputs[0].shape = whole.outputs[0].shape;
  const bool global = whole.node.op == "FusedConvGlobalPool";
  // As a global pool leaves it, so that a matrix product can read it.
  if (global) offer.outputs[0].layout = Layout::kPlain;
  offer.kernel =
      std::make_shared<PooledKernel>(std::move(offer.kernel), result_at,
                                     global ? global_average_pool(result) : max_pool(part, whole, result));
  return offer;
}

/// The tactic with a pool behind what it makes. It asks the tactic for the convolution alone, whose
/// requirements are seen to then.
engine::Tactic with_pool(const engine::Tactic& tactic) {
  const auto convolution = std::make_shared<const engine::Tactic>(tactic);
  return {
      .name = convolution->name + "+pool",
      .operators = {"FusedConvMaxPool", "FusedConvGlobalPool"},
      .make =
          [convolution](const StepRequest& request, engine::WeightStore& weights) {
            const ConvolutionPart part(request);
            return pooled(part, request, convolution->offer(part.request, weights));
          },
      .list_variants =
          [convolution](const StepRequest& request) {
            return convolution->variants(ConvolutionPart(request).request);
          },
      .make_variant =
          [convolution](const StepRequest& request, engine::WeightStore& weights, std::string_view variant) {
            const ConvolutionPart part(request);
            return pooled(part, request, convolution->offer_variant(part.request, weights, variant));
          },
      .prepare =
          [convolution](const StepRequest& request, const std::vector<std::string>& variants) {
            return convolution->expect(ConvolutionPart(request).request, variants);
          }};
}

}  // namespace

void add_pooled_convolution_tactics(TacticList& list) {
  graph::Node convolution;
  convolution.op = "FusedConv";
  TacticList added;
  for (const engine::Tactic* tactic : engine::tactics_for(list, convolution))
    added.push_back(with_pool(*tactic));
  std::move(added.begin(), added.end(), std::back_inserter(list));
}

}  // namespace hone::device::cuda
