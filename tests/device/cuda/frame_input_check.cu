// Checks of frame_input.hpp, and how long it takes to fill 640 x 640 from 1080p.
#include "device/cuda/plugin/kernels/image/frame_input.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>

#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

using Bytes = std::vector<uint8_t>;

template <class T>
std::shared_ptr<DeviceBuffer> on_device(const std::vector<T>& values) {
  auto buffer = std::make_shared<DeviceBuffer>(values.size() * sizeof(T));
  buffer->upload(values.data());
  return buffer;
}

/// A frame of noise, on the host and on the device.
struct Noise {
  FrameFormat format;
  int width;
  int height;
  int64_t strides[3];
  Bytes planes[3];
  std::shared_ptr<DeviceBuffer> device[3];

  Noise(FrameFormat format, int width, int height) : format(format), width(width), height(height) {
    const int half_width = (width + 1) / 2;
    const int half_height = (height + 1) / 2;
    // Rows are longer than what is in them.
    constexpr int kPadding = 5;
    const bool rgb = format == FrameFormat::kRgb24;
    strides[0] = (rgb ? 3 * width : width) + kPadding;
    strides[1] = (format == FrameFormat::kNv12 ? 2 * half_width : half_width) + kPadding;
    strides[2] = half_width + kPadding;
    planes[0].resize(static_cast<size_t>(strides[0] * height));
    if (!rgb) planes[1].resize(static_cast<size_t>(strides[1] * half_height));
    if (format == FrameFormat::kYuv420) planes[2].resize(static_cast<size_t>(strides[2] * half_height));
    for (int i = 0; i < 3; ++i) {
      for (uint8_t& sample : planes[i]) sample = static_cast<uint8_t>(generator()() >> 40);
      if (!planes[i].empty()) device[i] = on_device(planes[i]);
    }
  }

  int sample(int plane, int64_t at) const { return planes[plane][static_cast<size_t>(at)]; }

  /// Level of a colour at a pixel.
  int level(int x, int y, int colour, const FrameColours& by) const {
    if (format == FrameFormat::kRgb24) return sample(0, y * strides[0] + 3 * x + colour);
    const bool pairs = format == FrameFormat::kNv12;
    const int64_t chroma = (y / 2) * strides[1] + (pairs ? x / 2 * 2 : x / 2);
    const int u = sample(1, chroma);
    const int v = pairs ? sample(1, chroma + 1) : sample(2, (y / 2) * strides[2] + x / 2);
    const double sum = (sample(0, y * strides[0] + x) - by.luma_offset) * static_cast<double>(by.luma) +
                       (u - 128) * static_cast<double>(by.u[colour]) +
                       (v - 128) * static_cast<double>(by.v[colour]);
    return static_cast<int>(std::clamp(std::floor(sum / 65536 + 0.5), 0.0, 255.0));
  }
};

/// BT.601, limited.
constexpr FrameColours kColours{16, 76309, {0, -25675, 132201}, {104597, -53279, 0}};

std::vector<FrameTap> taps_of(int from, int to) {
  std::vector<FrameTap> taps;
  for (int i = 0; i < to; ++i) {
    const double at = std::clamp((i + 0.5) * from / to - 0.5, 0.0, from - 1.0);
    const int first = static_cast<int>(at);
    taps.push_back(
        {first, std::min(first + 1, from - 1), static_cast<int>(std::lround((at - first) * 2048))});
  }
  return taps;
}

/// Windows of a triangle as wide as the reduction, their weights times 2^22.
struct Windows {
  std::vector<FrameWindow> windows;
  std::vector<int32_t> weights;

  Windows(int from, int to) {
    const double ratio = static_cast<double>(from) / to;
    const double reach = std::max(ratio, 1.0);
    for (int i = 0; i < to; ++i) {
      const double centre = (i + 0.5) * ratio;
      const int first = std::max(0, static_cast<int>(centre - reach + 0.5));
      const int end = std::min(from, static_cast<int>(centre + reach + 0.5));
      windows.push_back({first, end - first, static_cast<int>(weights.size())});
      double sum = 0;
      for (int k = first; k < end; ++k) sum += std::max(0.0, 1 - std::abs(k + 0.5 - centre) / reach);
      for (int k = first; k < end; ++k)
        weights.push_back(static_cast<int32_t>(
            std::lround(std::max(0.0, 1 - std::abs(k + 0.5 - centre) / reach) / sum * 4194304)));
    }
  }
};

