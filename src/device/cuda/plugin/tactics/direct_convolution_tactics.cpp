// Convolutions without tensor cores by kernels of ours: depthwise, grouped, and IEEE float.
#include <algorithm>
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
  /// The post-ops where they are no more than that, which tiles need.
  std::optional<StreamEpilogue> stream;
};

/// Empty when `out` is filled in; else why none of the three takes the step.
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

/// What the three tactics do alike: they differ in the filter's order and in the launch.
class DirectTactic : public CudaTactic {
 public:
  using CudaTactic::CudaTactic;

  bool handles(const std::string& op) const override { return op == "Conv" || op == "FusedConv"; }

  Offer offer(const StepRequest& request, engine::WeightStore& weights) const override {
    const std::vector<std::string> names = variants(request);
    return offer_variant(request, weights, names.empty() ? "" : names.front());
  }

  Offer offer_variant(const StepRequest& request, engine::WeightStore& weights,
                      std::string_view variant) const override {
    DirectProblem problem;
    if (Refusal reason = read_problem(request, problem)) return Offer::refuse(std::move(reason));
    if (Refusal reason = refusal(problem, variant)) return Offer::refuse(std::move(reason));
    Offer offer = make_convolution_offer(request, problem.request, DType::kFloat32);
    const PackedConstant filter = pack_filter(gpu(), request, 1, filter_type(request), filter_order(),
                                              problem.request.geometry.group_inputs(), weights);
    offer.packed = {filter.key};
    offer.kernel = std::make_shared<LaunchKernel>(
        "a convolution",
        [=, this, chosen = std::string(variant)](auto inputs, auto outputs, void*,
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

 protected:
  virtual Refusal refusal(const DirectProblem& problem, std::string_view variant) const = 0;
  virtual FilterOrder filter_order() const = 0;
  virtual DType filter_type(const StepRequest& request) const { return request.storage(); }
  virtual cudaError_t launch(const DirectProblem& problem, const ConvolutionArguments& arguments,
                             const Epilogue& epilogue, const std::string& variant,
                             const LaunchOptions& options) const = 0;
};

class DepthwiseTactic final : public DirectTactic {
 public:
  using DirectTactic::DirectTactic;

  std::string_view name() const override { return "depthwise"; }
  std::vector<std::string> variants(const StepRequest& request) const override {
    std::vector<std::string> result = {"auto", "1", "2", "4"};
    DirectProblem problem;
    if (read_problem(request, problem)) return result;
    for (const int run : depthwise_tile_runs(problem.size)) {
      if (!tiles_refusal(problem, run)) result.push_back(fmt::format("tiles{}", run));
    }
    return result;
  }

 protected:
  Refusal refusal(const DirectProblem& problem, std::string_view variant) const override {
    const ConvolutionSize& size = problem.size;
    if (size.group != size.in_channels || size.group != size.out_channels || size.group == 1)
      return "it is not depthwise";
    if (const int run = tile_run(problem, variant); run != 0) return tiles_refusal(problem, run);
    return variant == "auto" || strip(variant) != 0 ? "" : fmt::format("'{}' is no strip length", variant);
  }
  // One filter per channel: [K][R][S] as [R][S][K].
  FilterOrder filter_order() const override { return FilterOrder::kRsck; }
  DType filter_type(const StepRequest&) const override { return DType::kFloat32; }
  cudaError_t launch(const DirectProblem& problem, const ConvolutionArguments& arguments,
                     const Epilogue& epilogue, const std::string& variant,
                     const LaunchOptions& options) const override {
    if (const int run = tile_run(problem, variant); run != 0)
      return depthwise_tiles(arguments, problem.type, problem.size, *problem.stream, run, options);
    return depthwise_convolution(arguments, problem.type, problem.size, epilogue, strip(variant), options);
  }

 private:
  static int strip(std::string_view variant) {
    return variant == "1" ? 1 : variant == "2" ? 2 : variant == "4" ? 4 : 0;
  }
  /// Rows of a thread; 0 for variants without tiles.
  static int tile_run(const DirectProblem& problem, std::string_view variant) {
    for (const int run : depthwise_tile_runs(problem.size)) {
      if (variant == fmt::format("tiles{}", run)) return run;
    }
    return 0;
  }
  Refusal tiles_refusal(const DirectProblem& problem, int run) const {
    return depthwise_tiles_refusal(problem.size, problem.type, problem.stream, run, device());
  }
};

class IeeeTactic final : public DirectTactic {
 public:
  using DirectTactic::DirectTactic;

  std::string_view name() const override { return "ieee_direct"; }
  std::vector<std::string> variants(const StepRequest&) const override {
    return {"64x64", "128x64", "32x32"};
  }

 protected:
  Refusal refusal(const DirectProblem& problem, std::string_view variant) const override {
    if (problem.type != FloatType::kFloat) return "only fp32";
    if (problem.size.group != 1) return "it has groups";
    return variant == "64x64" || variant == "128x64" || variant == "32x32"
               ? ""
               : fmt::format("'{}' is no tile", variant);
  }
  FilterOrder filter_order() const override { return FilterOrder::kRsck; }
  cudaError_t launch(const DirectProblem& problem, const ConvolutionArguments& arguments,
                     const Epilogue& epilogue, const std::string& variant,
                     const LaunchOptions& options) const override {
    const DirectTile tile = variant == "128x64"  ? DirectTile::k128x64
                            : variant == "32x32" ? DirectTile::k32x32
                                                 : DirectTile::k64x64;
    return direct_convolution(arguments, problem.size, epilogue, tile, options);
  }
};

class GroupedTactic final : public DirectTactic {
 public:
  using DirectTactic::DirectTactic;

  std::string_view name() const override { return "grouped"; }

 protected:
  Refusal refusal(const DirectProblem&, std::string_view) const override { return {}; }
  FilterOrder filter_order() const override { return FilterOrder::kKrsc; }
  cudaError_t launch(const DirectProblem& problem, const ConvolutionArguments& arguments,
                     const Epilogue& epilogue, const std::string&,
                     const LaunchOptions& options) const override {
    return grouped_convolution(arguments, problem.type, problem.size, epilogue, options);
  }
};

}  // namespace

void add_direct_convolution_tactics(TacticList& list, Gpu& gpu) {
  list.push_back(std::make_unique<DepthwiseTactic>(gpu));
  list.push_back(std::make_unique<IeeeTactic>(gpu));
  list.push_back(std::make_unique<GroupedTactic>(gpu));
}

}  // namespace hone::device::cuda
