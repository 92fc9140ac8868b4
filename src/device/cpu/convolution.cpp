// Convolutions through oneDNN, with the post-ops that an implementation takes inside the primitive and the
// rest as an elementwise chain on its output.
#include <algorithm>

#include "device/cpu/elementwise_program.hpp"
#include "device/cpu/onednn.hpp"
#include "device/cpu/post_ops.hpp"
#include "device/cpu/tactics.hpp"
#include "engine/requirements.hpp"
#include "graph/convolution_geometry.hpp"

namespace hone::device::cpu {
namespace {

using dnnl::memory;
using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::DType;

/// Images with so few channels gain nothing from a blocked or channels-last source.
constexpr int64_t kFewChannels = 4;

enum class Variant { kDirect, kWinograd, kPerImage, kPlain };

struct Plan {
  graph::Convolution geometry;
  TensorDesc source;
  TensorDesc result;
  memory::dims weight_dims;
  bool has_bias = false;
};

/// One primitive run image after image on slices of its operands: smaller working sets for large batches.
class PerImageKernel final : public engine::Kernel {
 public:
  PerImageKernel(std::shared_ptr<const engine::Kernel> image, int64_t batch,
                 std::vector<int64_t> input_strides, int64_t output_stride)
      : image_(std::move(image)),
        batch_(batch),
        input_strides_(std::move(input_strides)),
        output_stride_(output_stride) {}

  void run(const engine::Run& run) const override {
    const std::unique_ptr<engine::KernelState> own = run.state == nullptr ? make_state() : nullptr;
    auto& state = static_cast<State&>(own == nullptr ? *run.state : *own);
    std::vector<const void*>& inputs = state.inputs;
    engine::Run image = run;
    image.state = state.image.get();
    for (int64_t n = 0; n < batch_; ++n) {
      for (size_t i = 0; i < inputs.size(); ++i) {
        inputs[i] = run.inputs[i] == nullptr
                        ? nullptr
                        : static_cast<const std::byte*>(run.inputs[i]) + n * input_strides_[i];
      }
      void* output = static_cast<std::byte*>(run.outputs[0]) + n * output_stride_;
      image.inputs = inputs;
      image.outputs = {&output, 1};
      image_->run(image);
    }
  }

  std::unique_ptr<engine::KernelState> make_state() const override {
    auto state = std::make_unique<State>();
    state->image = image_->make_state();
    state->inputs.resize(input_strides_.size());
    return state;
  }

 private:
  struct State final : engine::KernelState {
    std::unique_ptr<engine::KernelState> image;
    /// Inputs for the image that runs.
    std::vector<const void*> inputs;
  };

