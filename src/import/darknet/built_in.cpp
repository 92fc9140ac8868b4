// YOLOv4-tiny (Bochkovskiy, Wang, Liao 2020; Wang et al. 2021): a backbone of three cross-stage partial
// blocks, which convolve half of their channels, and two heads.
#include "import/darknet/built_in.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace hone::importer::darknet {
namespace {

constexpr std::string_view kYolov4Tiny = "yolov4_tiny";
constexpr int kClasses = 80;
constexpr int kBoxes = 3;

class CfgText {
 public:
  explicit CfgText(int side) : text_(fmt::format("[net]\nwidth={0}\nheight={0}\nchannels=3\n", side)) {}

  void convolution(int filters, int size, int stride = 1) {
    text_ += fmt::format(
        "[convolutional]\nbatch_normalize=1\nfilters={}\nsize={}\nstride={}\npad=1\nactivation=leaky\n",
        filters, size, stride);
  }
  void route(std::string_view layers) { text_ += fmt::format("[route]\nlayers={}\n", layers); }
  void second_half() { text_ += "[route]\nlayers=-1\ngroups=2\ngroup_id=1\n"; }
  void halve() { text_ += "[maxpool]\nsize=2\nstride=2\n"; }
  void double_size() { text_ += "[upsample]\nstride=2\n"; }
  void head(std::string_view mask) {
    text_ += fmt::format(
        "[convolutional]\nfilters={}\nsize=1\nactivation=linear\n"
        "[yolo]\nmask={}\nclasses={}\nnum=6\nscale_x_y=1.05\nnms_kind=greedynms\nbeta_nms=0.6\n"
        "anchors=10,14, 23,27, 37,58, 81,82, 135,169, 344,319\n",
        kBoxes * (kClasses + 5), mask, kClasses);
  }
  /// Each block begins with a convolution of `filters` channels and ends with twice that number at half the
  /// size.
  void partial_block(int filters) {
    convolution(filters, 3);
    second_half();
    convolution(filters / 2, 3);
    convolution(filters / 2, 3);
    route("-1,-2");
    convolution(filters, 1);
    route("-6,-1");
    halve();
  }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string yolov4_tiny() {
  CfgText cfg(416);
  cfg.convolution(32, 3, 2);
  cfg.convolution(64, 3, 2);
  for (const int filters : {64, 128, 256}) cfg.partial_block(filters);
  cfg.convolution(512, 3);
  cfg.convolution(256, 1);
  cfg.convolution(512, 3);
  cfg.head("3,4,5");
  cfg.route("-4");
  cfg.convolution(128, 1);
  cfg.double_size();
  cfg.route("-1,23");
  cfg.convolution(256, 3);
  cfg.head("1,2,3");
  return cfg.take();
}

}  // namespace

std::vector<std::string> built_in_names() { return {std::string(kYolov4Tiny)}; }

std::string built_in_cfg(std::string_view name) {
  if (name != kYolov4Tiny) fail_internal("there is no built-in cfg '{}'", name);
  return yolov4_tiny();
}

}  // namespace hone::importer::darknet
