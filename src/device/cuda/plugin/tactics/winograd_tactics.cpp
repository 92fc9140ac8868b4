// Runs 3 x 3 and 5 x 5 convolutions in fp32 with minimal filtering: hone's own kernels transform, and
// cuBLASLt multiplies. A variant consists of an algorithm of the library and a limit, in MB, on the tiles
// that are transformed at once. Every variant runs all shapes, because an engine that stores the transformed
// filters has no other form of them.
#include <algorithm>
#include <functional>
#include <optional>

#include "device/cuda/plugin/libraries/cublaslt.hpp"
#include "device/cuda/plugin/tactics/convolution_request.hpp"

namespace hone::device::cuda {
namespace {

using engine::Offer;
using engine::StepRequest;
using tensor::Precision;

constexpr int kMostAlgorithms = 3;
constexpr int64_t kAlignment = 256;
/// Sizes that fit into the L2 caches of large GPUs together with filters, and that keep such a GPU busy.
constexpr int64_t kPartMegabytes[] = {32, 128};

struct Plan {
  ConvolutionRequest request;
  Winograd size;
};

/// Returns an empty refusal if the plan is filled in.
Refusal make_plan(const StepRequest& request, Plan& plan) {
  if (request.precision() != Precision::kFp32) return "only fp32";
  if (Refusal reason = read_convolution_request(request, plan.request)) return reason;
  const graph::Convolution& geometry = plan.request.geometry;
  if (geometry.group != 1) return "it has groups";
  if (plan.request.post_ops.size() > Epilogue::kLimit) return "too many post-ops";
  const graph::WindowAxis& y = geometry.axes[0];
  const graph::WindowAxis& x = geometry.axes[1];
  for (const graph::WindowAxis* axis : {&y, &x}) {
    if (axis->stride != 1 || axis->dilation != 1) return "it has strides or dilation";
  }
  if (y.kernel != x.kernel) return "its filters are not square";
  plan.size = {
      geometry.batch, geometry.in_channels, geometry.out_channels,     y.input, x.input, y.output, x.output,
      y.pad_begin,    x.pad_begin,          static_cast<int>(y.kernel)};
  return winograd_refusal(plan.size);
}

/// The 36 products of one part.
Product product_of(const Winograd& size, int64_t parts) {
  Product product;
  product.batch = Winograd::kProducts;
  product.rows = size.part_tiles(parts);
  product.columns = size.filters;
  product.depth = size.channels;
  product.transposed = true;
  product.compute = CUBLAS_COMPUTE_32F_PEDANTIC;
  return product;
}

struct Choice {
  int64_t megabytes = 0;
  int algorithm = 0;

  std::string text() const { return fmt::format("m{}_h{}", megabytes, algorithm); }
  int64_t parts(const Winograd& size) const { return winograd_parts(size, megabytes << 20); }

  static std::optional<Choice> parse(std::string_view text) {
    for (const int64_t megabytes : kPartMegabytes) {
      for (int algorithm = 0; algorithm < kMostAlgorithms; ++algorithm) {
        const Choice choice{megabytes, algorithm};
        if (choice.text() == text) return choice;
      }
    }
    return std::nullopt;
  }
};

/// The choices whose number of parts differs for this size.
std::vector<Choice> choices(const Winograd& size, Cublaslt& cublaslt) {
  std::vector<Choice> result;
  int64_t before = 0;
  for (const int64_t megabytes : kPartMegabytes) {
    const int64_t parts = Choice{megabytes}.parts(size);
    if (parts == before) continue;
    before = parts;
    const Matmul matmul(product_of(size, parts), cublaslt);
    const auto count = static_cast<int>(matmul.recommended(kMostAlgorithms).size());
    for (int i = 0; i < count; ++i) result.push_back({megabytes, i});
  }
  return result;
}

class WinogradStep {
 public:
  WinogradStep(Plan plan, int64_t parts, std::shared_ptr<const Matmul> matmul,
               const cublasLtMatmulHeuristicResult_t& algorithm, PackedConstant filter)
      : plan_(std::move(plan)),
        tiles_(plan_.size.part_tiles(parts)),
        products_at_(aligned(plan_.size.image_bytes(parts))),
        workspace_at_(products_at_ + aligned(plan_.size.result_bytes(parts))),
        filter_(std::move(filter)),
        matmul_(std::move(matmul)),
        algorithm_(algorithm) {}

