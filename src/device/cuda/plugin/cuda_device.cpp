// The CUDA devices of this process, one for each GPU that is used.
#include <cublasLt.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "device/cuda/plugin/box_finder.hpp"
#include "device/cuda/plugin/context.hpp"
#include "device/cuda/plugin/device_guard.hpp"
#include "device/cuda/plugin/driver_release.hpp"
#include "device/cuda/plugin/execution/cuda_executor.hpp"
#include "device/cuda/plugin/frame_filler.hpp"
#include "device/cuda/plugin/gpu.hpp"
#include "device/cuda/plugin/libraries/cublaslt.hpp"
#include "device/cuda/plugin/libraries/cudnn_compiler.hpp"
#include "device/cuda/plugin/libraries/cudnn_errors.hpp"
#include "device/cuda/plugin/queue.hpp"
#include "device/cuda/plugin/tactics/guarded_tactic.hpp"
#include "device/cuda/plugin/tactics/quantized_tactics.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"
#include "system/cpu.hpp"
#include "system/monitor.hpp"
#include "tensor/saturate.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::TensorDesc;
using tensor::DType;
using tensor::Precision;

constexpr int kOldestMajor = 7;
constexpr int kOldestMinor = 5;

TacticList make_tactics(Gpu& gpu, CudnnCompiler& cudnn, Cublaslt& cublaslt) {
  TacticList list;
  add_stem_tactics(list, gpu);
  add_gemm_tactics(list, gpu);
  add_byte_product_tactics(list, gpu);
  add_byte_sum_tactics(list, gpu);
  add_byte_quantization_tactics(list);
  add_stationary_convolution_tactics(list, gpu);
  add_cudnn_tactics(list, gpu, cudnn);
  add_direct_convolution_tactics(list, gpu);
  add_winograd_tactics(list, gpu, cublaslt);
  add_transposed_convolution_tactics(list);
  // Added before the others, to be the default for few rows even if there is no time to search.
  add_row_product_tactics(list, gpu);
  add_matrix_tactics(list, gpu, cublaslt);
  add_layer_tactics(list, gpu);
  add_sum_convolution_tactics(list, gpu);
  add_global_pooled_convolution_tactics(list, gpu);
  add_pooled_convolution_tactics(list);
  add_pooling_tactics(list);
  add_byte_pool_tactics(list);
  add_bottleneck_tactics(list, gpu);
  add_squeeze_excite_tactics(list, gpu);
  add_attention_tactics(list, gpu);
  add_cached_attention_tactics(list, gpu);
  add_pointwise_tactics(list, gpu);
  add_normalization_tactics(list);
  add_movement_tactics(list);
  add_indexing_tactics(list);
  add_scatter_tactics(list);
  add_ranking_tactics(list);
  add_recurrent_tactics(list, cublaslt);
  add_sampling_tactics(list);
  add_columns_to_image_tactics(list);
  add_strided_product_tactics(list);
  add_reduction_tactics(list);
  add_resize_tactics(list, gpu);
  for (engine::Tactic& tactic : list) tactic = guarded(std::move(tactic), gpu.context());
  return list;
}

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::string known_gpus_text(int ordinal, int count) {
  if (count == 1) return fmt::format("there is no cuda:{}: this machine has 1 GPU, cuda:0", ordinal);
  return fmt::format("there is no cuda:{}: this machine has {} GPUs, cuda:0 to cuda:{}", ordinal, count,
                     count - 1);
}

/// Throws an environment error with one sentence if this GPU does not exist or cannot be used.
void check_gpu(int ordinal) {
  int driver = 0;
  int runtime = 0;
  (void)cudaDriverGetVersion(&driver);
  (void)cudaRuntimeGetVersion(&runtime);
  if (driver == 0)
    fail_environment("no NVIDIA driver is loaded on this machine, so nothing can run on a GPU");
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorInsufficientDriver || driver / 1000 < runtime / 1000) {
    fail_environment("the NVIDIA driver is for CUDA {}, this build needs a driver for CUDA {}",
                     version_text(driver), version_text(runtime));
  }
  if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0)) {
    if (const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES"); visible != nullptr)
      fail_environment("no NVIDIA GPU is visible: CUDA_VISIBLE_DEVICES is '{}'", visible);
    fail_environment("this machine has no NVIDIA GPU");
  }
  if (status != cudaSuccess)
    fail_environment("the NVIDIA driver gives no access to a GPU: {}", cudaGetErrorString(status));
  if (ordinal >= count) fail_environment("{}", known_gpus_text(ordinal, count));
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, ordinal), "asking the GPU for its properties");
  if (properties.major * 10 + properties.minor < kOldestMajor * 10 + kOldestMinor) {
    fail_environment("{} has compute capability {}.{}, hone needs {}.{} or later", properties.name,
                     properties.major, properties.minor, kOldestMajor, kOldestMinor);
  }
}

/// For up to 8 images, fusing the 1x1 convolution into the stem is faster than a separate step; for 32 it is
/// not (docs/performance/lessons.md).
constexpr int64_t kFewImages = 8;
/// Blocks of a cluster for bottlenecks with 256 channels, and the number of clusters for an image of ResNet's
/// third stage.
constexpr int kClusterBlocks = 16;
constexpr int kImageClusters = 7;

