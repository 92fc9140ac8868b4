// See tensor_maps.hpp.
#include "device/cuda/plugin/kernels/tensor_maps.hpp"

#include <cuda_runtime_api.h>

#include <type_traits>

namespace hone::device::cuda {

const MapEncoders& map_encoders() {
  static const MapEncoders kEncoders = [] {
    constexpr unsigned kVersion = 12000;
    MapEncoders found;
    const auto look_up = [](const char* name, auto& function) {
      void* address = nullptr;
      cudaDriverEntryPointQueryResult result{};
      if (cudaGetDriverEntryPointByVersion(name, &address, kVersion, cudaEnableDefault, &result) ==
              cudaSuccess &&
          result == cudaDriverEntryPointSuccess)
        function = reinterpret_cast<std::decay_t<decltype(function)>>(address);
    };
    look_up("cuTensorMapEncodeTiled", found.tiled);
    look_up("cuTensorMapEncodeIm2col", found.im2col);
    return found;
  }();
  return kEncoders;
}

CUtensorMapDataType map_type(Element element) {
  return element == Element::kHalf ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
}

}  // namespace hone::device::cuda
