// See tensor_maps.hpp.
#include "device/cuda/plugin/kernels/common/tensor_maps.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
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

bool encode_boxes(CUtensorMap& map, Element element, const void* memory,
                  std::initializer_list<int64_t> extents, std::initializer_list<int64_t> box,
                  CUtensorMapSwizzle swizzle) {
  constexpr int kMostRank = 4;
  cuuint64_t sizes[kMostRank];
  cuuint64_t pitches[kMostRank];
  cuuint32_t boxes[kMostRank];
  cuuint32_t strides[kMostRank];
  std::copy(extents.begin(), extents.end(), sizes);
  std::copy(box.begin(), box.end(), boxes);
  std::fill_n(strides, kMostRank, 1);
  cuuint64_t bytes = 2;
  for (size_t i = 0; i < extents.size(); ++i) {
    bytes *= sizes[i];
    pitches[i] = bytes;
  }
  return map_encoders().tiled(&map, map_type(element), static_cast<cuuint32_t>(extents.size()),
                              const_cast<void*>(memory), sizes, pitches, boxes, strides,
                              CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                              CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

}  // namespace hone::device::cuda
