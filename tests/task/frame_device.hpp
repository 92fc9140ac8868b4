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

/// As a device does it: candidates are listed in the opposite order, then sorted and suppressed.
class LoopFinder final : public engine::BoxFinder {
 public:
  LoopFinder(std::span<const engine::BoxHead> heads, std::atomic<int>* searches)
      : heads_(heads.begin(), heads.end()), searches_(searches) {}

  void find(const engine::BoxSearch& search, const tensor::Queue*) const override {
    ++*searches_;
    std::vector<tensor::Tensor> outputs;
    for (const tensor::TensorView& view : search.outputs)
      outputs.push_back(
          tensor::Tensor(view.dtype, view.shape, view.data(), nullptr).cast(tensor::DType::kFloat32));
    for (int64_t image = 0; image < search.images; ++image) {
      engine::BoxCandidates& candidates = search.candidates[image];
      if (candidates.count != 0) fail_internal("counts are not zero before a search");
      uint32_t order = 0;
      for (size_t i = 0; i < heads_.size(); ++i) {
        list(heads_[i], outputs[i].values<float>().data() + image * heads_[i].rows.image,
             search.places[image], order, &candidates);
        order += static_cast<uint32_t>(heads_[i].rows.boxes *
                                       (heads_[i].all_classes ? heads_[i].classes : int64_t{1}));
      }
      std::byte* const to = search.lists + image * engine::BoxList::bytes(search.selection.most);
      const int32_t count = suppress(candidates, search.places[image], search.selection,
                                     reinterpret_cast<engine::FoundBox*>(to + sizeof(int32_t)));
      std::memcpy(to, &count, sizeof count);
      candidates.count = 0;
    }
  }

 private:
  static void list(const engine::BoxHead& head, const float* image, const engine::BoxPlace& place,
                   uint32_t first, engine::BoxCandidates* candidates) {
    for (int64_t index = head.rows.boxes - 1; index >= 0; --index) {
      const engine::BoxNumbers<float> numbers{image + head.rows.at(index), head.rows.number_stride};
      if (!engine::box::passes_gates(head.rows, numbers)) continue;
      const int64_t answers = engine::box::answer_count(head, numbers);
      for (int64_t answer = answers - 1; answer >= 0; --answer) {
        engine::FoundBox found = engine::box::answer_of(head, index, numbers, answer);
        if (found.label < 0 || int64_t{candidates->count++} >= engine::BoxCandidates::kMost) continue;
        found.box = engine::box::placed(place, found.box);
        candidates->boxes[candidates->count - 1] = found;
        candidates->orders[candidates->count - 1] = first + static_cast<uint32_t>(index * answers + answer);
      }
    }
  }

  static int32_t suppress(const engine::BoxCandidates& candidates, const engine::BoxPlace& place,
                          const engine::BoxSelection& selection, engine::FoundBox* kept) {
    if (int64_t{candidates.count} > engine::BoxCandidates::kMost) return -1;
    std::vector<int32_t> order(static_cast<size_t>(candidates.count));
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i);
    std::ranges::sort(order, {},
                      [&](int32_t i) { return std::pair(-candidates.boxes[i].score, candidates.orders[i]); });
    std::vector<engine::FoundBox> stay;
    for (const int32_t i : order) {
      const engine::FoundBox& found = candidates.boxes[i];
      const bool covered = std::ranges::any_of(stay, [&](const engine::FoundBox& rival) {
        return rival.label == found.label &&
               engine::box::overlap_of(selection, place, rival.box, found.box) > selection.overlap;
      });
      if (!covered && static_cast<int64_t>(stay.size()) < selection.most) stay.push_back(found);
    }
    for (engine::FoundBox& found : stay)
      if (selection.clips) found.box = engine::box::clipped(place, found.box);
    std::memcpy(kept, stay.data(), stay.size() * sizeof(engine::FoundBox));
    return static_cast<int32_t>(stay.size());
  }

  std::vector<engine::BoxHead> heads_;
  std::atomic<int>* searches_;
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

  std::unique_ptr<engine::BoxFinder> make_box_finder(std::span<const engine::BoxHead> heads,
                                                     std::span<const tensor::DType>) const override {
    return std::make_unique<LoopFinder>(heads, &searches);
  }

  /// A driver's context that nothing but a pointer is known of, where there is one.
  engine::DecoderHandles decoder_handles(const tensor::Queue*) const override { return {driver, nullptr}; }

  void* driver = nullptr;
  mutable std::atomic<int> searches = 0;
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
