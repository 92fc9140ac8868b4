// Converts between FFmpeg's pictures and frames.
#pragma once

#include "media/frame.hpp"
#include "media/plugin/libav.hpp"

namespace hone::media {

/// Converts decoded pictures to frames of 8 bits, with the chroma subsampling of the file. Used by one
/// thread.
class PictureReader {
 public:
  /// `still` means an image format, in which grey without a tag has the full range.
  explicit PictureReader(bool still) : still_(still) {}

  /// With `turnable`, the result has a format that can be rotated by 90 degrees. The caller fills in the
  /// time.
  Frame read(const AVFrame& picture, bool turnable);
  /// Copies the colour format and the pixel shape of a picture on a GPU to a frame that has its planes.
  static void describe(const AVFrame& picture, Frame* frame);

 private:
  Frame converted(const AVFrame& picture, Frame frame, AVPixelFormat target);

  bool still_;
  ScalerPointer scaler_;
};

/// The form of the pictures of a file.
struct PictureForm {
  int width = 0;  ///< size of the shown picture; pictures are padded to even sizes
  int height = 0;
  bool full_range = false;
  AVColorSpace space = AVCOL_SPC_UNSPECIFIED;
};

/// Converts frames to pictures for an encoder: 4:2:0, with one size and one colour format. Used by one
/// thread.
class PictureMaker {
 public:
  explicit PictureMaker(const PictureForm& form) : form_(form) {}
  /// Scales the frame if its size differs from that of the form.
  FramePointer make(const Frame& frame);

 private:
  PictureForm form_;
  ScalerPointer scaler_;
};

AVColorSpace space_of(ColourMatrix matrix);

}  // namespace hone::media
