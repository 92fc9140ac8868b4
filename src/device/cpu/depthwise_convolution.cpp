// Convolutions of each channel with filters of its own (depthwise), with loops of ours for AVX-512. Lines of
// 16 or 32 channels are widened to float32 with their padding, one line for each row of a window, so that
// sums meet no borders:
//
//     image, channels-last or blocked        lines, one after the other in a ring
//     ┌────────────────────┐                 ┌─┬──────────────┬─┐
//     │ row of pixels      │   ── copy ──▶   │0│ pixels       │0│  x taps: the sums of up to 14 pixels stay
//     └────────────────────┘                 └─┴──────────────┴─┘  in registers over a whole window
//
// For those that a SiLU or the like follows, which oneDNN 2.6 applies at half of our speed.
#include <immintrin.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "device/cpu/clones.hpp"
#include "device/cpu/instructions.hpp"
#include "device/cpu/onednn.hpp"
#include "device/cpu/own_convolution.hpp"
#include "device/cpu/packed_form.hpp"
#include "device/cpu/post_ops.hpp"
#include "device/cpu/tile_math.hpp"
#include "device/cpu/wide_math.hpp"
#include "engine/requirements.hpp"
#include "graph/convolution_geometry.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using graph::Range;
using graph::WindowAxis;
using tensor::DType;
using tensor::Tensor;

#define HONE_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))
#define HONE_AVX512_INLINE HONE_AVX512 HONE_INLINE

constexpr int64_t kLanes = 16;
constexpr int64_t kMostVectors = 2;
/// Outputs of a line that are summed before their functions are applied: with 32 channels 3.5 KiB.
constexpr int64_t kSegment = 28;
/// Rows of taps of the highest window.
constexpr int64_t kMostRows = 16;
constexpr int64_t kMostStride = 2;

struct Problem {
  int64_t batch;
  int64_t channels;
  WindowAxis y;
  WindowAxis x;
  Layout layout;
  DType storage;

  int64_t taps() const { return y.kernel * x.kernel; }
  bool blocked() const { return layout == Layout::kBlocked16; }
  /// Channels that lie together at each pixel of a chunk.
  int64_t vectors() const { return blocked() || channels <= kLanes ? 1 : kMostVectors; }
  int64_t chunks() const { return parts_of(channels, vectors() * kLanes); }
  int64_t segments() const { return parts_of(x.output, kSegment); }
  int64_t element() const { return storage == DType::kFloat32 ? 4 : 2; }
  /// Elements from a pixel to the next, and from the image's begin to that of the chunk.
  int64_t pixel() const { return blocked() ? kLanes : channels; }
  int64_t first(int64_t image, int64_t chunk, int64_t pixels) const {
    if (blocked()) return (image * chunks() + chunk) * pixels * kLanes;
    return image * pixels * channels + chunk * vectors() * kLanes;
  }
};

Range part(Range whole, int64_t count, int64_t index) {
  const int64_t size = whole.size();
  return {whole.begin + size * index / count, whole.begin + size * (index + 1) / count};
}

/// The channels of a chunk that are there.
struct Lanes {
  std::array<__mmask16, kMostVectors> masks;
};

HONE_AVX512_INLINE __m512 load(const std::byte* from, bool wide, __mmask16 mask) {
  if (wide) return _mm512_maskz_loadu_ps(mask, from);
  // The forms with masks: those without leave a register undefined, which GCC 12 warns of.
  const __m256i halves = _mm256_maskz_loadu_epi16(mask, from);
  return _mm512_castsi512_ps(_mm512_maskz_slli_epi32(mask, _mm512_maskz_cvtepu16_epi32(mask, halves), 16));
}

HONE_AVX512_INLINE void store(std::byte* to, bool wide, __mmask16 mask, __m512 value) {
  if (wide) return _mm512_mask_storeu_ps(to, mask, value);
  _mm256_mask_storeu_epi16(to, mask, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(value)));
}

/// `count` pixels, `pixel` bytes apart, as float32 next to each other.
template <int64_t kVectors>
HONE_AVX512 void widen_line(const std::byte* from, int64_t pixel, bool wide, const Lanes& lanes,
                            int64_t count, float* to) {
  const int64_t vector = kLanes * (wide ? 4 : 2);
  for (int64_t i = 0; i < count; ++i, from += pixel, to += kVectors * kLanes) {
#pragma GCC unroll 2
    for (int64_t v = 0; v < kVectors; ++v)
      _mm512_storeu_ps(to + v * kLanes, load(from + v * vector, wide, lanes.masks[static_cast<size_t>(v)]));
  }
}

