// Regions squeeze_excite: the mean of each channel of an image, the two small products that turn means into
// gates, and the product of the image with its gates, in two passes over the image:
//
//     image ──▶ sums of parts ──▶ means ─▶ squeeze ─▶ gates ──▶ image x gates
//     (all threads)               (one thread)                 (all threads)
#include <omp.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <vector>

#include "device/cpu/chain_math.hpp"
#include "device/cpu/clones.hpp"
#include "device/cpu/packed_form.hpp"
#include "device/cpu/ranges.hpp"
#include "device/cpu/tactics.hpp"
#include "engine/requirements.hpp"
#include "graph/convolution_geometry.hpp"
#include "graph/region.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::BFloat16;
using tensor::DType;
using tensor::Tensor;

constexpr int64_t kWorthThreads = 1 << 16;
/// Channels that are summed or scaled together.
constexpr int64_t kTogether = 64;
/// Rows whose sums are added to the others as one, so that long sums keep their digits.
constexpr int64_t kRows = 128;

HONE_INLINE float widened(float x) { return x; }
HONE_INLINE float widened(BFloat16 x) { return std::bit_cast<float>(static_cast<uint32_t>(x.bits) << 16); }

/// sums[j] += x[r * n + j] for some rows.
template <class T>
HONE_INLINE void sum_rows(const T* x, int64_t rows, int64_t n, float* sums) {
  for (int64_t first = 0; first < rows; first += kRows) {
    const int64_t end = std::min(first + kRows, rows);
    int64_t j = 0;
    for (; j + kTogether <= n; j += kTogether) {
      float part[kTogether] = {};
      for (int64_t r = first; r < end; ++r) {
        for (int64_t i = 0; i < kTogether; ++i) part[i] += widened(x[r * n + j + i]);
      }
      for (int64_t i = 0; i < kTogether; ++i) sums[j + i] += part[i];
    }
    if (j == n) continue;
    float part[kTogether] = {};
    for (int64_t r = first; r < end; ++r) {
      for (int64_t i = 0; i < n - j; ++i) part[i] += widened(x[r * n + j + i]);
    }
    for (int64_t i = 0; i < n - j; ++i) sums[j + i] += part[i];
  }
}
HONE_CLONES void sum_rows_of(const float* x, int64_t rows, int64_t n, float* sums) {
  sum_rows(x, rows, n, sums);
}
HONE_CLONES void sum_rows_of(const BFloat16* x, int64_t rows, int64_t n, float* sums) {
  sum_rows(x, rows, n, sums);
}

HONE_CLONES void scale_rows_of(const float* x, int64_t rows, int64_t n, const float* gates, float* y) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < n; ++j) y[r * n + j] = x[r * n + j] * gates[j];
  }
}
/// The same, where the products stay float32.
HONE_CLONES void scale_widened(const BFloat16* x, int64_t n, const float* gates, float* y) {
  for (int64_t j = 0; j < n; ++j) y[j] = widened(x[j]) * gates[j];
}
void scale_rows_of(const BFloat16* x, int64_t rows, int64_t n, const float* gates, BFloat16* y) {
  float wide[kRun];
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < n; j += static_cast<int64_t>(kRun)) {
      const int64_t count = std::min(n - j, static_cast<int64_t>(kRun));
      scale_widened(x + r * n + j, count, gates + j, wide);
      narrow(wide, y + r * n + j, static_cast<size_t>(count));
    }
  }
}

/// The sum of x[i] * y[i].
template <class T>
HONE_INLINE float dot(const float* x, const T* y, int64_t n) {
  float parts[kTogether] = {};
  int64_t i = 0;
  for (; i + kTogether <= n; i += kTogether) {
    for (int64_t j = 0; j < kTogether; ++j) parts[j] += x[i + j] * widened(y[i + j]);
  }
  float sum = 0;
  for (; i < n; ++i) sum += x[i] * widened(y[i]);
  for (const float part : parts) sum += part;
  return sum;
}
HONE_CLONES float dot_of(const float* x, const float* y, int64_t n) { return dot(x, y, n); }
HONE_CLONES float dot_of(const float* x, const BFloat16* y, int64_t n) { return dot(x, y, n); }

/// to[i] += x * y[i]
HONE_CLONES void add_product(float x, const float* y, float* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] += x * y[i];
}
HONE_CLONES void add_product(float x, const BFloat16* y, float* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] += x * widened(y[i]);
}

/// One of the two convolutions.
struct Product {
  /// Among the step's inputs; -1 for no bias.
  int filters = -1;
  int bias = -1;
  std::optional<ChainLink> activation;
};

