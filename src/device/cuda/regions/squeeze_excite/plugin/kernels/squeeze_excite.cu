// See squeeze_excite.hpp.
#include "device/cuda/regions/squeeze_excite/plugin/kernels/squeeze_excite.hpp"

#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/plugin/kernels/common/kernel_stamp.cuh"
#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "device/cuda/plugin/kernels/gemm/gemm_steps.cuh"

namespace hone::device::cuda {
namespace {

constexpr int kRun = 8;
constexpr int kRunBytes = 16;
constexpr int kMostThreads = 512;
/// Code for rounds that a thread does not have costs time, too.
constexpr int kFewHeld = 4;
/// Runs that a thread has on their way at once when it does not keep them.
constexpr int kAhead = 4;

struct Params {
  SqueezeExciteArgs args;
  SqueezeExcitePlan plan;
  UnaryStep squeeze;
  UnaryStep gate;
  int blocks;  ///< of a cluster
  int pixels;
  int runs;  ///< of a pixel
  int hidden;
  int hidden_runs;
  float inverse_pixels;
  bool next_waits;
};

/// The work of this block and this thread of it.
struct Share {
  int rank;       ///< of the block in its cluster
  int first_run;  ///< of the block in a pixel
  int runs;
  int row;  ///< of the thread: it takes one run of every rows-th pixel
  int run;
  int rounds;    ///< pixels of the thread
  int64_t from;  ///< its first run in x and y
  int64_t step;  ///< to the next

  __device__ __forceinline__ explicit Share(const Params& p) {
    const SqueezeExcitePlan& plan = p.plan;
    const int thread = static_cast<int>(threadIdx.x);
    rank = static_cast<int>(blockIdx.x) % p.blocks;
    const int64_t image = static_cast<int>(blockIdx.x) / p.blocks;
    const int channel_part = rank % plan.channel_parts;
    const int first_pixel = rank / plan.channel_parts * plan.part_pixels;
    const int pixels = min(plan.part_pixels, p.pixels - first_pixel);
    first_run = channel_part * plan.part_runs;
    runs = min(plan.part_runs, p.runs - first_run);
    row = thread / plan.part_runs;
    run = thread % plan.part_runs;
    rounds = row < plan.rows && run < runs ? (pixels - row + plan.rows - 1) / plan.rows : 0;
    from = (image * p.pixels + first_pixel + row) * p.runs + first_run + run;
    step = static_cast<int64_t>(plan.rows) * p.runs;
  }
};

/// Weights and biases of the block, on their way to shared memory.
__device__ __forceinline__ void fetch_constants(const Params& p, const Share& share, uint32_t memory) {
  const SqueezeExcitePlan& plan = p.plan;
  const int thread = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);
  const auto* const w1 = static_cast<const uint4*>(p.args.w1) + share.first_run;
  const auto* const w2 =
      static_cast<const uint4*>(p.args.w2) + static_cast<int64_t>(share.first_run) * kRun * p.hidden_runs;
  if (plan.keeps_weights) {
    const int rows = threads / plan.part_runs;
    if (share.row < rows && share.run < share.runs) {
      for (int s = share.row; s < p.hidden; s += rows)
        ptx::copy16(memory + (s * plan.part_runs + share.run) * kRunBytes,
                    w1 + static_cast<int64_t>(s) * p.runs + share.run, true);
    }
    for (int i = thread; i < share.runs * kRun * p.hidden_runs; i += threads)
      ptx::copy16(memory + plan.w2_at + i * kRunBytes, w2 + i, true);
  }
  const float* const b1 = p.args.b1;
  for (int s = thread; s < p.hidden; s += threads)
    ptx::copy4(memory + plan.b1_at + s * 4, b1 == nullptr ? p.args.w1 : b1 + s, b1 != nullptr);
  const float* const b2 = p.args.b2 == nullptr ? nullptr : p.args.b2 + share.first_run * kRun;
  for (int c = thread; c < share.runs * kRun; c += threads)
    ptx::copy4(memory + plan.b2_at + c * 4, b2 == nullptr ? p.args.w2 : b2 + c, b2 != nullptr);
  ptx::commit_copies();
}

template <class T>
__device__ __forceinline__ void add_run(const uint4& run, float (&sums)[kRun]) {
  float values[kRun];
  unpack<T>(&run, values);
#pragma unroll
  for (int k = 0; k < kRun; ++k) sums[k] += values[k];
}

/// Calls `use` with each of the thread's runs from round `first` on, read from global memory.
template <class Use>
__device__ __forceinline__ void for_runs_of_memory(const Params& p, const Share& share, int first,
                                                   const Use& use) {
  const auto* const x = static_cast<const uint4*>(p.args.x) + share.from;
  for (int i = first; i < share.rounds; i += kAhead) {
    uint4 runs[kAhead];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      if (i + k < share.rounds) runs[k] = x[(i + k) * share.step];
    }
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      if (i + k < share.rounds) use(i + k, runs[k]);
    }
  }
}

