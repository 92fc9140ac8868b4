// Convolutions of channels-last images in groups of a few channels, with loops of ours for AVX2: strips of
// rows of some groups are copied with their padding, then the sums of up to twelve pixels stay in registers
// over a whole window. oneDNN has no loops for groups narrower than a vector, and multiplies matrices there.
#include <immintrin.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "device/cpu/clones.hpp"
#include "device/cpu/instructions.hpp"
#include "device/cpu/onednn.hpp"
#include "device/cpu/own_convolution.hpp"
#include "device/cpu/packed_form.hpp"
#include "device/cpu/post_ops.hpp"
#include "device/cpu/tile_math.hpp"
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

#define HONE_AVX2 __attribute__((target("avx2,fma")))

constexpr int64_t kLanes = 8;
/// Groups of this width share a vector with others.
constexpr int64_t kHalf = 4;
/// Channels of a strip.
constexpr int64_t kStripChannels = 64;
/// Floats of a strip: a third of an L2 cache of 512 KiB.
constexpr int64_t kStripSize = int64_t{40} * 1024;

struct Problem {
  int64_t batch;
  int64_t groups;
  /// Channels of a group.
  int64_t inputs;
  int64_t outputs;
  WindowAxis y;
  WindowAxis x;

  bool halves() const { return outputs == kHalf; }
  /// Vectors of outputs that a block sums at once, and how many of its pixels fill the registers.
  int64_t vectors() const { return outputs % 16 == 0 ? 2 : outputs % 24 == 0 ? 3 : 1; }
  int64_t pixels() const { return 12 / vectors(); }
  /// Blocks of outputs that read the same channels: of a group, or of the two in a vector.
  int64_t blocks() const { return halves() ? 1 : outputs / (kLanes * vectors()); }
  int64_t sets() const { return halves() ? groups / 2 : groups; }
  int64_t set_inputs() const { return halves() ? 2 * kHalf : inputs; }
  int64_t set_outputs() const { return halves() ? 2 * kHalf : outputs; }
  int64_t taps() const { return y.kernel * x.kernel; }
  /// Floats of the filters of a block.
  int64_t block_size() const { return taps() * inputs * vectors() * kLanes; }
};

/// Strides of a block's reads: window rows and columns, in floats from one to the next.
struct Source {
  const float* first;
  int64_t pixel;   ///< from an output's window to the next one's
  int64_t row;     ///< from a row of taps to the next
  int64_t column;  ///< from a tap to the next
  int64_t rows;
  int64_t columns;
  int64_t channels;
};

struct Target {
  float* first;
  int64_t pixel;
  const float* bias;  ///< of the block's outputs, or null
  bool adds;          ///< to the present contents
};

template <int64_t kPixels, int64_t kVectors>
HONE_AVX2 HONE_INLINE void begin(const Target& to, __m256 (&sums)[kPixels][kVectors]) {
#pragma GCC unroll 3
  for (int64_t v = 0; v < kVectors; ++v) {
    const __m256 bias = to.bias == nullptr ? _mm256_setzero_ps() : _mm256_loadu_ps(to.bias + v * kLanes);
#pragma GCC unroll 12
    for (int64_t p = 0; p < kPixels; ++p) {
      sums[p][v] = bias;
      if (to.adds) sums[p][v] = _mm256_add_ps(bias, _mm256_loadu_ps(to.first + p * to.pixel + v * kLanes));
    }
  }
}

template <int64_t kPixels, int64_t kVectors>
HONE_AVX2 HONE_INLINE void end(const Target& to, const __m256 (&sums)[kPixels][kVectors]) {
#pragma GCC unroll 12
  for (int64_t p = 0; p < kPixels; ++p) {
#pragma GCC unroll 3
    for (int64_t v = 0; v < kVectors; ++v) _mm256_storeu_ps(to.first + p * to.pixel + v * kLanes, sums[p][v]);
  }
}

/// Outputs that all read the same channels.
template <int64_t kPixels, int64_t kVectors>
HONE_AVX2 void sum_whole(const Source& from, const float* filters, const Target& to) {
  __m256 sums[kPixels][kVectors];
  begin(to, sums);
  for (int64_t y = 0; y < from.rows; ++y) {
    for (int64_t x = 0; x < from.columns; ++x) {
      const float* tap = from.first + y * from.row + x * from.column;
      for (int64_t i = 0; i < from.channels; ++i, filters += kVectors * kLanes) {
        __m256 weights[kVectors];
#pragma GCC unroll 3
        for (int64_t v = 0; v < kVectors; ++v) weights[v] = _mm256_loadu_ps(filters + v * kLanes);
#pragma GCC unroll 12
        for (int64_t p = 0; p < kPixels; ++p) {
          const __m256 value = _mm256_broadcast_ss(tap + p * from.pixel + i);
#pragma GCC unroll 3
          for (int64_t v = 0; v < kVectors; ++v) sums[p][v] = _mm256_fmadd_ps(value, weights[v], sums[p][v]);
        }
      }
    }
  }
  end(to, sums);
}