/// A function of the sums that is applied as they are stored.
enum class Function : uint8_t { kNone, kSwish };

/// The other way, with the function applied; in blocked images, channels that are not there become zeros.
template <int64_t kVectors, bool kWide, Function kFunction>
HONE_AVX512 void narrow_line(const float* from, int64_t pixel, const Lanes& lanes, bool blocked,
                             int64_t count, std::byte* to) {
  constexpr int64_t kVector = kLanes * (kWide ? 4 : 2);
#pragma GCC unroll 2
  for (int64_t i = 0; i < count; ++i, from += kVectors * kLanes, to += pixel) {
#pragma GCC unroll 2
    for (int64_t v = 0; v < kVectors; ++v) {
      const __mmask16 mask = lanes.masks[static_cast<size_t>(v)];
      __m512 x = _mm512_maskz_loadu_ps(mask, from + v * kLanes);
      if constexpr (kFunction == Function::kSwish)
        x = _mm512_mul_ps(x, kWide ? wide_sigmoid(x) : coarse_sigmoid(x));
      store(to + v * kVector, kWide, blocked ? 0xFFFF : mask, x);
    }
  }
}

using Narrow = void (*)(const float*, int64_t, const Lanes&, bool, int64_t, std::byte*);

template <int64_t kVectors>
constexpr std::array<std::array<Narrow, 2>, 2> kNarrow = {
    {{narrow_line<kVectors, false, Function::kNone>, narrow_line<kVectors, false, Function::kSwish>},
     {narrow_line<kVectors, true, Function::kNone>, narrow_line<kVectors, true, Function::kSwish>}}};

/// Adds what the result holds already.
template <int64_t kVectors>
HONE_AVX512 void add_line(const std::byte* from, int64_t pixel, bool wide, const Lanes& lanes, int64_t count,
                          float* to) {
  const int64_t vector = kLanes * (wide ? 4 : 2);
  for (int64_t i = 0; i < count; ++i, from += pixel, to += kVectors * kLanes) {
#pragma GCC unroll 2
    for (int64_t v = 0; v < kVectors; ++v) {
      const __m512 more = load(from + v * vector, wide, lanes.masks[static_cast<size_t>(v)]);
      _mm512_storeu_ps(to + v * kLanes, _mm512_add_ps(_mm512_loadu_ps(to + v * kLanes), more));
    }
  }
}

/// The operands of some windows next to each other.
struct Windows {
  /// The lines of the rows of taps.
  std::array<const float*, kMostRows> lines;
  int64_t rows;
  int64_t columns;
  /// Floats from the line's begin to the first window, and from a tap to the next.
  int64_t first;
  int64_t column;
  /// The taps of 16 channels, one after the other, then those of the next 16.
  const float* filters;
  const float* bias;
};

template <int64_t kPixels, int64_t kVectors, int64_t kStride>
HONE_AVX512 void sum_windows(const Windows& windows, float* to) {
  __m512 sums[kPixels][kVectors];
  const int64_t block = windows.rows * windows.columns * kLanes;
#pragma GCC unroll 2
  for (int64_t v = 0; v < kVectors; ++v) {
    const __m512 bias = _mm512_loadu_ps(windows.bias + v * kLanes);
#pragma GCC unroll 14
    for (int64_t p = 0; p < kPixels; ++p) sums[p][v] = bias;
  }
  const float* filters = windows.filters;
  for (int64_t row = 0; row < windows.rows; ++row) {
    const float* tap = windows.lines[static_cast<size_t>(row)] + windows.first;
    for (int64_t column = 0; column < windows.columns; ++column, tap += windows.column, filters += kLanes) {
#pragma GCC unroll 2
      for (int64_t v = 0; v < kVectors; ++v) {
        const __m512 weights = _mm512_loadu_ps(filters + v * block);
#pragma GCC unroll 14
        for (int64_t p = 0; p < kPixels; ++p) {
          const float* const x = tap + (p * kStride * kVectors + v) * kLanes;
          sums[p][v] = _mm512_fmadd_ps(_mm512_loadu_ps(x), weights, sums[p][v]);
        }
      }
    }
  }
#pragma GCC unroll 14
  for (int64_t p = 0; p < kPixels; ++p) {
#pragma GCC unroll 2
    for (int64_t v = 0; v < kVectors; ++v) _mm512_storeu_ps(to + (p * kVectors + v) * kLanes, sums[p][v]);
  }
}

