// See faulty_kernel.hpp.
#include "faulty_kernel.hpp"

#include <cuda_runtime.h>

namespace hone::device::cuda {
namespace {

__global__ void write_to(int* nowhere) { *nowhere = 1; }

}  // namespace

void let_a_kernel_fault() {
  write_to<<<1, 1>>>(reinterpret_cast<int*>(sizeof(int)));
  while (cudaStreamQuery(nullptr) == cudaErrorNotReady) {
  }
  (void)cudaGetLastError();
}

}  // namespace hone::device::cuda