template <int64_t kPixels, int kChannel>
HONE_AVX2 HONE_INLINE void add_channel(const float* tap, int64_t pixel, __m256 weights,
                                       __m256 (&sums)[kPixels][1]) {
#pragma GCC unroll 12
  for (int64_t p = 0; p < kPixels; ++p) {
    const __m256 values = _mm256_permute_ps(_mm256_loadu_ps(tap + p * pixel), 0b01010101 * kChannel);
    sums[p][0] = _mm256_fmadd_ps(values, weights, sums[p][0]);
  }
}

/// Two groups of four channels, each in its half of a vector.
template <int64_t kPixels>
HONE_AVX2 void sum_halves(const Source& from, const float* filters, const Target& to) {
  __m256 sums[kPixels][1];
  begin(to, sums);
  for (int64_t y = 0; y < from.rows; ++y) {
    for (int64_t x = 0; x < from.columns; ++x, filters += kHalf * kLanes) {
      const float* tap = from.first + y * from.row + x * from.column;
      add_channel<kPixels, 0>(tap, from.pixel, _mm256_loadu_ps(filters), sums);
      add_channel<kPixels, 1>(tap, from.pixel, _mm256_loadu_ps(filters + kLanes), sums);
      add_channel<kPixels, 2>(tap, from.pixel, _mm256_loadu_ps(filters + 2 * kLanes), sums);
      add_channel<kPixels, 3>(tap, from.pixel, _mm256_loadu_ps(filters + 3 * kLanes), sums);
    }
  }
  end(to, sums);
}

using Sum = void (*)(const Source&, const float*, const Target&);

/// Functions by the number of pixels less one.
template <int64_t kVectors, size_t... kPixels>
constexpr std::array<Sum, sizeof...(kPixels)> whole(std::index_sequence<kPixels...>) {
  return {sum_whole<static_cast<int64_t>(kPixels) + 1, kVectors>...};
}
template <size_t... kPixels>
constexpr std::array<Sum, sizeof...(kPixels)> halves(std::index_sequence<kPixels...>) {
  return {sum_halves<static_cast<int64_t>(kPixels) + 1>...};
}

constexpr auto kOneVector = whole<1>(std::make_index_sequence<12>());
constexpr auto kTwoVectors = whole<2>(std::make_index_sequence<6>());
constexpr auto kThreeVectors = whole<3>(std::make_index_sequence<4>());
constexpr auto kHalves = halves(std::make_index_sequence<12>());

const Sum* sums_of(const Problem& problem) {
  if (problem.halves()) return kHalves.data();
  return problem.vectors() == 1   ? kOneVector.data()
         : problem.vectors() == 2 ? kTwoVectors.data()
                                  : kThreeVectors.data();
}

Range part(Range whole, int64_t count, int64_t index) {
  const int64_t size = whole.size();
  return {whole.begin + size * index / count, whole.begin + size * (index + 1) / count};
}

class GroupedConvolutionKernel final : public engine::Kernel {
 public:
  GroupedConvolutionKernel(const Problem& problem, const void* packed, bool has_bias, bool accumulates,
                           std::vector<ChainLink> links)
      : problem_(problem),
        sums_(sums_of(problem)),
        packed_(static_cast<const float*>(packed)),
        threads_(omp_get_max_threads()),
        has_bias_(has_bias),
        accumulates_(accumulates),
        links_(std::move(links)) {
    const int64_t wanted = std::max<int64_t>(1, kStripChannels / problem_.set_inputs());
    chunks_ = parts_of(problem_.sets(), wanted);
    const int64_t line = line_size(parts_of(problem_.sets(), chunks_));
    const int64_t rows =
        std::max<int64_t>(1, (kStripSize / line - problem_.y.extent()) / problem_.y.stride + 1);
    strips_ = parts_of(problem_.y.output, rows);
    thread_size_ = (parts_of(problem_.y.output, strips_) * problem_.y.stride + problem_.y.extent()) * line;
  }

  int64_t scratch_bytes() const { return threads_ * thread_size_ * 4; }