DeviceProperties properties_of(int ordinal, CUcontext context) {
  const DeviceGuard guard(context);
  DeviceProperties properties;
  check(find_device_properties(ordinal, properties), "asking the GPU for its properties");
  return properties;
}

class CudaDevice final : public engine::Device, public engine::FrameDevice {
 public:
  CudaDevice(int ordinal, CUcontext context)
      : gpu_(properties_of(ordinal, context), context),
        cudnn_(context),
        cublaslt_(context),
        tactics_(make_tactics(gpu_, cudnn_, cublaslt_)) {}

  std::string_view name() const override { return name_; }
  tensor::Place place() const override { return {tensor::PlaceKind::kCuda, properties().ordinal}; }

  std::string fingerprint() const override {
    int driver = 0;
    int runtime = 0;
    check(cudaDriverGetVersion(&driver), "asking for the driver's version");
    check(cudaRuntimeGetVersion(&runtime), "asking for the runtime's version");
    return fmt::format("cuda; {}; sm {}.{}; driver {}; runtime {}; cuDNN {}; cuBLASLt {}", properties().name,
                       properties().major, properties().minor, version_text(driver), version_text(runtime),
                       cudnn_version(), cublasLtGetVersion());
  }

  std::string timing_fingerprint() const override {
    return fmt::format("{}; driver release {}", fingerprint(), driver_release());
  }

  std::vector<Layout> image_layouts(Precision) const override { return {Layout::kChannelsLast}; }

  /// Kernels are written for images, not for rows. On some devices they can also pool their results, add
  /// them, or share an image between blocks.
  std::vector<std::string> passes(Precision precision, int64_t images) const override {
    const bool narrow = precision == Precision::kFp16 || precision == Precision::kBf16;
    std::vector<std::string> passes = {"row_lifting",           "rms_norm_fusion",    "rotary_fusion",
                                       "row_product_splitting", "row_product_fusion", "normalization_fusion"};
    if (narrow) passes.emplace_back("cached_attention_fusion");
    if (properties().warpgroups) {
      for (const char* name : {"quantized_lowering", "quantized_movement", "quantized_weights",
                               "quantized_fusion", "quantized_sum_fusion"})
        passes.emplace_back(name);
    }
    // In fp32 the additional products cost most, and no measurement shows that they cost less than launches.
    if (images == 1 && precision != Precision::kFp32) passes.emplace_back("concatenated_convolution_fusion");
    if (narrow && properties().warpgroups) {
      passes.emplace_back("pool_fusion");
      if (images > 0 && images <= kFewImages) passes.emplace_back("stem_fusion");
      passes.emplace_back("bottleneck_fusion");
      if (images == 1 && properties().clusters_at_once(kClusterBlocks) >= kImageClusters)
        passes.emplace_back("cluster_bottleneck_fusion");
      passes.emplace_back("convolution_sum_fusion");
      passes.emplace_back("global_pool_fusion");
    }
    if (narrow && properties().clusters) passes.emplace_back("squeeze_excite_fusion");
    if (narrow && properties().async_copies)
      passes.insert(passes.end(), {"projection_packing", "attention_fusion"});
    return passes;
  }

  std::vector<const engine::Tactic*> tactics(const graph::Node& node) const override {
    return engine::tactics_for(tactics_, node);
  }

  std::shared_ptr<const engine::Kernel> make_reorder(const TensorDesc& from,
                                                     const TensorDesc& to) const override {
    return make_reorder_kernel(from, to);
  }

  void arrange_constant(const TensorDesc& from, const TensorDesc& to, const void* input,
                        void* output) const override {
    const tensor::Tensor plain(from.dtype, from.shape, static_cast<const std::byte*>(input), nullptr);
    const tensor::Tensor converted = from.dtype == to.dtype ? plain : tensor::saturated(plain, to.dtype);
    const size_t size = tensor::dtype_size(to.dtype);
    if (to.layout == from.layout) {
      std::memcpy(output, converted.bytes(), converted.byte_size());
      return;
    }
    int64_t pixels = 1;
    for (size_t i = 2; i < to.shape.size(); ++i) pixels *= to.shape[i];
    const bool to_last = to.layout == Layout::kChannelsLast;
    const int64_t channels = to.shape[1];
    auto* bytes = static_cast<std::byte*>(output);
    for (int64_t n = 0; n < to.shape[0]; ++n) {
      for (int64_t c = 0; c < channels; ++c) {
        for (int64_t p = 0; p < pixels; ++p) {
          const auto plain_at = static_cast<size_t>((n * channels + c) * pixels + p);
          const auto last_at = static_cast<size_t>((n * pixels + p) * channels + c);
          std::memcpy(bytes + (to_last ? last_at : plain_at) * size,
                      converted.bytes() + (to_last ? plain_at : last_at) * size, size);
        }
      }
    }
  }

