// See pointwise_jit.hpp.
#include "device/cuda/plugin/kernels/pointwise/pointwise_jit.hpp"

#include <nvrtc.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "device/cuda/plugin/kernels/common/kernel_stamp.hpp"

namespace hone::device::cuda {
namespace {

void require(cudaError_t error) {
  if (error == cudaSuccess) return;
  (void)cudaGetLastError();  // otherwise a later successful launch would report this error
  throw PointwiseLoadError(error);
}

class NvrtcProgram {
 public:
  explicit NvrtcProgram(const std::string& source) {
    check(nvrtcCreateProgram(&program_, source.c_str(), "pointwise.cu", 0, nullptr, nullptr));
  }
  ~NvrtcProgram() { nvrtcDestroyProgram(&program_); }
  NvrtcProgram(const NvrtcProgram&) = delete;
  NvrtcProgram& operator=(const NvrtcProgram&) = delete;

  std::string compile(int architecture) {
    const std::string target = "--gpu-architecture=sm_" + std::to_string(architecture);
    const char* options[] = {target.c_str(), "--std=c++17"};
    const nvrtcResult result = nvrtcCompileProgram(program_, 2, options);
    // A compilation error is a fault of the chain on any machine; other errors are faults of this machine.
    if (result == NVRTC_ERROR_COMPILATION)
      throw std::invalid_argument("pointwise kernel: NVRTC: " + first_line(log()));
    check(result);
    size_t size = 0;
    check(nvrtcGetCUBINSize(program_, &size));
    std::string cubin(size, '\0');
    check(nvrtcGetCUBIN(program_, cubin.data()));
    return cubin;
  }

 private:
  static void check(nvrtcResult result) {
    if (result != NVRTC_SUCCESS)
      throw std::runtime_error(std::string("pointwise kernel: NVRTC: ") + nvrtcGetErrorString(result));
  }

  static std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

  std::string log() {
    size_t size = 0;
    check(nvrtcGetProgramLogSize(program_, &size));
    std::string text(size, '\0');
    check(nvrtcGetProgramLog(program_, text.data()));
    return text;
  }

  nvrtcProgram program_ = nullptr;
};

/// Machine code and its loaded kernel. Never unloaded: engines may hold kernels until the process ends.
struct Loaded {
  std::string cubin;
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;
};

cudaKernel_t find_kernel(const std::string& source, int architecture) {
  // Shared by the process: a cudaKernel_t belongs to no single GPU and runs on all GPUs of its architecture.
  static std::mutex mutex;
  static std::map<std::pair<int, std::string>, Loaded> cache;
  const std::lock_guard lock(mutex);
  const auto key = std::make_pair(architecture, source);
  if (const auto found = cache.find(key); found != cache.end()) return found->second.kernel;
  Loaded loaded;
  loaded.cubin = compile_pointwise(source, architecture);
  require(
      cudaLibraryLoadData(&loaded.library, loaded.cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  require(cudaLibraryGetKernel(&loaded.kernel, loaded.library, "pointwise"));
  return cache.emplace(key, std::move(loaded)).first->second.kernel;
}

}  // namespace

std::string compile_pointwise(const std::string& source, int architecture) {
  return NvrtcProgram(source).compile(architecture);
}

PointwiseKernel::PointwiseKernel(const PointwiseProgram& program, const PointwiseGeometry& geometry,
                                 int architecture)
    : source_(pointwise_source(program, geometry)),
      inputs_(program.operands.size()),
      outputs_(program.outputs.size()),
      kernel_(find_kernel(source_.text, architecture)) {}

cudaError_t PointwiseKernel::launch(std::span<const void* const> inputs, std::span<void* const> outputs,
                                    const LaunchOptions& options) const {
  if (inputs.size() != inputs_ || outputs.size() != outputs_) return cudaErrorInvalidValue;
  if (source_.units == 0) return cudaSuccess;
  std::vector<const void*> pointers(inputs.begin(), inputs.end());
  pointers.insert(pointers.end(), outputs.begin(), outputs.end());
  std::vector<void*> parameters;
  for (const void*& pointer : pointers) {
    if (reinterpret_cast<uintptr_t>(pointer) % source_.alignment != 0) return cudaErrorMisalignedAddress;
    parameters.push_back(&pointer);
  }
  std::vector<int64_t> words = source_.geometry;
  parameters.push_back(words.data());
  KernelStamp* stamp = next_stamp(options);
  parameters.push_back(&stamp);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(std::min<int64_t>((source_.units + 255) / 256, 0x7fffffff)));
  config.blockDim = dim3(256);
  config.stream = options.stream;
  config.attrs = &attribute;
  config.numAttrs = options.pdl ? 1 : 0;
  return cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel_), parameters.data());
}

}  // namespace hone::device::cuda
