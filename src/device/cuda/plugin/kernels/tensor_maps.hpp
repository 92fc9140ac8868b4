// The driver's functions that describe tensors to the copy unit. Internal to the kernels.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>

#include "device/cuda/plugin/kernels/conv_problem.hpp"

namespace hone::device::cuda {

/// Null where the driver has none.
struct MapEncoders {
  PFN_cuTensorMapEncodeTiled_v12000 tiled = nullptr;
  PFN_cuTensorMapEncodeIm2col_v12000 im2col = nullptr;
};

const MapEncoders& map_encoders();

/// Of elements of two bytes.
CUtensorMapDataType map_type(Element element);

}  // namespace hone::device::cuda
