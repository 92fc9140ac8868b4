// A kernel that reads without waiting, as some of cuDNN's do, behind one that lets it in early.
#include <chrono>
#include <cstdio>
#include <functional>

#include "device/cuda/plugin/kernels/common/launch.cuh"
#include "device/cuda/plugin/kernels/common/library_call.hpp"
#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

constexpr int kAnswer = 42;
constexpr int kReplays = 50;

__global__ void write_late(int* value, KernelStamp*) {
  ptx::allow_next_kernel();
  constexpr uint64_t kDelay = 20'000;
  for (const uint64_t start = ptx::global_time(); ptx::global_time() - start < kDelay;) {
  }
  *value = kAnswer;
}

__global__ void read_at_once(const volatile int* value, int* copy, KernelStamp*) { *copy = *value; }

struct Pair {
  cudaStream_t stream = nullptr;
  DeviceBuffer value{sizeof(int)};
  DeviceBuffer copy{sizeof(int)};

  Pair() { (void)cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); }
  ~Pair() { (void)cudaStreamDestroy(stream); }

  cudaError_t enqueue(bool ordered) const {
    (void)cudaMemsetAsync(value.get(), 0, sizeof(int), stream);
    cudaError_t error =
        launch(write_late, 1, 1, {.stream = stream, .pdl = true}, static_cast<int*>(value.get()));
    if (error != cudaSuccess) return error;
    cudaError_t reading = cudaSuccess;
    const auto read = [&] {
      reading = launch(read_at_once, 1, 1, {.stream = stream, .pdl = true},
                       static_cast<const volatile int*>(value.get()), static_cast<int*>(copy.get()));
    };
    if (ordered) {
      error = call_library(stream, read);
    } else {
      read();
    }
    return error != cudaSuccess ? error : reading;
  }

  int result() const {
    int found = -1;
    (void)cudaStreamSynchronize(stream);
    copy.download(&found);
    return found;
  }
};

/// How many of the replays read what was written.
int count_right(Family& family, const Pair& pair, const std::function<cudaError_t()>& run, const char* what) {
  int right = 0;
  for (int i = 0; i < kReplays; ++i) {
    family.launched(run(), what);
    right += pair.result() == kAnswer ? 1 : 0;
  }
  return right;
}

/// Tells whether it was seen to be told, within a tenth of a second.
__global__ void wait_to_be_told(const volatile int* told, int* seen) {
  constexpr uint64_t kPatience = 100'000'000;
  const uint64_t start = ptx::global_time();
  while (*told == 0 && ptx::global_time() - start < kPatience) {
  }
  *seen = *told;
}

__global__ void tell(int* told) { *told = 1; }

int count_captured(Family& family, const Pair& pair, bool ordered) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t instance = nullptr;
  family.launched(cudaStreamBeginCapture(pair.stream, cudaStreamCaptureModeThreadLocal), "a capture");
  family.launched(pair.enqueue(ordered), "captured");
  family.launched(cudaStreamEndCapture(pair.stream, &graph), "the capture's end");
  family.launched(cudaGraphInstantiate(&instance, graph, 0), "an instance");
  const int right = count_right(
      family, pair, [&] { return cudaGraphLaunch(instance, pair.stream); }, "a graph");
  (void)cudaGraphExecDestroy(instance);
  (void)cudaGraphDestroy(graph);
  return right;
}

}  // namespace

namespace {

bool sees_overlap() {
  const DeviceBuffer told(sizeof(int));
  const DeviceBuffer seen(sizeof(int));
  cudaStream_t streams[2] = {};
  for (cudaStream_t& stream : streams) (void)cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int found = 0;
  for (int turn = 0; turn < 2; ++turn) {  // in the first one kernels are loaded, which waits for others
    (void)cudaMemset(told.get(), 0, sizeof(int));
    (void)cudaDeviceSynchronize();
    wait_to_be_told<<<1, 1, 0, streams[0]>>>(static_cast<const int*>(told.get()),
                                             static_cast<int*>(seen.get()));
    tell<<<1, 1, 0, streams[1]>>>(static_cast<int*>(told.get()));
    (void)cudaDeviceSynchronize();
    seen.download(&found);
  }
  for (cudaStream_t stream : streams) (void)cudaStreamDestroy(stream);
  return found == 1;
}

}  // namespace

bool launches_overlap(const char* family) {
  static const bool kOverlap = sees_overlap();
  if (kOverlap) return true;
  std::printf("SKIPPED %s: no launch runs beside another here, as under a tool that watches memory\n",
              family);
  return false;
}

bool launches_are_short(const char* family, const std::function<void()>& launch_each) {
  using Seconds = std::chrono::duration<double>;
  launch_each();  // loads the kernels
  (void)cudaDeviceSynchronize();
  const auto begin = std::chrono::steady_clock::now();
  launch_each();
  (void)cudaDeviceSynchronize();
  const double took = Seconds(std::chrono::steady_clock::now() - begin).count();
  if (took < 0.1) return true;
  std::printf("SKIPPED %s: launches take %.1f s here, as under a tool that watches shared memory\n", family,
              took);
  return false;
}

void replay(int wanted, const std::function<void()>& once) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(2);
  int done = 0;
  for (; done < wanted && (done < 2 || Clock::now() < end); ++done) once();
  if (done < wanted) std::printf("replayed %d times, not %d: launches take long here\n", done, wanted);
}

void check_library_calls() {
  if (!launches_overlap("library calls")) return;
  Family family("library calls");
  const Pair pair;
  family.expect(count_right(
                    family, pair, [&] { return pair.enqueue(true); }, "a stream") == kReplays,
                "in a stream, after everything ahead");
  family.expect(count_captured(family, pair, true) == kReplays, "in a graph, after everything ahead");
  // Else this check could not fail.
  family.expect(count_right(
                    family, pair, [&] { return pair.enqueue(false); }, "a stream") < kReplays,
                "in a stream, too early when nothing orders it");
  family.expect(count_captured(family, pair, false) < kReplays,
                "in a graph, too early when nothing orders it");
}

}  // namespace hone::device::cuda::check
