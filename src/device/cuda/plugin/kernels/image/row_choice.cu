// See row_choice.hpp. A thread looks at one box. Few boxes are chosen, so those that are copy their numbers
// one by one.
#include "device/cuda/plugin/kernels/image/row_choice.hpp"

#include "device/cuda/plugin/kernels/common/element.cuh"

namespace hone::device::cuda {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads)
    choose_rows_kernel(const __grid_constant__ RowChoice rule, const T* __restrict__ output,
                       int32_t* __restrict__ lists, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  const int64_t box = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (box >= rule.boxes) return;
  const T* const numbers = output + choice::first_of(rule, blockIdx.y, box);
  const auto number = [&](int64_t i) { return to_float(numbers[i * rule.number_stride]); };
  bool chosen = false;
  for (int64_t i = 0; i < rule.gates && !chosen; ++i) chosen = number(rule.first_gate + i) > rule.level;
  if (!chosen) return;
  int32_t* const list = lists + blockIdx.y * choice::list_words(rule);
  const int32_t place = atomicAdd(list, 1);
  if (place >= rule.most) return;
  int32_t* const entry = list + 1 + place * (1 + rule.numbers);
  entry[0] = static_cast<int32_t>(box);
  for (int64_t i = 0; i < rule.numbers; ++i) entry[1 + i] = __float_as_int(number(i));
}

}  // namespace

cudaError_t choose_rows(const RowChoice& rule, const void* output, FloatType type, int32_t* lists,
                        const LaunchOptions& options) {
  if (rule.images == 0) return cudaSuccess;
  constexpr int64_t kMostImages = 65535;
  if (rule.inner <= 0 || rule.images > kMostImages || output == nullptr || lists == nullptr)
    return cudaErrorInvalidValue;
  const size_t pitch = sizeof(int32_t) * static_cast<size_t>(choice::list_words(rule));
  const cudaError_t zeroed =
      cudaMemset2DAsync(lists, pitch, 0, sizeof(int32_t), static_cast<size_t>(rule.images), options.stream);
  if (zeroed != cudaSuccess || rule.boxes == 0) return zeroed;
  const dim3 grid(static_cast<unsigned>((rule.boxes + kThreads - 1) / kThreads),
                  static_cast<unsigned>(rule.images));
  return with_float_type(type, [&]<class T>() {
    return launch(choose_rows_kernel<T>, grid, dim3(kThreads), options, rule, static_cast<const T*>(output),
                  lists);
  });
}

}  // namespace hone::device::cuda
