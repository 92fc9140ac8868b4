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
#include "task/head_rule.hpp"
#include "task/transfers.hpp"

namespace hone::task {

/// A frame with the facts that a device needs.
struct FrameJob {
  const media::Frame* frame = nullptr;
  std::shared_ptr<const FrameForm> form;
  engine::BoxPlace place = {};  ///< where a device finds boxes: their way into the image
};

/// All outputs of a run of a network, or the boxes that a device has found in them.
struct NetworkOutputs {
  std::vector<tensor::Tensor> tensors;
  /// For each image, by falling score; then there are no outputs.
  std::vector<std::vector<engine::FoundBox>> boxes = {};
};

/// How a device finds boxes: heads, each of an output, and what of their boxes is left.
struct BoxPlan {
  std::vector<HeadRule> heads;
  std::vector<size_t> outputs;  ///< of each head its index
  engine::BoxSelection selection;
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
  /// From now on run_finding() gives boxes by this plan; or why the device finds none.
  Refusal find_boxes(BoxPlan plan);
  /// The boxes that the device has found; all outputs where it had no room for all of their candidates.
  NetworkOutputs run_finding(const Upload& upload);

  const engine::Device& device() const { return parts_.device; }
  /// The device for a source whose frames shall stay on it; null where it has no decoder's handles. It
  /// outlives this.
  std::shared_ptr<media::DecodingDevice> decoding_device() const;
  /// A frame of the host's, 4:2:0, with the content of one on the device. May be called by any thread.
  media::Frame on_host(const media::Frame& frame) const;
  /// Memory of the batches on the host; the device has as much.
  int64_t bytes() const;
  /// Copies for frames so far.
  const TransferCounts& transfers() const { return *transfers_; }

 private:
  void submit(const Upload& upload);
  std::vector<tensor::Tensor> download();
  /// Empty where there were more candidates than fit.
  std::vector<std::vector<engine::FoundBox>> found_boxes() const;

  Parts parts_;
  std::shared_ptr<TransferCounts> transfers_ = std::make_shared<TransferCounts>();
  /// Copies overlap with the runs; null on the host.
  std::unique_ptr<tensor::Queue> copies_;
  std::shared_ptr<Slots> slots_;
  std::vector<tensor::Buffer> landings_;  ///< where outputs arrive on the host

  mutable std::mutex downloading_;
  mutable std::unique_ptr<tensor::Queue> downloads_;  ///< of frames; made for the first one
  mutable tensor::Buffer frame_landing_;

  std::unique_ptr<engine::BoxFinder> finder_;
  BoxPlan plan_;
  std::vector<tensor::TensorView> heads_;  ///< of each head its output
  tensor::Buffer candidates_;              ///< of all images, on the device
  tensor::Buffer lists_;                   ///< of all images, on the device
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
