// Regions conv_max_pool and conv_global_pool as two kernels, where no one kernel is both or is as fast.
#include <array>

#include "device/cuda/plugin/kernels/layers/pooling.hpp"
#include "device/cuda/plugin/tactics/region_parts.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"

namespace hone::device::cuda {
namespace {

using engine::Kernel;
using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using engine::TensorDesc;

constexpr std::string_view kMaxForm = "conv=Conv pool=MaxPool(0:conv) -> pool";
constexpr std::string_view kGlobalForm = "conv=Conv pool=GlobalAveragePool(0:conv) -> pool";
/// Of the convolution: an image, filters, a bias, and as many post-ops as passes make.
constexpr size_t kMostOperands = 3 + 32;

/// From what a convolution has made to the step's result.
using Pool = std::function<cudaError_t(const void* from, void* to, const LaunchOptions& options)>;

Pool max_pool(const PoolSize& size, const TensorDesc& from) {
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
  PooledKernel(std::shared_ptr<const Kernel> convolution, PartOperands operands, int64_t result_at, Pool pool)
      : convolution_(std::move(convolution)),
        operands_(std::move(operands)),
        result_at_(result_at),
        pool_(std::move(pool)) {}

  void run(const engine::Run& run) const override {
    void* const result = static_cast<std::byte*>(run.scratch) + result_at_;
    std::array<const void*, kMostOperands> inputs{};
    for (size_t i = 0; i < operands_.count(); ++i) inputs[i] = operands_.of(run.inputs, i);
    engine::Run convolution = run;
    convolution.inputs = {inputs.data(), operands_.count()};
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
  PartOperands operands_;
  int64_t result_at_;
  Pool pool_;
};

bool is_global(const StepRequest& request) { return graph::kind_of(request.node) == "conv_global_pool"; }

/// Why the convolution in the body cannot be asked for alone; empty when it can.
Refusal form_refusal(const StepRequest& request, const RegionParts& parts) {
  if (parts.form() != (is_global(request) ? kGlobalForm : kMaxForm))
    return "its body is no convolution and its pool";
  if (parts.part("conv").operands.count() > kMostOperands)
    return fmt::format("its convolution has more than {} operands", kMostOperands);
  return {};
}

class PooledConvolutionTactic final : public CudaTactic {
 public:
  PooledConvolutionTactic(Gpu& gpu, const CudaTactic& convolution)
      : CudaTactic(gpu), convolution_(convolution), name_(std::string(convolution.name()) + "+pool") {}

  std::string_view name() const override { return name_; }
  bool handles_region(const std::string& kind) const override {
    return kind == "conv_max_pool" || kind == "conv_global_pool";
  }

  std::vector<std::string> variants(const StepRequest& request) const override {
    const RegionParts parts(request);
    if (form_refusal(request, parts)) return {};
    return convolution_.variants(parts.part("conv").request);
  }
  engine::Preparation expect(const StepRequest& request,
                             const std::vector<std::string>& variants) const override {
    const RegionParts parts(request);
    if (form_refusal(request, parts)) return nullptr;
    return convolution_.expect(parts.part("conv").request, variants);
  }
  Offer offer(const StepRequest& request, engine::WeightStore& weights) const override {
    return pooled(request, [&](const StepRequest& conv) { return convolution_.offer(conv, weights); });
  }
  Offer offer_variant(const StepRequest& request, engine::WeightStore& weights,
                      std::string_view variant) const override {
    return pooled(
        request, [&](const StepRequest& conv) { return convolution_.offer_variant(conv, weights, variant); });
  }

 private:
  /// What becomes of the offer that `ask` gets for the convolution.
  template <class Ask>
  static Offer pooled(const StepRequest& whole, Ask&& ask) {
    const RegionParts parts(whole);
    if (Refusal reason = form_refusal(whole, parts)) return Offer::refuse(std::move(reason));
    const RegionPart& conv = parts.part("conv");
    Offer offer = ask(conv.request);
    if (offer.refusal) return offer;
    const std::vector<TensorDesc> wanted = std::move(offer.inputs);
    offer.inputs.assign(whole.inputs.size(), {});
    if (Refusal reason = conv.operands.arrange(wanted, offer.inputs)) return Offer::refuse(std::move(reason));
    const TensorDesc result = offer.outputs[0];
    Pool pool;
    if (is_global(whole)) {
      pool = global_average_pool(result);
      // As a global pool leaves it, so that a matrix product can read it.
      offer.outputs[0].layout = Layout::kPlain;
    } else {
      const auto axes = graph::pool_axes(parts.part("pool").node.attributes, result.shape);
      if (!fits_in_int(axes)) return Offer::refuse("a window beyond 2^31");
      pool = max_pool(pool_size(result.shape[0], result.shape[1], axes), result);
    }
    constexpr int64_t kAlignment = 256;
    const int64_t result_at = (offer.scratch_bytes + kAlignment - 1) / kAlignment * kAlignment;
    offer.scratch_bytes = result_at + tensor::element_count(result.shape) *
                                          static_cast<int64_t>(tensor::dtype_size(result.dtype));
    offer.outputs[0].shape = whole.outputs[0].shape;
    offer.kernel =
        std::make_shared<PooledKernel>(std::move(offer.kernel), conv.operands, result_at, std::move(pool));
    return offer;
  }

  const CudaTactic& convolution_;
  std::string name_;
};

}  // namespace

void add_pooled_convolution_tactics(TacticList& list, Gpu& gpu) {
  const size_t count = list.size();
  for (size_t i = 0; i < count; ++i) {
    const auto& tactic = static_cast<const CudaTactic&>(*list[i]);
    if (tactic.handles("FusedConv")) list.push_back(std::make_unique<PooledConvolutionTactic>(gpu, tactic));
  }
}

}  // namespace hone::device::cuda
