// Pooling: windows through oneDNN, global pools with loops of ours that read each image once.
#include <algorithm>

#include "device/cpu/chain_math.hpp"
#include "device/cpu/onednn.hpp"
#include "device/cpu/reduction_math.hpp"
#include "device/cpu/tactics.hpp"
#include "engine/requirements.hpp"
#include "graph/convolution_geometry.hpp"
#include "tensor/saturate.hpp"

namespace hone::device::cpu {
namespace {

using dnnl::memory;
using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::BFloat16;
using tensor::DType;

Offer make_pooling(const StepRequest& request) {
  const graph::Node& node = request.node;
  const engine::Shape& shape = request.inputs[0].shape;
  const bool average = node.op == "AveragePool";
  const graph::Window window = graph::read_window(node.attributes, node.attributes.get_ints("kernel_shape"));
  const auto axes = graph::resolve_window(window, std::span(shape).subspan(2));
  memory::dims kernel, strides, dilations, begin, end;
  for (const graph::WindowAxis& axis : axes) {
    if (axis.dilation != 1 && average) return Offer::refuse("a dilated average");
    // With ceil_mode the last window may reach past the declared padding.
    const int64_t reach = (axis.output - 1) * axis.stride + axis.extent() - axis.input - axis.pad_begin;
    if (average && reach > axis.pad_end) return Offer::refuse("windows reach past the padding (ceil_mode)");
    kernel.push_back(axis.kernel);
    strides.push_back(axis.stride);
    dilations.push_back(axis.dilation - 1);
    begin.push_back(axis.pad_begin);
    end.push_back(std::max<int64_t>(reach, 0));
    if (axis.pad_begin >= axis.extent() || std::max<int64_t>(reach, 0) >= axis.extent())
      return Offer::refuse("a window of padding alone");
  }
  const bool include = average && node.attributes.get_int("count_include_pad") != 0;
  const auto algorithm = !average  ? dnnl::algorithm::pooling_max
                         : include ? dnnl::algorithm::pooling_avg_include_padding
                                   : dnnl::algorithm::pooling_avg_exclude_padding;
  const TensorDesc source{request.storage(), shape, engine::layout_for_shape(request.layout, shape)};
  const TensorDesc result{request.storage(), request.outputs[0].shape, source.layout};
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  constexpr auto kKind = dnnl::prop_kind::forward_inference;
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::pooling_forward::primitive_desc pd(onednn_engine(), kKind, algorithm, onednn_desc(source),
                                                 onednn_desc(result), strides, kernel, dilations, begin, end,
                                                 attributes);
  auto primitive = dnnl::pooling_forward(pd);
#else
  const dnnl::pooling_v2_forward::primitive_desc pd(
      {kKind, algorithm, onednn_desc(source), onednn_desc(result), strides, kernel, dilations, begin, end},
      attributes, onednn_engine());
  auto primitive = dnnl::pooling_v2_forward(pd);
#endif
  if (const Refusal reason = refuse_implementation(pd.impl_info_str())) return Offer::refuse(reason);
  auto pool = std::make_shared<OnednnKernel>(std::move(primitive));
  pool->bind_input(0, DNNL_ARG_SRC, pd.src_desc());
  pool->bind_output(0, DNNL_ARG_DST, pd.dst_desc());
  pool->bind_scratch(pd.scratchpad_desc());
  Offer offer;
  offer.inputs = {source};
  offer.outputs = {result};
  offer.outputs.resize(request.outputs.size());
  offer.scratch_bytes = static_cast<int64_t>(pd.scratchpad_desc().get_size());
  offer.kernel = std::move(pool);
  return offer;
}

Offer offer_pooling(const StepRequest& request, engine::WeightStore&) {
  if (request.node.has_output(1)) return Offer::refuse("the indices are wanted");
  return guard_onednn([&] { return make_pooling(request); });
}

/// Mean or maximum over the pixels of each channel; the result is plain (N, C, 1, 1), so that a Gemm can read
/// it.
class GlobalPoolKernel final : public engine::Kernel {
 public:
  GlobalPoolKernel(const TensorDesc& source, DType result, bool average)
      : source_(source), result_(result), average_(average) {
    for (size_t i = 2; i < source.shape.size(); ++i) pixels_ *= source.shape[i];
  }