  int64_t scratch_bytes() const { return workspace_at_ + static_cast<int64_t>(algorithm_.workspaceSize); }

  cudaError_t operator()(std::span<const void* const> inputs, std::span<void* const> outputs, void* scratch,
                         LaunchOptions options) const {
    auto* const bytes = static_cast<std::byte*>(scratch);
    auto* const image = reinterpret_cast<float*>(bytes);
    auto* const products = reinterpret_cast<float*>(bytes + products_at_);
    const auto* const bias = plan_.request.has_bias ? static_cast<const float*>(inputs[2]) : nullptr;
    const Epilogue epilogue = make_epilogue(plan_.request, inputs);
    for (int64_t first = 0; first < plan_.size.tiles(); first += tiles_) {
      cudaError_t status =
          winograd_image(plan_.size, static_cast<const float*>(inputs[0]), first, tiles_, image, options);
      if (status != cudaSuccess) return status;
      matmul_->run(algorithm_, filter_.device->data(), image, nullptr, nullptr, products,
                   bytes + workspace_at_, options.stream);
      status = winograd_result(plan_.size, products, first, tiles_, bias, epilogue,
                               static_cast<float*>(outputs[0]), options);
      if (status != cudaSuccess) return status;
    }
    return cudaSuccess;
  }

 private:
  static int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

  Plan plan_;
  int64_t tiles_;
  int64_t products_at_;
  int64_t workspace_at_;
  PackedConstant filter_;
  std::shared_ptr<const Matmul> matmul_;
  cublasLtMatmulHeuristicResult_t algorithm_;
};

constexpr const char* kNoAlgorithm = "cuBLASLt recommends no algorithm for its products";

std::vector<std::string> variants(Cublaslt& cublaslt, const StepRequest& request) {
  Plan plan;
  std::vector<std::string> result;
  if (make_plan(request, plan) || winograd_loss(plan.size)) return result;
  for (const Choice& choice : choices(plan.size, cublaslt)) result.push_back(choice.text());
  return result;
}

Offer refuse(const StepRequest& request, engine::WeightStore&) {
  Plan plan;
  Refusal reason = make_plan(request, plan);
  if (!reason) reason = winograd_loss(plan.size);
  return Offer::refuse(!reason ? kNoAlgorithm : std::move(reason));
}

Offer offer_variant(Gpu& gpu, Cublaslt& cublaslt, const StepRequest& request, engine::WeightStore& weights,
                    std::string_view variant) {
  Plan plan;
  if (Refusal reason = make_plan(request, plan)) return Offer::refuse(std::move(reason));
  const auto choice = Choice::parse(variant);
  if (!choice) return Offer::refuse(fmt::format("'{}' is no part with an algorithm", variant));
  const int64_t parts = choice->parts(plan.size);
  auto matmul = std::make_shared<const Matmul>(product_of(plan.size, parts), cublaslt);
  const auto algorithms = matmul->recommended(kMostAlgorithms);
  if (algorithms.empty()) return Offer::refuse(kNoAlgorithm);
  // A shape other than the one that was timed may have fewer algorithms.
  const size_t chosen = std::min(static_cast<size_t>(choice->algorithm), algorithms.size() - 1);
  PackedConstant filter = pack_winograd(gpu, request, 1, plan.size, weights);
  Offer offer = make_convolution_offer(request, plan.request, request.storage());
  offer.packed = {filter.key};
  const WinogradStep step(std::move(plan), parts, std::move(matmul), algorithms[chosen], std::move(filter));
  offer.scratch_bytes = step.scratch_bytes();
  offer.kernel = std::make_shared<LaunchKernel>("a convolution", step, true);
  return offer;
}

}  // namespace

void add_winograd_tactics(TacticList& list, Gpu& gpu, Cublaslt& cublaslt) {
  list.push_back({.name = "winograd",
                  .operators = {"Conv", "FusedConv"},
                  .make = refuse,
                  .list_variants = std::bind_front(variants, std::ref(cublaslt)),
                  .make_variant = std::bind_front(offer_variant, std::ref(gpu), std::ref(cublaslt))});
}

}  // namespace hone::device::cuda
