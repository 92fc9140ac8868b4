// libhone-image.so: decodes images with OpenCV; see ../image.hpp.
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "import/image/image.hpp"

using hone::importer::Image;

extern "C" bool hone_decode_image(const std::byte* file, size_t size, Image* image) {
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
