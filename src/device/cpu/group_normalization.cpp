// Group and instance normalization of images in every layout, with the activations after it. An image is cut
// into parts that lie together and fit a cache; a first pass leaves the mean and the squared differences of
// each channel in each part, a second one scales, shifts and activates.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "device/cpu/chain_math.hpp"
#include "device/cpu/channel_moments.hpp"
#include "device/cpu/ranges.hpp"
#include "device/cpu/tactics.hpp"
#include "engine/requirements.hpp"
#include "graph/activated_normalization.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::BFloat16;
using tensor::DType;

constexpr int64_t kWorthThreads = 1 << 16;
/// Elements of a part: as floats they fit the second-level cache with room to spare.
constexpr int64_t kPartElements = 1 << 14;

/// Where parts lie: slices of `lanes` channels, of which every pixel has one row.
struct Parts {
  int64_t channels = 1;
  int64_t lanes = 1;        ///< channels whose elements of a pixel lie side by side
  int64_t slices = 1;       ///< of all images
  int64_t pixels = 1;       ///< of an image
  int64_t part_pixels = 1;  ///< of every part of a slice but its last
  int64_t slice_parts = 1;

  Parts(const Shape& shape, Layout layout) : channels(shape[1]) {
    for (size_t d = 2; d < shape.size(); ++d) pixels *= shape[d];
    if (layout == Layout::kChannelsLast) {
      lanes = channels;
    } else {
      lanes = engine::layout_block(layout);
    }
    slices = shape[0] * channels / lanes;
    part_pixels = std::max<int64_t>(1, kPartElements / lanes);
    slice_parts = (pixels + part_pixels - 1) / part_pixels;
  }

  int64_t count() const { return slices * slice_parts; }
  int64_t begin(int64_t part) const {
    return (part / slice_parts * pixels + part % slice_parts * part_pixels) * lanes;
  }
  int64_t rows(int64_t part) const {
    return std::min(part_pixels, pixels - part % slice_parts * part_pixels);
  }
  /// The first channel of all images, counted through.
  int64_t channel(int64_t part) const { return part / slice_parts * lanes; }
};

struct Operands {
  std::array<size_t, 3> inputs = {0, 1, 2};
  DType storage = DType::kFloat32;
};

class GroupNormKernel final : public engine::Kernel {
 public:
  GroupNormKernel(const Parts& parts, int64_t groups, float epsilon, Operands operands,
                  std::vector<ChainLink> activations)
      : parts_(parts),
        groups_(groups),
        epsilon_(epsilon),
        operands_(operands),
        activations_(std::move(activations)),
        threads_(omp_get_max_threads()) {}

  /// The moments of all parts, a scale and a shift for each channel, and a part of floats for each thread
  /// that reads others.
  int64_t scratch_bytes() const {
    const int64_t wide = operands_.storage == DType::kFloat32 ? 0 : threads_ * wide_elements();
    return (moment_count() + 2 * images_channels() + wide) * int64_t{sizeof(float)};
  }

  void run(const engine::Run& run) const override {
    const void* x = run.inputs[operands_.inputs[0]];
    auto* const moments = static_cast<float*>(run.scratch);
    const std::span scales(moments + moment_count(), static_cast<size_t>(images_channels()));
    const std::span shifts(scales.data() + scales.size(), scales.size());
    float* const wide = shifts.data() + shifts.size();
    const bool parallel = parts_.count() > 1 && images_channels() * parts_.pixels > kWorthThreads;
    in_shares(parts_.count(), threads_, parallel, [&](int64_t begin, int64_t end, int64_t thread) {
      for (int64_t part = begin; part < end; ++part)
        measure(x, part, moments + 2 * part * parts_.lanes, wide + thread * wide_elements());
    });
    join(moments, static_cast<const float*>(run.inputs[operands_.inputs[1]]),
         static_cast<const float*>(run.inputs[operands_.inputs[2]]), scales, shifts);
#pragma omp parallel for schedule(static) if (parallel)
    for (int64_t part = 0; part < parts_.count(); ++part) {
      const int64_t first = parts_.channel(part);
      write(x, run.outputs[0], part, scales.data() + first, shifts.data() + first);
    }
  }

