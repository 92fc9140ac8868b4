// The message when a kernel has ended the process's use of the GPU and only a library has met the error: its
// runtime is not ours, which knows of nothing until it is asked.
#include <cstdio>
#include <functional>
#include <string>

#include "base/error.hpp"
#include "device/cuda/plugin/runtime.hpp"
#include "faulty_kernel.hpp"
#include "gpu_or_skip.hpp"

namespace hone::device::cuda {
namespace {

bool says(const char* what, const std::function<void()>& call) {
  const std::string expected = std::string(what) + " failed on the GPU, which is a bug of hone: ";
  try {
    call();
    std::printf("FAILED: %s: nothing was thrown\n", what);
  } catch (const Error& error) {
    std::printf("%s: %s\n", what, error.what());
    if (error.kind() == ErrorKind::kInternal && std::string(error.what()).starts_with(expected)) return true;
    std::printf("FAILED: that is not '%s...'\n", expected.c_str());
  }
  return false;
}

int run() {
  if (const int status = status_without_gpu(); status != 0) return status;
  check_alive("a look before");
  let_a_kernel_fault();
  const bool library = says("a product", [] { fail_library_call("a product", "cuBLASLt", "13", false); });
  (void)cudaGetLastError();
  const bool look = says("a look", [] { check_alive("a look"); });
  return library && look ? 0 : kFailed;
}

}  // namespace
}  // namespace hone::device::cuda

int main() { return hone::device::cuda::run(); }
