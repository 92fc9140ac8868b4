// The interface between libhone-tensorrt.so and the plugins for the major versions.
#pragma once

#include "backend/backend.hpp"

namespace hone::backend::tensorrt {

/// Makes a backend, which the caller owns, for this libnvinfer. Environment error if it or a library that it
/// needs cannot be loaded, or has another major version.
using MakeTensorrt = Backend* (*)(const char* libnvinfer);
inline constexpr const char* kMakeTensorrt = "hone_make_tensorrt";

}  // namespace hone::backend::tensorrt
