// Convolutions without tensor cores by kernels of ours: depthwise, grouped, and IEEE float.
#include <algorithm>
#include <limits>

#include "device/cuda/plugin/convolution_request.hpp"
#include "device/cuda/plugin/kernels/direct_convolution.hpp"

namespace hone::device::cuda {
namespace {

using engine::Offer;
using engine::StepRequest;
using tensor::DType;

ConvolutionSize convolution_size(const graph::Convolution& geometry) {
  ConvolutionSize size;
  size.batch = geometry.batch;
  size.in_channels = geometry.in_channels;
  size.out_channels = geometry.out_channels;
  size.group = geometry.group;
  const size_t first = 3 - geometry.axes.size();
  for (size_t i = 0; i < geometry.axes.size(); ++i) {
    const graph::WindowAxis& axis = geometry.axes[i];
    size.input[first + i] = axis.input;
    size.output[first + i] = axis.output;
    size.kernel[first + i] = axis.kernel;
    size.stride[first + i] = axis.stride;
    size.dilation[first + i] = axis.dilation;
    size.pad_begin[first + i] = axis.pad_begin;
  }
  return size;
}

/// What the three tactics do alike: they differ in the filter's order and in the launch.
class DirectTactic : public CudaTactic {
 public:
  bool handles(const std::string& op) const override { return op == "Conv" || op == "FusedConv"; }

  Offer offer(const StepRequest& request, engine::WeightStore& weights) const override {
    const std::vector<std::string> names = variants(request);
    return offer_variant(request, weights, names.empty() ? "" : names.front());
  }

  Offer offer_variant(const StepRequest& request, engine::WeightStore& weights,
                      std::string_view variant) const override {
    ConvolutionRequest convolution;
    if (std::string reason = read_convolution_request(request, convolution); !reason.empty())
      return Offer::refuse(std::move(reason));
    if (convolution.post_ops.size() > Epilogue::kLimit) return Offer::refuse("too many post-ops");
    if (tensor::element_count(request.outputs[0].shape) > std::numeric_limits<int32_t>::max())
      return Offer::refuse("more outputs than its index counts");
    if (std::string reason = refusal(request, convolution.geometry, variant); !reason.empty())
      return Offer::refuse(std::move(reason));
    Offer offer = make_convolution_offer(request, convolution, DType::kFloat32);
    const graph::Convolution& geometry = convolution.geometry;
    const PackedConstant filter =
        pack_filter(request, 1, filter_type(request), filter_order(), geometry.group_inputs(), weights);
    offer.packed = {filter.key};
    const ConvolutionSize size = convolution_size(geometry);
    const FloatType type = float_type(request.compute_dtype);
    offer.kernel = std::make_shared<LaunchKernel>(
        "a convolution",
        [=, this, chosen = std::string(variant)](auto inputs, auto outputs, void*,
                                                 const LaunchOptions& options) {
          ConvolutionArguments arguments;
          arguments.input = inputs[0];
          arguments.weights = filter.device->data();
          arguments.bias = convolution.has_bias ? static_cast<const float*>(inputs[2]) : nullptr;
          arguments.output = outputs[0];
          return launch(arguments, type, size, make_epilogue(convolution, inputs), chosen, options);
        },
        true);
    return offer;
  }

 protected:
  virtual std::string refusal(const StepRequest& request, const graph::Convolution& geometry,
                              std::string_view variant) const = 0;
  virtual FilterOrder filter_order() const = 0;
  virtual DType filter_type(const StepRequest& request) const { return request.compute_dtype; }
  virtual cudaError_t launch(const ConvolutionArguments& arguments, FloatType type,
                             const ConvolutionSize& size, const Epilogue& epilogue,
                             const std::string& variant, const LaunchOptions& options) const = 0;
};

class DepthwiseTactic final : public DirectTactic {
 public:
  std::string_view name() const override { return "depthwise"; }
  std::vector<std::string> variants(const StepRequest& request) const override {
    std::vector<std::string> result = {"auto", "1", "2", "4"};
    ConvolutionRequest convolution;
    if (!read_convolution_request(request, convolution).empty()) return result;
    const ConvolutionSize size = convolution_size(convolution.geometry);
    int64_t runs = 0;
    for (const int most : kMostRows) {
      if (!depthwise_rows_refusal(size, most).empty()) continue;
      // Of those that make as many runs of an image one does.
      const int64_t made = (size.output[1] + most - 1) / most;
      if (made != runs) result.push_back(fmt::format("rows{}", most));
      runs = made;
    }
    return result;
  }