  std::shared_ptr<const engine::Kernel> image_;
  int64_t batch_;
  std::vector<int64_t> input_strides_;
  int64_t output_stride_;
};

bool winograd_shape(const graph::Convolution& geometry) {
  return geometry.group == 1 && geometry.axes.size() == 2 &&
         std::all_of(geometry.axes.begin(), geometry.axes.end(), [](const graph::WindowAxis& axis) {
           return axis.kernel == 3 && axis.stride == 1 && axis.dilation == 1;
         });
}

bool has_window_of_padding(const graph::Convolution& geometry) {
  return std::any_of(geometry.axes.begin(), geometry.axes.end(), [](const graph::WindowAxis& axis) {
    for (int64_t o = 0; o < axis.output; ++o) {
      if (graph::taps_inside(axis, o).size() == 0) return true;
    }
    return false;
  });
}

bool has_whole_operand(const StepRequest& request, const PostOps& post) {
  return std::any_of(post.binary_inputs.begin(), post.binary_inputs.end(), [&](const auto& operand) {
    return request.inputs[operand.first].shape == request.outputs[0].shape;
  });
}

void arrange(const StepRequest& request, Variant variant, Plan& plan) {
  const Layout layout = variant == Variant::kPlain ? Layout::kPlain : request.layout;
  plan.source = {request.storage(), request.inputs[0].shape,
                 engine::layout_for_shape(layout, request.inputs[0].shape)};
  plan.result = {request.storage(), request.outputs[0].shape,
                 engine::layout_for_shape(layout, request.outputs[0].shape)};
  if (plan.geometry.in_channels <= kFewChannels && plan.geometry.group == 1 &&
      engine::layout_block(plan.source.layout) > 1) {
    plan.source.layout = Layout::kPlain;
  }
  const graph::Convolution& geometry = plan.geometry;
  if (geometry.group > 1) {
    plan.weight_dims = {geometry.group, geometry.group_outputs(), geometry.group_inputs()};
  } else {
    plan.weight_dims = {geometry.out_channels, geometry.in_channels};
  }
  for (const graph::WindowAxis& axis : geometry.axes) plan.weight_dims.push_back(axis.kernel);
}

dnnl::convolution_forward::primitive_desc primitive_desc(Variant variant, const Plan& plan,
                                                         const memory::desc& source,
                                                         const memory::desc& result,
                                                         const dnnl::primitive_attr& attributes) {
  memory::dims strides;
  memory::dims dilations;
  memory::dims begin;
  memory::dims end;
  for (const graph::WindowAxis& axis : plan.geometry.axes) {
    strides.push_back(axis.stride);
    dilations.push_back(axis.dilation - 1);
    begin.push_back(axis.pad_begin);
    end.push_back(axis.pad_end);
  }
  const memory::desc weights(plan.weight_dims, source.data_type(), memory::format_tag::any);
  const memory::desc bias = plan.has_bias ? memory::desc({plan.geometry.out_channels}, memory::data_type::f32,
                                                         memory::format_tag::x)
                                          : memory::desc();
  const auto algorithm = variant == Variant::kWinograd ? dnnl::algorithm::convolution_winograd
                                                       : dnnl::algorithm::convolution_direct;
  constexpr auto kKind = dnnl::prop_kind::forward_inference;
#if DNNL_VERSION_MAJOR >= 3
  return {onednn_engine(), kKind,   algorithm, source, weights, bias,
          result,          strides, dilations, begin,  end,     attributes};
#else
  return {{kKind, algorithm, source, weights, bias, result, strides, dilations, begin, end},
          attributes,
          onednn_engine()};
#endif
}

void bind_post_ops(const StepRequest& request, const Plan& plan, const PostOps& post, OnednnKernel& kernel,
                   Offer& offer) {
  if (post.accumulate_input >= 0) offer.inputs[static_cast<size_t>(post.accumulate_input)] = plan.result;
  for (const auto& [input, argument] : post.binary_inputs) {
    const auto desc = chain_operand_desc(request.inputs[input], plan.result);
    offer.inputs[input] = *desc;
    TensorDesc seen = *desc;
    while (seen.shape.size() < plan.result.shape.size()) seen.shape.insert(seen.shape.begin(), 1);
    kernel.bind_input(input, argument, onednn_desc(seen));
  }
}

std::shared_ptr<const engine::Kernel> per_image_kernel(const Offer& offer, const Plan& plan,
                                                       const StepRequest& request) {
  const int64_t batch = plan.geometry.batch;
  std::vector<int64_t> strides(request.inputs.size(), 0);
  strides[0] = plan.source.bytes() / batch;
  return std::make_shared<PerImageKernel>(offer.kernel, batch, std::move(strides),
                                          plan.result.bytes() / batch);
}

Offer make(const StepRequest& request, Variant variant, const Plan& plan, size_t inside, bool allow_sum,
           engine::WeightStore& weights) {
  const bool fused = request.node.op == "FusedConv";
  PostOps post;
  if (fused) post = translate_post_ops(request, 3, plan.result, inside, allow_sum);
  if (fused && post.count < inside)
    return Offer::refuse(fmt::format("post-op {} does not fit into the primitive", post.count));
  // oneDNN 2.6 ends the process there, in its code for AVX-512, when a function comes before the sum.
  if (post.accumulate_input >= 0 && has_window_of_padding(plan.geometry))
    return Offer::refuse("a sum where a window is padding alone");
  const bool per_image = variant == Variant::kPerImage;
  if (per_image && !post.binary_inputs.empty()) return Offer::refuse("a binary post-op over the whole batch");

  TensorDesc source = plan.source;
  TensorDesc result = plan.result;
  if (per_image) source.shape[0] = result.shape[0] = 1;
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_post_ops(post.ops);
  const auto pd = primitive_desc(variant, plan, onednn_desc(source), onednn_desc(result), attributes);
  if (const Refusal reason = refuse_implementation(pd.impl_info_str())) return Offer::refuse(reason);
  // oneDNN 2.6 reads such an operand as if it lay row-major.
  if (std::string_view(pd.impl_info_str()).find("gemm") != std::string_view::npos &&
      result.layout == Layout::kChannelsLast && has_whole_operand(request, post))
    return Offer::refuse("an operand of the result's shape, in channels-last by a matrix product");

  auto kernel = std::make_shared<OnednnKernel>(dnnl::convolution_forward(pd));
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  offer.inputs[0] = plan.source;
  offer.outputs = {plan.result};
  kernel->bind_input(0, DNNL_ARG_SRC, pd.src_desc());
  kernel->bind_output(0, DNNL_ARG_DST, pd.dst_desc());
  kernel->bind_scratch(pd.scratchpad_desc());
  const PackedConstant packed = pack_constant(request, 1, plan.weight_dims, pd.weights_desc(), weights);
  kernel->bind_constant(DNNL_ARG_WEIGHTS, pd.weights_desc(), packed.data);
  if (plan.has_bias) {
    kernel->bind_input(2, DNNL_ARG_BIAS, pd.bias_desc());
    offer.inputs[2] = {DType::kFloat32, request.inputs[2].shape, Layout::kPlain};
  }
  bind_post_ops(request, plan, post, *kernel, offer);
  offer.packed = {packed.key};
  offer.accumulate(post.accumulate_input);
  offer.scratch_bytes = static_cast<int64_t>(pd.scratchpad_desc().get_size());
  offer.kernel = std::move(kernel);
  if (per_image) offer.kernel = per_image_kernel(offer, plan, request);
  if (!append_rest(request, post.count, offer)) return Offer::refuse("a post-op that no chain can run");
  return offer;
}

Refusal only_images(const StepRequest& request) {
  if (request.inputs[0].shape.size() < 3 || request.inputs[0].shape.size() > 5)
    return "only 1-D, 2-D and 3-D convolutions";
  return {};
}

Offer offer_convolution(Variant variant, const StepRequest& request, engine::WeightStore& weights) {
  const graph::Node& node = request.node;
  if (!request.graph.value(node.inputs[1]).constant) return Offer::refuse("the weights are not constant");
  Plan plan{graph::read_convolution(node.attributes, request.inputs[0].shape, request.inputs[1].shape),
            {},
            {},
            {},
            false};
  if (variant == Variant::kPerImage && plan.geometry.batch < 2) return Offer::refuse("the batch is 1");
  if (variant == Variant::kWinograd && !winograd_shape(plan.geometry)) {
    return Offer::refuse("Winograd is for 3x3, stride 1, without groups or dilation");
  }
  plan.has_bias = node.has_input(2);
  arrange(request, variant, plan);
  return offer_with_post_ops(request, [&](size_t inside, bool allow_sum) {
    return guard_onednn([&] { return make(request, variant, plan, inside, allow_sum, weights); });
  });
}

}  // namespace

void add_convolution_tactics(TacticList& list) {
  for (const auto& [name, variant] :
       {std::pair("onednn_direct", Variant::kDirect), std::pair("onednn_winograd", Variant::kWinograd),
        std::pair("onednn_per_image", Variant::kPerImage), std::pair("onednn_plain", Variant::kPlain)}) {
    list.push_back({.name = name,
                    .operators = {"Conv", "FusedConv"},
                    .requirements = {only_images, engine::only_float32, engine::nonempty_output},
                    .make = [variant = variant](const StepRequest& request, engine::WeightStore& weights) {
                      return offer_convolution(variant, request, weights);
                    }});
  }
}

}  // namespace hone::device::cpu