/// Sums of the thread's pixels; those that are kept lie in shared memory then, where they are the thread's
/// own.
template <class T>
__device__ __forceinline__ void sum_pixels(const Params& p, const Share& share, unsigned char* memory,
                                           float (&sums)[kRun]) {
  const SqueezeExcitePlan& plan = p.plan;
  const auto* const x = static_cast<const uint4*>(p.args.x) + share.from;
  const int round_runs = plan.rows * plan.part_runs;
  const auto* const kept = reinterpret_cast<const uint4*>(memory + plan.x_at) + threadIdx.x;
  const uint32_t target = ptx::shared_address(kept);
  const int rounds = min(plan.kept_rounds, share.rounds);
  const int quarter = (plan.kept_rounds + 3) / 4;
#pragma unroll 1
  for (int group = 0; group < 4; ++group) {
    const int end = min((group + 1) * quarter, rounds);
#pragma unroll 4
    for (int i = group * quarter; i < end; ++i)
      ptx::copy16(target + i * round_runs * kRunBytes, x + i * share.step, true);
    ptx::commit_copies();
  }
  const auto add_group = [&](int group) {
    const int end = min((group + 1) * quarter, rounds);
#pragma unroll 4
    for (int i = group * quarter; i < end; ++i) add_run<T>(kept[i * round_runs], sums);
  };
  ptx::wait_copies<3>();
  add_group(0);
  ptx::wait_copies<2>();
  add_group(1);
  ptx::wait_copies<1>();
  add_group(2);
  ptx::wait_copies<0>();
  add_group(3);
  for_runs_of_memory(p, share, plan.kept_rounds, [&](int, const uint4& run) { add_run<T>(run, sums); });
}

/// For each of `count` results: the sum over `lanes` neighbouring threads of part(result, lane), given to
/// use(result, lane, sum) in each of them. All threads of the block call it.
template <class Part, class Use>
__device__ __forceinline__ void for_sums(int count, int lanes, const Part& part, const Use& use) {
  const int shift = __ffs(lanes) - 1;
  const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
  for (int base = 0; base < count << shift; base += static_cast<int>(blockDim.x)) {
    const int result = (base + static_cast<int>(threadIdx.x)) >> shift;
    float sum = result < count ? part(result, lane) : 0.0f;
    for (int mask = lanes / 2; mask > 0; mask /= 2) sum += __shfl_xor_sync(~0u, sum, mask);
    if (result < count) use(result, lane, sum);
  }
}

/// The product of a run of weights and eight floats in shared memory, added to `sum`.
template <class T>
__device__ __forceinline__ float add_product(const uint4& run, const float* factors, float sum) {
  float weights[kRun];
  unpack<T>(&run, weights);
  const float4 low = reinterpret_cast<const float4*>(factors)[0];
  const float4 high = reinterpret_cast<const float4*>(factors)[1];
  const float values[kRun] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
  for (int k = 0; k < kRun; ++k) sum = fmaf(weights[k], values[k], sum);
  return sum;
}

