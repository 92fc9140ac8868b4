// See camera.hpp.
#include "media/plugin/camera.hpp"

#include <dlfcn.h>

#include "base/error.hpp"

namespace hone::media {
namespace {

/// libavdevice has the major version of the libavformat that it was released with.
std::string library_name() { return fmt::format("libavdevice.so.{}", LIBAVFORMAT_VERSION_MAJOR); }

}  // namespace

const AVInputFormat* camera_format(const std::string& camera) {
  const std::string name = library_name();
  void* const library = ::dlopen(name.c_str(), RTLD_NOW);
  void* const entry = library == nullptr ? nullptr : ::dlsym(library, "avdevice_register_all");
  if (entry == nullptr)
    throw Error(ErrorKind::kEnvironment,
                fmt::format("cameras need FFmpeg's {} (Debian: apt-get install libavdevice{})", name,
                            LIBAVFORMAT_VERSION_MAJOR),
                camera);
  reinterpret_cast<void (*)()>(entry)();
  const AVInputFormat* const format = av_find_input_format("video4linux2");
  if (format == nullptr)
    throw Error(ErrorKind::kEnvironment, fmt::format("{} has no Video4Linux", name), camera);
  return format;
}

}  // namespace hone::media
