// See cudnn_compiler.hpp.
#include "device/cuda/plugin/libraries/cudnn_compiler.hpp"

#include <fmt/ranges.h>

namespace hone::device::cuda {
namespace {

std::string key_of(const CudnnConvolution& c, std::string_view config) {
  std::string key =
      fmt::format("{};{};{};{};{};{};{};{};{}", config, precision_name(c.precision), fmt::join(c.x, ","),
                  fmt::join(c.w, ","), fmt::join(c.y, ","), fmt::join(c.strides, ","),
                  fmt::join(c.dilations, ","), fmt::join(c.pads_begin, ","), fmt::join(c.pads_end, ","));
  for (const CudnnPointwise& op : c.pointwise) {
    key += fmt::format(";{},{},{},{},{},{},{}", static_cast<int>(op.mode), op.operand, op.per_channel,
                       op.lower, op.upper, op.slope, op.bounded);
  }
  return key;
}

}  // namespace

std::shared_ptr<const PlanCompiler::Request> CudnnCompiler::request(const CudnnConvolution& convolution,
                                                                    std::string_view config) {
  return compiler_.request(key_of(convolution, config), [this, convolution, config = std::string(config)] {
    const CudnnHandles::Lease handle(makers_);
    auto graph = std::make_shared<const CudnnGraph>(convolution, handle.get());
    return std::make_shared<const CudnnPlan>(std::move(graph), config, runners_);
  });
}

std::vector<std::string> CudnnCompiler::configs(const CudnnConvolution& convolution, bool swept) {
  const CudnnHandles::Lease handle(makers_);
  const CudnnGraph graph(convolution, handle.get());
  return swept ? graph.swept() : graph.recommended();
}

engine::Preparation CudnnCompiler::start(const CudnnConvolution& convolution,
                                         const std::vector<std::string>& configs) {
  auto requests = std::make_shared<std::vector<std::shared_ptr<const PlanCompiler::Request>>>();
  for (const std::string& config : configs) requests->push_back(request(convolution, config));
  return requests;
}

std::shared_ptr<const CudnnPlan> CudnnCompiler::plan(const CudnnConvolution& convolution,
                                                     std::string_view config) {
  return request(convolution, config)->get();
}

}  // namespace hone::device::cuda