  void run(const engine::Run& run) const override {
    const int64_t tasks = problem_.batch * strips_ * chunks_;
#pragma omp parallel for schedule(static) num_threads(static_cast <int>(threads_)) if (threads_ > 1)
    for (int64_t task = 0; task < tasks; ++task) {
      float* const strip = static_cast<float*>(run.scratch) + omp_get_thread_num() * thread_size_;
      run_strip(run, task / (strips_ * chunks_),
                part({0, problem_.y.output}, strips_, task / chunks_ % strips_),
                part({0, problem_.sets()}, chunks_, task % chunks_), strip);
    }
  }

 private:
  /// Pixels of a line with its padding.
  int64_t line_pixels() const { return (problem_.x.output - 1) * problem_.x.stride + problem_.x.extent(); }
  int64_t line_size(int64_t sets) const { return line_pixels() * sets * problem_.set_inputs(); }

  void run_strip(const engine::Run& run, int64_t image, Range rows, Range sets, float* strip) const {
    const int64_t channels = sets.size() * problem_.set_inputs();
    copy_strip(static_cast<const float*>(run.inputs[0]), image, rows, sets, strip);
    Source from{nullptr,
                problem_.x.stride * channels,
                problem_.y.dilation * line_pixels() * channels,
                problem_.x.dilation * channels,
                problem_.y.kernel,
                problem_.x.kernel,
                problem_.inputs};
    Target to{nullptr, problem_.sets() * problem_.set_outputs(), nullptr, accumulates_};
    const int64_t parts = parts_of(problem_.x.output, problem_.pixels());
    const int64_t block_outputs = problem_.set_outputs() / problem_.blocks();
    for (int64_t set = sets.begin; set < sets.end; ++set) {
      for (int64_t block = 0; block < problem_.blocks(); ++block) {
        const int64_t output = set * problem_.set_outputs() + block * block_outputs;
        const float* const filters = packed_ + (set * problem_.blocks() + block) * problem_.block_size();
        if (has_bias_) to.bias = static_cast<const float*>(run.inputs[2]) + output;
        for (int64_t y = rows.begin; y < rows.end; ++y) {
          const float* const line = strip + (y - rows.begin) * problem_.y.stride * line_pixels() * channels +
                                    (set - sets.begin) * problem_.set_inputs();
          float* const result = static_cast<float*>(run.outputs[0]) +
                                (image * problem_.y.output + y) * problem_.x.output * to.pixel + output;
          for (int64_t i = 0; i < parts; ++i) {
            const Range pixels = part({0, problem_.x.output}, parts, i);
            from.first = line + pixels.begin * from.pixel;
            to.first = result + pixels.begin * to.pixel;
            sums_[pixels.size() - 1](from, filters, to);
          }
        }
      }
    }
    finish(run, image, rows, sets);
  }

  void finish(const engine::Run& run, int64_t image, Range rows, Range sets) const {
    if (links_.empty()) return;
    const int64_t all = problem_.sets() * problem_.set_outputs();
    const Range pixels = {(image * problem_.y.output + rows.begin) * problem_.x.output,
                          (image * problem_.y.output + rows.end) * problem_.x.output};
    for (int64_t pixel = pixels.begin; pixel < pixels.end; ++pixel)
      apply_links(links_,
                  static_cast<float*>(run.outputs[0]) + pixel * all + sets.begin * problem_.set_outputs(),
                  sets.size() * problem_.set_outputs());
  }

  /// The lines that windows of these rows reach, with zeros where the image has none.
  void copy_strip(const float* images, int64_t image, Range rows, Range sets, float* to) const {
    const int64_t all = problem_.sets() * problem_.set_inputs();
    const int64_t channels = sets.size() * problem_.set_inputs();
    const float* const first =
        images + image * problem_.y.input * problem_.x.input * all + sets.begin * problem_.set_inputs();
    const int64_t begin = problem_.y.position(rows.begin, 0);
    const int64_t end = problem_.y.position(rows.end - 1, problem_.y.kernel - 1) + 1;
    const int64_t before = std::min(problem_.x.pad_begin, line_pixels());
    const int64_t inside = std::clamp<int64_t>(line_pixels() - before, 0, problem_.x.input);
    const int64_t after = line_pixels() - before - inside;
    for (int64_t y = begin; y < end; ++y) {
      if (y < 0 || y >= problem_.y.input) {
        to = std::fill_n(to, line_pixels() * channels, 0.0f);
        continue;
      }
      const float* const line = first + y * problem_.x.input * all;
      to = std::fill_n(to, before * channels, 0.0f);
      for (int64_t x = 0; x < inside; ++x, to += channels)
        std::memcpy(to, line + x * all, static_cast<size_t>(channels) * sizeof(float));
      to = std::fill_n(to, after * channels, 0.0f);
    }
  }