struct Problem {
  size_t image = 0;
  Product squeeze;
  Product gate;
  DType storage = DType::kFloat32;
  int64_t batch = 0;
  int64_t channels = 0;
  int64_t hidden = 0;
  int64_t pixels = 0;
  /// Channels whose elements of a pixel lie side by side.
  int64_t lanes = 0;

  int64_t slices() const { return (channels + lanes - 1) / lanes; }
  /// Channels of an image with those that fill blocks up.
  int64_t padded() const { return slices() * lanes; }
};

class SqueezeExciteKernel final : public engine::Kernel {
 public:
  SqueezeExciteKernel(const Problem& problem, const void* squeeze, const void* gate)
      : problem_(problem), squeeze_(squeeze), gate_(gate), threads_(omp_get_max_threads()) {
    const int64_t slices = problem_.batch * problem_.slices();
    parts_ = std::clamp<int64_t>((threads_ + slices - 1) / slices, 1, problem_.pixels);
  }

  /// The sums of all parts, means, what is squeezed, and gates.
  int64_t scratch_bytes() const {
    return 4 * (units() * problem_.lanes + problem_.padded() + problem_.hidden +
                problem_.batch * problem_.padded());
  }

  void run(const engine::Run& run) const override {
    if (problem_.storage == DType::kFloat32) {
      run_as<float>(run);
    } else {
      run_as<BFloat16>(run);
    }
  }

 private:
  /// Parts of slices of images.
  int64_t units() const { return problem_.batch * problem_.slices() * parts_; }

  template <class T>
  void run_as(const engine::Run& run) const {
    const auto* const x = static_cast<const T*>(run.inputs[problem_.image]);
    auto* const y = static_cast<T*>(run.outputs[0]);
    auto* const sums = static_cast<float*>(run.scratch);
    float* const means = sums + units() * problem_.lanes;
    float* const squeezed = means + problem_.padded();
    float* const gates = squeezed + problem_.hidden;
    const bool parallel = units() > 1 && problem_.batch * problem_.padded() * problem_.pixels > kWorthThreads;
#pragma omp parallel for schedule(static) if (parallel)
    for (int64_t unit = 0; unit < units(); ++unit) {
      const auto [first, count] = pixels_of(unit);
      sum_slice(x + first * problem_.lanes, count, sums + unit * problem_.lanes);
    }
    for (int64_t image = 0; image < problem_.batch; ++image) {
      average(sums + image * problem_.padded() * parts_, means);
      make_gates<T>(run, means, squeezed, gates + image * problem_.padded());
    }
#pragma omp parallel for schedule(static) if (parallel)
    for (int64_t unit = 0; unit < units(); ++unit) {
      const auto [first, count] = pixels_of(unit);
      scale_slice(x + first * problem_.lanes, count, gates + unit / parts_ * problem_.lanes,
                  y + first * problem_.lanes);
    }
  }

  struct Pixels {
    int64_t first;  ///< of all slices
    int64_t count;
  };
  Pixels pixels_of(int64_t unit) const {
    const int64_t part = unit % parts_;
    const int64_t begin = problem_.pixels * part / parts_;
    const int64_t end = problem_.pixels * (part + 1) / parts_;
    return {unit / parts_ * problem_.pixels + begin, end - begin};
  }

  /// Pixels of a few lanes that are taken as one.
  int64_t joined() const { return problem_.lanes < kTogether ? kTogether / problem_.lanes : 1; }

  template <class T>
  void sum_slice(const T* x, int64_t count, float* sums) const {
    const int64_t lanes = problem_.lanes;
    std::fill_n(sums, lanes, 0.0f);
    const int64_t together = joined();
    if (together == 1) return sum_rows_of(x, count, lanes, sums);
    float several[kTogether] = {};
    const int64_t rows = count / together;
    sum_rows_of(x, rows, together * lanes, several);
    sum_rows_of(x + rows * together * lanes, count - rows * together, lanes, sums);
    for (int64_t i = 0; i < together * lanes; ++i) sums[i % lanes] += several[i];
  }

  template <class T>
  void scale_slice(const T* x, int64_t count, const float* gates, T* y) const {
    const int64_t lanes = problem_.lanes;
    const int64_t together = joined();
    if (together == 1) return scale_rows_of(x, count, lanes, gates, y);
    float several[kTogether];
    for (int64_t i = 0; i < together * lanes; ++i) several[i] = gates[i % lanes];
    const int64_t rows = count / together;
    scale_rows_of(x, rows, together * lanes, several, y);
    const int64_t done = rows * together;
    scale_rows_of(x + done * lanes, count - done, lanes, gates, y + done * lanes);
  }

