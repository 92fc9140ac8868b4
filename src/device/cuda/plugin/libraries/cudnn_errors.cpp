// See cudnn_errors.hpp.
#include "device/cuda/plugin/libraries/cudnn_errors.hpp"

#include <dlfcn.h>

#include "device/cuda/plugin/runtime.hpp"

namespace hone::device::cuda {
namespace {

constexpr const char* kLibraries[] = {"libcudnn_graph.so.9",
                                      "libcudnn_ops.so.9",
                                      "libcudnn_cnn.so.9",
                                      "libcudnn_heuristic.so.9",
                                      "libcudnn_engines_precompiled.so.9",
                                      "libcudnn_engines_runtime_compiled.so.9"};

/// The library stays open, as it would when cuDNN opens it.
bool loads(const char* name) { return dlopen(name, RTLD_LAZY | RTLD_LOCAL) != nullptr; }

}  // namespace

bool is_refusal(cudnnStatus_t status) {
  switch (status) {
    case CUDNN_STATUS_SUCCESS:
    case CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH:
    case CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED:
    case CUDNN_STATUS_LICENSE_ERROR:
    case CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED:
    case CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED: return false;
    default: return CUDNN_STATUS_CATEGORY(status) != CUDNN_STATUS_EXECUTION_FAILED;
  }
}

void check_machine(cudnnStatus_t status, std::string_view what) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  fail_library_call(what, "cuDNN", cudnnGetErrorString(status),
                    status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED);
}

bool is_accepted(cudnnStatus_t status, std::string_view what) {
  if (!is_refusal(status)) check_machine(status, what);
  return status == CUDNN_STATUS_SUCCESS;
}

void check(cudnnStatus_t status, std::string_view what) {
  if (!is_refusal(status)) return check_machine(status, what);
  check_alive(what);
  throw CudnnRefusal(ErrorKind::kEnvironment,
                     fmt::format("{} failed in cuDNN: {}", what, cudnnGetErrorString(status)));
}

std::string missing_cudnn_library(const std::filesystem::path& folder, bool (*loads)(const char* name)) {
  for (const char* name : kLibraries) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(folder / name, ignored) && !loads(name)) return name;
  }
  return {};
}

void require_cudnn() {
  Dl_info info{};
  const bool known = dladdr(reinterpret_cast<const void*>(&cudnnGetVersion), &info) != 0;
  const std::filesystem::path folder = known ? std::filesystem::path(info.dli_fname).parent_path() : ".";
  if (const std::string name = missing_cudnn_library(folder, loads); !name.empty())
    fail_environment("cuDNN is incomplete: {} is not in {}; install all of cuDNN 9", name, folder.string());
}

}  // namespace hone::device::cuda