 private:
  int64_t images_channels() const { return parts_.slices * parts_.lanes; }
  int64_t moment_count() const { return 2 * parts_.slice_parts * images_channels(); }
  /// Elements in the largest part.
  int64_t wide_elements() const { return std::min(parts_.part_pixels, parts_.pixels) * parts_.lanes; }

  /// Means and then squared differences of a part's lanes. `wide`: wide_elements().
  void measure(const void* x, int64_t part, float* found, float* wide) const {
    const auto rows = static_cast<size_t>(parts_.rows(part));
    const auto lanes = static_cast<size_t>(parts_.lanes);
    if (operands_.storage == DType::kFloat32) {
      measure_channels(static_cast<const float*>(x) + parts_.begin(part), rows, lanes, found, found + lanes);
      return;
    }
    widen(static_cast<const BFloat16*>(x) + parts_.begin(part), wide, rows * lanes);
    measure_channels(wide, rows, lanes, found, found + lanes);
  }

  /// Turns the moments of all parts into the scale and shift of each channel.
  void join(const float* moments, const float* scale, const float* bias, std::span<float> scales,
            std::span<float> shifts) const {
    const int64_t members = parts_.channels / groups_;
    const auto all = static_cast<int64_t>(scales.size());
    const double count = static_cast<double>(members) * static_cast<double>(parts_.pixels);
    const auto each = [&](int64_t first, const auto& visit) {
      for (int64_t c = first; c < first + members; ++c) {
        const int64_t slice = c / parts_.lanes;
        for (int64_t i = 0; i < parts_.slice_parts; ++i) {
          const int64_t part = slice * parts_.slice_parts + i;
          const float* found = moments + 2 * part * parts_.lanes + c % parts_.lanes;
          visit(static_cast<double>(parts_.rows(part)), static_cast<double>(found[0]),
                static_cast<double>(found[parts_.lanes]));
        }
      }
    };
    for (int64_t first = 0; first < all; first += members) {
      double mean = 0;
      double squares = 0;
      each(first, [&](double rows, double part_mean, double) { mean += rows * part_mean / count; });
      each(first, [&](double rows, double part_mean, double part_squares) {
        squares += part_squares + rows * (part_mean - mean) * (part_mean - mean);
      });
      const double factor = 1 / std::sqrt(squares / count + static_cast<double>(epsilon_));
      for (int64_t c = first; c < first + members; ++c) {
        const auto at = static_cast<size_t>(c);
        const double scaled = factor * static_cast<double>(scale[c % parts_.channels]);
        scales[at] = static_cast<float>(scaled);
        shifts[at] = static_cast<float>(static_cast<double>(bias[c % parts_.channels]) - mean * scaled);
      }
    }
  }

  /// Writes in runs that stay in the first-level cache while they are activated.
  void write(const void* x, void* y, int64_t part, const float* scales, const float* shifts) const {
    const int64_t begin = parts_.begin(part);
    const auto lanes = static_cast<size_t>(parts_.lanes);
    const auto rows = static_cast<size_t>(parts_.rows(part));
    if (lanes <= kRun) {
      const size_t rows_at_once = kRun / lanes;
      for (size_t row = 0; row < rows; row += rows_at_once) {
        const size_t taken = std::min(rows_at_once, rows - row);
        write_run(x, y, begin + static_cast<int64_t>(row * lanes), taken, lanes, scales, shifts);
      }
      return;
    }
    for (size_t row = 0; row < rows; ++row) {
      for (size_t lane = 0; lane < lanes; lane += kRun) {
        write_run(x, y, begin + static_cast<int64_t>(row * lanes + lane), 1, std::min(kRun, lanes - lane),
                  scales + lane, shifts + lane);
      }
    }
  }

