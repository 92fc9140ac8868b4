// Cameras, through Video4Linux in FFmpeg's libavdevice.
#pragma once

#include <string>

#include "media/plugin/libav.hpp"

namespace hone::media {

/// True for a path like /dev/video0.
inline bool is_camera(const std::string& input) { return input.starts_with("/dev/video"); }

/// FFmpeg's format for cameras. libavdevice is loaded when the first camera is opened, because its package
/// needs many others; environment error without it.
const AVInputFormat* camera_format(const std::string& camera);

}  // namespace hone::media