using Sum = void (*)(const Windows&, float*);

/// By the number of pixels less one.
template <int64_t kVectors, int64_t kStride, size_t... kPixels>
constexpr std::array<Sum, sizeof...(kPixels)> sums_for(std::index_sequence<kPixels...>) {
  return {sum_windows<static_cast<int64_t>(kPixels) + 1, kVectors, kStride>...};
}

/// Pixels whose sums leave registers for filters.
constexpr int64_t most_pixels(int64_t vectors) { return vectors == 1 ? 14 : 8; }
constexpr auto kOneVector = sums_for<1, 1>(std::make_index_sequence<most_pixels(1)>());
constexpr auto kOneVectorStrided = sums_for<1, 2>(std::make_index_sequence<most_pixels(1)>());
constexpr auto kTwoVectors = sums_for<2, 1>(std::make_index_sequence<most_pixels(2)>());
constexpr auto kTwoVectorsStrided = sums_for<2, 2>(std::make_index_sequence<most_pixels(2)>());

const Sum* sums_of(const Problem& problem) {
  const bool strided = problem.x.stride == 2;
  if (problem.vectors() == 1) return strided ? kOneVectorStrided.data() : kOneVector.data();
  return strided ? kTwoVectorsStrided.data() : kTwoVectors.data();
}

class DepthwiseConvolutionKernel final : public engine::Kernel {
 public:
  DepthwiseConvolutionKernel(const Problem& problem, const void* packed, bool has_bias, bool accumulates,
                             std::vector<ChainLink> links)
      : problem_(problem),
        sums_(sums_of(problem)),
        packed_(static_cast<const float*>(packed)),
        threads_(omp_get_max_threads()),
        has_bias_(has_bias),
        accumulates_(accumulates),
        links_(std::move(links)) {
    if (links_.size() == 1 && links_[0].op == ChainOp::kSwish && links_[0].alpha == 1) {
      function_ = Function::kSwish;
      links_.clear();
    }
    const int64_t areas = problem_.batch * problem_.chunks() * problem_.segments();
    if (threads_ > 1) strips_ = std::min(problem_.y.output, parts_of(4 * threads_, areas));
  }

  int64_t scratch_bytes() const { return threads_ * thread_bytes(); }

