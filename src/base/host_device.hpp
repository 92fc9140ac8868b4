// Marks functions that both the host and (if CUDA's compiler reads them) kernels can call.
#pragma once

#ifdef __CUDACC__
#define HONE_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define HONE_HOST_DEVICE inline
#endif