  tensor::Buffer allocate(int64_t bytes) const override {
    const DeviceGuard guard(gpu_.context());
    auto memory = std::make_shared<const DeviceBytes>(gpu_.memory(), bytes);
    return {.place = place(), .data = memory->data(), .bytes = bytes, .owner = memory};
  }

  tensor::Buffer allocate_staging(int64_t bytes) const override {
    const DeviceGuard guard(gpu_.context());
    auto memory = std::make_shared<const PinnedBytes>(bytes);
    return {.place = {}, .data = memory->data(), .bytes = bytes, .owner = memory};
  }

  std::unique_ptr<engine::FrameFiller> make_frame_filler(const engine::FrameTarget& target) const override {
    return make_cuda_frame_filler(gpu_, target);
  }
  std::unique_ptr<engine::BoxFinder> make_box_finder(std::span<const engine::BoxHead> heads,
                                                     std::span<const tensor::DType> types) const override {
    return make_cuda_box_finder(gpu_, heads, types);
  }
  engine::DecoderHandles decoder_handles(const tensor::Queue* queue) const override {
    return {gpu_.context(), static_cast<const CudaQueue&>(*queue).stream()};
  }

  std::unique_ptr<tensor::Queue> make_queue() const override {
    const DeviceGuard guard(gpu_.context());
    return std::make_unique<CudaQueue>(properties());
  }

  std::unique_ptr<tensor::Queue> wrap_queue(void* stream) const override {
    const DeviceGuard guard(gpu_.context());
    return std::make_unique<CudaQueue>(static_cast<cudaStream_t>(stream), properties());
  }

  void copy(const tensor::Buffer& from, const tensor::Buffer& to, const tensor::Queue* queue) const override {
    if (from.bytes == 0) return;
    const DeviceGuard guard(gpu_.context());
    check(cudaMemcpyAsync(to.data, from.data, static_cast<size_t>(from.bytes), cudaMemcpyDefault,
                          static_cast<const CudaQueue&>(*queue).stream()),
          "a copy");
  }

  /// Kernels and copies of whole tiles read 16 bytes at a time.
  int64_t io_alignment() const override { return 16; }

  std::shared_ptr<const engine::Kernel> make_strided_copy(DType dtype, const engine::Shape& shape,
                                                          const engine::Shape& strides) const override {
    auto kernel = make_strided_copy_kernel(dtype, shape, strides);
    return kernel == nullptr ? nullptr : guarded(std::move(kernel), gpu_.context());
  }

  std::unique_ptr<engine::Executor> make_executor(const engine::Program& program) const override {
    return make_cuda_executor(program, gpu_);
  }

  bool overlaps_steps() const override { return true; }

  double search_seconds() const override { return 20; }

  /// The host's cores, which submit work to the GPU.
  engine::OthersUse others_use() const override {
    const system::CpuCounters seen = system::read_cpu_counters(system::kNoWorker);
    return {seen.near_s - seen.own_s + seen.steal_s, seen.wall_s * system::usable_cores()};
  }

  bool splits_batches() const override { return false; }

  bool computes_in(Precision precision) const override { return precision != Precision::kInt8; }

  std::shared_ptr<const engine::Kernel> make_rounding(std::shared_ptr<const engine::Kernel>,
                                                      std::vector<TensorDesc>) const override {
    fail_internal("no precision is emulated on the GPU");
  }

  void set_threads(int) const override {}

  engine::DeviceMemory memory() const override {
    const DeviceGuard guard(gpu_.context());
    size_t free = 0;
    size_t total = 0;
    check(cudaMemGetInfo(&free, &total), "asking for free memory");
    return {static_cast<int64_t>(total), static_cast<int64_t>(free), gpu_.memory().held(),
            gpu_.memory().peak()};
  }

  std::string bus_id() const override {
    std::array<char, 32> text{};
    check(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), properties().ordinal),
          "asking where the GPU is");
    return text.data();
  }

  void evict_caches() const override { gpu_.evict_l2(); }

  std::vector<std::string> notes(const engine::NumericPolicy&) const override { return {}; }

 private:
  const DeviceProperties& properties() const { return gpu_.properties(); }

  /// Mutable, because the state of the GPU changes although the device does not.
  mutable Gpu gpu_;
  const std::string name_ = tensor::place_text({tensor::PlaceKind::kCuda, properties().ordinal});
  CudnnCompiler cudnn_;
  Cublaslt cublaslt_;
  TacticList tactics_;
};

const CudaDevice& device_of(int ordinal, bool own_process) {
  // One for each GPU, made when first used. They are never destroyed, because at the end of the process the
  // libraries that they would call may already be unloaded.
  static std::mutex mutex;
  static auto& devices = *new std::map<int, std::unique_ptr<const CudaDevice>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<const CudaDevice>& device = devices[ordinal];
  if (device == nullptr) {
    check_gpu(ordinal);
    require_cudnn();
    device = std::make_unique<const CudaDevice>(ordinal, enter_context(ordinal, own_process));
  }
  return *device;
}

}  // namespace
}  // namespace hone::device::cuda

extern "C" const hone::engine::Device* hone_find_device(const char* /*kind*/, int ordinal, bool own_process) {
  return &hone::device::cuda::device_of(ordinal, own_process);
}
