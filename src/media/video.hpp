// Videos through FFmpeg's libraries, which are in libhone-video.so; the plugin is loaded when the first video
// is opened.
#pragma once

#include <memory>
#include <string>

#include "media/source.hpp"

namespace hone::media {

/// Opens a file or a URL that FFmpeg reads. Bad input names it, and the codec if there is no decoder for it;
/// it also covers files without a video. Environment error without the plugin, and for a stream that does not
/// answer.
std::unique_ptr<FrameSource> open_video(const std::string& input, const SourceOptions& options);

struct WriteOptions {
  std::string encoder;  ///< empty: libx264, or mpeg4 if this FFmpeg lacks it
  std::string preset = "veryfast";
  int crf = 23;
  int threads = 0;         ///< 0: the encoder decides
  std::string audio_from;  ///< a file whose audio is copied; empty: none
  Rational time_base{1, 1000};
  Rational frame_rate{0, 1};
};

/// A video file that is being written. Used by one thread.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  /// Frames come in order of time. The first one defines the size; later frames with another size are scaled
  /// to it.
  virtual void write(const Frame& frame) = 0;
  /// Completes the file and publishes it under its name; without this call there is no file. Environment
  /// error if, for example, the disk is full.
  virtual void finish() = 0;
  virtual std::string codec() const = 0;
  /// Sentences that a reader of the file must know.
  virtual std::vector<std::string> notes() const = 0;
};

/// Usage error for a file type or an encoder that FFmpeg does not know.
std::unique_ptr<FrameSink> create_video(const std::string& file, const WriteOptions& options);

/// True if the name has an extension of a video file: .mp4, .mkv, .avi …
bool names_video(const std::string& file);

/// The functions that the plugin exports as hone_open_video and hone_create_video; the caller deletes the
/// returned object.
using OpenVideo = FrameSource* (*)(const std::string& input, const SourceOptions& options);
using CreateVideo = FrameSink* (*)(const std::string& file, const WriteOptions& options);

}  // namespace hone::media