/// Everything of one call.
struct Case {
  Noise noise;
  std::vector<FrameTap> columns;
  std::vector<FrameTap> rows;
  std::vector<float> levels;
  std::shared_ptr<DeviceBuffer> device_columns, device_rows, device_levels;
  /// Null where it is not antialiased.
  std::shared_ptr<Windows> column_windows, row_windows;
  std::vector<std::shared_ptr<DeviceBuffer>> uploaded;
  FrameInput input;

  Case(FrameFormat format, int width, int height, int input_width, int input_height, bool letterbox)
      : noise(format, width, height) {
    const double scale =
        std::min(static_cast<double>(input_width) / width, static_cast<double>(input_height) / height);
    input.width = letterbox ? std::max(1, static_cast<int>(std::lround(width * scale))) : input_width;
    input.height = letterbox ? std::max(1, static_cast<int>(std::lround(height * scale))) : input_height;
    input.left = (input_width - input.width) / 2;
    input.top = (input_height - input.height) / 2;
    input.input_width = input_width;
    input.input_height = input_height;
    columns = taps_of(width, input.width);
    rows = taps_of(height, input.height);
    for (int i = 0; i < 3 * 256; ++i)
      levels.push_back(static_cast<float>(i % 256) / 255 - 0.25f * static_cast<float>(i / 256));
    device_columns = on_device(columns);
    device_rows = on_device(rows);
    device_levels = on_device(levels);
    for (int i = 0; i < 3; ++i) {
      input.planes[i] = noise.device[i] ? static_cast<const uint8_t*>(noise.device[i]->get()) : nullptr;
      input.strides[i] = noise.strides[i];
      input.margin[i] = 0.5f - static_cast<float>(i);
    }
    input.format = format;
    input.colours = kColours;
    input.columns.taps = static_cast<const FrameTap*>(device_columns->get());
    input.rows.taps = static_cast<const FrameTap*>(device_rows->get());
    input.levels = static_cast<const float*>(device_levels->get());
    input.colour[0] = 2;
    input.colour[2] = 0;
  }

  /// Antialiased from now on.
  void use_windows() {
    column_windows = std::make_shared<Windows>(noise.width, input.width);
    row_windows = std::make_shared<Windows>(noise.height, input.height);
    const auto upload = [this](const auto& values) {
      uploaded.push_back(on_device(values));
      return uploaded.back()->get();
    };
    input.columns.windows = static_cast<const FrameWindow*>(upload(column_windows->windows));
    input.rows.windows = static_cast<const FrameWindow*>(upload(row_windows->windows));
    input.columns.weights = static_cast<const int32_t*>(upload(column_windows->weights));
    input.rows.weights = static_cast<const int32_t*>(upload(row_windows->weights));
  }

  int64_t filtered(int column, int row, int colour) const {
    const auto level = [](int64_t sum) { return std::clamp<int64_t>((sum + (1 << 21)) >> 22, 0, 255); };
    const FrameWindow& h = column_windows->windows[static_cast<size_t>(column)];
    const FrameWindow& v = row_windows->windows[static_cast<size_t>(row)];
    int64_t sum = 0;
    for (int i = 0; i < v.count; ++i) {
      int64_t line = 0;
      for (int k = 0; k < h.count; ++k)
        line += int64_t{column_windows->weights[static_cast<size_t>(h.weights + k)]} *
                noise.level(h.first + k, v.first + i, colour, input.colours);
      sum += row_windows->weights[static_cast<size_t>(v.weights + i)] * level(line);
    }
    return level(sum);
  }

