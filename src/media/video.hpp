// Videos through FFmpeg's libraries, which are in libhone-video.so: loaded when the first one is opened.
#pragma once

#include <memory>
#include <string>

#include "media/source.hpp"

namespace hone::media {

/// A file or a URL that FFmpeg reads. Bad input naming it and the codec where there is no decoder for it, no
/// video in it, or it is none; environment error without the plugin, and for a stream that does not answer.
std::unique_ptr<FrameSource> open_video(const std::string& input, const SourceOptions& options);

struct WriteOptions {
  std::string encoder;  ///< empty: libx264, or mpeg4 where this FFmpeg has none
  std::string preset = "veryfast";
  int crf = 23;
  int threads = 0;         ///< 0: the encoder's choice
  std::string audio_from;  ///< a file whose audio is copied; empty: none
  Rational time_base{1, 1000};
  Rational frame_rate{0, 1};
};

/// A video file in the making. Used by one thread.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  /// Frames in order of time. The first one decides the size: later ones of another are scaled to it.
  virtual void write(const Frame& frame) = 0;
  /// The file is whole under its name after this, and not there without it. Environment error where the disk
  /// is full, say.
  virtual void finish() = 0;
  virtual std::string codec() const = 0;
  /// Sentences that a reader of the file must know.
  virtual std::vector<std::string> notes() const = 0;
};

/// Usage error for a file type or an encoder that FFmpeg does not know.
std::unique_ptr<FrameSink> create_video(const std::string& file, const WriteOptions& options);

/// True if a name ends as files of videos do: .mp4, .mkv, .avi …
bool names_video(const std::string& file);

/// The functions that the plugin exports as hone_open_video and hone_create_video: they return the object,
/// which the caller deletes.
using OpenVideo = FrameSource* (*)(const std::string& input, const SourceOptions& options);
using CreateVideo = FrameSink* (*)(const std::string& file, const WriteOptions& options);

}  // namespace hone::media
