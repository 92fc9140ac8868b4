// Converts between FFmpeg's pictures and ours.
#pragma once

#include "media/frame.hpp"
#include "media/plugin/libav.hpp"

namespace hone::media {

/// Makes frames of decoded pictures: of 8 bits, with the chroma that the file has. Used by one thread.
class PictureReader {
 public:
  /// `still`: of a format for pictures, where grey without a tag has the full range.
  explicit PictureReader(bool still) : still_(still) {}

  /// `turnable`: in a format that can be turned by 90 degrees. The time is the caller's to fill in.
  Frame read(const AVFrame& picture, bool turnable);
  /// Colours and the shape of pixels of a picture of a GPU for a frame with its planes.
  static void describe(const AVFrame& picture, Frame* frame);

 private:
  Frame converted(const AVFrame& picture, Frame frame, AVPixelFormat target);

  bool still_;
  ScalerPointer scaler_;
};

/// How the pictures of a file shall be.
struct PictureForm {
  int width = 0;  ///< of the shown picture; pictures are padded to even sizes
  int height = 0;
  bool full_range = false;
  AVColorSpace space = AVCOL_SPC_UNSPECIFIED;
};

/// Makes pictures for an encoder: 4:2:0, of one size and in one kind of colours. Used by one thread.
class PictureMaker {
 public:
  explicit PictureMaker(const PictureForm& form) : form_(form) {}
  /// Scaled where its size is another than that of the form.
  FramePointer make(const Frame& frame);

 private:
  PictureForm form_;
  ScalerPointer scaler_;
};

AVColorSpace space_of(ColourMatrix matrix);

}  // namespace hone::media