  void average(const float* sums, float* means) const {
    const float pixels = static_cast<float>(problem_.pixels);
    for (int64_t slice = 0; slice < problem_.slices(); ++slice, sums += parts_ * problem_.lanes) {
      for (int64_t lane = 0; lane < problem_.lanes; ++lane) {
        float sum = 0;
        for (int64_t part = 0; part < parts_; ++part) sum += sums[part * problem_.lanes + lane];
        means[slice * problem_.lanes + lane] = sum / pixels;
      }
    }
  }

  template <class T>
  void make_gates(const engine::Run& run, const float* means, float* squeezed, float* gates) const {
    const auto bias_of = [&](const Product& product) {
      return product.bias < 0 ? nullptr
                              : static_cast<const float*>(run.inputs[static_cast<size_t>(product.bias)]);
    };
    const auto finish = [&](const Product& product, float* x, int64_t n) {
      if (product.activation) apply_link(*product.activation, x, nullptr, 0, x, static_cast<size_t>(n));
    };
    const int64_t channels = problem_.channels;
    const auto* const first = static_cast<const T*>(squeeze_);
    const auto* const second = static_cast<const T*>(gate_);
    const float* const bias = bias_of(problem_.squeeze);
    for (int64_t i = 0; i < problem_.hidden; ++i)
      squeezed[i] = dot_of(means, first + i * channels, channels) + (bias == nullptr ? 0 : bias[i]);
    finish(problem_.squeeze, squeezed, problem_.hidden);
    std::fill_n(gates, problem_.padded(), 0.0f);
    if (const float* const start = bias_of(problem_.gate)) std::copy_n(start, channels, gates);
    for (int64_t i = 0; i < problem_.hidden; ++i)
      add_product(squeezed[i], second + i * channels, gates, channels);
    finish(problem_.gate, gates, channels);
  }

  Problem problem_;
  /// (hidden, channels) both.
  const void* squeeze_;
  const void* gate_;
  int64_t threads_;
  /// Into how many parts the pixels of a slice are cut.
  int64_t parts_ = 1;
};

/// The position of a value among the inputs of a body, which are the step's; -1 where it is none.
int position_of(const graph::Graph& body, graph::ValueId value) {
  const auto found = std::ranges::find(body.inputs, value);
  return found == body.inputs.end() ? -1 : static_cast<int>(found - body.inputs.begin());
}

/// Why a node is none of the products; `product` is filled in where it is.
Refusal read_product(const StepRequest& request, const graph::Graph& body, const graph::Node& node,
                     Product& product) {
  if (node.op != "Conv" && node.op != "FusedConv") return "its body is no squeeze and excitation";
  product.filters = position_of(body, node.inputs[1]);
  if (node.has_input(2)) product.bias = position_of(body, node.inputs[2]);
  if (product.filters < 0 || (node.has_input(2) && product.bias < 0))
    return "filters or a bias are made inside the region";
  const auto filters = static_cast<size_t>(product.filters);
  if (!request.graph.value(request.node.inputs[filters]).constant) return "the weights are not constant";
  const Shape& shape = request.inputs[filters].shape;
  if (shape.size() != 4) return "only 2-D images";
  const graph::Convolution geometry =
      graph::read_convolution(node.attributes, Shape{1, shape[1], 1, 1}, shape);
  if (geometry.group != 1 || !std::ranges::all_of(geometry.axes, &graph::WindowAxis::pointwise))
    return "a convolution is not 1 x 1";
  const auto names = node.attributes.get_or<std::vector<std::string>>("post_ops", {});
  if (names.empty()) return {};
  const auto op = chain_op(names[0]);
  if (names.size() > 1 || !op || is_binary(*op)) return "a convolution ends with more than one activation";
  product.activation = ChainLink{*op, node.attributes.get<std::vector<float>>("post_alphas")[0],
                                 node.attributes.get<std::vector<float>>("post_betas")[0]};
  return {};
}

