// Runs conv_max_pool and conv_global_pool regions as two kernels, if no single kernel computes both, or is as
// fast.
#include <algorithm>
#include <array>
#include <iterator>

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
/// Limit on the operands of the convolution: an image, filters, a bias, and the most post-ops that passes
/// make.
constexpr size_t kMostOperands = 3 + 32;

/// Computes the step's result from the convolution's result.
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

/// Runs the convolution into the end of the scratch memory, then the pool.
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
    // The pool follows the convolution and waits itself, whatever the next step does.
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

/// The reason why the convolution in the body cannot be requested separately; empty if it can.
Refusal form_refusal(const StepRequest& request, const RegionParts& parts) {
  if (parts.form() != (is_global(request) ? kGlobalForm : kMaxForm))
    return "its body is no convolution and its pool";
  if (parts.part("conv").operands.count() > kMostOperands)
    return fmt::format("its convolution has more than {} operands", kMostOperands);
  return {};
}

/// Converts the offer that `ask` gets for the convolution to an offer for the whole step.
template <class Ask>
Offer pooled(const StepRequest& whole, Ask&& ask) {
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
    // A global pool's result is plain, so that a matrix product can read it.
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

/// Returns the tactic with a pool after its result. It asks the tactic only for the convolution, whose
/// requirements are checked then.
engine::Tactic with_pool(const engine::Tactic& tactic) {
  const auto convolution = std::make_shared<const engine::Tactic>(tactic);
  return {
      .name = convolution->name + "+pool",
      .operators = {"Region:conv_max_pool", "Region:conv_global_pool"},
      .starts_early = convolution->starts_early,
      .make =
          [convolution](const StepRequest& request, engine::WeightStore& weights) {
            return pooled(request,
                          [&](const StepRequest& conv) { return convolution->offer(conv, weights); });
          },
      .list_variants = [convolution](const StepRequest& request) -> std::vector<std::string> {
        const RegionParts parts(request);
        if (form_refusal(request, parts)) return {};
        return convolution->variants(parts.part("conv").request);
      },
      .make_variant =
          [convolution](const StepRequest& request, engine::WeightStore& weights, std::string_view variant) {
            return pooled(request, [&](const StepRequest& conv) {
              return convolution->offer_variant(conv, weights, variant);
            });
          },
      .prepare = [convolution](const StepRequest& request,
                               const std::vector<std::string>& variants) -> engine::Preparation {
        const RegionParts parts(request);
        if (form_refusal(request, parts)) return nullptr;
        return convolution->expect(parts.part("conv").request, variants);
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