  void run(const engine::Run& run) const override {
    const int64_t tasks = problem_.batch * problem_.chunks() * problem_.segments() * strips_;
    const int threads = static_cast<int>(std::min<int64_t>({threads_, omp_get_max_threads(), tasks}));
    std::atomic<int64_t> next = 0;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
      auto* const scratch = reinterpret_cast<float*>(static_cast<std::byte*>(run.scratch) +
                                                     omp_get_thread_num() * thread_bytes());
      for (int64_t task = next.fetch_add(1); task < tasks; task = next.fetch_add(1)) {
        if (problem_.vectors() == 1) {
          run_task<1>(run, task, scratch);
        } else {
          run_task<2>(run, task, scratch);
        }
      }
    }
  }

 private:
  int64_t segment_outputs() const { return parts_of(problem_.x.output, problem_.segments()); }
  /// Floats of a line with its padding.
  int64_t line_size() const {
    return ((segment_outputs() - 1) * problem_.x.stride + problem_.x.extent()) * problem_.vectors() * kLanes;
  }
  /// The ring of lines, the sums of a segment, and the bias.
  int64_t thread_bytes() const {
    return 4 * (problem_.y.extent() * line_size() + (segment_outputs() + 1) * problem_.vectors() * kLanes);
  }

  template <int64_t kVectors>
  void run_task(const engine::Run& run, int64_t task, float* scratch) const {
    const WindowAxis& y = problem_.y;
    const Range rows = part({0, y.output}, strips_, task % strips_);
    task /= strips_;
    const Range columns = part({0, problem_.x.output}, problem_.segments(), task % problem_.segments());
    task /= problem_.segments();
    const int64_t chunk = task % problem_.chunks();
    const int64_t image = task / problem_.chunks();
    const bool wide = problem_.storage == DType::kFloat32;
    const int64_t pixel = problem_.pixel() * problem_.element();
    const Lanes lanes = lanes_of(chunk);
    const auto* const from = static_cast<const std::byte*>(run.inputs[0]) +
                             problem_.first(image, chunk, y.input * problem_.x.input) * problem_.element();
    auto* const to = static_cast<std::byte*>(run.outputs[0]) +
                     problem_.first(image, chunk, y.output * problem_.x.output) * problem_.element();
    float* const sums = scratch + y.extent() * line_size();
    float* const bias = sums + segment_outputs() * kVectors * kLanes;
    load_bias(run, chunk, bias);

    Windows windows{};
    windows.rows = y.kernel;
    windows.columns = problem_.x.kernel;
    windows.column = problem_.x.dilation * kVectors * kLanes;
    windows.filters = packed_ + chunk * problem_.taps() * kVectors * kLanes;
    windows.bias = bias;
    const int64_t parts = parts_of(columns.size(), most_pixels(kVectors));
    const Narrow narrow = kNarrow<kVectors>[wide ? 1 : 0][static_cast<size_t>(function_)];
    int64_t copied = y.position(rows.begin, 0);
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      copied = std::max(copied, y.position(row, 0));
      for (; copied < y.position(row, 0) + y.extent(); ++copied)
        copy_line<kVectors>(from, copied, columns, lanes, line(scratch, copied));
      for (int64_t tap = 0; tap < y.kernel; ++tap)
        windows.lines[static_cast<size_t>(tap)] = line(scratch, y.position(row, tap));
      for (int64_t i = 0; i < parts; ++i) {
        const Range pixels = part({0, columns.size()}, parts, i);
        windows.first = pixels.begin * problem_.x.stride * kVectors * kLanes;
        sums_[pixels.size() - 1](windows, sums + pixels.begin * kVectors * kLanes);
      }
      std::byte* const result = to + (row * problem_.x.output + columns.begin) * pixel;
      if (accumulates_) add_line<kVectors>(result, pixel, wide, lanes, columns.size(), sums);
      apply_links(links_, sums, columns.size() * kVectors * kLanes,
                  wide ? LinkError::kOfFloat : LinkError::kOfHalf);
      narrow(sums, pixel, lanes, problem_.blocked(), columns.size(), result);
    }
  }

  Lanes lanes_of(int64_t chunk) const {
    Lanes lanes{};
    for (int64_t v = 0; v < problem_.vectors(); ++v) {
      const int64_t left = problem_.channels - (chunk * problem_.vectors() + v) * kLanes;
      lanes.masks[static_cast<size_t>(v)] =
          static_cast<__mmask16>((1U << std::clamp<int64_t>(left, 0, kLanes)) - 1);
    }
    return lanes;
  }

  void load_bias(const engine::Run& run, int64_t chunk, float* bias) const {
    const int64_t count = problem_.vectors() * kLanes;
    std::fill_n(bias, count, 0.0f);
    if (!has_bias_) return;
    const int64_t first = chunk * count;
    std::copy_n(static_cast<const float*>(run.inputs[2]) + first, std::min(problem_.channels - first, count),
                bias);
  }

  float* line(float* ring, int64_t row) const {
    const int64_t lines = problem_.y.extent();
    // Rows above the image count from -pad_begin.
    return ring + (row + problem_.y.pad_begin) % lines * line_size();
  }

  /// The part of a row that the windows of these columns read, with zeros beyond the image.
  template <int64_t kVectors>
  void copy_line(const std::byte* image, int64_t row, Range columns, const Lanes& lanes, float* to) const {
    const WindowAxis& x = problem_.x;
    constexpr int64_t kPixel = kVectors * kLanes;
    const int64_t begin = x.position(columns.begin, 0);
    const int64_t end = x.position(columns.end - 1, 0) + x.extent();
    const bool inside = row >= 0 && row < problem_.y.input;
    const int64_t first = inside ? std::clamp<int64_t>(0, begin, end) : end;
    const int64_t last = std::clamp<int64_t>(x.input, first, end);
    const int64_t pixel = problem_.pixel() * problem_.element();
    std::fill_n(to, (first - begin) * kPixel, 0.0f);
    if (first < last)
      widen_line<kVectors>(image + (row * x.input + first) * pixel, pixel,
                           problem_.storage == DType::kFloat32, lanes, last - first,
                           to + (first - begin) * kPixel);
    std::fill_n(to + (last - begin) * kPixel, (end - last) * kPixel, 0.0f);
  }

  Problem problem_;
  /// By the number of pixels less one.
  const Sum* sums_;
  const float* packed_;
  int64_t threads_;
  bool has_bias_;
  bool accumulates_;
  std::vector<ChainLink> links_;
  Function function_ = Function::kNone;
  /// Parts of the rows, each with a task of its own.
  int64_t strips_ = 1;
};

