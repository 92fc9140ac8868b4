// Products with a constant matrix, as fully connected layers are, by kernels of ours.
#include <functional>

#include "device/cuda/plugin/kernels/gemm/matrix_vector.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm.hpp"
#include "device/cuda/plugin/tactics/configured_tactic.hpp"
#include "device/cuda/plugin/tactics/matrix_request.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using tensor::DType;

/// `run` gets x, 16-byte aligned, w, the bias or null, and y.
using LayerLaunch = std::function<cudaError_t(const void* x, const void* w, const float* bias, void* y,
                                              const LaunchOptions& options)>;

Offer make_layer_offer(Gpu& gpu, const StepRequest& request, const Product& product,
                       engine::WeightStore& weights, const char* what, LayerLaunch run) {
  const bool transposed = is_gemm(request.node) && request.node.attributes.get_int("transB") != 0;
  const PackedConstant packed = pack_matrix(gpu, request, 1, product.dtype, transposed, weights);
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  offer.inputs[0] = {product.dtype, request.inputs[0].shape, Layout::kPlain};
  if (product.bias) offer.inputs[2] = {DType::kFloat32, request.inputs[2].shape, Layout::kPlain};
  offer.outputs = {{product.result, request.outputs[0].shape, Layout::kPlain}};
  offer.packed = {packed.key};
  const auto x_bytes =
      static_cast<size_t>(tensor::element_count(request.inputs[0].shape)) * tensor::dtype_size(product.dtype);
  offer.scratch_bytes = static_cast<int64_t>(x_bytes);
  offer.kernel = std::make_shared<LaunchKernel>(
      what,
      [=, bias = product.bias, run = std::move(run)](auto inputs, auto outputs, void* scratch,
                                                     const LaunchOptions& options) {
        const void* x = inputs[0];
        constexpr uintptr_t kAlignment = 16;
        if (reinterpret_cast<uintptr_t>(x) % kAlignment != 0) {  // it is a part of a concatenation
          const cudaError_t status =
              cudaMemcpyAsync(scratch, x, x_bytes, cudaMemcpyDeviceToDevice, options.stream);
          if (status != cudaSuccess) return status;
          x = scratch;
        }
        return run(x, packed.device->data(), bias ? static_cast<const float*>(inputs[2]) : nullptr,
                   outputs[0], options);
      },
      true);
  return offer;
}

/// Few rows by a kernel of ours.
Offer offer_matrix_vector(Gpu& gpu, const StepRequest& request, engine::WeightStore& weights) {
  LayerProduct layer;
  if (Refusal reason = read_layer(request, layer)) return Offer::refuse(std::move(reason));
  const Product& product = layer.product;
  const MatrixVector size{product.rows, product.columns, product.depth, product.alpha, layer.low};
  if (Refusal reason = matrix_vector_refusal(size)) return Offer::refuse(std::move(reason));
  return make_layer_offer(
      gpu, request, product, weights, "a product with few rows",
      [=, type = float_type(product.dtype), result = float_type(product.result)](
          const void* x, const void* w, const float* bias, void* y, const LaunchOptions& options) {
        return matrix_vector(x, w, bias, y, type, result, size, options);
      });
}

/// More rows as the pixels of a convolution by warpgroup GEMM, in clusters, since the matrix is what takes
/// time to read.
struct ClusterPlan {
  LayerProduct layer;
  ConvProblem problem;
};

Refusal read(const StepRequest& request, ClusterPlan& plan) {
  if (Refusal reason = read_layer(request, plan.layer)) return reason;
  const Product& product = plan.layer.product;
  if (product.alpha != 1) return "alpha is not 1";
  if (product.dtype == DType::kFloat32) return "it multiplies elements of two bytes";
  constexpr int64_t kMost = int64_t{1} << 30;
  if (product.rows > kMost || product.columns > kMost || product.depth > kMost) return "a huge matrix";
  ConvProblem& problem = plan.problem;
  problem.element = product.dtype == DType::kFloat16 ? Element::kHalf : Element::kBFloat16;
  problem.batch = static_cast<int>(product.rows);
  problem.height = problem.width = 1;
  problem.channels = static_cast<int>(product.depth);
  problem.filters = static_cast<int>(product.columns);
  problem.float_result = product.result == DType::kFloat32;
  return {};
}

std::vector<WarpgroupConfig> configs(const ClusterPlan& plan, const DeviceProperties& device) {
  std::vector<WarpgroupConfig> result = warpgroup_configs(plan.problem, device);
  std::erase_if(result, [](const WarpgroupConfig& config) { return config.parts == 1; });
  return result;
}

Refusal refusal(const ClusterPlan& plan, const WarpgroupConfig& config, const DeviceProperties& device) {
  if (config.parts == 1) return "no cluster shares the depth";
  return warpgroup_refusal(plan.problem, config, device);
}

Offer make(Gpu& gpu, const StepRequest& request, const ClusterPlan& plan, const WarpgroupConfig& config,
           engine::WeightStore& weights) {
  return make_layer_offer(
      gpu, request, plan.layer.product, weights, "a product in clusters",
      [problem = plan.problem, config, low = plan.layer.low](const void* x, const void* w, const float* bias,
                                                             void* y, const LaunchOptions& options) {
        ConvArgs args;
        args.x = x;
        args.w = w;
        args.bias = bias;
        args.y = y;
        args.next_waits = options.next_waits;
        if (low == 0) args.steps[args.step_count++].op = graph::PostOp::kRelu;
        return launch_warpgroup(problem, config, args, options);
      });
}

}  // namespace

void add_layer_tactics(TacticList& list, Gpu& gpu) {
  list.push_back({.name = "matrix_vector",
                  .operators = product_operators(),
                  .make = std::bind_front(offer_matrix_vector, std::ref(gpu))});
  list.push_back(configured_tactic<ClusterPlan, WarpgroupConfig>("warpgroup_matrix", product_operators(), gpu,
                                                                 {read, configs, refusal, make}));
}

}  // namespace hone::device::cuda
