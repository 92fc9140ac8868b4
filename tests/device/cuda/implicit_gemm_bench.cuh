// Times every configuration of ResNet-50's convolutions inside replayed CUDA graphs.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "device/cuda/gemm_way_memory.cuh"
#include "device/cuda/implicit_gemm_cases.hpp"
#include "device/cuda/implicit_gemm_reference.cuh"
#include "device/cuda/launch_gap_bench.cuh"
#include "device/cuda/regions/stem/plugin/kernels/stem.hpp"

namespace hone::device::cuda::check {

/// Operands of one layer, several times over, so that launches in a row do not work on the same memory.
struct BenchBuffers {
  BenchBuffers(const Layer& layer, int copies_) : copies(copies_) {
    const ConvProblem& p = layer.problem;
    x_count = static_cast<size_t>(p.batch) * p.height * p.width * p.pitch();
    w_count = static_cast<size_t>(p.filters) * p.depth();
    y_count = static_cast<size_t>(p.rows()) * p.filters;
    x.push_back(random_buffer<__half>(x_count * copies, 1, 1));
    x.push_back(random_buffer<__half>(w_count * copies, 2, 0.05f));
    x.push_back(random_buffer<__half>(y_count * copies, 3, 1));
    x.push_back(random_buffer<__half>(y_count * copies, 4, 1));
    bias.push_back(random_buffer<float>(p.filters, 5, 1));
  }
  ConvArgs args(const Layer& layer, int i) const {
    const size_t copy = i % copies;
    ConvArgs args;
    args.x = x[0].get() + copy * x_count;
    args.w = x[1].get() + copy * w_count;
    args.y = x[2].get() + copy * y_count;
    args.bias = bias[0].get();
    if (layer.adds) {
      args.steps[args.step_count].op = graph::PostOp::kAdd;
      args.steps[args.step_count++].operand = x[3].get() + copy * y_count;
    }
    args.steps[args.step_count++].op = graph::PostOp::kRelu;
    return args;
  }

  int copies;
  size_t x_count;
  size_t w_count;
  size_t y_count;
  std::vector<Buffer<__half>> x;
  std::vector<Buffer<float>> bias;
};

/// Microseconds of one of the launches that `enqueue` makes kLaunches of: median of graph replays.
template <class Enqueue>
double microseconds(cudaStream_t stream, int launches, const Enqueue& enqueue) {
  constexpr int kReplays = 9;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  HONE_MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < launches; ++i) HONE_MUST(enqueue(i));
  HONE_MUST(cudaStreamEndCapture(stream, &graph));
  HONE_MUST(cudaGraphInstantiate(&executable, graph, 0));
  cudaEvent_t begin;
  cudaEvent_t end;
  HONE_MUST(cudaEventCreate(&begin));
  HONE_MUST(cudaEventCreate(&end));
  std::vector<float> times;
  for (int i = 0; i < kReplays + 2; ++i) {
    HONE_MUST(cudaEventRecord(begin, stream));
    HONE_MUST(cudaGraphLaunch(executable, stream));
    HONE_MUST(cudaEventRecord(end, stream));
    HONE_MUST(cudaEventSynchronize(end));
    float milliseconds = 0;
    HONE_MUST(cudaEventElapsedTime(&milliseconds, begin, end));
    if (i >= 2) times.push_back(milliseconds);
  }
  HONE_MUST(cudaEventDestroy(begin));
  HONE_MUST(cudaEventDestroy(end));
  HONE_MUST(cudaGraphExecDestroy(executable));
  HONE_MUST(cudaGraphDestroy(graph));
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return 1e3 * times[times.size() / 2] / launches;
}

/// Bytes over 4.3 TB/s or operations over 790 TFLOP/s, whichever takes longer, in microseconds.
inline double floor_of(const Layer& layer, const BenchBuffers& buffers) {
  const double elements =
      static_cast<double>(buffers.x_count + buffers.w_count + buffers.y_count * (layer.adds ? 2 : 1));
  return std::max(2 * elements / 4.3e6, layer.problem.flops() / 790e6);
}

