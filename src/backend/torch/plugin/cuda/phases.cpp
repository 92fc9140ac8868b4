// Times the parts of a run on a GPU.
#include <ATen/ops/empty.h>

#include "backend/torch/plugin/cuda.hpp"
#include "backend/torch/plugin/cuda/event.hpp"

namespace hone::backend::aten {

void evict_caches(at::Device device) {
  if (!device.is_cuda()) return;
  int cache = 0;
  C10_CUDA_CHECK(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, device.index()));
  at::empty({2 * int64_t{cache}}, at::TensorOptions().dtype(at::kByte).device(device)).zero_();
  synchronize(device);
}

double time_between_events(at::Device device, const std::function<void()>& enqueue) {
  if (!device.is_cuda()) return 0;
  const Event begin;
  const Event end;
  begin.record();
  enqueue();
  end.record();
  end.synchronize();
  return Event::milliseconds_between(begin, end);
}

double time_copies(at::Device device, std::span<const int64_t> sizes, Direction direction) {
  if (!device.is_cuda()) return 0;
  struct Pair {
    at::Tensor from;
    at::Tensor to;
  };
  std::vector<Pair> pairs;
  for (const int64_t size : sizes) {
    if (size == 0) continue;
    const at::TensorOptions bytes = at::TensorOptions().dtype(at::kByte);
    const at::Tensor host = at::empty({size}, bytes.pinned_memory(true));
    const at::Tensor there = at::empty({size}, bytes.device(device));
    pairs.push_back(direction == Direction::kToDevice ? Pair{host, there} : Pair{there, host});
  }
  const cudaMemcpyKind kind =
      direction == Direction::kToDevice ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream(device.index());
  // The runtime is called directly; otherwise the host's work in at::copy_ would fall between the events.
  return time_between_events(device, [&] {
    for (const Pair& pair : pairs)
      C10_CUDA_CHECK(
          cudaMemcpyAsync(pair.to.data_ptr(), pair.from.data_ptr(), pair.to.nbytes(), kind, stream));
  });
}

}  // namespace hone::backend::aten
