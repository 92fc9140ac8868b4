// Operator table entries of the signal family: Fourier transforms, windows, the mel filter bank.
#include <algorithm>

#include "graph/operator_table.hpp"
#include "graph/operators/convolution_rules.hpp"
#include "graph/operators/rules.hpp"
#include "graph/operators/text.hpp"

namespace hone::graph {
namespace {

/// The only element of a constant integer input; unknown if it is not constant.
Dim single(const InferenceContext& context, size_t i) {
  const auto data = context.data(i);
  if (!data) return {};
  context.require(data->size() == 1, "input {} has {} elements, expected one", i, data->size());
  return data->front();
}

/// Number of bins of a transform of this length: all, or the first half and the middle bin. The inverse of a
/// one-sided transform has real results.
Dim bin_count(const Dim& length, bool onesided) { return onesided ? length / 2 + 1 : length; }

void require_complex_axis(const InferenceContext& context) {
  if (!context.ranked(0)) return;
  const Dim& last = context.dims(0).back();
  context.require(!last.known() || last.is(1) || last.is(2), "the last axis has length {}, expected 1 or 2",
                  last.text());
}

void infer_dft(InferenceContext& context) {
  require_floating(context, 0);
  context.require_rank(0, 2, INT64_MAX);
  require_complex_axis(context);
  const bool onesided = context.attributes().get_int("onesided") != 0;
  const bool inverse = context.attributes().get_int("inverse") != 0;
  const bool makes_real = onesided && inverse;
  context.set_output(0, context.dtype(0), std::nullopt);
  if (!context.ranked(0)) return;
  Dims result = context.dims(0);
  const int64_t rank = context.rank(0);
  const Dim wanted = context.has_input(2) ? single(context, 2) : Dim(-2);
  if (!wanted.known()) return context.set_output(0, context.dtype(0), Dims(result.size()));
  const int64_t axis = checked_axis(context, wanted.value(), rank, "input 'axis'");
  context.require(axis != rank - 1, "input 'axis' is {}, the axis of real and imaginary parts",
                  wanted.value());
  Dim& length = result[static_cast<size_t>(axis)];
  if (makes_real) length = (length - 1) * 2;
  if (context.has_input(1)) length = single(context, 1);
  context.require(!length.known() || length.value() > 0, "the transform has length {}", length.text());
  length = bin_count(length, onesided && !inverse);
  result.back() = makes_real ? 1 : 2;
  context.set_output(0, context.dtype(0), std::move(result));
}

/// Every element of the axis contributes to every bin (a transform of any length, without the fast
/// algorithm).
double dft_flops(const Graph& graph, const Node& node) {
  const Dims& in = *graph.value(node.input(0)).type.dims;
  const Dims& out = *graph.value(node.outputs[0]).type.dims;
  int64_t length = 1;
  for (size_t i = 0; i + 1 < in.size(); ++i) {
    length = std::max({length, in[i].value(), out[i].value()});
  }
  constexpr double kComplexMultiplyAdd = 4;  // for each of its real and its imaginary part
  return kComplexMultiplyAdd * static_cast<double>(length) * value_elements(graph, node.outputs[0]);
}

/// The operations of a transform for each frame; a frame has at most two elements for each bin.
double stft_flops(const Graph& graph, const Node& node) {
  const double bins = static_cast<double>((*graph.value(node.outputs[0]).type.dims)[2].value());
  return 8 * bins * value_elements(graph, node.outputs[0]);
}

void infer_stft(InferenceContext& context) {
  require_floating(context, 0);
  context.require_rank(0, 3, 3);
  require_complex_axis(context);
  Dim frame_length = context.has_input(3) ? single(context, 3) : Dim();
  if (context.has_input(2)) {
    require_same_dtype(context, 0, 2);
    context.require_rank(2, 1, 1);
    if (!context.has_input(3) && context.ranked(2)) frame_length = context.dims(2)[0];
  }
  context.require(context.has_input(2) || context.has_input(3),
                  "inputs 'window' and 'frame_length' are both absent");
  const Dim step = single(context, 1);
  context.require(!step.known() || step.value() > 0, "input 'frame_step' is {}", step.text());
  Dims result(4);
  result[2] = bin_count(frame_length, context.attributes().get_int("onesided") != 0);
  result[3] = 2;
  if (context.ranked(0)) {
    result[0] = context.dims(0)[0];
    const Dim rest = context.dims(0)[1] - frame_length;
    context.require(!rest.known() || rest.value() >= 0, "frames are longer than the signal");
    if (rest.known() && step.known()) result[1] = rest / step + 1;
  }
  context.set_output(0, context.dtype(0), std::move(result));
}

DType output_type(const InferenceContext& context) {
  const int64_t wanted = context.attributes().get_int("output_datatype");
  const bool supported = wanted > 0 && wanted <= 255 && tensor::is_supported(static_cast<DType>(wanted));
  context.require(supported, "attribute 'output_datatype' is {}, which is no supported element type", wanted);
  return static_cast<DType>(wanted);
}

void infer_window(InferenceContext& context) {
  require_index_type(context, 0);
  const Dim size = single(context, 0);
  context.require(!size.known() || size.value() >= 0, "input 'size' is {}", size.text());
  context.set_output(0, output_type(context), Dims{size});
}

void infer_mel_weight_matrix(InferenceContext& context) {
  const Dim length = single(context, 1);
  const Dim bins = single(context, 0);
  for (const Dim& dim : {length, bins}) {
    context.require(!dim.known() || dim.value() >= 0, "a size is {}", dim.text());
  }
  context.set_output(0, output_type(context), Dims{bin_count(length, true), bins});
}

}  // namespace

void add_signal_operators(std::vector<OperatorDef>& table) {
  table.push_back({.name = "DFT",
                   .since_version = 20,
                   .min_inputs = 1,
                   .max_inputs = 3,
                   .attributes = {int_attribute("inverse", 0), int_attribute("onesided", 0)},
                   .infer = infer_dft,
                   .flops = dft_flops});
  table.push_back({.name = "STFT",
                   .since_version = 17,
                   .min_inputs = 2,
                   .max_inputs = 4,
                   .attributes = {int_attribute("onesided", 1)},
                   .infer = infer_stft,
                   .flops = stft_flops});
  for (const char* name : {"BlackmanWindow", "HammingWindow", "HannWindow"}) {
    table.push_back({.name = name,
                     .since_version = 17,
                     .min_inputs = 1,
                     .max_inputs = 1,
                     .attributes = {int_attribute("output_datatype", 1), int_attribute("periodic", 1)},
                     .infer = infer_window});
  }
  table.push_back({.name = "MelWeightMatrix",
                   .since_version = 17,
                   .min_inputs = 5,
                   .max_inputs = 5,
                   .attributes = {int_attribute("output_datatype", 1)},
                   .infer = infer_mel_weight_matrix});
  add_text_operators(table);
}

}  // namespace hone::graph
