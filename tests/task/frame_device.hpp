// A device that fills inputs from frames with plain loops on the host, and counts what it is asked for.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/error.hpp"
#include "device/devices.hpp"
#include "task/device_frames.hpp"

namespace hone::task::test {

/// One pixel of an axis: the source pixels that it is made of, with their weights.
struct Mixture {
  std::vector<std::pair<int32_t, int64_t>> parts;
  int bits = 0;
  bool rounds = false;  ///< to a level after the axis
};

inline Mixture mixture_of(const engine::FrameAxis& axis, int32_t at) {
  if (axis.windows == nullptr) {
    const engine::FrameTap& tap = axis.taps[at];
    return {{{tap.first, 2048 - tap.weight}, {tap.second, tap.weight}}, 11, false};
  }
  Mixture mixture{{}, 22, true};
  const engine::FrameWindow& window = axis.windows[at];
  for (int32_t k = 0; k < window.count; ++k)
    mixture.parts.emplace_back(window.first + k, axis.weights[window.weights + k]);
  return mixture;
}

inline int64_t level_at(const engine::FrameImage& frame, int32_t x, int32_t y, size_t colour) {
  if (frame.format == engine::FrameFormat::kRgb24)
    return frame.planes[0][y * frame.strides[0] + 3 * x + static_cast<int64_t>(colour)];
  const bool pairs = frame.format == engine::FrameFormat::kNv12;
  const uint8_t* u = frame.planes[1] + y / 2 * frame.strides[1] + (pairs ? x / 2 * 2 : x / 2);
  const uint8_t* v = pairs ? u + 1 : frame.planes[2] + y / 2 * frame.strides[2] + x / 2;
  const auto& by = frame.colours;
  const int64_t sum = int64_t{frame.planes[0][y * frame.strides[0] + x] - by.luma_offset} * by.luma +
                      int64_t{*u - 128} * by.u[colour] + int64_t{*v - 128} * by.v[colour] + 32768;
  return std::clamp<int64_t>(sum >> 16, 0, 255);
}

inline int64_t mixed_at(const engine::FrameImage& frame, const Mixture& column, const Mixture& row,
                        size_t colour) {
  int64_t sum = 0;
  for (const auto& [y, row_weight] : row.parts) {
    int64_t line = 0;
    for (const auto& [x, weight] : column.parts) line += level_at(frame, x, y, colour) * weight;
    if (column.rounds) line = std::clamp<int64_t>((line + (1 << 21)) >> column.bits, 0, 255);
    sum += line * row_weight;
  }
  const int bits = row.rounds ? row.bits : row.bits + column.bits;
  return std::clamp<int64_t>((sum + (int64_t{1} << (bits - 1))) >> bits, 0, 255);
}

class LoopFiller final : public engine::FrameFiller {
 public:
  LoopFiller(const engine::FrameTarget& target, std::atomic<int>* fills, int fails_at)
      : target_(target), fills_(fills), fails_at_(fails_at) {}

  void fill(const engine::FrameImage& frame, std::byte* image, const tensor::Queue*) const override {
    if ((*fills_)++ == fails_at_) fail_environment("the preprocessing of a frame failed on the fake device");
    auto* out = reinterpret_cast<float*>(image);
    for (int32_t y = 0; y < target_.height; ++y)
      for (int32_t x = 0; x < target_.width; ++x)
        for (size_t c = 0; c < 3; ++c) {
          const int64_t pixel = int64_t{y} * target_.width + x;
          const auto channel = static_cast<int64_t>(c);
          const int64_t plane = int64_t{target_.width} * target_.height;
          out[target_.channels_last ? 3 * pixel + channel : channel * plane + pixel] =
              value_at(frame, x - frame.left, y - frame.top, c);
        }
  }

 private:
  float value_at(const engine::FrameImage& frame, int32_t x, int32_t y, size_t channel) const {
    if (x < 0 || y < 0 || x >= frame.width || y >= frame.height) return target_.margin[channel];
    const int64_t level = mixed_at(frame, mixture_of(frame.columns, x), mixture_of(frame.rows, y),
                                   static_cast<size_t>(target_.colour[channel]));
    return target_.levels[channel][static_cast<size_t>(level)];
  }

  engine::FrameTarget target_;
  std::atomic<int>* fills_;
  int fails_at_;
};

/// As a device does it, with lists in the opposite order.
class LoopChooser final : public engine::RowChooser {
 public:
  explicit LoopChooser(std::atomic<int>* choices) : choices_(choices) {}

  void choose(const tensor::TensorView& output, const engine::RowRule& rule, int64_t images, std::byte* lists,
              const tensor::Queue*) const override {
    ++*choices_;
    const tensor::Tensor whole(output.dtype, output.shape, output.data(), nullptr);
    const tensor::Tensor numbers = whole.cast(tensor::DType::kFloat32);
    auto* list = reinterpret_cast<int32_t*>(lists);
    for (int64_t n = 0; n < images; ++n, list += engine::RowList::words(rule))
      choose_image(numbers.values<float>().data() + n * rule.image, rule, list);
  }

