// Where frames come from: a video file, a stream, an image, a folder of images or a numbered sequence, all
// read through one door.
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

/// Frames that were not delivered as they were recorded. The counts grow while a source is read.
struct Losses {
  int64_t damaged = 0;  ///< packets or images that arrived damaged or could not be decoded
  int64_t corrupt = 0;  ///< frames that were delivered although parts of them are missing
  int64_t skipped = 0;  ///< packets that gave no frame, such as those before the first key frame
  int64_t missing =
      0;  ///< frames that others' times say have been there; looked for where something is damaged
  std::string ended_early;             ///< why reading ended before the end; empty where it did not
  std::vector<std::string> sentences;  ///< what else a reader of the results must know
};

struct SourceInfo {
  std::string format;  ///< "h264 in mov,mp4,m4a,3gp,3g2,mj2", "6 images"
  /// As the file's header says, which may be wrong: only for the progress line.
  std::optional<int64_t> frames_claimed;
  Rational time_base{1, 1000};  ///< seconds of a tick
  Rational frame_rate{0, 1};    ///< average; 0 where it is not known
  bool live = false;            ///< frames come when they come, and wait for nobody
  bool is_file = false;         ///< all of it is there, so frames can be had faster than they were recorded
  bool is_video = false;        ///< false: single pictures
  int64_t width = 0;            ///< of the first frame, where it is known before
  int64_t height = 0;
};

/// A GPU that may decode, and in whose memory frames then stay. Used by one thread.
class DecodingDevice {
 public:
  virtual ~DecodingDevice() = default;
  virtual std::string_view name() const = 0;
  /// The driver's context and the stream in which frames are decoded and copied.
  virtual void* context() const = 0;
  virtual void* stream() const = 0;
  /// One piece of the device's memory with copies of these pieces of it one after the other, complete when it
  /// returns.
  virtual std::shared_ptr<const std::byte> copy(std::span<const std::span<const std::byte>> pieces) = 0;
};

/// Used by one thread.
class FrameSource {
 public:
  virtual ~FrameSource() = default;
  virtual const SourceInfo& info() const = 0;
  /// False at the end. Bad input when nothing can be read any more.
  virtual bool next(Frame* frame) = 0;
  /// Name of the frame that next() gave last: the image's file, or empty.
  virtual std::string name() const { return {}; }
  virtual Losses losses() const { return {}; }
  /// Before the first next(): frames come as kNv12 in the device's memory, where it can decode them, and else
  /// as ever.
  virtual void decode_on(const std::shared_ptr<DecodingDevice>& /*device*/) {}
  /// Where frames were decoded so far, and why on the CPU if a device was offered: a part of a sentence.
  virtual std::string decoding() const { return "on the CPU"; }
};

struct SourceOptions {
  /// Seconds that a network stream may send nothing.
  double timeout_seconds = 10;
  /// Ends every wait when it is set; may be null.
  const std::atomic<bool>* stop = nullptr;
};

/// A folder's images in the order of the numbers in their names, a pattern like frame_%03d.png, an image, or
/// anything that FFmpeg reads. Bad input naming it, environment error without the plugin that reads it.
std::unique_ptr<FrameSource> open_source(const std::string& input, const SourceOptions& options);

/// These images, in this order.
std::unique_ptr<FrameSource> open_images(std::vector<std::string> files, const SourceOptions& options);

/// Names compared with numbers in them as numbers: frame_9 comes before frame_10.
bool natural_less(const std::string& a, const std::string& b);

/// The images in a folder, or those that a pattern with one %d or %0Nd names, in natural order. Bad input
/// where there are none.
std::vector<std::string> list_images(const std::string& input);

}  // namespace hone::media
