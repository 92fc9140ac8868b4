// Adds up the sums of a tile whose depth is split over a cluster. Each block sends every row to the block
// that finishes it, which then adds up the parts and stores the result. Everything known in advance is
// computed before the kernel waits for the previous one: when addresses and bounds were read from parameters
// after the products, that took as long as the sums themselves.
#pragma once

#include "device/cuda/plugin/kernels/common/stream_epilogue.hpp"
#include "device/cuda/plugin/kernels/gemm/gemm_store.cuh"
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm_params.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/sum_runs.cuh"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_stages.cuh"

namespace hone::device::cuda {

/// Sends every row's sums to the block that finishes it, as [parts][kM / parts][kN + kStagePad] floats. No
/// block fetches sums, and none waits until others have read its own. Clusters of two blocks, and blocks with
/// large tiles, finish sooner with plain stores and a barrier of the cluster; others finish sooner if each
/// counts the bytes that it has received.
template <class T, class TileT>
class SumExchange {
 public:
  /// `receive` and `received` are the buffer and the barrier; their addresses are the same in all blocks.
  __device__ __forceinline__ SumExchange(const TileParams& p, int part, uint32_t receive, uint32_t received)
      : received_(received), counts_(kMayCount && p.split_k > 2) {
    constexpr int kPitch = (TileT::kN + kStagePad) * 4;
    const int rows = TileT::kM / p.split_k;
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < TileT::kFragments; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = WarpgroupProduct<T, TileT>::first_row() + i * 64 + half * 8;
        const int owner = min(row / rows, p.split_k - 1);  // clamped because the copying warp has no rows
        const uint32_t local = receive + (part * rows + row - owner * rows) * kPitch;
        to_[i][half] =
            ptx::in_register(ptx::address_in_block(local + lane % 2 * 32 + lane % 4 / 2 * 16, owner));
        barrier_[i][half] = ptx::in_register(ptx::address_in_block(received, owner));
      }
    }
  }

  /// Called by the threads that multiply.
  __device__ __forceinline__ void send(WarpgroupProduct<T, TileT>& product) const {
    product.hold();
    if (kMayCount && counts_) {
      send_each(product, [&](int i, int half, int offset, const float4& sums) {
        ptx::store_counted(to_[i][half] + offset, sums, barrier_[i][half]);
      });
    } else {
      send_each(product, [&](int i, int half, int offset, const float4& sums) {
        ptx::store_remote(to_[i][half] + offset, sums);
      });
    }
  }

  /// Waits until all sums have been received; called by all threads.
  __device__ __forceinline__ void wait() const {
    if (kMayCount && counts_) {
      ptx::wait_received(received_);
    } else {
      ptx::sync_cluster();
    }
  }

 private:
  static constexpr bool kMayCount = TileT::kM * TileT::kN <= 64 * 64;

  /// Sends the sums of 16 columns at a time, with stores of 16 bytes.
  template <class Store>
  __device__ __forceinline__ void send_each(const WarpgroupProduct<T, TileT>& product,
                                            const Store& store) const {
#pragma unroll
    for (int i = 0; i < TileT::kFragments; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int j = 0; j < TileT::kN / 8; j += 2) {
          const float* const of = product.sums[i] + 4 * j + 2 * half;
          store(i, half, j * 32,
                four_neighbours(make_float2(of[0], of[1]), make_float2(of[4], of[5]),
                                static_cast<int>(threadIdx.x)));
        }
      }
    }
  }

  uint32_t received_;
  bool counts_;
  uint32_t to_[TileT::kFragments][2];
  uint32_t barrier_[TileT::kFragments][2];
};

/// Finishes a block's share of its tile with the warpgroups that multiply, one run of eight channels for each
/// thread. With kSteps it applies the list of steps, otherwise a StreamEpilogue that adds or bounds.
template <class T, class TileT, bool kSteps>
class ShareFinish {
 public:
  static constexpr int kThreads = TileT::kGroups * 128;

  /// `row` and `channel` are the first of the share; `prefetched` is the buffer for the share's operands.
  __device__ __forceinline__ ShareFinish(const EpilogueParams& p, const StreamEpilogue& stream, int row,
                                         int channel, uint4* prefetched)
      : p_(p),
        row_(ptx::in_register(row)),
        channel_(ptx::in_register(channel)),
        rows_(ptx::in_register(p.rows)),
        filters_(ptx::in_register(p.filters)),
        y_(ptx::in_register(static_cast<T*>(p.y))),
        operand_(ptx::in_register(static_cast<const T*>(p.prefetched))),
        float_y_(ptx::in_register(static_cast<int>(p.float_y))),
        bounds_{stream.low, stream.high},
        prefetched_(prefetched) {
    const int first = channel_ + column();
    low_bias_ = high_bias_ = make_float4(0, 0, 0, 0);
    if (p.bias != nullptr && first < filters_) {
      low_bias_ = __ldg(reinterpret_cast<const float4*>(p.bias + first));
      high_bias_ = __ldg(reinterpret_cast<const float4*>(p.bias + first + 4));
    }
    narrow(make_float2(stream.low, stream.low), low_);
    narrow(make_float2(stream.high, stream.high), high_);
  }

