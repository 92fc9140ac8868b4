// See frame_form.hpp.
#include "task/frame_form.hpp"

#include <algorithm>

#include "import/image/resize_windows.hpp"
#include "media/planar.hpp"

namespace hone::task {
namespace {

using media::PixelFormat;

FrameForm colours_form(const media::Frame& frame) {
  FrameForm form;
  if (frame.format == PixelFormat::kRgb24) return form;
  form.format =
      frame.format == PixelFormat::kNv12 ? engine::FrameFormat::kNv12 : engine::FrameFormat::kYuv420;
  const media::RgbCoefficients by = media::rgb_coefficients(frame);
  form.colours.luma_offset = by.luma_offset;
  form.colours.luma = by.luma;
  std::ranges::copy(by.u, form.colours.u);
  std::ranges::copy(by.v, form.colours.v);
  return form;
}

FrameForm::Axis taps_of(int64_t from, int64_t to, media::ResizeGrid grid) {
  FrameForm::Axis axis;
  for (const media::ResizeTap& tap : media::resize_taps(from, to, grid))
    axis.taps.push_back({static_cast<int32_t>(tap.first), static_cast<int32_t>(tap.second), tap.weight});
  return axis;
}

FrameForm::Axis windows_of(int64_t from, const AxisPart& part) {
  FrameForm::Axis axis;
  const importer::ResizeWindows windows = importer::resize_windows(from, part.to);
  for (int64_t i = part.first; i < part.first + part.count; ++i) {
    const importer::ResizeWindow& window = windows.windows[static_cast<size_t>(i)];
    axis.windows.push_back({static_cast<int32_t>(window.first), static_cast<int32_t>(window.count),
                            static_cast<int32_t>(axis.weights.size())});
    const auto begin = windows.weights.begin() + window.weights;
    axis.weights.insert(axis.weights.end(), begin, begin + window.count);
  }
  return axis;
}

}  // namespace

Refusal frame_refusal(const media::Frame& frame) {
  switch (frame.format) {
    case PixelFormat::kRgb24:
    case PixelFormat::kYuv420:
    case PixelFormat::kNv12: return {};
    case PixelFormat::kGray: return "frames are grey";
    case PixelFormat::kYuv422: return "frames are 4:2:2";
    default: return "frames are 4:4:4";
  }
}

FrameForm bilinear_form(const media::Frame& frame, const Geometry& geometry, media::ResizeGrid grid) {
  FrameForm form = colours_form(frame);
  form.left = static_cast<int32_t>(geometry.left);
  form.top = static_cast<int32_t>(geometry.top);
  form.width = static_cast<int32_t>(geometry.width);
  form.height = static_cast<int32_t>(geometry.height);
  form.columns = taps_of(frame.width, geometry.width, grid);
  form.rows = taps_of(frame.height, geometry.height, grid);
  return form;
}

FrameForm antialiased_form(const media::Frame& frame, const AxisPart& columns, const AxisPart& rows,
                           int64_t left, int64_t top) {
  FrameForm form = colours_form(frame);
  form.left = static_cast<int32_t>(left);
  form.top = static_cast<int32_t>(top);
  form.width = static_cast<int32_t>(columns.count);
  form.height = static_cast<int32_t>(rows.count);
  form.columns = windows_of(frame.width, columns);
  form.rows = windows_of(frame.height, rows);
  return form;
}

}  // namespace hone::task
