// Copies decoded frames to a network's device without changes and preprocesses them there. A batch is copied
// in one piece while the previous batch is computed. The kernels that fill the input and the network run in
// one queue.
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

/// A frame with the data that a device needs to preprocess it.
struct FrameJob {
  const media::Frame* frame = nullptr;
  std::shared_ptr<const FrameForm> form;
  engine::BoxPlace place = {};  ///< the mapping of boxes to the image, if the device finds them
};

/// All outputs of one run of a network, or the boxes that the device found in them.
struct NetworkOutputs {
  std::vector<tensor::Tensor> tensors;
  /// Boxes for each image, sorted by falling score; if they are set, there are no outputs.
  std::vector<std::vector<engine::FoundBox>> boxes = {};
};

/// How a device finds boxes: the heads, the output of each head, and the rule that selects boxes.
struct BoxPlan {
  std::vector<HeadRule> heads;
  std::vector<size_t> outputs;  ///< index of the output of each head
  engine::BoxSelection selection;
};

class DeviceFrames {
 private:
  struct Slots;

 public:
  /// Number of batches in progress: one that is being packed, one that is being computed, and others that
  /// wait.
  static constexpr size_t kSlots = 4;
  static constexpr size_t kWaiting = kSlots - 2;

  struct Parts {
    const engine::Device& device;
    /// Another interface of the same device.
    const engine::FrameDevice& frames;
    /// Owns the stream of `queue`; null if there is none.
    std::unique_ptr<backend::DeviceExchange> exchange;
    /// The queue to which `runs` submit their work; null on the host.
    std::unique_ptr<tensor::Queue> queue;
    tensor::TensorView input;
    int64_t images = 1;  ///< batch size of the input
    std::unique_ptr<engine::FrameFiller> filler;
    std::unique_ptr<backend::BoundRuns> runs;
  };

  explicit DeviceFrames(Parts parts);
  ~DeviceFrames();
  DeviceFrames(const DeviceFrames&) = delete;
  DeviceFrames& operator=(const DeviceFrames&) = delete;

  /// A batch whose frames are on their way to the device. Its destruction frees a slot for another batch.
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

  /// Host memory of frames may be released when it returns; frames on the device are kept alive. If there are
  /// fewer frames than images in the input, the last one is repeated. May be called from another thread than
  /// run(); at most kSlots batches exist at the same time.
  Upload upload(std::span<const FrameJob> frames);
  /// Returns the network's outputs for the batch, in host memory.
  std::vector<tensor::Tensor> run(const Upload& upload);
  /// Makes run_finding() return boxes by this plan. Returns the reason if the device cannot find boxes.
  Refusal find_boxes(BoxPlan plan);
  /// Returns the boxes that the device found; returns all outputs if there was not enough room for the
  /// candidates.
  NetworkOutputs run_finding(const Upload& upload);

  const engine::Device& device() const { return parts_.device; }
  /// The device for a source whose frames shall stay on it; null if it has no handles for a decoder. It
  /// outlives this object.
  std::shared_ptr<media::DecodingDevice> decoding_device() const;
  /// Returns a 4:2:0 frame in host memory with the content of a frame on the device. May be called from any
  /// thread.
  media::Frame on_host(const media::Frame& frame) const;
  /// Host memory of the batches; the device uses the same amount.
  int64_t bytes() const;
  /// Copies for the frames so far.
  const TransferCounts& transfers() const { return *transfers_; }

 private:
  void submit(const Upload& upload);
  std::vector<tensor::Tensor> download();
  /// Empty if there were more candidates than room for them.
  std::vector<std::vector<engine::FoundBox>> found_boxes() const;

  Parts parts_;
  std::shared_ptr<TransferCounts> transfers_ = std::make_shared<TransferCounts>();
  /// The queue for copies, which overlap with runs; null on the host.
  std::unique_ptr<tensor::Queue> copies_;
  std::shared_ptr<Slots> slots_;
  std::vector<tensor::Buffer> landings_;  ///< buffers that outputs are copied to on the host

  mutable std::mutex downloading_;
  mutable std::unique_ptr<tensor::Queue> downloads_;  ///< queue for copies of frames; created when first used
  mutable tensor::Buffer frame_landing_;

  std::unique_ptr<engine::BoxFinder> finder_;
  BoxPlan plan_;
  std::vector<tensor::TensorView> heads_;  ///< the output of each head
  tensor::Buffer candidates_;              ///< for all images, on the device
  tensor::Buffer lists_;                   ///< for all images, on the device
  tensor::Buffer lists_on_host_;
};

/// Runs whose input a device fills from frames, or the reason why there are none.
struct FrameBinding {
  std::unique_ptr<DeviceFrames> frames;
  Refusal refusal;
};

/// Binds the executable to memory at the place; its only input has this shape and is the target's. The
/// executable must outlive the result.
FrameBinding bind_frames(backend::Executable& executable, tensor::Place place, const tensor::Shape& shape,
                         const engine::FrameTarget& target);

using BindFrames = std::function<FrameBinding(backend::Executable&, tensor::Place, const tensor::Shape&,
                                              const engine::FrameTarget&)>;

}  // namespace hone::task
