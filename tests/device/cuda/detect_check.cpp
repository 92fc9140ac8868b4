// Detection and classification on a GPU that fills the network's input itself: outputs, boxes and scores are
// those of the host's preprocessing, with batches, frames of several forms, and a video from end to end.
//
// usage: detect_check [FOLDER]       the folder models/shapes
#include <cstdio>
#include <filesystem>
#include <random>

#include "base/error.hpp"
#include "base/plugin.hpp"
#include "device/devices.hpp"
#include "gpu_or_skip.hpp"
#include "task/classify.hpp"
#include "task/detect.hpp"
#include "tensor/metrics.hpp"

namespace hone::device::cuda {
namespace {

using media::PixelFormat;
using task::Detection;
using tensor::Tensor;

#define REQUIRE(condition)                                                        \
  do {                                                                            \
    if (!(condition)) fail_internal("{}:{}: {}", __FILE__, __LINE__, #condition); \
  } while (false)

std::filesystem::path folder = std::string(HONE_SOURCE_DIR) + "/models/shapes";
/// One engine computes both; its kernels may sum in another order.
constexpr double kLargestError = 1e-3;

media::Frame noise(PixelFormat format, int64_t width, int64_t height, unsigned seed) {
  media::Frame like;
  like.format = format;
  like.full_range = false;
  media::WritableFrame frame = media::blank_like(like, width, height);
  std::mt19937 generator(seed);
  for (int64_t plane = 0; plane < media::plane_count(format); ++plane) {
    const auto index = static_cast<size_t>(plane);
    const int64_t bytes = frame.frame.planes[index].stride * media::plane_height(frame.frame, plane);
    for (int64_t i = 0; i < bytes; ++i) frame.data[index][i] = static_cast<uint8_t>(generator() >> 20);
  }
  return frame.frame;
}

task::DetectorOptions options_of(const std::string& model, const std::string& precision, int64_t batch) {
  task::DetectorOptions options;
  options.network.model = model;
  if (model.ends_with(".cfg")) options.network.load.weights = (folder / "shapes.weights").string();
  options.network.device = "cuda";
  options.network.precision = precision;
  options.network.batch = batch;
  return options;
}

bool same(const std::vector<Detection>& a, const std::vector<Detection>& b) {
  if (a.size() != b.size()) return false;
  constexpr float kOverlap = 0.99f;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].label != b[i].label || std::abs(a[i].score - b[i].score) > 2e-3f ||
        task::iou(a[i].box, b[i].box) < kOverlap)
      return false;
  return true;
}

/// `finds`: the device finds the boxes, and the host gets nothing else.
void compare_outputs(const std::string& model, const std::string& precision, int64_t batch, bool finds) {
  task::DetectorOptions options = options_of(model, precision, batch);
  options.find_on_device = finds;
  task::Detector detector(options);
  if (!detector.feeds_device()) fail_internal("{}: {}", model, detector.preprocessing());
  if (finds && detector.finding_refusal()) fail_internal("{}: {}", model, detector.finding_refusal().text());
  double worst = 0;
  for (unsigned round = 0; round < 4; ++round) {
    // Frames of one form, of another, and one of each.
    std::vector<media::Frame> frames;
    for (int64_t i = 0; i < batch; ++i) {
      const bool rgb = round == 1 || (round == 2 && i % 2 == 1);
      frames.push_back(noise(rgb ? PixelFormat::kRgb24 : PixelFormat::kYuv420, rgb ? 333 : 960,
                             rgb ? 501 : 540, 10 * round + static_cast<unsigned>(i)));
    }
    std::vector<const media::Frame*> pointers;
    std::vector<task::Geometry> geometries;
    Tensor input = detector.make_input();
    for (size_t i = 0; i < frames.size(); ++i) {
      pointers.push_back(&frames[i]);
      geometries.push_back(detector.place(frames[i].width, frames[i].height));
      detector.fill(frames[i], geometries[i], static_cast<int64_t>(i), &input);
    }
    const auto on_host = detector.run(0, input, geometries);
    const auto upload = detector.upload(0, pointers, geometries);
    REQUIRE(upload.has_value());
    const auto on_device = detector.run(0, *upload);
    // Where candidates did not fit, all outputs have come.
    REQUIRE(on_device.boxes.size() == static_cast<size_t>(batch) ||
            on_host.tensors.size() == on_device.tensors.size());
    for (size_t i = 0; i < on_device.tensors.size(); ++i)
      worst = std::max(worst, tensor::relative_l2(on_device.tensors[i], on_host.tensors[i]));
    if (worst > kLargestError) fail_internal("{} {}: outputs differ by {:.2e}", model, precision, worst);
    for (int64_t row = 0; row < batch; ++row) {
      const task::Geometry& geometry = geometries[static_cast<size_t>(row)];
      REQUIRE(same(detector.decode(on_host, row, geometry), detector.decode(on_device, row, geometry)));
    }
  }
  std::printf("%s %s, batch %d, %s: outputs differ by %.1e at most, boxes are the same\n", model.c_str(),
              precision.c_str(), static_cast<int>(batch), finds ? "boxes found there" : "all outputs", worst);
}

task::DetectOutcome detect_shapes(bool on_device, const std::string& precision, int64_t batch) {
  task::DetectRequest request;
  request.detector = options_of((folder / "shapes.cfg").string(), precision, batch);
  if (!on_device) request.detector.network.bind_frames = nullptr;
  request.input = (folder / "shapes.mp4").string();
  request.ground_truth = (folder / "shapes.txt").string();
  return task::detect(request);
}

void compare_videos(const std::string& precision, int64_t batch) {
  const auto on_host = detect_shapes(false, precision, batch);
  const auto on_device = detect_shapes(true, precision, batch);
  REQUIRE(on_host.preprocessing.starts_with("on the CPU"));
  REQUIRE(on_device.preprocessing == "on cuda");
  REQUIRE(on_host.report.frames == on_device.report.frames);
  // A score may lie on the threshold.
  REQUIRE(std::abs(on_host.report.detections - on_device.report.detections) <= 3);
  REQUIRE(std::abs(on_host.accuracy->map50 - on_device.accuracy->map50) < 1e-3);
  std::printf(
      "video, %s, batch %d: %d frames, %d and %d detections, mAP@0.5 %.4f and %.4f on the host and the "
      "device; "
      "end to end %.0f and %.0f FPS\n",
      precision.c_str(), static_cast<int>(batch), static_cast<int>(on_device.report.frames),
      static_cast<int>(on_host.report.detections), static_cast<int>(on_device.report.detections),
      on_host.accuracy->map50, on_device.accuracy->map50, on_host.report.end_to_end_fps,
      on_device.report.end_to_end_fps);
}

std::vector<task::ImageClasses> classify_shapes(bool on_device) {
  constexpr int64_t kFrames = 40;
  std::atomic<bool> stop = false;
  task::ClassifyRequest request;
  request.network.model = "resnet18";
  request.network.device = "cuda";
  request.network.precision = "fp16";
  request.network.batch = 4;
  if (!on_device) request.network.bind_frames = nullptr;
  request.input = (folder / "shapes.mp4").string();
  request.stop = &stop;
  std::vector<task::ImageClasses> images;
  const auto outcome = task::classify(request, [&](const task::ImageClasses& image) {
    images.push_back(image);
    stop = image.frame + 1 >= kFrames;
  });
  const std::string wanted = on_device ? "images were preprocessed on cuda" : "--preprocess cpu";
  bool said = false;
  for (const std::string& note : outcome.notes) said = said || note.find(wanted) != std::string::npos;
  REQUIRE(said);
  return images;
}

void compare_classes() {
  const auto on_host = classify_shapes(false);
  const auto on_device = classify_shapes(true);
  REQUIRE(on_host.size() == on_device.size() && !on_host.empty());
  double worst = 0;
  for (size_t i = 0; i < on_host.size(); ++i) {
    const double a = on_host[i].classes.at(0).score;
    const double b = on_device[i].classes.at(0).score;
    worst = std::max(worst, std::abs(a - b) / std::max(1.0, std::abs(a)));
  }
  // Another search may have chosen other kernels, and weights from a seed have no clear winner.
  REQUIRE(worst < 0.02);
  std::printf("resnet18 fp16, batch 4: best scores of %d images differ by %.1e at most\n",
              static_cast<int>(on_host.size()), worst);
}

void check_all() {
  for (const bool finds : {false, true}) {
    compare_outputs("yolov4_tiny", "fp16", 1, finds);
    compare_outputs("yolov4_tiny", "fp16", 3, finds);
    compare_outputs((folder / "shapes.cfg").string(), "fp32", 8, finds);
  }
  try {
    base::load_plugin_symbol("video", "hone_open_video");
  } catch (const Error& error) {
    std::printf("SKIPPED: no video is read here: %s\n", error.what());
    return;
  }
  for (const int64_t batch : {1, 4}) compare_videos("fp16", batch);
  compare_classes();
}

}  // namespace
}  // namespace hone::device::cuda

int main(int argc, char** argv) {
  using namespace hone::device::cuda;
  if (const int status = status_without_gpu(); status != 0) return status;
  if (argc > 1) folder = argv[1];
  hone::device::own_process();
  return run_check(check_all);
}
