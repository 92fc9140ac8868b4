// A program for the collector's tests: does what the CUDA driver does with an injected library, and opens
// NVTX ranges. Its argument says how it ends.
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
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

void initialize_injection() {
  void* library = dlopen(std::getenv("CUDA_INJECTION64_PATH"), RTLD_NOW);
  if (library == nullptr) std::_Exit(10);
  reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))();
}

/// Forks while another thread opens and closes ranges; how many of the children hung in ranges of their own.
int fork_among_ranges() {
  std::atomic<bool> done = false;
  std::thread busy([&done] {
    while (!done) {
      nvtxRangePushA("of a busy thread");
      nvtxRangePop();
    }
  });
  int hung = 0;
  for (int i = 0; i < 200; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(2);
      nvtxRangePushA("of a child");
      nvtxRangePop();
      nvtxRangeEnd(nvtxRangeStartA("of a child"));
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    hung += WIFSIGNALED(status) ? 1 : 0;
  }
  done = true;
  busy.join();
  return hung;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  nvtxRangePushA("ProfilerStep#1");
  nvtxRangePushA("conv1");
  if (std::strncmp(how, "nvtx", 4) != 0) {
    initialize_injection();
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
  if (std::strcmp(how, "nvtx and a child with CUDA") == 0) {
    if (const pid_t child = fork(); child != 0) {
      waitpid(child, nullptr, 0);
    } else {
      initialize_injection();
      std::exit(0);
    }
  }
  if (std::strcmp(how, "nvtx forks") == 0) return fork_among_ranges();
  if (std::strcmp(how, "sleep") == 0) usleep(200'000);
  if (std::strcmp(how, "late kill") == 0) {
    usleep(50'000);
    nvtxRangePushA("late");
    nvtxRangePop();
    raise(SIGKILL);
  }
  if (std::strcmp(how, "thread") == 0) {
    std::thread([] {
      nvtxRangePushA("of the thread");
      nvtxRangePop();
    }).join();
  }
  if (std::strcmp(how, "kill") == 0) raise(SIGKILL);
  return std::strcmp(how, "fail") == 0 ? 3 : 0;
}