 protected:
  std::string refusal(const StepRequest&, const graph::Convolution& geometry,
                      std::string_view variant) const override {
    if (geometry.group != geometry.in_channels || geometry.group != geometry.out_channels ||
        geometry.group == 1)
      return "it is not depthwise";
    if (rows(variant) != 0) return depthwise_rows_refusal(convolution_size(geometry), rows(variant));
    return variant == "auto" || strip(variant) != 0 ? "" : fmt::format("'{}' is no strip length", variant);
  }
  // One filter per channel: [K][R][S] as [R][S][K].
  FilterOrder filter_order() const override { return FilterOrder::kRsck; }
  DType filter_type(const StepRequest&) const override { return DType::kFloat32; }
  cudaError_t launch(const ConvolutionArguments& arguments, FloatType type, const ConvolutionSize& size,
                     const Epilogue& epilogue, const std::string& variant,
                     const LaunchOptions& options) const override {
    if (rows(variant) != 0) return depthwise_rows(arguments, type, size, epilogue, rows(variant), options);
    return depthwise_convolution(arguments, type, size, epilogue, strip(variant), options);
  }

 private:
  static int strip(std::string_view variant) {
    return variant == "1" ? 1 : variant == "2" ? 2 : variant == "4" ? 4 : 0;
  }
  /// Of a thread that goes down the image; 0 for strips.
  static int rows(std::string_view variant) {
    for (const int most : kMostRows) {
      if (variant == fmt::format("rows{}", most)) return most;
    }
    return 0;
  }
  static constexpr int kMostRows[] = {4, 8, 16, 32};
};

class IeeeTactic final : public DirectTactic {
 public:
  std::string_view name() const override { return "ieee_direct"; }
  std::vector<std::string> variants(const StepRequest&) const override {
    return {"64x64", "128x64", "32x32"};
  }

 protected:
  std::string refusal(const StepRequest& request, const graph::Convolution& geometry,
                      std::string_view variant) const override {
    if (request.compute_dtype != DType::kFloat32) return "only fp32";
    if (geometry.group != 1) return "it has groups";
    return variant == "64x64" || variant == "128x64" || variant == "32x32"
               ? ""
               : fmt::format("'{}' is no tile", variant);
  }
  FilterOrder filter_order() const override { return FilterOrder::kRsck; }
  cudaError_t launch(const ConvolutionArguments& arguments, FloatType, const ConvolutionSize& size,
                     const Epilogue& epilogue, const std::string& variant,
                     const LaunchOptions& options) const override {
    const DirectTile tile = variant == "128x64"  ? DirectTile::k128x64
                            : variant == "32x32" ? DirectTile::k32x32
                                                 : DirectTile::k64x64;
    return direct_convolution(arguments, size, epilogue, tile, options);
  }
};

class GroupedTactic final : public DirectTactic {
 public:
  std::string_view name() const override { return "grouped"; }

 protected:
  std::string refusal(const StepRequest&, const graph::Convolution&, std::string_view) const override {
    return "";
  }
  FilterOrder filter_order() const override { return FilterOrder::kKrsc; }
  cudaError_t launch(const ConvolutionArguments& arguments, FloatType type, const ConvolutionSize& size,
                     const Epilogue& epilogue, const std::string&,
                     const LaunchOptions& options) const override {
    return grouped_convolution(arguments, type, size, epilogue, options);
  }
};

}  // namespace

void add_direct_convolution_tactics(TacticList& list) {
  list.push_back(std::make_unique<DepthwiseTactic>());
  list.push_back(std::make_unique<IeeeTactic>());
  list.push_back(std::make_unique<GroupedTactic>());
}

}  // namespace hone::device::cuda
