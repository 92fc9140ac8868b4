// Runs convolutions without tensor cores with hone's own kernels: depthwise, grouped, and IEEE float.
#include <functional>
#include <limits>
#include <optional>

#include "device/cuda/plugin/kernels/common/stream_epilogue.hpp"
#include "device/cuda/plugin/kernels/convolution/direct_convolution.hpp"
#include "device/cuda/plugin/tactics/convolution_request.hpp"
#include "device/cuda/plugin/tactics/convolution_size.hpp"

namespace hone::device::cuda {
namespace {

using engine::Offer;
using engine::StepRequest;
using tensor::DType;

struct DirectProblem {
  ConvolutionRequest request;
  ConvolutionSize size;
  FloatType type = FloatType::kFloat;
  /// The post-ops in the simple form that tiles require; empty if they do not have it.
  std::optional<StreamEpilogue> stream;
};

/// Returns an empty refusal if `out` is filled in; otherwise
/// the reason why none of the three tactics takes it.
Refusal read_problem(const StepRequest& request, DirectProblem& out) {
  if (Refusal reason = read_convolution_request(request, out.request)) return reason;
  if (out.request.post_ops.size() > Epilogue::kLimit) return "too many post-ops";
  if (tensor::element_count(request.outputs[0].shape) > std::numeric_limits<int32_t>::max())
    return "more outputs than its index counts";
  out.size = convolution_size(out.request.geometry);
  out.type = float_type(request.storage());
  if (out.request.post_ops.size() <= kMaxEpilogueSteps) out.stream = stream_epilogue(conv_args(out.request));
  return {};
}

/// The differences between the three tactics.
struct Way {
  FilterOrder order;
  /// True if filters stay float, whatever the image's type is.
  bool float_filter;
  std::vector<std::string> (*variants)(const StepRequest& request, const DeviceProperties& device);
  Refusal (*refusal)(const DirectProblem& problem, std::string_view variant, const DeviceProperties& device);
  cudaError_t (*launch)(const DirectProblem& problem, const ConvolutionArguments& arguments,
                        const Epilogue& epilogue, const std::string& variant, const LaunchOptions& options);
};

Offer offer_variant(Gpu& gpu, const Way& way, const StepRequest& request, engine::WeightStore& weights,
                    std::string_view variant) {
  DirectProblem problem;
  if (Refusal reason = read_problem(request, problem)) return Offer::refuse(std::move(reason));
  if (Refusal reason = way.refusal(problem, variant, gpu.properties()))
    return Offer::refuse(std::move(reason));
  Offer offer = make_convolution_offer(request, problem.request, DType::kFloat32);
  const DType filter_type = way.float_filter ? DType::kFloat32 : request.storage();
  const PackedConstant filter =
      pack_filter(gpu, request, 1, filter_type, way.order, problem.request.geometry.group_inputs(), weights);
  offer.packed = {filter.key};
  offer.kernel = std::make_shared<LaunchKernel>(
      "a convolution",
      [=, launch = way.launch, chosen = std::string(variant)](auto inputs, auto outputs, void*,
                                                              const LaunchOptions& options) {
        ConvolutionArguments arguments;
        arguments.input = inputs[0];
        arguments.weights = filter.device->data();
        arguments.bias = problem.request.has_bias ? static_cast<const float*>(inputs[2]) : nullptr;
        arguments.output = outputs[0];
        return launch(problem, arguments, make_epilogue(problem.request, inputs), chosen, options);
      },
      true);
  return offer;
}

engine::Tactic direct_tactic(std::string name, Gpu& gpu, const Way& way, bool starts_early = false) {
  return {.name = std::move(name),
          .operators = {"Conv", "FusedConv"},
          .starts_early = starts_early,
          .make =
              [&gpu, &way](const StepRequest& request, engine::WeightStore& weights) {
                const std::vector<std::string> names = way.variants(request, gpu.properties());
                return offer_variant(gpu, way, request, weights, names.empty() ? "" : names.front());
              },
          .list_variants =
              [&gpu, &way](const StepRequest& request) { return way.variants(request, gpu.properties()); },
          .make_variant = std::bind_front(offer_variant, std::ref(gpu), std::cref(way))};
}

int strip(std::string_view variant) {
  return variant == "1" ? 1 : variant == "2" ? 2 : variant == "4" ? 4 : 0;
}

/// The variant whose threads compute two channels each.
constexpr std::string_view kNarrow = "narrow";

/// True if threads with 16 bytes of channels each are too few to keep a GPU busy.
bool has_few_outputs(const ConvolutionSize& size) {
  constexpr int64_t kFew = int64_t{1} << 18;
  return has_small_windows(size) && size.batch * size.output[1] * size.output[2] * size.out_channels <= kFew;
}

/// Rows that a thread computes; 0 for variants without tiles.
int tile_run(const DirectProblem& problem, std::string_view variant) {
  for (const int run : depthwise_tile_runs(problem.size)) {
    if (variant == fmt::format("tiles{}", run)) return run;
  }
  return 0;
}

Refusal tiles_refusal(const DirectProblem& problem, int run, const DeviceProperties& device) {
  return depthwise_tiles_refusal(problem.size, problem.type, problem.stream, run, device);
}

std::vector<std::string> depthwise_variants(const StepRequest& request, const DeviceProperties& device) {
  std::vector<std::string> result = {"auto", "1", "2", "4"};
  DirectProblem problem;
  if (read_problem(request, problem)) return result;
  if (has_few_outputs(problem.size)) result.emplace_back(kNarrow);
  for (const int run : depthwise_tile_runs(problem.size)) {
    if (!tiles_refusal(problem, run, device)) result.push_back(fmt::format("tiles{}", run));
  }
  return result;
}

Refusal depthwise_refusal(const DirectProblem& problem, std::string_view variant,
                          const DeviceProperties& device) {
  const ConvolutionSize& size = problem.size;
  if (size.group != size.in_channels || size.group != size.out_channels || size.group == 1)
    return "it is not depthwise";
  if (const int run = tile_run(problem, variant); run != 0) return tiles_refusal(problem, run, device);
  if (variant == kNarrow) return has_small_windows(size) ? "" : "only windows of 3 x 3 and 5 x 5";
  return variant == "auto" || strip(variant) != 0 ? "" : fmt::format("'{}' is no strip length", variant);
}

cudaError_t launch_depthwise(const DirectProblem& problem, const ConvolutionArguments& arguments,
                             const Epilogue& epilogue, const std::string& variant,
                             const LaunchOptions& options) {
  if (const int run = tile_run(problem, variant); run != 0)
    return depthwise_tiles(arguments, problem.type, problem.size, *problem.stream, run, options);
  return depthwise_convolution(arguments, problem.type, problem.size, epilogue, strip(variant),
                               variant == kNarrow, options);
}

std::vector<std::string> ieee_variants(const StepRequest&, const DeviceProperties&) {
  return {"64x64", "128x64", "32x32"};
}

Refusal ieee_refusal(const DirectProblem& problem, std::string_view variant, const DeviceProperties&) {
  if (problem.type != FloatType::kFloat) return "only fp32";
  if (problem.size.group != 1) return "it has groups";
  return variant == "64x64" || variant == "128x64" || variant == "32x32"
             ? ""
             : fmt::format("'{}' is no tile", variant);
}

cudaError_t launch_ieee(const DirectProblem& problem, const ConvolutionArguments& arguments,
                        const Epilogue& epilogue, const std::string& variant, const LaunchOptions& options) {
  const DirectTile tile = variant == "128x64"  ? DirectTile::k128x64
                          : variant == "32x32" ? DirectTile::k32x32
                                               : DirectTile::k64x64;
  return direct_convolution(arguments, problem.size, epilogue, tile, options);
}

std::vector<std::string> no_variants(const StepRequest&, const DeviceProperties&) { return {}; }

Refusal no_refusal(const DirectProblem&, std::string_view, const DeviceProperties&) { return {}; }

cudaError_t launch_grouped(const DirectProblem& problem, const ConvolutionArguments& arguments,
                           const Epilogue& epilogue, const std::string&, const LaunchOptions& options) {
  return grouped_convolution(arguments, problem.type, problem.size, epilogue, options);
}

// One filter for each channel, rearranged from [K][R][S] to [R][S][K].
constexpr Way kDepthwise = {FilterOrder::kRsck, true, depthwise_variants, depthwise_refusal,
                            launch_depthwise};
constexpr Way kIeee = {FilterOrder::kRsck, false, ieee_variants, ieee_refusal, launch_ieee};
constexpr Way kGrouped = {FilterOrder::kKrsc, false, no_variants, no_refusal, launch_grouped};

}  // namespace

void add_direct_convolution_tactics(TacticList& list, Gpu& gpu) {
  list.push_back(direct_tactic("depthwise", gpu, kDepthwise, true));
  list.push_back(direct_tactic("ieee_direct", gpu, kIeee));
  list.push_back(direct_tactic("grouped", gpu, kGrouped));
}

}  // namespace hone::device::cuda