  void run(const engine::Run& run) const override {
    const int64_t channels = source_.shape[1];
    const int64_t width = source_.layout == Layout::kPlain ? 1
                          : is_last()                      ? kGroup
                                                           : engine::layout_block(source_.layout);
    const int64_t groups = (channels + width - 1) / width;
    const int64_t units = source_.shape[0] * groups;
#pragma omp parallel for schedule(static) if (units > 1 && units * pixels_ * width > 65536)
    for (int64_t unit = 0; unit < units; ++unit) {
      const int64_t first = unit % groups * width;
      const int64_t count = std::min(width, channels - first);
      const int64_t step = is_last() ? channels : width;
      const int64_t at = is_last() ? unit / groups * pixels_ * channels + first : unit * pixels_ * width;
      float folded[kGroup];
      fold(run.inputs[0], at, static_cast<size_t>(step), static_cast<size_t>(count), folded);
      for (int64_t c = 0; c < count; ++c) {
        const float value = average_ ? folded[c] / static_cast<float>(pixels_) : folded[c];
        store(run.outputs[0], unit / groups * channels + first + c, value);
      }
    }
  }

 private:
  /// Channels side by side in memory, up to this many, are folded together.
  static constexpr int64_t kGroup = 64;
  /// Pixels whose bfloat16 numbers are widened at a time.
  static constexpr size_t kWidened = 4096;

  bool is_last() const { return source_.layout == Layout::kChannelsLast; }

  void fold(const void* x, int64_t at, size_t step, size_t count, float* folded) const {
    const Fold fold = average_ ? Fold::kSum : Fold::kMax;
    const auto pixels = static_cast<size_t>(pixels_);
    std::fill(folded, folded + count, fold_start(fold));
    if (source_.dtype == DType::kFloat32) {
      const float* from = static_cast<const float*>(x) + at;
      if (step == 1) {
        folded[0] = fold_row(fold, from, pixels);
      } else {
        fold_columns(fold, from, step, pixels, folded, count);
      }
      return;
    }
    const BFloat16* from = static_cast<const BFloat16*>(x) + at;
    float widened[kWidened];
    const size_t most = kWidened / count;
    for (size_t p = 0; p < pixels; p += most) {
      const size_t rows = std::min(most, pixels - p);
      for (size_t r = 0; r < rows && step != count; ++r)
        widen(from + (p + r) * step, widened + r * count, count);
      if (step == count) widen(from + p * step, widened, rows * count);
      if (count == 1) {
        folded[0] = join_folds(fold, folded[0], fold_row(fold, widened, rows));
      } else {
        fold_columns(fold, widened, count, rows, folded, count);
      }
    }
  }

  void store(void* y, int64_t position, float value) const {
    if (result_ == DType::kBFloat16) {
      static_cast<BFloat16*>(y)[position] = tensor::saturated<BFloat16>(value);
      return;
    }
    static_cast<float*>(y)[position] = value;
  }

  TensorDesc source_;
  DType result_;
  bool average_;
  int64_t pixels_ = 1;
};

Offer offer_global_pool(const StepRequest& request, engine::WeightStore&) {
  const bool average = request.node.op == "GlobalAveragePool";
  if (!average && tensor::element_count(request.inputs[0].shape) == 0)
    return Offer::refuse("the input is empty");
  Offer offer;
  offer.inputs = {{request.storage(), request.inputs[0].shape, request.inputs[0].layout}};
  offer.outputs = {{request.storage(), request.outputs[0].shape, Layout::kPlain}};
  offer.kernel = std::make_shared<GlobalPoolKernel>(offer.inputs[0], request.storage(), average);
  return offer;
}

}  // namespace

void add_pooling_tactics(TacticList& list) {
  list.push_back({.name = "onednn_pooling",
                  .operators = {"MaxPool", "AveragePool"},
                  .requirements = {engine::only_float32, engine::one_to_three_axes, engine::nonempty_output},
                  .make = offer_pooling});
  list.push_back({.name = "global_average",
                  .operators = {"GlobalAveragePool"},
                  .requirements = {engine::only_float32},
                  .make = offer_global_pool});
  list.push_back({.name = "global_maximum",
                  .operators = {"GlobalMaxPool"},
                  .requirements = {engine::only_float32},
                  .make = offer_global_pool});
}

}  // namespace hone::device::cpu
