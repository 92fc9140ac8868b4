// The interface between libhone-tensorrt.so and the plugins of the majors.
#pragma once

#include "backend/backend.hpp"

namespace hone::backend::tensorrt {

/// A new backend, that the caller owns, over this libnvinfer. Environment error where it or what it needs
/// cannot be loaded, or is of another major.
using MakeTensorrt = Backend* (*)(const char* libnvinfer);
inline constexpr const char* kMakeTensorrt = "hone_make_tensorrt";

}  // namespace hone::backend::tensorrt
