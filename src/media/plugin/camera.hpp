// Cameras, through Video4Linux in FFmpeg's libavdevice.
#pragma once

#include <string>

#include "media/plugin/libav.hpp"

namespace hone::media {

/// FFmpeg's format for cameras. libavdevice is loaded when the first camera is opened, because its package
/// needs many others; environment error without it.
const AVInputFormat* camera_format(const std::string& camera);

}  // namespace hone::media