/// The block's sums of its channels, from those of its threads.
__device__ __forceinline__ void total_channels(const Params& p, unsigned char* memory) {
  const SqueezeExcitePlan& plan = p.plan;
  const int channels = plan.part_runs * kRun;
  const auto* const sums = reinterpret_cast<const float*>(memory + plan.sums_at);
  auto* const totals = reinterpret_cast<float*>(memory + plan.totals_at);
  for_sums(
      channels, plan.sum_lanes,
      [&](int c, int lane) {
        float sum = 0;
#pragma unroll 4
        for (int row = lane; row < plan.rows; row += plan.sum_lanes) sum += sums[row * plan.sum_pitch + c];
        return sum;
      },
      [&](int c, int lane, float sum) {
        if (lane == 0) totals[c] = sum;
      });
}

/// Sends the contributions of the block's sums to the first product to all blocks of the cluster:
/// [rank][hidden].
template <class T>
__device__ __forceinline__ void send_products(const Params& p, const Share& share, unsigned char* memory) {
  const SqueezeExcitePlan& plan = p.plan;
  const auto* const totals = reinterpret_cast<const float*>(memory + plan.totals_at);
  const auto* const w1 = plan.keeps_weights ? reinterpret_cast<const uint4*>(memory)
                                            : static_cast<const uint4*>(p.args.w1) + share.first_run;
  const int pitch = plan.keeps_weights ? plan.part_runs : p.runs;
  const uint32_t received = ptx::shared_address(memory + plan.received_at) + share.rank * p.hidden * 4;
  for_sums(
      p.hidden, plan.squeeze_lanes,
      [&](int s, int lane) {
        float sum = 0;
        for (int k = lane; k < share.runs; k += plan.squeeze_lanes)
          sum = add_product<T>(w1[static_cast<int64_t>(s) * pitch + k], totals + k * kRun, sum);
        return sum;
      },
      [&](int s, int lane, float sum) {
        for (int rank = lane; rank < p.blocks; rank += plan.squeeze_lanes)
          ptx::store_remote(ptx::address_in_block(received + s * 4, rank), sum);
      });
}

/// The activations between the products and after them: those of the usual networks by name, without the code
/// of other activations, which would have to be skipped.
enum class Activations : uint8_t { kSwishSigmoid, kReluSigmoid, kReluHardSigmoid, kAny };

template <Activations kOf>
__device__ __forceinline__ float squeezed(const Params& p, float value) {
  const graph::PostOp op = kOf == Activations::kAny            ? p.squeeze.op
                           : kOf == Activations::kSwishSigmoid ? graph::PostOp::kSwish
                                                               : graph::PostOp::kRelu;
  return apply_unary(op, p.squeeze.alpha, p.squeeze.beta, value);
}
template <Activations kOf>
__device__ __forceinline__ float gated(const Params& p, float value) {
  const graph::PostOp op = kOf == Activations::kAny               ? p.gate.op
                           : kOf == Activations::kReluHardSigmoid ? graph::PostOp::kHardSigmoid
                                                                  : graph::PostOp::kSigmoid;
  return apply_unary(op, p.gate.alpha, p.gate.beta, value);
}

/// The channels between the products, of the whole image.
template <Activations kOf>
__device__ __forceinline__ void make_hidden(const Params& p, unsigned char* memory) {
  const SqueezeExcitePlan& plan = p.plan;
  const auto* const received = reinterpret_cast<const float*>(memory + plan.received_at);
  const auto* const b1 = reinterpret_cast<const float*>(memory + plan.b1_at);
  auto* const hidden = reinterpret_cast<float*>(memory + plan.hidden_at);
  for (int s = static_cast<int>(threadIdx.x); s < p.hidden_runs * kRun; s += static_cast<int>(blockDim.x)) {
    float value = 0;
    if (s < p.hidden) {
#pragma unroll
      for (int rank = 0; rank < SqueezeExcitePlan::kMostBlocks; ++rank) {
        if (rank < p.blocks) value += received[rank * p.hidden + s];
      }
      value = squeezed<kOf>(p, fmaf(value, p.inverse_pixels, b1[s]));
    }
    hidden[s] = value;
  }
}

