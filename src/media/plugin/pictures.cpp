// See pictures.hpp.
#include "media/plugin/pictures.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"

namespace hone::media {
namespace {

/// A video without colour tags is high definition from this number of rows on, and uses the matrix for it.
constexpr int kHighDefinitionRows = 720;
constexpr int kScaling = SWS_BILINEAR | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT;

ColourMatrix matrix_of(const AVFrame& picture) {
  switch (picture.colorspace) {
    case AVCOL_SPC_BT709: return ColourMatrix::kBt709;
    case AVCOL_SPC_BT470BG:
    case AVCOL_SPC_SMPTE170M: return ColourMatrix::kBt601;
    case AVCOL_SPC_SMPTE240M: return ColourMatrix::kSmpte240;
    case AVCOL_SPC_FCC: return ColourMatrix::kFcc;
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_BT2020_CL: return ColourMatrix::kBt2020;
    case AVCOL_SPC_YCGCO: return ColourMatrix::kYcgco;
    default: return picture.height >= kHighDefinitionRows ? ColourMatrix::kBt709 : ColourMatrix::kBt601;
  }
}

bool is_jpeg_format(int format) {
  return format == AV_PIX_FMT_YUVJ420P || format == AV_PIX_FMT_YUVJ422P || format == AV_PIX_FMT_YUVJ444P ||
         format == AV_PIX_FMT_YUVJ440P || format == AV_PIX_FMT_YUVJ411P;
}

/// The pixel format of ours that a picture is converted to, under FFmpeg's name.
AVPixelFormat target_of(const AVPixFmtDescriptor& description, bool turnable) {
  if ((description.flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL)) != 0) return AV_PIX_FMT_RGB24;
  if (description.nb_components < 3) return AV_PIX_FMT_GRAY8;
  if (description.log2_chroma_w == 1 && description.log2_chroma_h == 1) return AV_PIX_FMT_YUV420P;
  if (description.log2_chroma_w == 1 && description.log2_chroma_h == 0 && !turnable)
    return AV_PIX_FMT_YUV422P;
  return AV_PIX_FMT_YUV444P;
}

PixelFormat format_of(AVPixelFormat target) {
  switch (target) {
    case AV_PIX_FMT_RGB24: return PixelFormat::kRgb24;
    case AV_PIX_FMT_GRAY8: return PixelFormat::kGray;
    case AV_PIX_FMT_YUV420P: return PixelFormat::kYuv420;
    case AV_PIX_FMT_YUV422P: return PixelFormat::kYuv422;
    default: return PixelFormat::kYuv444;
  }
}

AVPixelFormat name_of(PixelFormat format) {
  switch (format) {
    case PixelFormat::kRgb24: return AV_PIX_FMT_RGB24;
    case PixelFormat::kGray: return AV_PIX_FMT_GRAY8;
    case PixelFormat::kYuv420: return AV_PIX_FMT_YUV420P;
    case PixelFormat::kYuv422: return AV_PIX_FMT_YUV422P;
    case PixelFormat::kNv12: return AV_PIX_FMT_NV12;
    default: return AV_PIX_FMT_YUV444P;
  }
}

/// The format without the "J" that marks the full range, because the range is kept separately.
AVPixelFormat plain(int format) {
  switch (format) {
    case AV_PIX_FMT_YUVJ420P: return AV_PIX_FMT_YUV420P;
    case AV_PIX_FMT_YUVJ422P: return AV_PIX_FMT_YUV422P;
    case AV_PIX_FMT_YUVJ444P: return AV_PIX_FMT_YUV444P;
    case AV_PIX_FMT_YUVJ440P: return AV_PIX_FMT_YUV440P;
    case AV_PIX_FMT_YUVJ411P: return AV_PIX_FMT_YUV411P;
    default: return static_cast<AVPixelFormat>(format);
  }
}

void tell_colours(SwsContext* scaler, AVColorSpace from, bool from_full, AVColorSpace to, bool to_full) {
  constexpr int kOne = 1 << 16;
  sws_setColorspaceDetails(scaler, sws_getCoefficients(from), from_full ? 1 : 0, sws_getCoefficients(to),
                           to_full ? 1 : 0, 0, kOne, kOne);
}

FramePointer allocate_picture(int width, int height, AVPixelFormat format) {
  FramePointer picture(av_frame_alloc());
  picture->width = width;
  picture->height = height;
  picture->format = format;
  if (av_frame_get_buffer(picture.get(), 0) < 0)
    fail_environment("out of memory for a picture of {} x {}", width, height);
  return picture;
}

/// Repeats the last column and row if the picture is larger.
void copy_padded(const Frame& frame, AVFrame* picture) {
  for (int64_t p = 0; p < 3; ++p) {
    const auto index = static_cast<size_t>(p);
    const int64_t rows = p == 0 ? picture->height : picture->height / 2;
    const int64_t columns = p == 0 ? picture->width : picture->width / 2;
    const int64_t have = plane_width(frame, p);
    for (int64_t y = 0; y < rows; ++y) {
      const int64_t source = std::min(y, plane_height(frame, p) - 1);
      const uint8_t* row = frame.planes[index].data + source * frame.planes[index].stride;
      uint8_t* out = picture->data[index] + y * picture->linesize[index];
      std::memcpy(out, row, static_cast<size_t>(have));
      std::fill(out + have, out + columns, row[have - 1]);
    }
  }
}

}  // namespace

