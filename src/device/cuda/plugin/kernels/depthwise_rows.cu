// Depthwise convolutions by threads that go down the image. See depthwise.hpp. A thread holds its channels'
// filters and the sums of all output rows that the next input row adds to, so that it reads each input of
// its strip once, and turns it into float once, for all windows that cover it.
#include "device/cuda/plugin/kernels/depthwise.hpp"

#include "device/cuda/plugin/kernels/epilogue.cuh"

namespace hone::device::cuda {
namespace {

constexpr int kBlock = 128;

struct DepthwiseRows {
  const void* input;
  const float* weights;
  const float* bias;
  void* output;
  Epilogue epilogue;
  int channels;
  int rows;  ///< of the input
  int columns;
  int out_rows;
  int out_columns;
  int pad_y;
  int pad_x;
  int run;  ///< output rows of a thread
  Divisor<uint32_t> by_group;
  Divisor<uint32_t> by_strip;
  Divisor<uint32_t> by_run;
  int64_t units;
  bool next_waits;
};

/// Square kernels of kTaps, equal strides. Filters and sums of a thread fit its registers.
template <int kTaps_, int kStride_>
struct DepthwiseWindow {
  static constexpr int kTaps = kTaps_;
  static constexpr int kStride = kStride_;
  static constexpr int kStrip = 4;                               ///< outputs along a row
  static constexpr int kWidth = kTaps == 3 ? 4 : 2;              ///< channels
  static constexpr int kReach = (kStrip - 1) * kStride + kTaps;  ///< inputs along a row
  /// Output rows that an input row adds to, at most, and input rows after which they have the same places.
  static constexpr int kLive = (kTaps + kStride - 1) / kStride;
  static constexpr int kPeriod = kLive * kStride;
};

template <class T, class Window>
class DepthwiseThread {
 public:
  static constexpr int kTaps = Window::kTaps;
  static constexpr int kStride = Window::kStride;
  static constexpr int kStrip = Window::kStrip;
  static constexpr int kWidth = Window::kWidth;

  __device__ __forceinline__ explicit DepthwiseThread(const DepthwiseRows& params) : p_(params) {
    auto unit = static_cast<uint32_t>(thread_index());
    idle_ = unit >= p_.units;
    channel_ = static_cast<int>(take_coordinate(unit, p_.by_group)) * kWidth;
    column_ = static_cast<int>(take_coordinate(unit, p_.by_strip)) * kStrip;
    row_ = static_cast<int>(take_coordinate(unit, p_.by_run)) * p_.run;
    image_ = unit;
  }
  __device__ __forceinline__ bool idle() const { return idle_; }

  /// It does not depend on the kernel before this one.
  __device__ __forceinline__ void load_filter() {
#pragma unroll
    for (int r = 0; r < kTaps; ++r) {
#pragma unroll
      for (int s = 0; s < kTaps; ++s)
        load<kWidth>(p_.weights + static_cast<int64_t>(r * kTaps + s) * p_.channels + channel_,
                     filter_[r][s]);
    }
  }

  __device__ __forceinline__ void run(RunningKernel& running) const {
    /// The last of the output rows, counted from this thread's first one, and of the input rows under them.
    const int last = min(p_.run, p_.out_rows - row_) - 1;
    const int last_input = last * kStride + kTaps - 1;
    float sums[Window::kLive][kStrip * kWidth];
#pragma unroll
    for (int i = 0; i < Window::kLive; ++i) begin(sums[i]);
    Word next[Window::kReach];
    load_row(0, next);
#pragma unroll 1
    for (int first = 0;; first += Window::kPeriod) {
      if (first + Window::kPeriod > last_input) running.finishing();
#pragma unroll
      for (int i = 0; i < Window::kPeriod; ++i) {
        float values[Window::kReach][kWidth];
        widen(next, values);
        if (first + i < last_input) load_row(first + i + 1, next);
        add_row(first, i, last, values, sums);
        constexpr int kEnd = kTaps - 1;
        if (!is_added(i, kEnd) || first + i < kEnd) continue;
        // An output row has all of its inputs.
        float(&done)[kStrip * kWidth] = sums[place(i, kEnd)];
        const bool is_last = first + i == last_input;
        finish(row_ + (first + i - kEnd) / kStride, is_last, done, running);
        if (is_last) return;
        begin(done);
      }
    }
  }