/// The gates of the block's channels.
template <class T, Activations kOf>
__device__ __forceinline__ void make_gates(const Params& p, const Share& share, unsigned char* memory) {
  const SqueezeExcitePlan& plan = p.plan;
  const auto* const hidden = reinterpret_cast<const float*>(memory + plan.hidden_at);
  const auto* const b2 = reinterpret_cast<const float*>(memory + plan.b2_at);
  auto* const gates = reinterpret_cast<float*>(memory + plan.gates_at);
  const auto* const w2 = plan.keeps_weights
                             ? reinterpret_cast<const uint4*>(memory + plan.w2_at)
                             : static_cast<const uint4*>(p.args.w2) +
                                   static_cast<int64_t>(share.first_run) * kRun * p.hidden_runs;
  for_sums(
      share.runs * kRun, plan.gate_lanes,
      [&](int c, int lane) {
        float sum = 0;
        for (int k = lane; k < p.hidden_runs; k += plan.gate_lanes)
          sum = add_product<T>(w2[c * p.hidden_runs + k], hidden + k * kRun, sum);
        return sum;
      },
      [&](int c, int lane, float sum) {
        if (lane == 0) gates[c] = gated<kOf>(p, sum + b2[c]);
      });
}

/// The gates of the channels of a thread's runs.
class Gates {
 public:
  __device__ __forceinline__ Gates(const Params& p, const Share& share, const unsigned char* memory) {
    const auto* const gates = reinterpret_cast<const float4*>(memory + p.plan.gates_at) + share.run * 2;
    low_ = gates[0];
    high_ = gates[1];
  }
  template <class T>
  __device__ __forceinline__ void multiply(const uint4& run, uint4* to) const {
    const float factors[kRun] = {low_.x, low_.y, low_.z, low_.w, high_.x, high_.y, high_.z, high_.w};
    float values[kRun];
    unpack<T>(&run, values);
#pragma unroll
    for (int k = 0; k < kRun; ++k) values[k] *= factors[k];
    pack<T>(values, to);
  }

 private:
  float4 low_;
  float4 high_;
};

template <class T>
__device__ __forceinline__ void write_products(const Params& p, const Share& share,
                                               const unsigned char* memory) {
  const SqueezeExcitePlan& plan = p.plan;
  if (share.rounds == 0) return;
  const Gates gates(p, share, memory);
  auto* const y = static_cast<uint4*>(p.args.y) + share.from;
  const auto write = [&](int round, const uint4& run) { gates.multiply<T>(run, y + round * share.step); };
  const int round_runs = plan.rows * plan.part_runs;
  const auto* const kept = reinterpret_cast<const uint4*>(memory + plan.x_at) + threadIdx.x;
  const int rounds = min(plan.kept_rounds, share.rounds);
#pragma unroll 4
  for (int i = 0; i < rounds; ++i) write(i, kept[i * round_runs]);
  for_runs_of_memory(p, share, plan.kept_rounds, write);
}

/// Computes the gates of the block's channels in shared memory from the sums of the threads.
template <class T, Activations kOf>
__device__ __forceinline__ void excite(const Params& p, const Share& share, const float (&sums)[kRun],
                                       unsigned char* memory) {
  if (share.row < p.plan.rows) {
    auto* const to = reinterpret_cast<float4*>(memory + p.plan.sums_at) + share.row * (p.plan.sum_pitch / 4) +
                     share.run * 2;
    to[0] = make_float4(sums[0], sums[1], sums[2], sums[3]);
    to[1] = make_float4(sums[4], sums[5], sums[6], sums[7]);
  }
  __syncthreads();
  total_channels(p, memory);
  __syncthreads();
  ptx::wait_cluster();
  send_products<T>(p, share, memory);
  ptx::sync_cluster();
  make_hidden<kOf>(p, memory);
  __syncthreads();
  make_gates<T, kOf>(p, share, memory);
  __syncthreads();
}

/// The whole of a block's work behind the kernel ahead, when its threads hold all of their runs, kHeld at
/// most.
template <class T, Activations kOf, int kHeld>
__device__ __forceinline__ void excite_held(const Params& p, const Share& share, unsigned char* memory) {
  const auto* const x = static_cast<const uint4*>(p.args.x) + share.from;
  uint4 runs[kHeld];
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    if (i < share.rounds) runs[i] = x[i * share.step];
  }
  float sums[kRun] = {};
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    if (i < share.rounds) add_run<T>(runs[i], sums);
  }
  ptx::wait_copies<0>();  // of the constants
  excite<T, kOf>(p, share, sums, memory);
  if (share.rounds == 0) return;
  const Gates gates(p, share, memory);
  auto* const y = static_cast<uint4*>(p.args.y) + share.from;
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    if (i < share.rounds) gates.multiply<T>(runs[i], y + i * share.step);
  }
}

}  // namespace