AVColorSpace space_of(ColourMatrix matrix) {
  switch (matrix) {
    case ColourMatrix::kBt709: return AVCOL_SPC_BT709;
    case ColourMatrix::kBt2020: return AVCOL_SPC_BT2020_NCL;
    case ColourMatrix::kSmpte240: return AVCOL_SPC_SMPTE240M;
    case ColourMatrix::kFcc: return AVCOL_SPC_FCC;
    case ColourMatrix::kYcgco: return AVCOL_SPC_YCGCO;
    default: return AVCOL_SPC_SMPTE170M;
  }
}

Frame PictureReader::converted(const AVFrame& picture, Frame frame, AVPixelFormat target) {
  const AVPixelFormat from = plain(picture.format);
  scaler_.reset(sws_getCachedContext(scaler_.release(), picture.width, picture.height, from, picture.width,
                                     picture.height, target, kScaling, nullptr, nullptr, nullptr));
  if (scaler_ == nullptr)
    fail_bad_input("pictures of the format {} cannot be converted",
                   av_get_pix_fmt_name(static_cast<AVPixelFormat>(picture.format)));
  const AVColorSpace space = space_of(frame.matrix);
  tell_colours(scaler_.get(), space, frame.full_range, space, frame.full_range);
  FramePointer result = allocate_picture(picture.width, picture.height, target);
  sws_scale(scaler_.get(), picture.data, picture.linesize, 0, picture.height, result->data, result->linesize);
  for (size_t p = 0; p < 3; ++p) frame.planes[p] = {result->data[p], result->linesize[p]};
  frame.owner = std::shared_ptr<const AVFrame>(
      result.release(), [](const AVFrame* owned) { FreeFrame()(const_cast<AVFrame*>(owned)); });
  return frame;
}

void PictureReader::describe(const AVFrame& picture, Frame* frame) {
  frame->matrix = matrix_of(picture);
  frame->full_range = picture.color_range == AVCOL_RANGE_JPEG || is_jpeg_format(picture.format);
  if (picture.sample_aspect_ratio.num > 0 && picture.sample_aspect_ratio.den > 0)
    frame->pixel_aspect = {picture.sample_aspect_ratio.num, picture.sample_aspect_ratio.den};
}

Frame PictureReader::read(const AVFrame& picture, bool turnable) {
  const AVPixFmtDescriptor* description = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(picture.format));
  if (description == nullptr) fail_bad_input("the decoder gives pictures of an unknown format");
  const AVPixelFormat target = target_of(*description, turnable);
  Frame frame;
  frame.format = format_of(target);
  frame.width = picture.width;
  frame.height = picture.height;
  describe(picture, &frame);
  frame.full_range = frame.full_range || target == AV_PIX_FMT_RGB24 ||
                     (target == AV_PIX_FMT_GRAY8 && still_ && picture.color_range != AVCOL_RANGE_MPEG);
  if (plain(picture.format) != target) return converted(picture, frame, target);
  AVFrame* const reference = av_frame_clone(&picture);
  if (reference == nullptr) fail_environment("out of memory for a frame");
  for (size_t p = 0; p < 3; ++p) frame.planes[p] = {reference->data[p], reference->linesize[p]};
  frame.owner = std::shared_ptr<const AVFrame>(
      reference, [](const AVFrame* owned) { FreeFrame()(const_cast<AVFrame*>(owned)); });
  return frame;
}

FramePointer PictureMaker::make(const Frame& frame) {
  const int width = form_.width + form_.width % 2;
  const int height = form_.height + form_.height % 2;
  const bool one_size = frame.width == form_.width && frame.height == form_.height;
  const bool one_colour = frame.full_range == form_.full_range && space_of(frame.matrix) == form_.space;
  FramePointer picture = allocate_picture(width, height, AV_PIX_FMT_YUV420P);
  if (one_size && one_colour && frame.format == PixelFormat::kYuv420) {
    copy_padded(frame, picture.get());
    return picture;
  }
  scaler_.reset(sws_getCachedContext(scaler_.release(), static_cast<int>(frame.width),
                                     static_cast<int>(frame.height), name_of(frame.format), form_.width,
                                     form_.height, AV_PIX_FMT_YUV420P, kScaling, nullptr, nullptr, nullptr));
  if (scaler_ == nullptr)
    fail_environment("FFmpeg cannot scale {} x {} to {} x {}", frame.width, frame.height, width, height);
  tell_colours(scaler_.get(), space_of(frame.matrix), frame.full_range, form_.space, form_.full_range);
  const uint8_t* planes[4] = {frame.planes[0].data, frame.planes[1].data, frame.planes[2].data, nullptr};
  const int strides[4] = {static_cast<int>(frame.planes[0].stride), static_cast<int>(frame.planes[1].stride),
                          static_cast<int>(frame.planes[2].stride), 0};
  const bool even = width == form_.width && height == form_.height;
  FramePointer exact = even ? nullptr : allocate_picture(form_.width, form_.height, AV_PIX_FMT_YUV420P);
  AVFrame& target = even ? *picture : *exact;
  sws_scale(scaler_.get(), planes, strides, 0, static_cast<int>(frame.height), target.data, target.linesize);
  if (!even) {
    Frame source;
    source.format = PixelFormat::kYuv420;
    source.width = form_.width;
    source.height = form_.height;
    for (size_t p = 0; p < 3; ++p) source.planes[p] = {exact->data[p], exact->linesize[p]};
    copy_padded(source, picture.get());
  }
  return picture;
}

}  // namespace hone::media
