// Which release of the driver is loaded: the version that CUDA reports is that of its interface, which many
// share.
#pragma once

#include <string>
#include <string_view>

namespace hone::device::cuda {

/// "580.159.04" of the text of /proc/driver/nvidia/version; empty when there is none in it.
std::string driver_release(std::string_view text);
/// The release of this machine's driver; empty where the driver has no such file.
std::string driver_release();

}  // namespace hone::device::cuda
