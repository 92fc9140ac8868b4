// The driver's functions that encode tensor maps for the copy unit (TMA). Internal to the kernels.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>

#include <cstdint>
#include <initializer_list>

#include "device/cuda/plugin/kernels/common/conv_problem.hpp"

namespace hone::device::cuda {

/// A function is null if the driver does not have it.
struct MapEncoders {
  PFN_cuTensorMapEncodeTiled_v12000 tiled = nullptr;
  PFN_cuTensorMapEncodeIm2col_v12000 im2col = nullptr;
};

const MapEncoders& map_encoders();

/// The map's type for elements of two bytes.
CUtensorMapDataType map_type(Element element);

/// Encodes boxes of a dense tensor of up to four dimensions,
/// innermost first. Returns false if no such map exists.
bool encode_boxes(CUtensorMap& map, Element element, const void* memory,
                  std::initializer_list<int64_t> extents, std::initializer_list<int64_t> box,
                  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B);

}  // namespace hone::device::cuda