  /// Starts copying the operand of an addition. The thread that copies an element also reads it.
  __device__ __forceinline__ void prefetch(int parts) const {
    if (operand_ == nullptr) return;
    const int count = TileT::kM / parts * kPerRow;
    for (int v = static_cast<int>(threadIdx.x); v < count; v += kThreads) {
      const Place place(*this, v);
      ptx::copy16(ptx::shared_address(prefetched_ + v), operand_ + (place.valid ? place.offset() : 0),
                  place.valid);
    }
  }

  __device__ __forceinline__ void run(int parts, const float* sums) const {
    switch (parts) {
      case 2: run<2>(sums); break;
      case 4: run<4>(sums); break;
      default: run<8>(sums); break;
    }
  }

 private:
  static constexpr int kPerRow = TileT::kN / 8;
  static_assert(kThreads % kPerRow == 0);
  using Pair = typename PairOf<T>::Type;

  /// The first channel, within the tile, of all runs of this thread.
  static __device__ __forceinline__ int column() { return static_cast<int>(threadIdx.x) % kPerRow * 8; }

  /// The place of a run in y.
  struct Place {
    __device__ __forceinline__ Place(const ShareFinish& finish, int run)
        : row(finish.row_ + run / kPerRow),
          channel(finish.channel_ + column()),
          filters(finish.filters_),
          valid(row < finish.rows_ && channel < filters) {}
    __device__ __forceinline__ size_t offset() const { return static_cast<size_t>(row) * filters + channel; }

    int row;
    int channel;
    int filters;
    bool valid;
  };

  /// All loads start before the first addition. The parts are added in their order.
  template <int kParts>
  __device__ __forceinline__ void run(const float* sums) const {
    constexpr int kPitch = TileT::kN + kStagePad;
    constexpr int kRows = TileT::kM / kParts;
    // Four of every eight threads read the second half of
    // their runs first, so that the reads cover all banks.
    const int begin = static_cast<int>(threadIdx.x) / 4 % 2;
#pragma unroll 1
    for (int v = static_cast<int>(threadIdx.x); v < kRows * kPerRow; v += kThreads) {
      const Place place(*this, v);
      const float* const from = sums + v / kPerRow * kPitch + column();
      float4 sums_of[kParts][2];
#pragma unroll
      for (int part = 0; part < kParts; ++part) {
        sums_of[part][0] = *reinterpret_cast<const float4*>(from + part * kRows * kPitch + 4 * begin);
        sums_of[part][1] = *reinterpret_cast<const float4*>(from + part * kRows * kPitch + 4 - 4 * begin);
      }
      float in_order[8] = {};
#pragma unroll
      for (int part = 0; part < kParts; ++part) {
        add4(in_order, 0, sums_of[part][0]);
        add4(in_order, 4, sums_of[part][1]);
      }
      float values[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) values[i] = begin == 0 ? in_order[i] : in_order[(i + 4) % 8];
      add4(values, 0, low_bias_);
      add4(values, 4, high_bias_);
      if (place.valid) finish(place, prefetched_ + v, values);
    }
  }

  __device__ __forceinline__ void finish(const Place& place, const uint4* operand, float (&values)[8]) const {
    if (!kSteps && float_y_ != 0) {
#pragma unroll
      for (float& value : values) value = clip(value, bounds_.x, bounds_.y);
      pack<float>(values, reinterpret_cast<uint4*>(reinterpret_cast<float*>(y_) + place.offset()));
      return;
    }
    auto* const to = reinterpret_cast<uint4*>(y_ + place.offset());
    if (kSteps) {
      finish_run<T>(p_, place.row, place.channel, operand, values);
      pack<T>(values, to);
      return;
    }
    if (operand_ != nullptr) {
      float added[8];
      unpack<T>(operand, added);
      apply_binary(graph::PostOp::kAdd, added, values);
    }
    // The bounds apply to rounded numbers, since rounding keeps their order. NaN stays NaN.
    Packed<T> packed;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      narrow(make_float2(values[2 * i], values[2 * i + 1]), packed.pairs[i]);
      packed.pairs[i] = __hmin2_nan(__hmax2_nan(packed.pairs[i], low_), high_);
    }
    *to = packed.words[0];
  }

  const EpilogueParams& p_;
  int row_;
  int channel_;
  int rows_;
  int filters_;
  T* y_;
  const T* operand_;
  int float_y_;
  float2 bounds_;
  uint4* prefetched_;
  float4 low_bias_;
  float4 high_bias_;
  Pair low_;
  Pair high_;
};

}  // namespace hone::device::cuda
