// Decoding on a GPU through FFmpeg (NVDEC): whether a stream can be decoded there, and its frames in the
// GPU's memory.
#pragma once

#include <memory>
#include <string>

#include "base/refusal.hpp"
#include "media/plugin/libav.hpp"
#include "media/source.hpp"

namespace hone::media {

/// Outlives the decoder that it is attached to. Used by one thread, and by the decoder's.
class GpuDecoder {
 public:
  /// `turned`: pictures are not shown as they are stored.
  GpuDecoder(std::shared_ptr<DecodingDevice> device, const AVCodec& codec, bool turned);

  /// Empty as long as nothing speaks against the GPU. A decoder may find out later.
  const Refusal& refusal() const { return refusal_; }
  /// Called before the decoder is opened.
  void attach(AVCodecContext* decoder);
  static bool holds(const AVFrame& picture) { return picture.format == AV_PIX_FMT_CUDA; }
  /// A copy in the GPU's memory, which the decoder needs no more. Colours and time are the caller's to fill
  /// in.
  Frame frame_of(const AVFrame& picture) const;
  /// "on cuda" or "on the CPU: …", given the frames that the GPU decoded and all of them.
  std::string text(int64_t by_gpu, int64_t all) const;

 private:
  static AVPixelFormat choose(AVCodecContext* decoder, const AVPixelFormat* offered);
  void open();

  std::shared_ptr<DecodingDevice> device_;
  BufferPointer hardware_;
  Refusal refusal_;
  bool tried_ = false;
};

/// A picture of the host's with the same content and properties.
FramePointer on_host(const AVFrame& picture);

}  // namespace hone::media
