// Pools of bytes in channels-last images: average pools sum integers and round once; max pools run through
// oneDNN.
#include <algorithm>

#include "device/cpu/chain_math.hpp"
#include "device/cpu/clones.hpp"
#include "device/cpu/onednn.hpp"
#include "device/cpu/quantized/stages.hpp"
#include "device/cpu/quantized/tactics.hpp"
#include "engine/requirements.hpp"
#include "graph/convolution_geometry.hpp"

namespace hone::device::cpu {
namespace {

using dnnl::memory;
using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::DType;

template <class T>
HONE_INLINE void add(const T* __restrict x, int32_t* __restrict sums, size_t n) {
  for (size_t i = 0; i < n; ++i) sums[i] += x[i];
}
HONE_CLONES void add_row(const uint8_t* x, int32_t* sums, size_t n) { add(x, sums, n); }
HONE_CLONES void add_row(const int8_t* x, int32_t* sums, size_t n) { add(x, sums, n); }

/// to[i] = (sums[i] - offset) * factor.
HONE_CLONES void scale_sums(const int32_t* sums, int32_t offset, float factor, float* to, size_t n) {
  for (size_t i = 0; i < n; ++i) to[i] = static_cast<float>(sums[i] - offset) * factor;
}

/// An average pool over two spatial axes.
struct Average {
  int64_t batch = 0;
  int64_t channels = 0;
  graph::WindowAxis rows;
  graph::WindowAxis columns;
  bool counts_padding = false;
};

class AverageKernel final : public engine::Kernel {
 public:
  AverageKernel(size_t input, Average pool, ByteScale from, StageProgram stages)
      : input_(input), pool_(pool), from_(from), stages_(std::move(stages)) {}

  void run(const engine::Run& run) const override {
    const int64_t pixels = pool_.batch * pool_.rows.output * pool_.columns.output;
    const bool parallel = pixels * pool_.channels * pool_.rows.kernel * pool_.columns.kernel > 1 << 16;
#pragma omp parallel for schedule(static) if (parallel)
    for (int64_t pixel = 0; pixel < pixels; ++pixel) {
      for (int64_t first = 0; first < pool_.channels; first += kPart)
        run_part(run, pixel, first, std::min(kPart, pool_.channels - first));
    }
  }

 private:
  static constexpr auto kPart = static_cast<int64_t>(kRun);

  void run_part(const engine::Run& run, int64_t pixel, int64_t first, int64_t count) const {
    const int64_t column = pixel % pool_.columns.output;
    const int64_t row = pixel / pool_.columns.output % pool_.rows.output;
    const int64_t image = pixel / pool_.columns.output / pool_.rows.output;
    const auto n = static_cast<size_t>(count);
    alignas(64) int32_t sums[kRun] = {};
    const graph::Range down = graph::taps_inside(pool_.rows, row);
    const graph::Range across = graph::taps_inside(pool_.columns, column);
    for (int64_t r = down.begin; r < down.end; ++r) {
      for (int64_t c = across.begin; c < across.end; ++c) {
        const int64_t at = (image * pool_.rows.input + pool_.rows.position(row, r)) * pool_.columns.input +
                           pool_.columns.position(column, c);
        const void* x = run.inputs[input_];
        if (from_.dtype == DType::kUInt8) {
          add_row(static_cast<const uint8_t*>(x) + at * pool_.channels + first, sums, n);
        } else {
          add_row(static_cast<const int8_t*>(x) + at * pool_.channels + first, sums, n);
        }
      }
    }
    const int64_t inside = down.size() * across.size();
    const int64_t counted = pool_.counts_padding ? counted_taps(row, column) : inside;
    alignas(64) float means[kRun];
    scale_sums(sums, static_cast<int32_t>(inside) * from_.zero_point,
               from_.scale / static_cast<float>(counted), means, n);
    stages_.run(means, pixel * pool_.channels + first, n, run.inputs, run.outputs[0]);
  }

  /// Elements of a window that lie in the image or its padding.
  int64_t counted_taps(int64_t row, int64_t column) const {
    return graph::taps_inside(pool_.rows, row, pool_.rows.pad_begin, pool_.rows.pad_end).size() *
           graph::taps_inside(pool_.columns, column, pool_.columns.pad_begin, pool_.columns.pad_end).size();
  }