  double expected(int x, int y, int channel) const {
    const int column = x - input.left;
    const int row = y - input.top;
    if (column < 0 || row < 0 || column >= input.width || row >= input.height) return input.margin[channel];
    if (column_windows != nullptr)
      return levels[static_cast<size_t>(256 * channel + filtered(column, row, input.colour[channel]))];
    const FrameTap& h = columns[static_cast<size_t>(column)];
    const FrameTap& v = rows[static_cast<size_t>(row)];
    const auto level = [&](int at_x, int at_y) {
      return noise.level(at_x, at_y, input.colour[channel], input.colours);
    };
    const int64_t upper = level(h.first, v.first) * (2048 - h.weight) + level(h.second, v.first) * h.weight;
    const int64_t lower = level(h.first, v.second) * (2048 - h.weight) + level(h.second, v.second) * h.weight;
    const int64_t mixed = (upper * (2048 - v.weight) + lower * v.weight + (1 << 21)) >> 22;
    return levels[static_cast<size_t>(256 * channel + mixed)];
  }
};

void check_case(Family& family, const Case& one, FloatType type, ImageOrder order, const std::string& what) {
  const int width = one.input.input_width;
  const int height = one.input.input_height;
  Output image(int64_t{3} * width * height, type);
  family.launched(fill_frame_input(one.input, image.get(), type, order, {}), what);
  for (int c = 0; c < 3; ++c)
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const int64_t pixel = int64_t{y} * width + x;
        image[order == ImageOrder::kPlain ? c * int64_t{width} * height + pixel : 3 * pixel + c] =
            one.expected(x, y, c);
      }
  // Whole numbers until the table, whose entry is rounded once.
  family.compare(image, 0, what);
}

void time_case() {
  const Case one(FrameFormat::kNv12, 1920, 1080, 640, 640, true);
  DeviceBuffer image(size_t{3} * 640 * 640 * 2);
  constexpr int kRuns = 500;
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  float best = 1e9f;
  for (int round = 0; round < 5; ++round) {
    cudaEventRecord(begin);
    for (int i = 0; i < kRuns; ++i)
      fill_frame_input(one.input, image.get(), FloatType::kHalf, ImageOrder::kPlain, {});
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float ms = 0;
    cudaEventElapsedTime(&ms, begin, end);
    best = std::min(best, ms);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  std::printf("frame_input: 1080p NV12 to 640 x 640 fp16 in %.2f us, mean of %d launches after each other\n",
              1000 * best / kRuns, kRuns);
}

}  // namespace

void check_frame_input() {
  {
    Family family("frame_input");
    for (const FrameFormat format : {FrameFormat::kRgb24, FrameFormat::kYuv420, FrameFormat::kNv12}) {
      for (const bool letterbox : {false, true}) {
        Case cases[] = {{format, 97, 55, 64, 32, letterbox},    {format, 40, 90, 64, 48, letterbox},
                        {format, 64, 32, 64, 32, letterbox},    {format, 33, 17, 65, 33, letterbox},
                        {format, 1, 1, 8, 6, letterbox},        {format, 1920, 1080, 96, 96, letterbox},
                        {format, 960, 540, 416, 416, letterbox}};
        for (Case& one : cases)
          for (const bool antialiased : {false, true}) {
            if (antialiased) one.use_windows();
            for (const FloatType type : kFloatTypes) {
              // The windows of large frames take the host long.
              if (antialiased && one.noise.width > 1000 && type != FloatType::kHalf) continue;
              for (const ImageOrder order : {ImageOrder::kPlain, ImageOrder::kChannelsLast})
                check_case(family, one, type, order,
                           type_name(type) + std::string(letterbox ? " letterbox " : " stretch ") +
                               (antialiased ? "antialiased " : "") + std::to_string(one.noise.width) + " x " +
                               std::to_string(one.noise.height));
            }
          }
      }
    }
    Case outside(FrameFormat::kNv12, 32, 32, 32, 32, false);
    outside.input.left = 1;
    Output image(3 * 32 * 32, FloatType::kFloat);
    family.expect(fill_frame_input(outside.input, image.get(), FloatType::kFloat, ImageOrder::kPlain, {}) ==
                      cudaErrorInvalidValue,
                  "a rectangle outside of the input is refused");
  }
  time_case();
}

}  // namespace hone::device::cuda::check
