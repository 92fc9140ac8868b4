// A convolution and the max pool behind it as two kernels, where no one kernel is both or is as fast.
#include "device/cuda/plugin/kernels/pooling.hpp"
#include "device/cuda/plugin/tactics.hpp"

namespace hone::device::cuda {
namespace {

using engine::Kernel;
using engine::Offer;
using engine::StepRequest;
using engine::TensorDesc;

/// The convolution alone. Holds the node that the request names.
struct ConvolutionPart {
  graph::Node node;
  StepRequest request;
  std::vector<graph::WindowAxis> pool;  ///< over its output

  explicit ConvolutionPart(const StepRequest& whole)
      : node(plain(whole.node)), request{whole.graph,     node,
                                         whole.inputs,    whole.outputs,
                                         whole.precision, whole.compute_dtype,
                                         whole.layout,    whole.round_bf16} {
    const graph::Convolution geometry =
        graph::read_convolution(node.attributes, request.inputs[0].shape, request.inputs[1].shape);
    request.outputs[0].shape = geometry.output_shape();
    pool = graph::pool_axes(whole.node.attributes, geometry);
  }
  ConvolutionPart(const ConvolutionPart&) = delete;
  ConvolutionPart& operator=(const ConvolutionPart&) = delete;

 private:
  static graph::Node plain(const graph::Node& fused) {
    graph::Node node = fused;
    node.op = "FusedConv";
    for (const auto& [name, value] : fused.attributes) {
      if (name.starts_with("pool_")) node.attributes.erase(name);
    }
    return node;
  }
};

/// Says for a while whether the next kernel waits by griddepcontrol.
class NextWaits {
 public:
  explicit NextWaits(bool waits) : before_(next_step_waits()) { set_next_step_waits(waits); }
  ~NextWaits() { set_next_step_waits(before_); }
  NextWaits(const NextWaits&) = delete;
  NextWaits& operator=(const NextWaits&) = delete;

 private:
  bool before_;
};

/// The convolution into the end of the scratch area, and the pool of that.
class PooledKernel final : public Kernel {
 public:
  PooledKernel(std::shared_ptr<Kernel> convolution, int64_t result_at, TensorDesc result, PoolSize pool)
      : convolution_(std::move(convolution)),
        result_at_(result_at),
        result_(std::move(result)),
        pool_(pool) {}

  void run(std::span<const void* const> inputs, std::span<void* const> outputs, void* scratch) override {
    void* const result = static_cast<std::byte*>(scratch) + result_at_;
    {
      // What comes after the convolution is the pool, which waits itself, whatever the next step does.
      const NextWaits next(true);
      convolution_->run(inputs, {&result, 1}, scratch);
    }
    check(pool(result, outputs[0], float_type(result_.dtype), image_order(result_.layout), PoolKind::kMax,
               pool_, launch_options()),
          "launching a pool");
  }

 private:
  std::shared_ptr<Kernel> convolution_;
  int64_t result_at_;
  TensorDesc result_;
  PoolSize pool_;
};

class PooledConvolutionTactic final : public CudaTactic {
 public:
  explicit PooledConvolutionTactic(const CudaTactic& convolution)
      : convolution_(convolution), name_(std::string(convolution.name()) + "+pool") {}

  std::string_view name() const override { return name_; }
  bool handles(const std::string& op) const override { return op == "FusedConvMaxPool"; }

  std::vector<std::string> variants(const StepRequest& request) const override {
    return convolution_.variants(ConvolutionPart(request).request);
  }
  void expect(const StepRequest& request, const std::vector<std::string>& variants) const override {
    convolution_.expect(ConvolutionPart(request).request, variants);
  }
  Offer offer(const StepRequest& request, engine::WeightStore& weights) const override {
    const ConvolutionPart part(request);
    return pooled(part, request, convolution_.offer(part.request, weights));
  }
  Offer offer_variant(const StepRequest& request, engine::WeightStore& weights,
                      std::string_view variant) const override {
    const ConvolutionPart part(request);
    return pooled(part, request, convolution_.offer_variant(part.request, weights, variant));
  }

 private:
  static Offer pooled(const ConvolutionPart& part, const StepRequest& whole, Offer offer) {
    if (!offer.refusal.empty()) return offer;
    constexpr int64_t kAlignment = 256;
    const TensorDesc result = offer.outputs[0];
    const int64_t result_at = (offer.scratch_bytes + kAlignment - 1) / kAlignment * kAlignment;
    offer.scratch_bytes = result_at + tensor::element_count(result.shape) *
                                          static_cast<int64_t>(tensor::dtype_size(result.dtype));
    offer.outputs[0].shape = whole.outputs[0].shape;
    offer.kernel = std::make_shared<PooledKernel>(std::move(offer.kernel), result_at, result,
                                                  pool_size(result.shape[0], result.shape[1], part.pool));
    return offer;
  }

  const CudaTactic& convolution_;
  std::string name_;
};

}  // namespace

void add_pooled_convolution_tactics(TacticList& list) {
  const size_t count = list.size();
  for (size_t i = 0; i < count; ++i) {
    const auto& tactic = static_cast<const CudaTactic&>(*list[i]);
    if (tactic.handles("FusedConv")) list.push_back(std::make_unique<PooledConvolutionTactic>(tactic));
  }
}

}  // namespace hone::device::cuda
