// See gpu_decoder.hpp.
#include "media/plugin/gpu_decoder.hpp"

#include <fmt/core.h>

#include <array>
#include <span>

#include "base/error.hpp"

namespace hone::media {
namespace {

/// Each thread of the decoder holds one of NVDEC's 32 surfaces. The fallback on the CPU also runs four
/// threads.
constexpr int kDecoderThreads = 4;

bool decodes_with_cuda(const AVCodec& codec) {
  for (int i = 0; const AVCodecHWConfig* config = avcodec_get_hw_config(&codec, i); ++i)
    if (config->device_type == AV_HWDEVICE_TYPE_CUDA &&
        (config->methods & AV_CODEC_HW_CONFIG_METHOD_HW_DEVICE_CTX) != 0)
      return true;
  return false;
}

bool is_nv12(AVPixelFormat software) {
  return software == AV_PIX_FMT_YUV420P || software == AV_PIX_FMT_YUVJ420P || software == AV_PIX_FMT_NV12;
}

}  // namespace

GpuDecoder::GpuDecoder(std::shared_ptr<DecodingDevice> device, const AVCodec& codec, bool turned)
    : device_(std::move(device)) {
  if (turned)
    refusal_ = "frames are turned";
  else if (!decodes_with_cuda(codec))
    refusal_ = fmt::format("this FFmpeg does not decode {} on GPUs", codec.name);
  else
    open();
}

void GpuDecoder::open() {
  hardware_.reset(av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_CUDA));
  if (hardware_ == nullptr) {
    refusal_ = "this FFmpeg was built without CUDA";
    return;
  }
  auto* const common = reinterpret_cast<AVHWDeviceContext*>(hardware_->data);
  auto* const cuda = static_cast<AVCUDADeviceContext*>(common->hwctx);
  cuda->cuda_ctx = static_cast<CUcontext>(device_->context());
  cuda->stream = static_cast<CUstream>(device_->stream());
  const int code = av_hwdevice_ctx_init(hardware_.get());
  if (code < 0) refusal_ = fmt::format("FFmpeg cannot use the driver: {}", error_text(code));
}

void GpuDecoder::attach(AVCodecContext* decoder) {
  decoder->opaque = this;
  decoder->get_format = choose;
  decoder->hw_device_ctx = av_buffer_ref(hardware_.get());
  decoder->thread_count = kDecoderThreads;
}

/// If the GPU's format could not be set up, FFmpeg calls this again without it.
AVPixelFormat GpuDecoder::choose(AVCodecContext* decoder, const AVPixelFormat* offered) {
  auto& self = *static_cast<GpuDecoder*>(decoder->opaque);
  bool has_gpu = false;
  for (const AVPixelFormat* format = offered; *format != AV_PIX_FMT_NONE; ++format)
    has_gpu = has_gpu || *format == AV_PIX_FMT_CUDA;
  if (has_gpu && is_nv12(decoder->sw_pix_fmt)) {
    self.tried_ = true;
    return AV_PIX_FMT_CUDA;
  }
  if (!self.refusal_) {
    const char* const name = av_get_pix_fmt_name(decoder->sw_pix_fmt);
    self.refusal_ = self.tried_ || !has_gpu
                        ? fmt::format("the driver refuses {} of {} x {}", avcodec_get_name(decoder->codec_id),
                                      decoder->coded_width, decoder->coded_height)
                        : fmt::format("frames are {}", name == nullptr ? "of an unknown format" : name);
  }
  return avcodec_default_get_format(decoder, offered);
}

Frame GpuDecoder::frame_of(const AVFrame& picture) const {
  // FFmpeg crops pictures on GPUs only at the right and at the bottom.
  const auto left = static_cast<int64_t>(picture.crop_left & ~size_t{1});
  const auto top = static_cast<int64_t>(picture.crop_top & ~size_t{1});
  Frame frame;
  frame.format = PixelFormat::kNv12;
  frame.on_device = true;
  frame.width = picture.width - left;
  frame.height = picture.height - top;
  // Both planes are in one piece of memory, so that one copy brings them to the host.
  std::array<std::span<const std::byte>, 2> planes;
  for (size_t p = 0; p < 2; ++p) {
    const int64_t share = p == 0 ? 1 : 2;
    const int64_t stride = picture.linesize[p];
    const int64_t rows = (frame.height + share - 1) / share;
    const auto* from = reinterpret_cast<const std::byte*>(picture.data[p]) + top / share * stride;
    planes[p] = {from, static_cast<size_t>(stride * rows)};
  }
  const auto memory = device_->copy(planes);
  const auto* at = reinterpret_cast<const uint8_t*>(memory.get());
  for (size_t p = 0; p < 2; at += planes[p++].size()) frame.planes[p] = {at + left, picture.linesize[p]};
  frame.owner = memory;
  return frame;
}

std::string GpuDecoder::text(int64_t by_gpu, int64_t all) const {
  const std::string why = refusal_ ? ": " + refusal_.text() : "";
  if (by_gpu == 0) return "on the CPU" + why;
  if (by_gpu == all) return fmt::format("on {}", device_->name());
  return fmt::format("on {}, but {} of {} on the CPU{}", device_->name(), all - by_gpu, all, why);
}

FramePointer on_host(const AVFrame& picture) {
  FramePointer result(av_frame_alloc());
  const int code = av_hwframe_transfer_data(result.get(), &picture, 0);
  if (code < 0) fail_environment("a frame cannot be copied from the GPU: {}", error_text(code));
  av_frame_copy_props(result.get(), &picture);
  return result;
}

}  // namespace hone::media
