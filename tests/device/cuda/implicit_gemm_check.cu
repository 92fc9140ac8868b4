// Checks the implicit GEMM on the device it runs on, every configuration of every case, against a plain
// convolution in double; with --bench FILE times it instead, all layers of ResNet-50 or those of which TEXT
// is a part of the name. --quick takes small cases and a few configurations of each, or the cases of which
// TEXT is a part of the name and all configurations of which WAY is a part, for tools that make every launch
// slow; with --part K/N every N-th of these configurations, from the K-th on, for N processes that share
// them.
//
// usage: implicit_gemm_check [--bench FILE [TEXT] | [--part K/N] [--quick [TEXT [WAY]]]]   exit 1 when
// something is wrong, 2 when nothing is named so, 4 without a device
#include <cstring>

#include "device/cuda/implicit_gemm_bench.cuh"
#include "device/cuda/implicit_gemm_case.cuh"
#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"

namespace hone::device::cuda::check {
namespace {

/// Multiply-adds of the largest case with --quick.
constexpr int64_t kQuickWork = 20'000'000;

EpilogueStep unary(graph::PostOp op, float alpha = 0, float beta = 0) { return {op, alpha, beta}; }
EpilogueStep binary(graph::PostOp op, OperandShape shape) { return {op, 0, 0, shape}; }

/// Kernels get filters of tf32 rounded.
template <class T>
Buffer<T> rounded_filters(Buffer<T> filters) {
  if constexpr (std::is_same_v<T, ptx::Tf32>) {
    std::vector<T> values = filters.host();
    for (T& value : values) value.value = round_to_tf32(value.value);
    return Buffer<T>(values);
  }
  return filters;
}

/// Operands are made here, of the size that their shapes ask for.
template <class T>
void check_conv(const std::string& name, const ConvProblem& source, std::vector<EpilogueStep> steps,
                bool with_bias, const DeviceProperties& device, size_t limit, Counts& counts) {
  if (name.find(counts.only) == std::string::npos) return;
  static uint64_t seed = 0;
  ConvProblem p = source;
  p.element = ElementOf<T>::kElement;
  const float scale = 1.7f / std::sqrt(static_cast<float>(p.depth()));
  const Buffer<T> x =
      random_buffer<T>(static_cast<size_t>(p.batch) * p.height * p.width * p.channels, ++seed, 1);
  const Buffer<T> w =
      rounded_filters(random_buffer<T>(static_cast<size_t>(p.filters) * p.depth(), ++seed, scale));
  const Buffer<float> bias = random_buffer<float>(p.filters, ++seed, 1);
  std::vector<Buffer<T>> operands;
  ConvArgs args;
  args.x = x.get();
  args.w = w.get();
  args.bias = with_bias ? bias.get() : nullptr;
  for (EpilogueStep step : steps) {
    if (step.op == graph::PostOp::kAdd || step.op == graph::PostOp::kMul || step.op == graph::PostOp::kSub) {
      size_t count = p.filters;
      if (step.shape == OperandShape::kPerImageChannel) count *= p.batch;
      if (step.shape == OperandShape::kFull) count *= p.rows();
      operands.push_back(random_buffer<T>(count, ++seed, 1));
      step.operand = operands.back().get();
    }
    args.steps[args.step_count++] = step;
  }
  Case<T> test(name, p);
  run_reference(p, x.get(), w.get(), args, test.values(), test.magnitudes());
  test.run(device, args, limit, counts);
}

template <class T>
void check_layers(const DeviceProperties& device, Counts& counts) {
  std::vector<Layer> layers = resnet50();
  for (const Layer& layer : other_layers()) layers.push_back(layer);
  int turn = 0;
  for (const Layer& layer : layers) {
    const ConvProblem& p = layer.problem;
    if (counts.quick && static_cast<int64_t>(p.rows()) * p.filters * p.depth() > kQuickWork) continue;
    std::vector<EpilogueStep> steps;
    if (layer.adds || turn % 3 == 2) steps.push_back(binary(graph::PostOp::kAdd, OperandShape::kFull));
    if (turn % 3 != 0 || layer.adds) steps.push_back(unary(graph::PostOp::kRelu));
    check_conv<T>(layer.name, layer.problem, steps, turn % 4 != 3, device, 10000, counts);
    ++turn;
  }
}

template <class T>
void check_epilogues(const DeviceProperties& device, Counts& counts) {
  using Op = graph::PostOp;
  using Shape = OperandShape;
  const std::vector<std::vector<EpilogueStep>> lists = {
      {unary(Op::kLeakyRelu, 0.1f)},
      {unary(Op::kClip, 0, 0.75f)},
      {unary(Op::kSigmoid)},
      {unary(Op::kTanh)},
      {unary(Op::kHardSwish)},
      {unary(Op::kHardSigmoid, 0.2f, 0.5f)},
      {unary(Op::kSwish, 1)},
      {unary(Op::kElu, 1)},
      {unary(Op::kGeluErf)},
      {unary(Op::kGeluTanh)},
      {unary(Op::kSoftplus)},
      {unary(Op::kMish)},
      {binary(Op::kSub, Shape::kFull)},
      {unary(Op::kSwish, 1), binary(Op::kMul, Shape::kPerImageChannel)},
      {binary(Op::kMul, Shape::kPerChannel), binary(Op::kAdd, Shape::kFull), unary(Op::kClip, 0, 6)},
      {binary(Op::kAdd, Shape::kFull), binary(Op::kAdd, Shape::kFull), unary(Op::kRelu)},
      {unary(Op::kRelu), binary(Op::kAdd, Shape::kFull)},
      {binary(Op::kAdd, Shape::kFull)},
      {binary(Op::kAdd, Shape::kFull), unary(Op::kSwish, 1.5f)},
      {binary(Op::kAdd, Shape::kFull), unary(Op::kClip, -0.5f, 0.75f)},
      {binary(Op::kAdd, Shape::kPerImageChannel), unary(Op::kRelu)},
      {},
      {unary(Op::kRelu), binary(Op::kMul, Shape::kPerImageChannel), binary(Op::kAdd, Shape::kPerChannel),
       binary(Op::kSub, Shape::kFull), unary(Op::kTanh), unary(Op::kRelu)}};
  ConvProblem small = square(9, 24, 72, 3, 1, 1);
  small.batch = 3;
  // More tiles than multiprocessors, so that blocks make several.
  ConvProblem large = square(30, 72, 200, 1, 1, 0);
  large.batch = 25;
  for (size_t i = 0; i < lists.size(); ++i) {
    check_conv<T>("epilogue " + std::to_string(i), small, lists[i], true, device, 10000, counts);
    if (lists[i].size() <= 2 && !counts.quick)
      check_conv<T>("large, epilogue " + std::to_string(i), large, lists[i], i % 2 == 0, device, 40, counts);
  }
}

/// The stem of `whole` with a pool behind it, padded by 1 or as far as ceil_mode asks for.
template <class T, class Packed>
void check_pooled_stem(const std::string& name, StemLayout layout, int pad_top, int pad_left,
                       const DeviceProperties& device, ConvArgs args, const Packed& packed,
                       const Case<T>& whole, Counts& counts) {
  const ConvProblem& p = layout.problem;
  const bool possible = !stem_refusal(layout, StemConfig{256, 64, StemWay::kWarpgroups}, device);
  const auto outputs = [](int size, int pad) { return (size + 2 * pad - 3 + (pad == 0 ? 1 : 0)) / 2 + 1; };
  layout.pool =
      StemPool{pad_top, pad_left, outputs(p.out_height(), pad_top), outputs(p.out_width(), pad_left)};
  ConvProblem pooled = p;  // with as many outputs
  pooled.pad_bottom -= (p.out_height() - layout.pool->out_height) * p.stride_h;
  pooled.pad_right -= (p.out_width() - layout.pool->out_width) * p.stride_w;
  const int64_t count = pooled.rows() * p.filters;
  Case<T> test(name + ", pooled, padded by " + std::to_string(pad_top) + " and " + std::to_string(pad_left),
               pooled);
  pool_reference<<<static_cast<unsigned>((count + 255) / 256), 256>>>(
      p, *layout.pool, whole.values(), whole.magnitudes(), test.values(), test.magnitudes(), count);
  HONE_MUST(cudaGetLastError());
  ++counts.cases;
  const std::vector<StemConfig> configs = stem_configs(layout, device);
  if (possible && configs.empty()) {
    ++counts.failures;
    std::printf("FAILED %s: no way to pool it\n", name.c_str());
  }
  for (const StemConfig& config : configs) {
    if (!counts.takes_way()) continue;
    args.w = packed(config);
    test.try_way(way_of(layout, config), device, args, counts);
  }
}

/// `weights` are [filters][kernel_h][kernel_w][channels] of `p`.
template <class T>
std::vector<T> pack_stem(const StemLayout& layout, const ConvProblem& p, StemOrder order,
                         const std::vector<T>& weights) {
  std::vector<T> packed(layout.weight_elements(), static_cast<T>(0.0f));
  size_t next = 0;
  for (int k = 0; k < p.filters; ++k) {
    for (int r = 0; r < p.kernel_h; ++r) {
      for (int s = 0; s < p.kernel_w; ++s) {
        for (int c = 0; c < p.channels; ++c) packed[layout.weight_index(order, k, r, s, c)] = weights[next++];
      }
    }
  }
  return packed;
}

template <class T>
void check_stem(const Layer& layer, const DeviceProperties& device, Counts& counts) {
  ConvProblem p = layer.problem;
  p.element = ElementOf<T>::kElement;
  const auto layout = stem_layout(p);
  if (!layout) {
    ++counts.failures;
    std::printf("FAILED %s has no layout\n", layer.name.c_str());
    return;
  }
  const size_t plane = static_cast<size_t>(p.height) * p.width;
  const Buffer<float> image = random_buffer<float>(plane * p.batch * p.channels, 77, 1);
  const Buffer<T> w = random_buffer<T>(static_cast<size_t>(p.filters) * p.depth(), 78, 0.2f);
  const Buffer<float> bias = random_buffer<float>(p.filters, 79, 1);
  const std::vector<float> planes = image.host();
  const std::vector<T> weights = w.host();
  std::vector<T> rounded(planes.size());
  for (size_t i = 0; i < rounded.size(); ++i) {
    const size_t pixel = i / p.channels;
    rounded[i] =
        static_cast<T>(planes[(pixel / plane * p.channels + i % p.channels) * plane + pixel % plane]);
  }
  const Buffer<T> dense(rounded);
  const Buffer<T> windows(pack_stem(*layout, p, StemOrder::kWindows, weights));
  const Buffer<T> runs(pack_stem(*layout, p, StemOrder::kRuns, weights));
  const Buffer<T> fragments(p.filters % 64 == 0 ? pack_stem(*layout, p, StemOrder::kFragments, weights)
                                                : std::vector<T>(1));  // no kernel takes it
  const auto packed = [&](const StemConfig& config) {
    const StemOrder order = config.order();
    return order == StemOrder::kFragments ? fragments.get()
           : order == StemOrder::kRuns    ? runs.get()
                                          : windows.get();
  };
  const Buffer<T> padded(layout->image_elements());
  HONE_MUST(cudaMemset(padded.get(), 0xff, layout->image_elements() * sizeof(T)));
  HONE_MUST(launch_pad_image(*layout, image.get(), padded.get(), {.device = &gpu(), .pdl = device.clusters}));
  ConvArgs args;
  args.bias = bias.get();
  static int turn = 0;  // element types take turns, and get the same epilogue
  const EpilogueStep steps[] = {unary(graph::PostOp::kRelu), unary(graph::PostOp::kSwish, 1),
                                unary(graph::PostOp::kClip, 0, 6)};
  if (turn / 2 % 4 != 3) args.steps[args.step_count++] = steps[turn / 2 % 4];
  ++turn;
  Case<T> test(layer.name, layout->problem);
  run_reference(p, dense.get(), w.get(), args, test.values(), test.magnitudes());
  args.x = padded.get();
  args.w = windows.get();
  test.run(device, args, 10000, counts);
  args.x = image.get();
  for (const StemConfig& config : stem_configs(*layout, device)) {
    args.w = packed(config);
    test.try_way(way_of(*layout, config), device, args, counts);
  }
  if (args.step_count != 0 && args.steps[0].op == graph::PostOp::kSwish) return;  // not monotonic
  for (const auto& [top, left] : {std::pair(0, 0), std::pair(1, 1), std::pair(1, 0)})
    check_pooled_stem(layer.name, *layout, top, left, device, args, packed, test, counts);
}

/// The plain convolution itself, against the same loop on the host.
void check_reference(Counts& counts) {
  ++counts.cases;
  ConvProblem p = square(9, 16, 24, 3, 2, 1);
  p.batch = 2;
  const Buffer<__half> x = random_buffer<__half>(static_cast<size_t>(p.batch) * 9 * 9 * 16, 5, 1);
  const Buffer<__half> w = random_buffer<__half>(static_cast<size_t>(p.filters) * p.depth(), 6, 0.2f);
  const Buffer<float> bias = random_buffer<float>(p.filters, 7, 1);
  const size_t count = static_cast<size_t>(p.rows()) * p.filters;
  const Buffer<double> values(count);
  const Buffer<double> magnitudes(count);
  ConvArgs args;
  args.bias = bias.get();
  args.steps[args.step_count++].op = graph::PostOp::kGeluErf;
  run_reference(p, x.get(), w.get(), args, values.get(), magnitudes.get());
  const std::vector<double> found = values.host();
  const std::vector<__half> host_x = x.host();
  const std::vector<__half> host_w = w.host();
  const std::vector<float> host_bias = bias.host();
  ReferenceSteps list{};
  list.steps[0] = args.steps[0];
  list.count = 1;
  for (size_t i = 0; i < count; ++i) {
    double value = 0;
    double magnitude = 0;
    reference_at(p, host_x.data(), host_w.data(), host_bias.data(), list, static_cast<int64_t>(i), &value,
                 &magnitude);
    // Two doubles that differ by contracted multiplications.
    if (!(std::fabs(value - found[i]) <= 1e-13 * magnitude)) {
      ++counts.failures;
      std::printf("FAILED reference at %zu: %.17g on the host, %.17g on the device\n", i, value, found[i]);
      return;
    }
  }
}

/// Every configuration of a chain by its text, as many of each kernel; the device may have no warpgroups.
struct ChainWays {
  std::vector<const char*> implicit;
  std::vector<const char*> others;  ///< by the resident GEMM, or by warps
  std::vector<const char*> warpgroup;
};

/// A chain of dependent convolutions between two buffers, as one graph with programmatic launches, replayed:
/// it must give what ordinary launches give, each time. `Other` is the configuration of the ways' others, and
/// `other_refusal` says of one why it cannot run.
template <class Other, class Refusal>
void check_chain(const ConvProblem& p, const ChainWays& texts, const Refusal& other_refusal,
                 const DeviceProperties& device, Counts& counts) {
  constexpr int kLinks = 48;
  constexpr int kReplays = 50;
  ++counts.cases;
  const size_t count = static_cast<size_t>(p.rows()) * p.filters;
  const Buffer<__half> input = random_buffer<__half>(count, 91, 1);
  const Buffer<__half> w = random_buffer<__half>(static_cast<size_t>(p.filters) * p.depth(), 92, 0.05f);
  const Buffer<__half> a(count);
  const Buffer<__half> b(count);
  std::vector<Way> ways;
  const auto add = [&](const auto& config, const std::string& refusal) {
    if (refusal.empty()) {
      ways.push_back(way_of(p, config));
    } else if (device.clusters) {
      ++counts.failures;
      std::printf("FAILED chain: %s is refused: %s\n", config.text().c_str(), refusal.c_str());
    }
  };
  for (size_t i = 0; i < texts.implicit.size(); ++i) {
    const ConvConfig one = *ConvConfig::parse(texts.implicit[i]);
    add(one, conv_refusal(p, one, device).text());
    const Other other = *Other::parse(texts.others[i]);
    add(other, other_refusal(p, other, device).text());
    if (!device.warpgroups) continue;
    const WarpgroupConfig third = *WarpgroupConfig::parse(texts.warpgroup[i]);
    add(third, warpgroup_refusal(p, third, device).text());
  }
  const SharedMemory shared(ways);
  cudaStream_t stream;
  HONE_MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  HONE_MUST(cudaDeviceSynchronize());
  const auto enqueue = [&](bool pdl) {
    for (int i = 0; i < kLinks; ++i) {
      ConvArgs args;
      args.x = i == 0 ? input.get() : (i % 2 == 0 ? b.get() : a.get());
      args.y = i % 2 == 0 ? a.get() : b.get();
      args.w = w.get();
      shared.give_to(args);
      args.steps[args.step_count].op = graph::PostOp::kAdd;
      args.steps[args.step_count++].operand = input.get();
      args.steps[args.step_count++].op = graph::PostOp::kRelu;
      args.next_waits = pdl && i + 1 < kLinks;
      HONE_MUST(ways[i % ways.size()].launch(args, {.stream = stream, .device = &gpu(), .pdl = pdl}));
    }
  };
  enqueue(false);
  HONE_MUST(cudaStreamSynchronize(stream));
  const std::vector<__half> expected = b.host();
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  HONE_MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  enqueue(device.clusters);
  HONE_MUST(cudaStreamEndCapture(stream, &graph));
  HONE_MUST(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < (counts.quick ? 2 : kReplays); ++i) {
    HONE_MUST(cudaMemsetAsync(a.get(), 0xff, count * 2, stream));
    HONE_MUST(cudaMemsetAsync(b.get(), 0xff, count * 2, stream));
    HONE_MUST(cudaGraphLaunch(executable, stream));
    HONE_MUST(cudaStreamSynchronize(stream));
    ++counts.runs;
    const std::vector<__half> found = b.host();
    if (std::memcmp(found.data(), expected.data(), count * 2) == 0) continue;
    ++counts.failures;
    std::printf("FAILED chain: replay %d differs from ordinary launches\n", i);
    break;
  }
  HONE_MUST(cudaGraphExecDestroy(executable));
  HONE_MUST(cudaGraphDestroy(graph));
  HONE_MUST(cudaStreamDestroy(stream));
}

void check_chains(const DeviceProperties& device, Counts& counts) {
  check_chain<ResidentConfig>(
      square(14, 128, 128, 3, 1, 1),
      {{"32x32x64_s4", "64x32x64_s4_c4", "16x64x128_s3_c8", "64x64x64_s3_w6", "32x64x64_s5_c2",
        "32x32x128_s3_w9"},
       {"32x32_k8", "32x64_k4_c2", "64x64_k2_c4", "16x32_k8_c8", "64x32_k4_c4", "32x32_k4"},
       {"64x32_s4_c8", "64x64_s6", "128x32_s3_c4", "64x128_s2_c2", "128x128_s3", "256x64_s2_c2"}},
      resident_refusal, device, counts);
  check_chain<WarpGemmConfig>(square(14, 64, 64, 1, 1, 0),
                              {{"32x32x32_s4", "64x32x32_s3_c2", "16x64x64_s3", "64x64x32_s4"},
                               {"32x32", "16x32", "16x32", "32x32"},
                               {"64x32_s2", "64x64_s2", "128x32_s2", "128x128_s2"}},
                              warp_gemm_refusal, device, counts);
}

/// Problems that must be refused, with a reason.
void check_refusals(const DeviceProperties& device, Counts& counts) {
  ++counts.cases;
  const auto expect = [&](bool refused, const char* what) {
    if (refused) return;
    ++counts.failures;
    std::printf("FAILED %s is not refused\n", what);
  };
  const ConvProblem good = square(14, 64, 64, 3, 1, 1);
  ConvArgs none;
  for (const char* text :
       {"48x64x64_s4", "64x64x64_s2", "64x64x64_s7", "128x128x64_s6_c3", "64x64x64_s3_w17"}) {
    const auto config = ConvConfig::parse(text);
    expect(config && conv_refusal(good, *config, device), text);
    expect(config && launch_conv(good, *config, none, {.device = &gpu()}) == cudaErrorInvalidValue, text);
  }
  for (const char* text : {"48x64_s4", "64x64_s1", "64x64_s9", "64x64_s4_c3", "256x128_s8"}) {
    const auto config = WarpgroupConfig::parse(text);
    expect(config && warpgroup_refusal(good, *config, device), text);
    expect(config && launch_warpgroup(good, *config, none, {.device = &gpu()}) == cudaErrorInvalidValue,
           text);
  }
  for (const char* text :
       {"", "64x64x64", "64x64x64_s4_x2", "64x64x64_s4_c1", "64x64x64_s4 ", "064x64x64_s4"}) {
    expect(!ConvConfig::parse(text), text);
  }
  expect(static_cast<bool>(conv_refusal(square(14, 3, 64, 3, 1, 1))), "3 channels");
  ConvProblem wide = square(14, 12, 64, 3, 1, 1);
  expect(static_cast<bool>(conv_refusal(wide)), "12 channels of two bytes");
  wide.element = Element::kFloat;
  expect(resident_configs(wide, device, 1).empty(), "an element of four bytes by the resident kernel");
  expect(static_cast<bool>(conv_refusal(square(14, 8, 60, 3, 1, 1))), "60 filters");
  expect(static_cast<bool>(conv_refusal(square(2, 8, 8, 5, 4, 0))), "a window larger than the input");
  expect(static_cast<bool>(conv_refusal(square(40000, 64, 8, 1, 1, 0))), "a huge input");
}

int run(int argc, char** argv) {
  Counts counts;
  if (argc >= 2 && std::strcmp(argv[1], "--part") == 0) {
    const std::optional<Part> part = argc >= 3 ? Part::parse(argv[2]) : std::nullopt;
    if (!part) {
      std::fprintf(stderr, "--part takes K/N with K from 1 to N\n");
      return 2;
    }
    counts.part = *part;
    argc -= 2;
    argv += 2;
  }
  if (const int status = status_without_gpu(); status != 0) return status;
  cudaDeviceProp properties;
  HONE_MUST(cudaGetDeviceProperties(&properties, 0));
  DeviceProperties device;
  HONE_MUST(find_device_properties(0, device));
  std::printf("%s, %d multiprocessors, compute capability %d.%d\n", properties.name, device.multiprocessors,
              properties.major, properties.minor);
  if ((argc == 3 || argc == 4) && std::strcmp(argv[1], "--bench") == 0) {
    bench(device, argv[2], argc == 4 ? argv[3] : "");
    return 0;
  }
  counts.quick = argc >= 2 && argc <= 4 && std::strcmp(argv[1], "--quick") == 0;
  if (argc != 1 && !counts.quick) {
    std::fprintf(stderr,
                 "usage: implicit_gemm_check [--bench FILE [TEXT] | [--part K/N] [--quick [TEXT [WAY]]]]\n");
    return 2;
  }
  if (argc >= 3) counts.only = argv[2];
  if (argc == 4) counts.way = argv[3];
  if (counts.part.first == 0) {
    check_refusals(device, counts);
    check_reference(counts);
    if (counts.only.empty()) check_chains(device, counts);
  }
  check_layers<__half>(device, counts);
  check_layers<__nv_bfloat16>(device, counts);
  check_layers<float>(device, counts);
  check_layers<ptx::Tf32>(device, counts);
  check_epilogues<__half>(device, counts);
  check_epilogues<__nv_bfloat16>(device, counts);
  check_epilogues<float>(device, counts);
  check_epilogues<ptx::Tf32>(device, counts);
  for (const Layer& layer : stems()) {
    if (counts.quick && (counts.only.empty() || layer.name.find(counts.only) == std::string::npos)) continue;
    check_stem<__half>(layer, device, counts);
    check_stem<__nv_bfloat16>(layer, device, counts);
  }
  HONE_MUST(cudaDeviceSynchronize());
  std::printf("%d cases, %ld runs, %ld failures\n", counts.cases, counts.runs, counts.failures);
  if (counts.runs == 0 && counts.failures == 0) {
    std::fprintf(stderr, "implicit_gemm_check: nothing is named so\n");
    return 2;
  }
  return counts.failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace hone::device::cuda::check

int main(int argc, char** argv) { return hone::device::cuda::check::run(argc, argv); }
