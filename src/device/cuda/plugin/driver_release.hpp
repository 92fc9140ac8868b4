// The release of the loaded driver. The version that CUDA reports is that of its interface, which many
// releases share.
#pragma once

#include <string>
#include <string_view>

namespace hone::device::cuda {

/// Extracts "580.159.04" from the text of /proc/driver/nvidia/version; empty if it contains no release.
std::string driver_release(std::string_view text);
/// The release of this machine's driver; empty if the file does not exist.
std::string driver_release();

}  // namespace hone::device::cuda