Refusal read_problem(const StepRequest& request, Problem& problem) {
  const graph::Graph& body = graph::region_body(request.node);
  const std::vector<graph::Node>& nodes = body.nodes;
  if (nodes.size() != 4 || nodes[0].op != "GlobalAveragePool" || nodes[3].op != "Mul" ||
      body.outputs != nodes[3].outputs || nodes[1].inputs[0] != nodes[0].outputs[0] ||
      nodes[2].inputs[0] != nodes[1].outputs[0])
    return "its body is no squeeze and excitation";
  const graph::ValueId image = nodes[0].inputs[0];
  const graph::ValueId gate = nodes[2].outputs[0];
  const std::vector<graph::ValueId>& factors = nodes[3].inputs;
  if (!(factors[0] == image && factors[1] == gate) && !(factors[0] == gate && factors[1] == image))
    return "its body is no squeeze and excitation";
  const int position = position_of(body, image);
  if (position < 0) return "the image is made inside the region";
  problem.image = static_cast<size_t>(position);
  if (Refusal reason = read_product(request, body, nodes[1], problem.squeeze)) return reason;
  if (Refusal reason = read_product(request, body, nodes[2], problem.gate)) return reason;
  const Shape& shape = request.inputs[problem.image].shape;
  if (shape.size() != 4) return "only 2-D images";
  problem.storage = request.storage();
  problem.batch = shape[0];
  problem.channels = shape[1];
  problem.pixels = shape[2] * shape[3];
  problem.hidden = request.inputs[static_cast<size_t>(problem.squeeze.filters)].shape[0];
  if (request.inputs[static_cast<size_t>(problem.gate.filters)].shape[0] != problem.channels)
    return fmt::format("not {} gates", problem.channels);
  problem.lanes =
      request.layout == Layout::kChannelsLast ? problem.channels : engine::layout_block(request.layout);
  if (problem.lanes == 1) return "images are plain";
  if (request.emulates_bf16()) return "bf16 is emulated";
  return {};
}

/// The filters as (hidden, channels), in the type of what is stored between steps. `turned`: the graph has
/// them the other way round.
PackedConstant pack_filters(const StepRequest& request, const Problem& problem, int position, bool turned,
                            engine::WeightStore& weights) {
  const bool half = problem.storage == DType::kBFloat16;
  const std::string word = fmt::format("{}:gates:{}x{}{}", half ? "bf16" : "f32", problem.hidden,
                                       problem.channels, turned ? "-turned" : "");
  const int64_t size = half ? 2 : 4;
  const auto bytes = static_cast<size_t>(problem.hidden * problem.channels * size);
  const auto input = static_cast<size_t>(position);
  return packed_form(request, input, word, bytes, weights, [&](const Tensor& constant, std::byte* to) {
    const Tensor plain = half ? weights.rounded(request.graph.value(request.node.inputs[input]).name,
                                                constant, DType::kBFloat16, tensor::FilterAxis::kFirst)
                              : constant;
    if (!turned) {
      std::memcpy(to, plain.bytes(), bytes);
      return;
    }
    const std::byte* from = plain.bytes();
    for (int64_t channel = 0; channel < problem.channels; ++channel) {
      for (int64_t i = 0; i < problem.hidden; ++i, from += size)
        std::memcpy(to + (i * problem.channels + channel) * size, from, static_cast<size_t>(size));
    }
  });
}

Offer offer_squeeze_excite(const StepRequest& request, engine::WeightStore& weights) {
  Problem problem;
  if (Refusal reason = read_problem(request, problem)) return Offer::refuse(std::move(reason));
  const PackedConstant squeeze = pack_filters(request, problem, problem.squeeze.filters, false, weights);
  const PackedConstant gate = pack_filters(request, problem, problem.gate.filters, true, weights);
  const TensorDesc desc{problem.storage, request.outputs[0].shape, request.layout};
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  offer.inputs[problem.image] = desc;
  for (const Product& product : {problem.squeeze, problem.gate}) {
    if (product.bias < 0) continue;
    const auto bias = static_cast<size_t>(product.bias);
    offer.inputs[bias] = {DType::kFloat32, request.inputs[bias].shape, Layout::kPlain};
  }
  offer.outputs = {desc};
  offer.in_place_input = static_cast<int>(problem.image);
  offer.packed = {squeeze.key, gate.key};
  auto kernel = std::make_shared<SqueezeExciteKernel>(problem, squeeze.data, gate.data);
  offer.scratch_bytes = kernel->scratch_bytes();
  offer.kernel = std::move(kernel);
  return offer;
}

}  // namespace

void add_squeeze_excite_tactics(TacticList& list) {
  list.push_back({.name = "squeeze_excite",
                  .operators = {"Region:squeeze_excite"},
                  .requirements = {engine::only_float32, engine::nonempty_output},
                  .make = offer_squeeze_excite});
}

}  // namespace hone::device::cpu
