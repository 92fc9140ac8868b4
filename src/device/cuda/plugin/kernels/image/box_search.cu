// See box_search.hpp. A thread decodes one box of a head; few boxes are candidates. One block sorts the
// candidates of an image with a bitonic network, whose size is the next power of two. It then visits them
// from best to worst: for each box that is kept, all threads compare the later boxes with it.
#include "device/cuda/plugin/kernels/image/box_search.hpp"

#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"

namespace hone::device::cuda {

constexpr int kSortThreads = 1024;
constexpr int kMostCandidates = static_cast<int>(engine::BoxCandidates::kMost);
constexpr int kOwnCandidates = kMostCandidates / kSortThreads;

/// Shared memory of a block: the sort keys of candidates, their original places, and whether they are kept.
struct SortedCandidates {
  uint64_t keys[kMostCandidates];
  uint16_t places[kMostCandidates];
  uint8_t stays[kMostCandidates];
};
static_assert(sizeof(SortedCandidates) <= 48 << 10, "more has to be asked for");
static_assert(kMostCandidates <= 1 << 16 && (kMostCandidates & (kMostCandidates - 1)) == 0);

/// The number of blocks for one image.
HONE_HOST_DEVICE int64_t blocks_of(const engine::BoxHead& head) {
  return (head.rows.boxes + kThreads - 1) / kThreads;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    decode_boxes_kernel(const __grid_constant__ BoxDecoding decoding, const T* __restrict__ output,
                        KernelStamp* stamp) {
  const RunningKernel running(stamp);
  begin_kernel();
  const engine::BoxHead& head = decoding.head;
  const int64_t blocks = blocks_of(head);
  const int64_t image = blockIdx.x / blocks;
  const int64_t index = blockIdx.x % blocks * kThreads + threadIdx.x;
  if (index >= head.rows.boxes) return;
  const engine::BoxNumbers<T> numbers{output + image * head.rows.image + head.rows.at(index),
                                      head.rows.number_stride};
  if (!engine::box::passes_gates(head.rows, numbers)) return;
  engine::BoxCandidates& candidates = decoding.candidates[image];
  const int64_t answers = engine::box::answer_count(head, numbers);
  for (int64_t answer = 0; answer < answers; ++answer) {
    engine::FoundBox found = engine::box::answer_of(head, index, numbers, answer);
    if (found.label < 0) continue;
    found.box = engine::box::placed(decoding.places[image], found.box);
    const unsigned place = atomicInc(&candidates.count, ~0U);
    if (place >= static_cast<unsigned>(kMostCandidates)) continue;
    candidates.boxes[place] = found;
    candidates.orders[place] = decoding.first_order + static_cast<uint32_t>(index * answers + answer);
  }
}

/// Better candidates have smaller keys. Scores are positive, so their bits increase with them.
__device__ __forceinline__ uint64_t key_of(float score, uint32_t order) {
  uint32_t bits;
  memcpy(&bits, &score, sizeof bits);
  return uint64_t{~bits} << 32 | order;
}

__device__ __forceinline__ void sort_candidates(SortedCandidates& sorted, int places) {
  for (int size = 2; size <= places; size *= 2)
    for (int distance = size / 2; distance > 0; distance /= 2) {
      __syncthreads();
      for (int pair = static_cast<int>(threadIdx.x); pair < places / 2; pair += kSortThreads) {
        const int low = 2 * distance * (pair / distance) + pair % distance;
        const int high = low + distance;
        const bool rises = (low & size) == 0;
        if ((sorted.keys[low] > sorted.keys[high]) != rises) continue;
        const uint64_t key = sorted.keys[low];
        const uint16_t place = sorted.places[low];
        sorted.keys[low] = sorted.keys[high];
        sorted.places[low] = sorted.places[high];
        sorted.keys[high] = key;
        sorted.places[high] = place;
      }
    }
  __syncthreads();
}

/// The second parameter is what launch_gemm() passes.
__global__ void __launch_bounds__(kSortThreads)
    suppress_boxes_kernel(const __grid_constant__ BoxSuppression p, KernelStamp* stamp) {
  const RunningKernel running(stamp);
  extern __shared__ __align__(1024) unsigned char memory[];
  begin_kernel();
  auto& sorted = *reinterpret_cast<SortedCandidates*>(memory);
  const int64_t image = blockIdx.x;
  engine::BoxCandidates& candidates = p.candidates[image];
  const engine::BoxPlace& place = p.places[image];
  constexpr int kWords = sizeof(engine::FoundBox) / 4;
  int32_t* const list = static_cast<int32_t*>(p.lists) + image * (1 + p.selection.most * kWords);
  const int thread = static_cast<int>(threadIdx.x);
  const auto count = static_cast<int>(candidates.count);
  __syncthreads();
  if (thread == 0) candidates.count = 0;
  if (count > kMostCandidates) {
    if (thread == 0) *list = -1;
    return;
  }
  int places = 2;
  while (places < count) places *= 2;
  for (int i = thread; i < places; i += kSortThreads) {
    const bool is_one = i < count;
    sorted.keys[i] = is_one ? key_of(candidates.boxes[i].score, candidates.orders[i]) : ~uint64_t{0};
    sorted.places[i] = static_cast<uint16_t>(i);
    sorted.stays[i] = is_one ? 1 : 0;
  }
  sort_candidates(sorted, places);

  engine::FoundBox own[kOwnCandidates];
#pragma unroll
  for (int k = 0; k < kOwnCandidates; ++k) {
    const int i = thread + k * kSortThreads;
    if (i < count) own[k] = candidates.boxes[sorted.places[i]];
  }
  int kept = 0;
  for (int best = 0; best < count && kept < p.selection.most; ++best) {
    if (sorted.stays[best] == 0) continue;
    const engine::FoundBox rival = candidates.boxes[sorted.places[best]];
    if (thread == 0) {
      engine::FoundBox found = rival;
      if (p.selection.clips) found.box = engine::box::clipped(place, found.box);
      memcpy(list + 1 + kept * kWords, &found, sizeof found);
    }
    ++kept;
#pragma unroll
    for (int k = 0; k < kOwnCandidates; ++k) {
      const int i = thread + k * kSortThreads;
      if (i <= best || i >= count || sorted.stays[i] == 0 || own[k].label != rival.label) continue;
      if (engine::box::overlap_of(p.selection, place, rival.box, own[k].box) > p.selection.overlap)
        sorted.stays[i] = 0;
    }
    __syncthreads();
  }
  if (thread == 0) *list = kept;
}

cudaError_t decode_boxes(const BoxDecoding& decoding, const void* output, FloatType type,
                         const LaunchOptions& options) {
  const engine::BoxHead& head = decoding.head;
  if (decoding.images == 0 || head.rows.boxes == 0) return cudaSuccess;
  const bool grid = head.form == engine::BoxForm::kLogits || head.form == engine::BoxForm::kDarknet;
  const bool anchored = !grid || (head.anchors != nullptr && head.columns > 0 && head.lines > 0 &&
                                  head.rows.boxes <= int64_t{head.anchor_count} * head.columns * head.lines);
  if (!head.rows.is_sound() || !anchored || !(head.threshold >= 0) || output == nullptr ||
      decoding.places == nullptr || decoding.candidates == nullptr)
    return cudaErrorInvalidValue;
  const int64_t blocks = blocks_of(head) * decoding.images;
  if (blocks > INT32_MAX) return cudaErrorInvalidValue;
  return with_float_type(type, [&]<class T>() {
    return launch(decode_boxes_kernel<T>, dim3(static_cast<unsigned>(blocks)), dim3(kThreads), options,
                  decoding, static_cast<const T*>(output));
  });
}

cudaError_t suppress_boxes(const BoxSuppression& suppression, const LaunchOptions& options) {
  if (suppression.images == 0) return cudaSuccess;
  if (suppression.selection.most < 0 || suppression.selection.most > kMostCandidates ||
      suppression.places == nullptr || suppression.candidates == nullptr || suppression.lists == nullptr)
    return cudaErrorInvalidValue;
  const GemmLaunch launch{.function = kernel_address(suppress_boxes_kernel),
                          .blocks = suppression.images,
                          .threads = kSortThreads,
                          .shared_bytes = sizeof(SortedCandidates)};
  return launch_gemm(launch, &suppression, options);
}

}  // namespace hone::device::cuda