/// Times all configurations of a layer, prints the three best, writes all to `csv`; returns the best time.
inline double bench_layer(const Layer& layer, const DeviceProperties& device, cudaStream_t stream,
                          std::FILE* csv) {
  constexpr int kLaunches = 20;
  const ConvProblem& p = layer.problem;
  const double bytes = 2.0 * (static_cast<double>(p.batch) * p.height * p.width * p.pitch() +
                              static_cast<double>(p.filters) * p.depth() + 2.0 * p.rows() * p.filters);
  const BenchBuffers buffers(layer, static_cast<int>(std::clamp(1e9 / bytes, 2.0, double{kLaunches})));
  struct Timed {
    double time;
    std::string name;
  };
  std::vector<Timed> timed;
  // More than a search would try where launches are short: the order of the guess is on trial as well.
  for (const Way& way : gemm_ways(p, buffers.args(layer, 0), device, p.batch == 1 ? 72 : 24)) {
    const SharedMemory shared({&way, 1});
    const double time = microseconds(stream, kLaunches, [&](int i) {
      ConvArgs args = buffers.args(layer, i);
      shared.give_to(args);
      args.next_waits = device.clusters && i + 1 < kLaunches;
      return way.launch(args, {.stream = stream, .device = &device, .pdl = device.clusters});
    });
    timed.push_back({time, way.name});
    std::fprintf(csv, "%s,%d,%d,%s,%.3f,%.3f,%zu\n", layer.name.c_str(), p.batch, layer.count,
                 way.name.c_str(), time, floor_of(layer, buffers), timed.size());
  }
  std::vector<Timed> order = timed;
  std::sort(order.begin(), order.end(), [](const Timed& a, const Timed& b) { return a.time < b.time; });
  std::printf("%-22s b%-3d x%d floor %6.2f guess %6.2f |", layer.name.c_str(), p.batch, layer.count,
              floor_of(layer, buffers), timed[0].time);
  for (size_t i = 0; i < std::min<size_t>(3, order.size()); ++i) {
    std::printf("  %6.2f %-28s", order[i].time, order[i].name.c_str());
  }
  std::printf("\n");
  return order[0].time;
}

/// Times the kernel that needs no padded image.
inline void bench_stem(const StemLayout& layout, const float* image, const DeviceProperties& device,
                       cudaStream_t stream) {
  const Buffer<__half> weights = random_buffer<__half>(layout.weight_elements(), 10, 0.1f);
  const Buffer<float> bias = random_buffer<float>(layout.problem.filters, 11, 1);
  const Buffer<__half> y(static_cast<size_t>(layout.problem.rows()) * layout.problem.filters);
  ConvArgs args;
  args.x = image;
  args.w = weights.get();
  args.bias = bias.get();
  args.y = y.get();
  args.steps[args.step_count++].op = graph::PostOp::kRelu;
  std::printf("%-22s b%-3d", layout.pool ? "stem and its pool" : "stem from the image", layout.problem.batch);
  for (const StemConfig& config : stem_configs(layout, device)) {
    const double time = microseconds(stream, 20, [&](int i) {
      args.next_waits = device.clusters && i + 1 < 20;
      return launch_stem(layout, config, args, {.stream = stream, .device = &device, .pdl = device.clusters});
    });
    std::printf("  %6.2f %s", time, config.text().c_str());
  }
  std::printf("\n");
}

inline void bench(const DeviceProperties& device, const char* path, const std::string& only) {
  std::FILE* const csv = std::fopen(path, "w");
  if (csv == nullptr) {
    std::fprintf(stderr, "%s cannot be written\n", path);
    std::exit(kFailed);
  }
  std::fprintf(csv, "layer,batch,count,config,us,floor_us,guess_rank\n");
  cudaStream_t stream;
  HONE_MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const auto wanted = [&](const std::string& name) { return name.find(only) != std::string::npos; };
  bench_launch_gaps(stream, [](cudaStream_t on, int links, const auto& enqueue) {
    return microseconds(on, links, enqueue);
  });
  for (const int batch : {1, 8, 32}) {
    double total = 0;
    ConvProblem image = square(224, 3, 64, 7, 2, 3);
    image.batch = batch;
    StemLayout layout = *stem_layout(image);
    const Layer stem{"stem 7x7/2", layout.problem};
    if (wanted(stem.name)) total += bench_layer(stem, device, stream, csv);
    const Buffer<float> source = random_buffer<float>(size_t{3} * batch * 224 * 224, 9, 1);
    const Buffer<__half> target(layout.image_elements());
    const double pad = microseconds(stream, 20, [&](int) {
      return launch_pad_image(layout, source.get(), target.get(),
                              {.stream = stream, .device = &device, .pdl = device.clusters});
    });
    std::printf("%-22s b%-3d %.2f\n", "pad image", batch, pad);
    bench_stem(layout, source.get(), device, stream);
    layout.pool = StemPool{1, 1, 56, 56};
    bench_stem(layout, source.get(), device, stream);
    for (Layer layer : resnet50()) {
      if (!wanted(layer.name)) continue;
      layer.problem.batch = batch;
      total += layer.count * bench_layer(layer, device, stream, csv);
    }
    std::printf("ResNet-50 batch %d: best of each convolution sums to %.1f us\n", batch, total);
    std::fflush(stdout);
  }
  HONE_MUST(cudaStreamDestroy(stream));
  std::fclose(csv);
}

}  // namespace hone::device::cuda::check