 private:
  using Word = typename WordOf<kWidth * sizeof(T)>::Type;

  /// Whether input row i of a period is under row r of the filter for some output row, and where the sums of
  /// that lie.
  __device__ __forceinline__ static constexpr bool is_added(int i, int r) {
    return (i - r + 2 * Window::kPeriod) % kStride == 0;
  }
  __device__ __forceinline__ static constexpr int place(int i, int r) {
    return (i - r + 2 * Window::kPeriod) / kStride % Window::kLive;
  }

  /// The bias is near, and registers are scarce.
  __device__ __forceinline__ void begin(float (&sums)[kStrip * kWidth]) const {
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      const float bias = p_.bias == nullptr ? 0.0f : p_.bias[channel_ + k];
#pragma unroll
      for (int o = 0; o < kStrip; ++o) sums[o * kWidth + k] = bias;
    }
  }

  /// Input row `number` of the thread's; zeros outside of the image.
  __device__ __forceinline__ void load_row(int number, Word (&words)[Window::kReach]) const {
    const int y = row_ * kStride - p_.pad_y + number;
    const int x = column_ * kStride - p_.pad_x;
    const bool inside = y >= 0 && y < p_.rows;
    const T* const from = static_cast<const T*>(p_.input) +
                          ((static_cast<int64_t>(image_) * p_.rows + y) * p_.columns + x) * p_.channels +
                          channel_;
#pragma unroll
    for (int i = 0; i < Window::kReach; ++i) {
      words[i] = {};
      if (inside && x + i >= 0 && x + i < p_.columns)
        words[i] = *reinterpret_cast<const Word*>(from + static_cast<int64_t>(i) * p_.channels);
    }
  }

  __device__ __forceinline__ static void widen(const Word (&words)[Window::kReach],
                                               float (&values)[Window::kReach][kWidth]) {
#pragma unroll
    for (int x = 0; x < Window::kReach; ++x) {
      T of_word[kWidth];
      memcpy(of_word, &words[x], sizeof of_word);
#pragma unroll
      for (int k = 0; k < kWidth; ++k) values[x][k] = to_float(of_word[k]);
    }
  }

  /// Input row first + i to all output rows that it is under, but for those of other threads.
  __device__ __forceinline__ void add_row(int first, int i, int last,
                                          const float (&values)[Window::kReach][kWidth],
                                          float (&sums)[Window::kLive][kStrip * kWidth]) const {
#pragma unroll
    for (int r = 0; r < kTaps; ++r) {
      if (!is_added(i, r)) continue;
      if (static_cast<unsigned>(first + i - r) > static_cast<unsigned>(last * kStride)) continue;
#pragma unroll
      for (int s = 0; s < kTaps; ++s) {
#pragma unroll
        for (int o = 0; o < kStrip; ++o) {
#pragma unroll
          for (int k = 0; k < kWidth; ++k) {
            float& sum = sums[place(i, r)][o * kWidth + k];
            sum = fmaf(values[o * kStride + s][k], filter_[r][s][k], sum);
          }
        }
      }
    }
  }

  /// Of an output row, the thread's last one or not.
  __device__ __forceinline__ void finish(int row, bool is_last, float (&sums)[kStrip * kWidth],
                                         RunningKernel& running) const {
    const PixelRun strip = {p_.channels, p_.out_columns - column_};
    const int64_t offset =
        ((static_cast<int64_t>(image_) * p_.out_rows + row) * p_.out_columns + column_) * p_.channels +
        channel_;
    apply_epilogue<T, kStrip>(p_.epilogue, sums, image_, channel_, offset, strip);
    if (is_last) running.leave();
#pragma unroll
    for (int o = 0; o < kStrip; ++o) {
      if (o >= strip.count) break;
      float pixel[kWidth];
#pragma unroll
      for (int k = 0; k < kWidth; ++k) pixel[k] = sums[o * kWidth + k];
      store_floats<kWidth>(static_cast<T*>(p_.output) + offset + o * strip.pitch, pixel);
    }
  }