  void write_run(const void* x, void* y, int64_t at, size_t rows, size_t lanes, const float* scales,
                 const float* shifts) const {
    const size_t n = rows * lanes;
    float wide[kRun];
    const bool narrows = operands_.storage != DType::kFloat32;
    if (narrows) widen(static_cast<const BFloat16*>(x) + at, wide, n);
    const float* from = narrows ? wide : static_cast<const float*>(x) + at;
    float* to = narrows ? wide : static_cast<float*>(y) + at;
    scale_channels(from, rows, lanes, scales, shifts, to);
    const LinkError error = narrows ? LinkError::kOfHalf : LinkError::kOfFloat;
    for (const ChainLink& link : activations_) apply_link(link, to, nullptr, 0, to, n, error);
    if (narrows) narrow(wide, static_cast<BFloat16*>(y) + at, n);
  }

  Parts parts_;
  int64_t groups_;
  float epsilon_;
  Operands operands_;
  std::vector<ChainLink> activations_;
  int64_t threads_;
};

/// As the images around it lie, where that layout pads no channels.
Layout layout_of(const StepRequest& request, const Shape& shape) {
  const Layout layout = engine::layout_for_shape(request.layout, shape);
  return shape[1] % engine::layout_block(layout) == 0 ? layout : Layout::kPlain;
}

Offer offer_group_norm(const StepRequest& request, bool plain) {
  const auto step = graph::read_activated_normalization(request.node);
  if (!step) return Offer::refuse("its body is no normalization with activations");
  const auto [x, scale, bias] = step->inputs;
  const Shape& shape = request.inputs[x].shape;
  if (shape.size() < 2) return Offer::refuse("an input without channels");
  const int64_t groups = step->groups(shape[1]);
  if (groups < 1 || shape[1] % groups != 0) return Offer::refuse("channels do not divide into groups");
  std::vector<ChainLink> activations;
  for (const graph::Activation& activation : step->activations) {
    const auto op = chain_op(graph::post_op_name(activation.op));
    if (!op) return Offer::refuse("an activation that is in no chain");
    activations.push_back({*op, activation.alpha, activation.beta});
  }
  const Layout wanted = layout_of(request, shape);
  if (plain && wanted == Layout::kPlain) return Offer::refuse("images are plain here anyway");
  const TensorDesc desc{request.storage(), shape, plain ? Layout::kPlain : wanted};
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  offer.inputs[x] = desc;
  for (const size_t i : {scale, bias}) {
    if (i == x || tensor::element_count(request.inputs[i].shape) != shape[1])
      return Offer::refuse("not one scale and shift for each channel");
    offer.inputs[i] = {DType::kFloat32, request.inputs[i].shape, Layout::kPlain};
  }
  offer.outputs = {desc};
  offer.in_place_input = static_cast<int>(x);
  auto kernel = std::make_shared<GroupNormKernel>(Parts(shape, desc.layout), groups,
                                                  step->norm.attributes.get_float("epsilon"),
                                                  Operands{step->inputs, desc.dtype}, std::move(activations));
  offer.scratch_bytes = kernel->scratch_bytes();
  offer.kernel = std::move(kernel);
  return offer;
}

}  // namespace

void add_group_normalization_tactics(TacticList& list) {
  // Plain for tensors that are plain on both sides, such as an input of the network that becomes its output.
  for (const auto& [name, plain] : {std::pair("group_norm", false), std::pair("group_norm_plain", true)}) {
    list.push_back({.name = name,
                    .operators = {"GroupNormalization", "InstanceNormalization",
                                  "Region:" + std::string(graph::kActivatedNormalization)},
                    .requirements = {engine::only_float32, engine::nonempty_output},
                    .make = [plain = plain](const StepRequest& request, engine::WeightStore&) {
                      return offer_group_norm(request, plain);
                    }});
  }
}

}  // namespace hone::device::cpu
