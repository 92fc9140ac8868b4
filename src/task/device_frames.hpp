// Decoded frames that go to a network's device as they are and become its input there. A batch is copied in
// one piece while the batch before it is computed; what fills the input and what runs on it follow each other
// in one queue.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "backend/backend.hpp"
#include "engine/frame_filler.hpp"
#include "engine/kernel.hpp"
#include "media/source.hpp"
#include "task/frame_form.hpp"

namespace hone::task {

/// A frame with the facts that a device needs.
struct FrameJob {
  const media::Frame* frame = nullptr;
  std::shared_ptr<const FrameForm> form;
};

/// Boxes of one output and image that a device has chosen, in their order.
struct ChosenRows {
  std::vector<int64_t> boxes;
  std::vector<float> numbers;  ///< of each box one after the other
};

/// All outputs of a run of a network, or the boxes of them that a device has chosen.
struct NetworkOutputs {
  std::vector<tensor::Tensor> tensors;
  std::vector<ChosenRows> chosen;  ///< of rule r and image i at r * images + i
};

/// The boxes of an output, by its index.
struct OutputRule {
  size_t output = 0;
  engine::RowRule rule;
};

class DeviceFrames {
 private:
  struct Slots;

 public:
  /// Batches that can be on their way at the same time: one that is packed, one that is computed, and those
  /// that wait between them.
  static constexpr size_t kSlots = 4;
  static constexpr size_t kWaiting = kSlots - 2;

  struct Parts {
    const engine::Device& device;
    /// The same device.
    const engine::FrameDevice& frames;
    /// Owns the stream of `queue`; null where there is none.
    std::unique_ptr<backend::DeviceExchange> exchange;
    /// `runs` hand their work to it; null on the host.
    std::unique_ptr<tensor::Queue> queue;
    tensor::TensorView input;
    int64_t images = 1;  ///< of the input
    std::unique_ptr<engine::FrameFiller> filler;
    std::unique_ptr<backend::BoundRuns> runs;
  };

  explicit DeviceFrames(Parts parts);
  ~DeviceFrames();
  DeviceFrames(const DeviceFrames&) = delete;
  DeviceFrames& operator=(const DeviceFrames&) = delete;

  /// A batch whose samples are on their way to the device. Its end makes room for another one.
  class Upload {
   public:
    Upload(std::shared_ptr<Slots> slots, size_t slot) : slots_(std::move(slots)), slot_(slot) {}
    ~Upload();
    Upload(Upload&& other) noexcept = default;
    Upload& operator=(Upload&& other) noexcept {
      std::swap(slots_, other.slots_);
      std::swap(slot_, other.slot_);
      return *this;
    }

   private:
    friend class DeviceFrames;
    std::shared_ptr<Slots> slots_;
    size_t slot_ = 0;
  };

  /// Frames of the host are not needed any more when it returns, and those on the device are kept. Fewer than
  /// the input has images are filled up with the last one. May be called by another thread than run(); at
  /// most kSlots batches live at the same time.
  Upload upload(std::span<const FrameJob> frames);
  /// The network's outputs for the batch, on the host.
  std::vector<tensor::Tensor> run(const Upload& upload);
  /// From now on run_chosen() gives boxes by these rules; false where the device chooses none of these
  /// outputs, or where all of them are so small that nothing is gained.
  bool choose_rows(std::vector<OutputRule> rules);
  /// The boxes that the device has chosen; all outputs where there are more than it lists.
  NetworkOutputs run_chosen(const Upload& upload);

  const engine::Device& device() const { return parts_.device; }
  /// The device for a source whose frames shall stay on it; null where it has no decoder's handles. It
  /// outlives this.
  std::shared_ptr<media::DecodingDevice> decoding_device() const;
  /// A frame of the host's, 4:2:0, with the content of one on the device. May be called by any thread.
  media::Frame on_host(const media::Frame& frame) const;
  /// Memory of the batches on the host; the device has as much.
  int64_t bytes() const;

 private:
  void submit(const Upload& upload);
  std::vector<tensor::Tensor> download();
  /// Empty where a list was too short.
  std::vector<ChosenRows> chosen_rows() const;

  Parts parts_;
  /// Copies overlap with the runs; null on the host.
  std::unique_ptr<tensor::Queue> copies_;
  std::shared_ptr<Slots> slots_;
  std::vector<tensor::Buffer> landings_;  ///< where outputs arrive on the host

  mutable std::mutex downloading_;
  mutable std::unique_ptr<tensor::Queue> downloads_;  ///< of frames; made for the first one
  mutable tensor::Buffer frame_landing_;

  std::unique_ptr<engine::RowChooser> chooser_;
  std::vector<OutputRule> rules_;
  tensor::Buffer lists_;  ///< of all rules and images, on the device
  tensor::Buffer lists_on_host_;
};

/// Runs whose input a device fills from frames, or why there are none.
struct FrameBinding {
  std::unique_ptr<DeviceFrames> frames;
  Refusal refusal;
};

/// Binds the executable, whose only input is the target's of this shape, to memory at the place. The
/// executable outlives what is returned.
FrameBinding bind_frames(backend::Executable& executable, tensor::Place place, const tensor::Shape& shape,
                         const engine::FrameTarget& target);

using BindFrames = std::function<FrameBinding(backend::Executable&, tensor::Place, const tensor::Shape&,
                                              const engine::FrameTarget&)>;

}  // namespace hone::task