 private:
  static void choose_image(const float* image, const engine::RowRule& rule, int32_t* list) {
    list[0] = 0;
    for (int64_t box = rule.boxes - 1; box >= 0; --box) {
      const float* numbers =
          image + box / rule.inner * rule.outer_stride + box % rule.inner * rule.inner_stride;
      bool chosen = false;
      for (int64_t i = 0; i < rule.gates; ++i)
        chosen = chosen || numbers[(rule.first_gate + i) * rule.number_stride] > rule.level;
      if (!chosen || list[0]++ >= engine::RowList::most(rule)) continue;
      int32_t* entry = list + 1 + (list[0] - 1) * (1 + rule.numbers);
      entry[0] = static_cast<int32_t>(box);
      for (int64_t i = 0; i < rule.numbers; ++i)
        std::memcpy(entry + 1 + i, numbers + i * rule.number_stride, sizeof(float));
    }
  }

  std::atomic<int>* choices_;
};

/// The CPU under another name, with a filler.
class FrameDevice final : public engine::Device, public engine::FrameDevice {
 public:
  /// `fails_at`: the fill that fails, from 0.
  explicit FrameDevice(int fails_at = -1) : fails_at_(fails_at) {}

  std::string_view name() const override { return "fake"; }
  std::string fingerprint() const override { return "fake"; }
  std::vector<engine::Layout> image_layouts(tensor::Precision) const override { return {}; }
  std::vector<const engine::Tactic*> tactics(const graph::Node&) const override { return {}; }
  std::shared_ptr<const engine::Kernel> make_reorder(const engine::TensorDesc&,
                                                     const engine::TensorDesc&) const override {
    return nullptr;
  }
  bool computes_in(tensor::Precision) const override { return true; }
  std::shared_ptr<const engine::Kernel> make_rounding(std::shared_ptr<const engine::Kernel> kernel,
                                                      std::vector<engine::TensorDesc>) const override {
    return kernel;
  }
  void set_threads(int) const override {}
  std::vector<std::string> notes(const engine::NumericPolicy&) const override { return {}; }
  tensor::Buffer allocate_staging(int64_t bytes) const override { return engine::Device::allocate(bytes); }
  tensor::Buffer allocate(int64_t bytes) const override {
    ++allocations;
    return engine::Device::allocate(bytes);
  }
  std::unique_ptr<engine::FrameFiller> make_frame_filler(const engine::FrameTarget& target) const override {
    if (target.dtype != tensor::DType::kFloat32) return nullptr;
    return std::make_unique<LoopFiller>(target, &fills, fails_at_);
  }

  std::unique_ptr<engine::RowChooser> make_row_chooser() const override {
    return std::make_unique<LoopChooser>(&choices);
  }

  /// A driver's context that nothing but a pointer is known of, where there is one.
  engine::DecoderHandles decoder_handles(const tensor::Queue*) const override { return {driver, nullptr}; }

  void* driver = nullptr;
  mutable std::atomic<int> choices = 0;
  mutable std::atomic<int> allocations = 0;
  mutable std::atomic<int> fills = 0;

 private:
  int fails_at_;
};

/// Runs of an executable on the host, from an input that stays where it is.
class HostRuns final : public backend::BoundRuns {
 public:
  HostRuns(backend::Executable& executable, tensor::TensorView input)
      : executable_(executable), input_(std::move(input)) {
    submit();
  }

  void submit() override {
    const tensor::Tensor images(input_.dtype, input_.shape, input_.data(), nullptr);
    const auto outputs = executable_.run({&images, 1});
    if (outputs_.empty())
      for (const tensor::Tensor& output : outputs) outputs_.push_back(tensor::view_of(output.clone()));
    for (size_t i = 0; i < outputs.size(); ++i)
      std::copy_n(outputs[i].bytes(), outputs[i].byte_size(), outputs_[i].data());
  }
  const std::vector<tensor::TensorView>& outputs() const override { return outputs_; }

 private:
  backend::Executable& executable_;
  tensor::TensorView input_;
  std::vector<tensor::TensorView> outputs_;
};

/// The work of task::bind_frames() on a GPU.
inline BindFrames binds_to(const FrameDevice& device) {
  return [&device](backend::Executable& executable, tensor::Place, const tensor::Shape& shape,
                   const engine::FrameTarget& target) -> FrameBinding {
    DeviceFrames::Parts parts{.device = device, .frames = device};
    parts.filler = device.make_frame_filler(target);
    if (parts.filler == nullptr) return {nullptr, "fake fills no such input"};
    tensor::Tensor zeros(target.dtype, shape);
    std::fill_n(zeros.mutable_bytes(), zeros.byte_size(), std::byte{0});
    parts.input = tensor::view_of(zeros);
    parts.images = shape.size() == 4 ? shape.front() : 1;
    parts.runs = std::make_unique<HostRuns>(executable, parts.input);
    return {std::make_unique<DeviceFrames>(std::move(parts)), {}};
  };
}

}  // namespace hone::task::test
