// What differs between libtorch 1.13 and the newest one.
#pragma once

#include <c10/util/Optional.h>
#include <torch/version.h>

#include <optional>

namespace hone::backend::aten {

#if TORCH_VERSION_MAJOR < 2
template <class T>
using Optional = c10::optional<T>;
#else
template <class T>
using Optional = std::optional<T>;
#endif

}  // namespace hone::backend::aten
