// A program for the collector's tests: does what the CUDA driver does with an injected library, and opens
// NVTX ranges. Its argument says how it ends.
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>

/// "kernels": two in a range and one without, one more in another context; "kernels capture": those and one
/// in a stream that is being captured, with a launch of the graph.
void launch_kernels(const char* how) {
  void* cupti = dlopen(std::getenv("HONE_CUPTI"), RTLD_NOW);
  const auto launch =
      reinterpret_cast<void (*)(const char*, uintptr_t, uintptr_t)>(dlsym(cupti, "fake_cupti_launch"));
  nvtxRangePushA("conv1");
  launch("_Z4gemmIfEvi", 1, 0);
  launch("relu", 1, 0);
  nvtxRangePop();
  launch("relu", 1, 0);
  if (std::strcmp(how, "kernels capture") == 0) {
    constexpr uintptr_t kCapturedStream = 7;
    launch("captured", 1, kCapturedStream);
    reinterpret_cast<void (*)()>(dlsym(cupti, "fake_cupti_launch_graph"))();
  }
  launch("relu", 2, 0);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  nvtxRangePushA("ProfilerStep#1");
  nvtxRangePushA("conv1");
  if (std::strcmp(how, "nvtx") != 0) {
    void* library = dlopen(std::getenv("CUDA_INJECTION64_PATH"), RTLD_NOW);
    if (library == nullptr) return 10;
    reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))();
    void* cupti = dlopen(std::getenv("HONE_CUPTI"), RTLD_NOW);
    if (void* build = cupti == nullptr ? nullptr : dlsym(cupti, "fake_cupti_build_graph"); build != nullptr)
      reinterpret_cast<void (*)()>(build)();
  }
  nvtxRangePop();
  const nvtxRangeId_t range = nvtxRangeStartA("request");
  nvtxRangePop();
  nvtxRangeEnd(range);
  if (std::strcmp(how, "profiler") == 0) {
    void* cupti = dlopen(std::getenv("HONE_CUPTI"), RTLD_NOW);
    const auto profiler = reinterpret_cast<void (*)(bool)>(dlsym(cupti, "fake_cupti_profiler"));
    profiler(true);
    nvtxRangePushA("captured");
    nvtxRangePop();
    profiler(false);
    nvtxRangePushA("after it");
    nvtxRangePop();
  }
  if (std::strncmp(how, "kernels", 7) == 0) launch_kernels(how);
  if (std::strcmp(how, "fork") == 0) {
    if (const pid_t child = fork(); child != 0) {
      waitpid(child, nullptr, 0);
    } else {
      nvtxRangePushA("of the child");
      nvtxRangePop();
      std::exit(0);  // runs what was registered to run at exit
    }
  }
  if (std::strcmp(how, "sleep") == 0) usleep(200'000);
  if (std::strcmp(how, "thread") == 0) {
    std::thread([] {
      nvtxRangePushA("of the thread");
      nvtxRangePop();
    }).join();
  }
  if (std::strcmp(how, "kill") == 0) raise(SIGKILL);
  return std::strcmp(how, "fail") == 0 ? 3 : 0;
}
