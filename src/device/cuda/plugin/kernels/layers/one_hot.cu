// See one_hot.hpp.
#include "device/cuda/plugin/kernels/layers/one_hot.hpp"

#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/common/launch.cuh"

namespace hone::device::cuda {
namespace {

template <class Index, class Word>
__global__ void __launch_bounds__(kThreads)
    one_hot_kernel(const Index* indices, const Word* values, Word* output, int64_t outer, int64_t depth,
                   int64_t inner, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  const Word elsewhere = values[0];
  const Word there = values[1];
  for (int64_t i = thread_index(); i < outer * depth * inner; i += grid_threads()) {
    const auto index = static_cast<int64_t>(indices[i / (depth * inner) * inner + i % inner]);
    output[i] = (index < 0 ? index + depth : index) == i / inner % depth ? there : elsewhere;
  }
}

}  // namespace

cudaError_t one_hot(const void* indices, size_t index_bytes, const void* values, void* output, size_t bytes,
                    int64_t outer, int64_t depth, int64_t inner, const LaunchOptions& options) {
  return with_word(bytes, [&]<class Word>() {
    const auto run = [&]<class Index>(const Index* from) {
      return launch(one_hot_kernel<Index, Word>, grid_for(outer * depth * inner), kThreads, options, from,
                    static_cast<const Word*>(values), static_cast<Word*>(output), outer, depth, inner);
    };
    return index_bytes == 4 ? run(static_cast<const int32_t*>(indices))
                            : run(static_cast<const int64_t*>(indices));
  });
}

}  // namespace hone::device::cuda
