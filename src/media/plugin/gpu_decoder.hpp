// Decodes on a GPU through FFmpeg (NVDEC): decides whether it can decode a stream, and returns frames in GPU
// memory.
#pragma once

#include <memory>
#include <string>

#include "base/refusal.hpp"
#include "media/plugin/libav.hpp"
#include "media/source.hpp"

namespace hone::media {

/// It must outlive the decoder to which it is attached. It is used by one thread and by the decoder's
/// threads.
class GpuDecoder {
 public:
  /// `turned` is true if pictures are not shown as they are stored.
  GpuDecoder(std::shared_ptr<DecodingDevice> device, const AVCodec& codec, bool turned);

  /// Empty as long as the GPU can decode the stream; the decoder may find a reason only later.
  const Refusal& refusal() const { return refusal_; }
  /// Called before the decoder is opened.
  void attach(AVCodecContext* decoder);
  static bool holds(const AVFrame& picture) { return picture.format == AV_PIX_FMT_CUDA; }
  /// Returns a copy in GPU memory, so that the decoder can reuse its surface. The caller fills in colours and
  /// time.
  Frame frame_of(const AVFrame& picture) const;
  /// Returns "on cuda" or "on the CPU: …" from the number of frames that the GPU decoded and the number of
  /// all frames.
  std::string text(int64_t by_gpu, int64_t all) const;

 private:
  static AVPixelFormat choose(AVCodecContext* decoder, const AVPixelFormat* offered);
  void open();

  std::shared_ptr<DecodingDevice> device_;
  BufferPointer hardware_;
  Refusal refusal_;
  bool tried_ = false;
};

/// Returns a picture in host memory with the same content and properties.
FramePointer on_host(const AVFrame& picture);

}  // namespace hone::media
