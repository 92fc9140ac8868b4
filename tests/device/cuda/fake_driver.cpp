// A libcuda.so.1 that goes no further than its start, for what hone says of drivers that cannot be used. The
// environment decides: FAKE_CUDA_VERSION (13000) and FAKE_CUDA_INIT (what cuInit returns, 0).
#include <cstdlib>
#include <cstring>

namespace {

int setting(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoi(text) : otherwise;
}

/// CUDA_ERROR_UNKNOWN, of every function that is not below.
int other() { return 999; }

template <class F>
void* address(F* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return setting("FAKE_CUDA_INIT", 0); }

int cuDriverGetVersion(int* version) {
  *version = setting("FAKE_CUDA_VERSION", 13000);
  return 0;
}

int cuGetExportTable(const void** table, const void*) {
  constexpr int kNotFound = 500;
  *table = nullptr;
  return kNotFound;
}

int cuGetProcAddress_v2(const char* symbol, void** function, int, unsigned long long, void*) {
  *function = address(other);
  if (std::strcmp(symbol, "cuInit") == 0) *function = address(cuInit);
  if (std::strcmp(symbol, "cuDriverGetVersion") == 0) *function = address(cuDriverGetVersion);
  if (std::strcmp(symbol, "cuGetExportTable") == 0) *function = address(cuGetExportTable);
  if (std::strcmp(symbol, "cuGetProcAddress") == 0) *function = address(cuGetProcAddress_v2);
  return 0;
}

}  // extern "C"