  const DepthwiseRows& p_;
  bool idle_;
  int channel_;
  int column_;
  int row_;  ///< first output row
  uint32_t image_;
  float filter_[kTaps][kTaps][kWidth];
};

template <class T, class Window>
__global__ void __launch_bounds__(kBlock, sizeof(T) == 4 ? 2 : 3)
    depthwise_rows_kernel(const __grid_constant__ DepthwiseRows p, KernelStamp* stamp) {
  RunningKernel running(stamp);
  DepthwiseThread<T, Window> thread(p);
  if (!thread.idle()) thread.load_filter();
  begin_kernel(p.next_waits);
  if (!thread.idle()) thread.run(running);
}

struct RowsKernel {
  int strip;
  int width;
  void (*kernel)(DepthwiseRows, KernelStamp*);
};

template <class T, class Window>
RowsKernel rows_kernel() {
  return {Window::kStrip, Window::kWidth, &depthwise_rows_kernel<T, Window>};
}

template <class T>
RowsKernel rows_kernel(const ConvolutionSize& size) {
  const bool steps = size.stride[1] == 2;
  if (size.kernel[1] == 3)
    return steps ? rows_kernel<T, DepthwiseWindow<3, 2>>() : rows_kernel<T, DepthwiseWindow<3, 1>>();
  return steps ? rows_kernel<T, DepthwiseWindow<5, 2>>() : rows_kernel<T, DepthwiseWindow<5, 1>>();
}

}  // namespace

std::string depthwise_rows_refusal(const ConvolutionSize& size, int64_t most_rows) {
  if (size.in_channels != size.group || size.out_channels != size.group) return "it is not depthwise";
  if (size.kernel[0] != 1 || size.input[0] != 1 || size.output[0] != 1) return "it is not of images";
  if (!has_small_windows(size)) return "its windows are not of 3 x 3 or 5 x 5 with strides of 1 or 2";
  // What a thread takes of 3 x 3, and twice what it takes of 5 x 5.
  if (size.in_channels % 4 != 0) return "its channels are no multiple of 4";
  if (most_rows < 2 || most_rows > 1024) return "a thread takes 2 to 1024 rows";
  return {};
}

cudaError_t depthwise_rows(const ConvolutionArguments& arguments, FloatType type, const ConvolutionSize& size,
                           const Epilogue& epilogue, int most_rows, const LaunchOptions& options) {
  if (!depthwise_rows_refusal(size, most_rows).empty()) return cudaErrorInvalidValue;
  if (!is_aligned(arguments.input) || !is_aligned(arguments.weights) || !is_aligned(arguments.output) ||
      !is_aligned(epilogue))
    return cudaErrorMisalignedAddress;
  if (size.batch * size.output[1] * size.output[2] == 0) return cudaSuccess;
  return with_float_type(type, [&]<class T>() {
    const RowsKernel kernel = rows_kernel<T>(size);
    const auto divided = [](int64_t value, int64_t by) { return (value + by - 1) / by; };
    const int64_t runs = divided(size.output[1], most_rows);
    const int64_t strips = divided(size.output[2], kernel.strip);
    const int64_t groups = size.in_channels / kernel.width;
    const auto narrow = [](int64_t value) { return static_cast<int>(value); };
    DepthwiseRows params{};
    params.input = arguments.input;
    params.weights = static_cast<const float*>(arguments.weights);
    params.bias = arguments.bias;
    params.output = arguments.output;
    params.epilogue = epilogue;
    params.channels = narrow(size.in_channels);
    params.rows = narrow(size.input[1]);
    params.columns = narrow(size.input[2]);
    params.out_rows = narrow(size.output[1]);
    params.out_columns = narrow(size.output[2]);
    params.pad_y = narrow(size.pad_begin[1]);
    params.pad_x = narrow(size.pad_begin[2]);
    params.run = narrow(divided(size.output[1], runs));
    params.by_group = Divisor<uint32_t>(groups);
    params.by_strip = Divisor<uint32_t>(strips);
    params.by_run = Divisor<uint32_t>(divided(size.output[1], params.run));
    params.units = size.batch * params.by_run.value * strips * groups;
    params.next_waits = options.next_waits;
    if (params.units >= int64_t{1} << 31) return cudaErrorInvalidValue;
    return launch(kernel.kernel, grid_for(params.units, kBlock), kBlock, options, params);
  });
}

}  // namespace hone::device::cuda