  size_t input_;
  Average pool_;
  ByteScale from_;
  StageProgram stages_;
};

Average average_of(const graph::Node& core, const Shape& shape) {
  Average pool{.batch = shape[0], .channels = shape[1]};
  if (core.op == "GlobalAveragePool") {
    pool.rows = {.input = shape[2], .output = 1, .kernel = shape[2]};
    pool.columns = {.input = shape[3], .output = 1, .kernel = shape[3]};
    return pool;
  }
  const graph::Window window = graph::read_window(core.attributes, core.attributes.get_ints("kernel_shape"));
  const auto axes = graph::resolve_window(window, std::span(shape).subspan(2));
  pool.rows = axes[0];
  pool.columns = axes[1];
  pool.counts_padding = core.attributes.get_int("count_include_pad") != 0;
  return pool;
}

Offer offer_average(const StepRequest& request, engine::WeightStore&) {
  const auto chain = graph::read_quantized_chain(request.node);
  if (!chain || chain->core == nullptr || chain->w.is_present()) return Offer::refuse("no pool");
  const auto from = byte_scale(request, chain->x);
  const Shape& shape = request.inputs[chain->x.value].shape;
  if (!from || shape.size() != 4) return Offer::refuse("only images of bytes of one constant scale");
  const Average pool = average_of(*chain->core, shape);
  // Sums of 32 bits.
  constexpr int64_t kMostTaps = int64_t{1} << 22;
  if (pool.rows.kernel > kMostTaps || pool.columns.kernel > kMostTaps ||
      pool.rows.kernel * pool.columns.kernel > kMostTaps)
    return Offer::refuse("windows of more than 2^22 elements");
  for (const graph::WindowAxis& axis : {pool.rows, pool.columns}) {
    for (int64_t o = 0; o < axis.output; ++o) {
      if (graph::taps_inside(axis, o).size() == 0) return Offer::refuse("a window of padding alone");
    }
  }
  const TensorDesc result{request.outputs[0].dtype, request.outputs[0].shape, Layout::kChannelsLast};
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  keep_constants(request, *chain, offer);
  StageProgram stages;
  if (Refusal reason = StageProgram::make(request, *chain, result, offer, stages))
    return Offer::refuse(std::move(reason));
  offer.inputs[chain->x.value] = {from->dtype, shape, Layout::kChannelsLast};
  offer.outputs = {result};
  offer.kernel = std::make_shared<AverageKernel>(chain->x.value, pool, *from, std::move(stages));
  return offer;
}

Offer make_maximum(const StepRequest& request) {
  const graph::Node& node = request.node;
  const Shape& shape = request.inputs[0].shape;
  const graph::Window window = graph::read_window(node.attributes, node.attributes.get_ints("kernel_shape"));
  memory::dims kernel, strides, dilations, begin, end;
  for (const graph::WindowAxis& axis : graph::resolve_window(window, std::span(shape).subspan(2))) {
    // With ceil_mode the last window may reach past the declared padding.
    const int64_t reach = (axis.output - 1) * axis.stride + axis.extent() - axis.input - axis.pad_begin;
    if (axis.pad_begin >= axis.extent() || std::max<int64_t>(reach, 0) >= axis.extent())
      return Offer::refuse("a window of padding alone");
    kernel.push_back(axis.kernel);
    strides.push_back(axis.stride);
    dilations.push_back(axis.dilation - 1);
    begin.push_back(axis.pad_begin);
    end.push_back(std::max<int64_t>(reach, 0));
  }
  const TensorDesc source{request.outputs[0].dtype, shape, Layout::kChannelsLast};
  const TensorDesc result{request.outputs[0].dtype, request.outputs[0].shape, Layout::kChannelsLast};
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  constexpr auto kKind = dnnl::prop_kind::forward_inference;
  constexpr auto kMaximum = dnnl::algorithm::pooling_max;
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::pooling_forward::primitive_desc pd(onednn_engine(), kKind, kMaximum, onednn_desc(source),
                                                 onednn_desc(result), strides, kernel, dilations, begin, end,
                                                 attributes);
  auto primitive = dnnl::pooling_forward(pd);
#else
  const dnnl::pooling_v2_forward::primitive_desc pd(
      {kKind, kMaximum, onednn_desc(source), onednn_desc(result), strides, kernel, dilations, begin, end},
      attributes, onednn_engine());
  auto primitive = dnnl::pooling_v2_forward(pd);
#endif
  if (const Refusal reason = refuse_implementation(pd.impl_info_str())) return Offer::refuse(reason);
  auto kernel_of = std::make_shared<OnednnKernel>(primitive);
  kernel_of->bind_input(0, DNNL_ARG_SRC, pd.src_desc());
  kernel_of->bind_output(0, DNNL_ARG_DST, pd.dst_desc());
  kernel_of->bind_scratch(pd.scratchpad_desc());
  Offer offer;
  offer.inputs = {source};
  offer.outputs = {result};
  offer.scratch_bytes = static_cast<int64_t>(pd.scratchpad_desc().get_size());
  offer.kernel = std::move(kernel_of);
  return offer;
}

Offer offer_maximum(const StepRequest& request, engine::WeightStore&) {
  if (!is_byte(request.outputs[0].dtype)) return Offer::refuse("only bytes");
  if (request.node.has_output(1)) return Offer::refuse("indices are wanted");
  if (request.inputs[0].shape.size() != 4) return Offer::refuse("only images of two axes");
  return guard_onednn([&] { return make_maximum(request); });
}

}  // namespace

void add_quantized_pool_tactics(engine::TacticList& list) {
  list.push_back({.name = "byte_average",
                  .operators = {"Region:quantized_pool"},
                  .requirements = {engine::nonempty_output},
                  .make = offer_average});
  list.push_back({.name = "onednn_byte_pooling",
                  .operators = {"MaxPool"},
                  .requirements = {engine::nonempty_output},
                  .make = offer_maximum});
}

}  // namespace hone::device::cpu
