// libhone-image.so: decodes and encodes images with OpenCV; see ../image.hpp and
// ../encode.hpp.
#include <fcntl.h>
#include <unistd.h>

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "import/image/encode.hpp"

using hone::importer::Image;

namespace {

/// Discards the standard error during its lifetime: libpng writes there, and OpenCV cannot prevent it. The
/// caller reports errors instead.
class Silence {
 public:
  Silence() : before_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)) {
    const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (before_ >= 0 && nothing >= 0) ::dup2(nothing, STDERR_FILENO);
    if (nothing >= 0) ::close(nothing);
  }
  ~Silence() {
    if (before_ < 0) return;
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  int before_;
};

}  // namespace

extern "C" bool hone_decode_image(const std::byte* file, size_t size, Image* image) {
  const Silence silence;
  try {
    const cv::Mat bytes(1, static_cast<int>(size), CV_8UC1, const_cast<std::byte*>(file));
    const bool color = image->channels == 3;
    // Without EXIF rotation, as torchvision reads images.
    const int mode = color ? cv::IMREAD_COLOR : cv::IMREAD_GRAYSCALE;
    cv::Mat pixels = cv::imdecode(bytes, mode | cv::IMREAD_IGNORE_ORIENTATION);
    if (pixels.empty()) return false;
    if (color) cv::cvtColor(pixels, pixels, cv::COLOR_BGR2RGB);
    image->width = pixels.cols;
    image->height = pixels.rows;
    image->pixels.assign(pixels.datastart, pixels.dataend);
    return true;
  } catch (const cv::Exception&) {
    return false;
  }
}

extern "C" bool hone_encode_jpeg(const Image& image, int quality, std::string* file) {
  try {
    const int type = image.channels == 3 ? CV_8UC3 : CV_8UC1;
    cv::Mat pixels(static_cast<int>(image.height), static_cast<int>(image.width), type,
                   const_cast<uint8_t*>(image.pixels.data()));
    cv::Mat bgr;
    if (image.channels == 3) cv::cvtColor(pixels, bgr, cv::COLOR_RGB2BGR);
    std::vector<uint8_t> bytes;
    const bool done =
        cv::imencode(".jpg", image.channels == 3 ? bgr : pixels, bytes, {cv::IMWRITE_JPEG_QUALITY, quality});
    file->assign(bytes.begin(), bytes.end());
    return done;
  } catch (const cv::Exception&) {
    return false;
  }
}