/// Sixteen channels after the other, tap after tap.
PackedConstant pack_filters(const StepRequest& request, const Problem& problem,
                            engine::WeightStore& weights) {
  const std::string word = fmt::format("f32:depthwise:{}x{}", problem.channels, problem.taps());
  const int64_t blocks = parts_of(problem.channels, kMostVectors * kLanes) * kMostVectors;
  const auto bytes = static_cast<size_t>(4 * blocks * problem.taps() * kLanes);
  return packed_form(request, 1, word, bytes, weights, [&](const Tensor& constant, std::byte* packed) {
    const auto* from = reinterpret_cast<const float*>(constant.bytes());
    auto* const to = reinterpret_cast<float*>(packed);
    for (int64_t channel = 0; channel < problem.channels; ++channel) {
      float* const first = to + channel / kLanes * problem.taps() * kLanes + channel % kLanes;
      for (int64_t tap = 0; tap < problem.taps(); ++tap) first[tap * kLanes] = *from++;
    }
  });
}

Refusal refuse(const StepRequest& request, const graph::Convolution& geometry) {
  if (!has_avx512()) return "the CPU has no AVX-512";
  if (request.emulates_bf16()) return "bf16 is emulated";
  if (request.storage() != DType::kFloat32 && !has_avx512_bf16()) return "the CPU has no bf16 instructions";
  if (!request.graph.value(request.node.inputs[1]).constant) return "the weights are not constant";
  if (geometry.group < 2 || geometry.group_inputs() != 1 || geometry.group_outputs() != 1)
    return "no filter of its own for each channel";
  if (request.layout != Layout::kChannelsLast && request.layout != Layout::kBlocked16)
    return "images are plain";
  if (geometry.axes[0].kernel > kMostRows) return fmt::format("a window of more than {} rows", kMostRows);
  if (geometry.axes[1].stride > kMostStride) return fmt::format("a stride above {}", kMostStride);
  if (geometry.batch == 0) return "there are no images";
  return {};
}

Refusal only_images(const StepRequest& request) {
  if (request.inputs[0].shape.size() != 4) return "only 2-D convolutions";
  return {};
}

Offer offer_depthwise(const StepRequest& request, engine::WeightStore& weights) {
  const graph::Node& node = request.node;
  const graph::Convolution geometry =
      graph::read_convolution(node.attributes, request.inputs[0].shape, request.inputs[1].shape);
  if (Refusal reason = refuse(request, geometry)) return Offer::refuse(std::move(reason));
  const bool sum = begins_with_sum(request);
  std::vector<ChainLink> links = unary_post_ops(request, sum ? 1 : 0);
  if (!any_is_smooth(links))
    return Offer::refuse("no SiLU, sigmoid or GELU follows, without which oneDNN is faster");
  const Problem problem{geometry.batch,   geometry.in_channels, geometry.axes[0],
                        geometry.axes[1], request.layout,       request.storage()};
  const PackedConstant packed = pack_filters(request, problem, weights);
  const size_t inside = links.size() + (sum ? 1 : 0);
  auto kernel = std::make_shared<DepthwiseConvolutionKernel>(problem, packed.data, node.has_input(2), sum,
                                                             std::move(links));
  return finish_tiled_offer(request, {problem.storage, request.inputs[0].shape, problem.layout},
                            {problem.storage, request.outputs[0].shape, problem.layout}, packed.key, inside,
                            kernel, kernel->scratch_bytes());
}

}  // namespace

void add_depthwise_convolution_tactics(TacticList& list) {
  list.push_back({.name = "depthwise_convolution",
                  .operators = {"Conv", "FusedConv"},
                  .requirements = {only_images, engine::only_float32, engine::nonempty_output},
                  .make = offer_depthwise});
}

}  // namespace hone::device::cpu
