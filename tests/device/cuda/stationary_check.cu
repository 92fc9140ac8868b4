// Checks of warpgroup_stationary.hpp: against plain loops in double, and in chains that let each other in
// early.
#include <algorithm>
#include <cmath>

#include "device/cuda/conv_problems.hpp"
#include "device/cuda/implicit_gemm_reference.cuh"
#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_stationary.hpp"
#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

/// One convolution with random operands.
template <class T>
class StationaryCase {
 public:
  StationaryCase(const ConvProblem& problem, bool adds, bool has_bias)
      : problem_(problem),
        adds_(adds),
        has_bias_(has_bias),
        x_(problem.rows() * problem.channels, kType),
        w_(problem.filters * problem.depth(), kType, -limit(), limit()),
        packed_(arranged(), kType),
        bias_(problem.filters, FloatType::kFloat),
        residual_(problem.rows() * problem.filters, kType, -2, 2) {
    problem_.element = ElementOf<T>::kElement;
  }

  void run(Family& family) {
    const auto count = static_cast<size_t>(problem_.rows()) * problem_.filters;
    const Buffer<double> values(count);
    const Buffer<double> magnitudes(count);
    run_reference(problem_, static_cast<const T*>(x_.get()), static_cast<const T*>(w_.get()),
                  arguments(x_.get(), nullptr), values.get(), magnitudes.get());
    Output y(static_cast<int64_t>(count), kType);
    y.expected = values.host();
    double most = 1;
    for (const double value : y.expected) most = std::max(most, std::abs(value));
    family.launched(launch(x_.get(), y.get(), false, false), name());
    family.compare(y, 8 * kFloatRoundoff * std::sqrt(static_cast<double>(problem_.depth())) * most, name());
  }

  /// Links that read what the one before has made, as one graph: without and with programmatic launches.
  void run_chain(Family& family) const {
    constexpr int kLinks = 8;
    const size_t bytes = x_.host.size() * 2;
    const DeviceBuffer image[2] = {DeviceBuffer(bytes), DeviceBuffer(bytes)};
    cudaStream_t stream = nullptr;
    cudaStreamCreate(&stream);
    const auto instantiate = [&](bool pdl) {
      cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
      for (int i = 0; i < kLinks; ++i)
        family.launched(launch(i == 0 ? x_.get() : image[1 - i % 2].get(), image[i % 2].get(), pdl && i > 0,
                               pdl && i + 1 < kLinks, stream),
                        name() + ", captured");
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t instance = nullptr;
      cudaStreamEndCapture(stream, &graph);
      family.launched(cudaGraphInstantiate(&instance, graph, 0), name() + ", an instance");
      cudaGraphDestroy(graph);
      return instance;
    };
    const auto run = [&](cudaGraphExec_t graph) {
      for (const DeviceBuffer& buffer : image) cudaMemset(buffer.get(), 0xff, bytes);
      cudaDeviceSynchronize();
      cudaGraphLaunch(graph, stream);
      family.launched(cudaStreamSynchronize(stream), name() + ", chain");
      std::vector<uint16_t> bits(bytes / 2);
      image[(kLinks - 1) % 2].download(bits.data());
      return bits;
    };
    const cudaGraphExec_t plain = instantiate(false);
    const cudaGraphExec_t early = instantiate(true);
    const std::vector<uint16_t> expected = run(plain);
    replay(50, [&] {
      family.expect(run(early) == expected, name() + ": a chain differs from ordinary launches");
    });
    cudaGraphExecDestroy(plain);
    cudaGraphExecDestroy(early);
    cudaStreamDestroy(stream);
  }

 private:
  static constexpr FloatType kType =
      ElementOf<T>::kElement == Element::kHalf ? FloatType::kHalf : FloatType::kBfloat16;

  /// So that sums of all depths are about as large.
  double limit() const { return std::sqrt(6.0 / static_cast<double>(problem_.depth())); }

  std::vector<double> arranged() const {
    std::vector<double> result(w_.host.size());
    for (size_t i = 0; i < result.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      const int64_t channels = problem_.channels;
      result[stationary_place(channels, at / channels / 9, at / channels % 9, at % channels)] = w_.host[i];
    }
    return result;
  }

  ConvArgs arguments(const void* x, void* y) const {
    ConvArgs args;
    args.x = x;
    args.w = w_.get();
    args.bias = has_bias_ ? static_cast<const float*>(bias_.get()) : nullptr;
    args.y = y;
    if (adds_)
      args.steps[args.step_count++] = {graph::PostOp::kAdd, 0, 0, OperandShape::kFull, residual_.get()};
    args.steps[args.step_count++] = {graph::PostOp::kRelu};
    return args;
  }

  cudaError_t launch(const void* x, void* y, bool pdl, bool next_waits, cudaStream_t stream = nullptr) const {
    ConvArgs args = arguments(x, y);
    args.w = packed_.get();
    args.next_waits = next_waits;
    return launch_warpgroup_stationary(problem_, args, {.stream = stream, .device = &gpu(), .pdl = pdl});
  }

  std::string name() const {
    return std::string(type_name(kType)) + " " + std::to_string(problem_.batch) + " x " +
           std::to_string(problem_.height) + " x " + std::to_string(problem_.width) + ", " +
           std::to_string(problem_.channels) + " to " + std::to_string(problem_.filters) +
           (adds_ ? ", added" : "") + (has_bias_ ? ", biases" : "");
  }

  ConvProblem problem_;
  bool adds_;
  bool has_bias_;
  Values x_;
  Values w_;
  Values packed_;
  Values bias_;
  Values residual_;
};

/// ResNet's; several tiles a block; rows and columns that fill no tile.
std::vector<ConvProblem> problems() {
  std::vector<ConvProblem> result;
  for (const int batch : {1, 8, 20}) {
    for (const auto& [size, channels] : {std::pair(28, 128), std::pair(14, 256), std::pair(7, 512)})
      result.push_back(problem(batch, size, channels, channels));
  }
  for (const int width : {1, 13, 57}) {
    ConvProblem p = problem(3, 5, 256, 192);
    p.width = width;
    result.push_back(p);
  }
  return result;
}

template <class T>
void check(Family& family) {
  int turn = 0;
  for (const ConvProblem& p : problems()) {
    for (const bool adds : {false, true}) StationaryCase<T>(p, adds, ++turn % 3 != 0).run(family);
  }
}

template <class T>
void check_chains(Family& family) {
  for (const ConvProblem& p : problems()) {
    if (p.channels == p.filters) StationaryCase<T>(p, true, true).run_chain(family);
  }
}

}  // namespace

void check_stationary() {
  Family family("filters that stay");
  DeviceProperties device;
  if (find_device_properties(0, device) != cudaSuccess || !device.warpgroups) return;
  check<__half>(family);
  check<__nv_bfloat16>(family);
}

void check_stationary_chains() {
  if (!launches_overlap("chains of filters that stay")) return;
  Family family("chains of filters that stay");
  DeviceProperties device;
  if (find_device_properties(0, device) != cudaSuccess || !device.warpgroups) return;
  check_chains<__half>(family);
  check_chains<__nv_bfloat16>(family);
}

}  // namespace hone::device::cuda::check