  Problem problem_;
  /// Functions by the number of pixels less one.
  const Sum* sums_;
  const float* packed_;
  int64_t threads_;
  bool has_bias_;
  bool accumulates_;
  std::vector<ChainLink> links_;
  /// Parts of the sets and of the rows, of which each two are a task.
  int64_t chunks_ = 1;
  int64_t strips_ = 1;
  /// Floats of a thread's strip.
  int64_t thread_size_ = 0;
};

/// Block after block, tap after tap, channel after channel its vectors of outputs.
PackedConstant pack_filters(const StepRequest& request, const Problem& problem,
                            engine::WeightStore& weights) {
  const std::string word =
      fmt::format("f32:groups:{}x{}x{}x{}", problem.groups, problem.outputs, problem.inputs, problem.taps());
  const int64_t outputs = problem.groups * problem.outputs;
  const auto bytes = static_cast<size_t>(4 * outputs * problem.inputs * problem.taps());
  return packed_form(request, 1, word, bytes, weights, [&](const Tensor& constant, std::byte* packed) {
    const auto* const from = reinterpret_cast<const float*>(constant.bytes());
    auto* const to = reinterpret_cast<float*>(packed);
    const int64_t width = problem.vectors() * kLanes;
    for (int64_t output = 0; output < outputs; ++output) {
      const int64_t first = output / width * problem.block_size() + output % width;
      for (int64_t tap = 0; tap < problem.taps(); ++tap) {
        for (int64_t channel = 0; channel < problem.inputs; ++channel)
          to[first + (tap * problem.inputs + channel) * width] =
              from[(output * problem.inputs + channel) * problem.taps() + tap];
      }
    }
  });
}

Refusal refuse(const StepRequest& request, const graph::Convolution& geometry) {
  if (!has_avx2()) return "the CPU has no vectors for operands of this type";
  if (request.storage() != DType::kFloat32 || request.emulates_bf16()) return "only fp32";
  if (!request.graph.value(request.node.inputs[1]).constant) return "the weights are not constant";
  if (geometry.group < 2) return "the convolution has no groups";
  const int64_t outputs = geometry.group_outputs();
  // Where oneDNN multiplies matrices, the images are worth a reorder.
  if (request.layout != Layout::kChannelsLast && outputs >= engine::layout_block(request.layout))
    return "in other layouts than channels-last only groups narrower than a block";
  const bool halves = outputs == kHalf && geometry.group_inputs() == kHalf && geometry.group % 2 == 0;
  if (!halves && outputs % kLanes != 0) return "groups are no vectors of outputs";
  if (geometry.group_inputs() == 0 || geometry.batch == 0) return "it sums over nothing";
  return {};
}

Refusal only_images(const StepRequest& request) {
  if (request.inputs[0].shape.size() != 4) return "only 2-D convolutions";
  return {};
}

Offer offer_grouped(const StepRequest& request, engine::WeightStore& weights) {
  const graph::Node& node = request.node;
  const graph::Convolution geometry =
      graph::read_convolution(node.attributes, request.inputs[0].shape, request.inputs[1].shape);
  if (Refusal reason = refuse(request, geometry)) return Offer::refuse(std::move(reason));
  const Problem problem{geometry.batch,           geometry.group,   geometry.group_inputs(),
                        geometry.group_outputs(), geometry.axes[0], geometry.axes[1]};
  const PackedConstant packed = pack_filters(request, problem, weights);
  const bool sum = begins_with_sum(request);
  std::vector<ChainLink> links = unary_post_ops(request, sum ? 1 : 0);
  const size_t inside = links.size() + (sum ? 1 : 0);
  auto kernel = std::make_shared<GroupedConvolutionKernel>(problem, packed.data, node.has_input(2), sum,
                                                           std::move(links));
  return finish_tiled_offer(request, {DType::kFloat32, request.inputs[0].shape, Layout::kChannelsLast},
                            {DType::kFloat32, request.outputs[0].shape, Layout::kChannelsLast}, packed.key,
                            inside, kernel, kernel->scratch_bytes());
}

}  // namespace

void add_grouped_convolution_tactics(TacticList& list) {
  list.push_back({.name = "grouped_convolution",
                  .operators = {"Conv", "FusedConv"},
                  .requirements = {only_images, engine::only_float32, engine::nonempty_output},
                  .make = offer_grouped});
}

}  // namespace hone::device::cpu
