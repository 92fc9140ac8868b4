// Common interface of frame sources: a video file, a stream, an image, a folder of images or a numbered
// sequence.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/refusal.hpp"
#include "media/frame.hpp"

namespace hone::media {

/// Frames that were lost or damaged. The counts grow while a source is read.
struct Losses {
  int64_t damaged = 0;  ///< packets or images that were damaged or could not be decoded
  int64_t corrupt = 0;  ///< frames that were delivered with missing parts
  int64_t skipped = 0;  ///< packets that gave no frame, such as those before the first key frame
  int64_t missing =
      0;  ///< frames that others' times say have been there; looked for where something is damaged
  std::string container;               ///< damage of the file around its packets; empty if there is none
  std::string ended_early;             ///< why reading ended early; empty if it did not
  std::vector<std::string> sentences;  ///< other facts that a reader of the results must know
};

struct SourceInfo {
  std::string format;  ///< "h264 in mov,mp4,m4a,3gp,3g2,mj2", "6 images"
  /// The number from the file's header, which may be wrong; only for the progress line.
  std::optional<int64_t> frames_claimed;
  Rational time_base{1, 1000};  ///< seconds per tick
  Rational frame_rate{0, 1};    ///< average; 0 if it is unknown
  bool live = false;            ///< frames arrive at their own pace and cannot wait
  bool is_file =
      false;  ///< the whole video is available, so frames can be read faster than they were recorded
  bool is_video = false;  ///< false: single pictures
  int64_t width = 0;      ///< of the first frame, if it is known in advance
  int64_t height = 0;
};

/// A GPU that may decode, and that keeps the frames in its memory. Used by one thread.
class DecodingDevice {
 public:
  virtual ~DecodingDevice() = default;
  virtual std::string_view name() const = 0;
  /// The driver's context, and the stream in which frames are decoded and copied.
  virtual void* context() const = 0;
  virtual void* stream() const = 0;
  /// Copies these pieces of device memory one after the other into one new allocation; the copy is complete
  /// when it returns.
  virtual std::shared_ptr<const std::byte> copy(std::span<const std::span<const std::byte>> pieces) = 0;
};

/// Used by one thread.
class FrameSource {
 public:
  virtual ~FrameSource() = default;
  virtual const SourceInfo& info() const = 0;
  /// Returns false at the end. Bad input if nothing more can be read.
  virtual bool next(Frame* frame) = 0;
  /// Name of the image file of the last frame, or empty.
  virtual std::string name() const { return {}; }
  virtual Losses losses() const { return {}; }
  /// Call it before the first next(): frames then come as kNv12 in the device's memory if the device can
  /// decode them, else in host memory as usual.
  virtual void decode_on(const std::shared_ptr<DecodingDevice>& /*device*/) {}
  /// Says where frames were decoded so far and, if an offered device was not used, why: a clause.
  virtual std::string decoding() const { return "on the CPU"; }
};

struct SourceOptions {
  /// Seconds without a frame after which a network stream, a pipe or a camera fails.
  double timeout_seconds = 10;
  /// If it becomes true, every wait ends; may be null.
  const std::atomic<bool>* stop = nullptr;
};

/// The name of standard input.
constexpr std::string_view kStandardInput = "-";
/// How paths of cameras begin.
constexpr std::string_view kCameras = "/dev/video";

/// Opens a folder of images (in the order of the numbers in their names), a pattern like frame_%03d.png, an
/// image, a camera (its number or /dev/video0), standard input ("-"), or anything that FFmpeg reads. Bad
/// input names the file; environment error if the plugin that reads it is missing.
std::unique_ptr<FrameSource> open_source(const std::string& input, const SourceOptions& options);

/// Opens these images in this order.
std::unique_ptr<FrameSource> open_images(std::vector<std::string> files, const SourceOptions& options);

/// Compares names by the numbers in them: frame_9 comes before frame_10.
bool natural_less(const std::string& a, const std::string& b);

/// Returns the images in a folder, or those that match a pattern with one %d or %0Nd, in natural order. Bad
/// input if there are none.
std::vector<std::string> list_images(const std::string& input);

}  // namespace hone::media
