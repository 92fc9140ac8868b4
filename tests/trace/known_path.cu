// A CUDA program whose critical path is known: kernels that take set times on two streams, an event between
// them, a host that sleeps, a copy from pageable memory. Prints what it should come to, in nanoseconds a
// line.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr unsigned kMillisecond = 1'000'000;

__device__ void spin(unsigned nanoseconds) {
  unsigned long long start = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  unsigned long long now = start;
  while (now - start < nanoseconds) asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
}

__global__ void spin_producer(unsigned nanoseconds) { spin(nanoseconds); }
__global__ void spin_beside(unsigned nanoseconds) { spin(nanoseconds); }
__global__ void spin_consumer(unsigned nanoseconds) { spin(nanoseconds); }

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "known_path: %s\n", cudaGetErrorString(status));
  std::exit(4);
}

}  // namespace

int main() {
  constexpr int kRounds = 5;
  constexpr unsigned kProducer = 8 * kMillisecond;
  constexpr unsigned kBeside = 3 * kMillisecond;
  constexpr unsigned kConsumer = 5 * kMillisecond;
  constexpr unsigned kSleep = 4 * kMillisecond;
  constexpr size_t kCopyBytes = size_t{16} << 20;
  cudaStream_t first = nullptr;
  cudaStream_t second = nullptr;
  cudaEvent_t produced = nullptr;
  void* device = nullptr;
  check(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  check(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  check(cudaEventCreateWithFlags(&produced, cudaEventDisableTiming));
  check(cudaMalloc(&device, kCopyBytes));
  const std::vector<char> pageable(kCopyBytes, 1);
  for (int i = 0; i < kRounds; ++i) {
    spin_producer<<<1, 1, 0, first>>>(kProducer);
    check(cudaEventRecord(produced, first));
    spin_beside<<<1, 1, 0, second>>>(kBeside);
    check(cudaStreamWaitEvent(second, produced, 0));
    spin_consumer<<<1, 1, 0, second>>>(kConsumer);
    check(cudaStreamSynchronize(second));
    std::this_thread::sleep_for(std::chrono::nanoseconds(kSleep));
    check(cudaMemcpyAsync(device, pageable.data(), kCopyBytes, cudaMemcpyHostToDevice, second));
    check(cudaDeviceSynchronize());
  }
  // On the critical path: the producer, the consumer and the sleep. Beside it: spin_beside.
  std::printf("spin_producer %d\nspin_consumer %d\nspin_beside 0\n<Other> %d\n",
              kRounds * static_cast<int>(kProducer), kRounds * static_cast<int>(kConsumer),
              kRounds * static_cast<int>(kSleep));
  return 0;
}
