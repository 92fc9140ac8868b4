// A library for LD_PRELOAD: some time after its process has made a context on the first GPU, a kernel writes
// there to where no memory is, as a defective kernel of the program would. From then on every call to that
// context fails. HONE_TEST_FAULT_MS: the milliseconds; HONE_TEST_FAULT_FILE: this file is made when the
// kernel has been launched.
#include <cuda.h>
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

constexpr const char* kKernel = R"(
.version 7.5
.target sm_75
.address_size 64
.visible .entry fault() {
  .reg .u64 %address;
  .reg .u32 %value;
  mov.u64 %address, 4;
  mov.u32 %value, 1;
  st.global.u32 [%address], %value;
  ret;
}
)";

template <typename Function>
Function* find(void* driver, const char* name) {
  return reinterpret_cast<Function*>(dlsym(driver, name));
}

/// True when the kernel was launched into the context that the process has.
bool launch(void* driver, int milliseconds) {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  if (find<decltype(cuDevicePrimaryCtxRetain)>(driver, "cuDevicePrimaryCtxRetain")(&context, 0) !=
          CUDA_SUCCESS ||
      find<decltype(cuCtxSetCurrent)>(driver, "cuCtxSetCurrent")(context) != CUDA_SUCCESS ||
      find<decltype(cuModuleLoadData)>(driver, "cuModuleLoadData")(&module, kKernel) != CUDA_SUCCESS ||
      find<decltype(cuModuleGetFunction)>(driver, "cuModuleGetFunction")(&kernel, module, "fault") !=
          CUDA_SUCCESS)
    return false;
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  return find<decltype(cuLaunchKernel)>(driver, "cuLaunchKernel")(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr,
                                                                  nullptr, nullptr) == CUDA_SUCCESS;
}

class Fault {
 public:
  Fault() {
    const char* milliseconds = std::getenv("HONE_TEST_FAULT_MS");
    const char* file = std::getenv("HONE_TEST_FAULT_FILE");
    if (milliseconds != nullptr && file != nullptr)
      thread_ = std::thread([this, wait = std::atoi(milliseconds), file] { fault_in(wait, file); });
  }
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;
  ~Fault() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  void fault_in(int milliseconds, const char* file) {
    for (; !stop_; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
      void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
      if (driver == nullptr) continue;
      unsigned flags = 0;
      int active = 0;
      if (find<decltype(cuDevicePrimaryCtxGetState)>(driver, "cuDevicePrimaryCtxGetState")(
              0, &flags, &active) != CUDA_SUCCESS ||
          active == 0)
        continue;
      if (!launch(driver, milliseconds)) return;
      if (std::FILE* made = std::fopen(file, "w"); made != nullptr) (void)std::fclose(made);
      return;
    }
  }

  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

const Fault kFault;

}  // namespace