template <class T, Activations kOf, int kHeld>
__global__ void __launch_bounds__(kMostThreads, 2)
    squeeze_excite_kernel(const __grid_constant__ Params p, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  extern __shared__ __align__(16) unsigned char memory[];
  if (p.next_waits) ptx::allow_next_kernel();
  ptx::arrive_cluster();  // this block's memory can be written to
  const Share share(p);
  fetch_constants(p, share, ptx::shared_address(memory));
  ptx::wait_for_previous_kernel();
  if constexpr (kHeld > 0) {
    excite_held<T, kOf, kHeld>(p, share, memory);
  } else {
    float sums[kRun] = {};
    sum_pixels<T>(p, share, memory, sums);
    excite<T, kOf>(p, share, sums, memory);
    write_products<T>(p, share, memory);
  }
}

namespace {

template <class T, Activations kOf>
const void* kernel_of(const SqueezeExcitePlan& plan) {
  if (!plan.holds) return kernel_address(&squeeze_excite_kernel<T, kOf, 0>);
  return plan.rounds <= kFewHeld
             ? kernel_address(&squeeze_excite_kernel<T, kOf, kFewHeld>)
             : kernel_address(&squeeze_excite_kernel<T, kOf, SqueezeExcitePlan::kMostHeld>);
}

template <class T>
const void* kernel_of(const SqueezeExcite& size, const SqueezeExcitePlan& plan) {
  const auto are = [&](graph::PostOp squeeze, graph::PostOp gate) {
    return size.squeeze.op == squeeze && size.gate.op == gate;
  };
  using enum graph::PostOp;
  if (are(kSwish, kSigmoid)) return kernel_of<T, Activations::kSwishSigmoid>(plan);
  if (are(kRelu, kSigmoid)) return kernel_of<T, Activations::kReluSigmoid>(plan);
  if (are(kRelu, kHardSigmoid)) return kernel_of<T, Activations::kReluHardSigmoid>(plan);
  return kernel_of<T, Activations::kAny>(plan);
}

GemmLaunch launch_of(FloatType type, const SqueezeExcite& size, const SqueezeExcitePlan& plan) {
  GemmLaunch launch;
  launch.function =
      type == FloatType::kHalf ? kernel_of<__half>(size, plan) : kernel_of<__nv_bfloat16>(size, plan);
  launch.blocks = size.batch * plan.blocks();
  launch.threads = plan.threads;
  launch.cluster = plan.blocks();
  launch.shared_bytes = plan.shared_bytes;
  return launch;
}

}  // namespace

cudaError_t squeeze_excite(const SqueezeExciteArgs& args, FloatType type, const SqueezeExcite& size,
                           const SqueezeExcitePlan& plan, const LaunchOptions& options) {
  const DeviceProperties& device = *options.device;
  if (squeeze_excite_refusal(size, device) || type == FloatType::kFloat ||
      plan.shared_bytes > device.shared_memory)
    return cudaErrorInvalidValue;
  for (const void* pointer : {args.x, args.w1, args.w2, static_cast<const void*>(args.y)}) {
    if (!is_aligned(pointer)) return cudaErrorInvalidValue;
  }
  if (size.batch == 0) return cudaSuccess;
  const Params params{args,
                      plan,
                      size.squeeze,
                      size.gate,
                      plan.blocks(),
                      static_cast<int>(size.pixels),
                      static_cast<int>(size.channels / kRun),
                      static_cast<int>(size.hidden),
                      static_cast<int>(size.hidden_pitch() / kRun),
                      1.0f / static_cast<float>(size.pixels),
                      options.next_waits};
  return launch_gemm(launch_of(type, size, plan), &params, options);
}

}  // namespace hone::device::cuda
