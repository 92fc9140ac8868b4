// C++ wrappers of FFmpeg's C libraries: owners of their allocations, and error texts.
#pragma once

// FFmpeg's header includes CUDA's header only for two pointer types, which are declared here instead.
#define CUDA_VERSION 11000
using CUcontext = struct CUctx_st*;
using CUstream = struct CUstream_st*;

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
#include <libavutil/hwcontext.h>
#include <libavutil/hwcontext_cuda.h>
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

#include <memory>
#include <string>

namespace hone::media {

struct FreeCodec {
  void operator()(AVCodecContext* context) const { avcodec_free_context(&context); }
};
struct FreeFrame {
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
};
struct FreePacket {
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
};
struct FreeScaler {
  void operator()(SwsContext* scaler) const { sws_freeContext(scaler); }
};
struct FreeBuffer {
  void operator()(AVBufferRef* buffer) const { av_buffer_unref(&buffer); }
};
struct CloseInput {
  void operator()(AVFormatContext* context) const { avformat_close_input(&context); }
};

using CodecPointer = std::unique_ptr<AVCodecContext, FreeCodec>;
using FramePointer = std::unique_ptr<AVFrame, FreeFrame>;
using PacketPointer = std::unique_ptr<AVPacket, FreePacket>;
using BufferPointer = std::unique_ptr<AVBufferRef, FreeBuffer>;
using ScalerPointer = std::unique_ptr<SwsContext, FreeScaler>;
using InputPointer = std::unique_ptr<AVFormatContext, CloseInput>;

inline std::string error_text(int code) {
  char text[AV_ERROR_MAX_STRING_SIZE];
  av_strerror(code, text, sizeof(text));
  return text;
}

/// Returns a path from which FFmpeg reads no protocol name ("a:b.mp4" is a file), or the URL unchanged.
inline std::string locator(const std::string& input) {
  return input.find("://") == std::string::npos ? "file:" + input : input;
}

}  // namespace hone::media
