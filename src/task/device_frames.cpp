// See device_frames.hpp.
#include "task/device_frames.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.hpp"
#include "device/devices.hpp"

namespace hone::task {
namespace {

/// Alignment of the parts of a slot's memory, so that a device can read each from an aligned address.
constexpr int64_t kAlignment = 64;

/// Places pieces of bytes one after the other; without memory, it only computes the total size.
class Packing {
 public:
  explicit Packing(std::byte* memory = nullptr) : memory_(memory) {}

  int64_t size() const { return size_; }
  /// The share of it that planes take.
  int64_t plane_bytes() const { return plane_bytes_; }

  /// Appends the bytes and returns their offset.
  int64_t add(const void* from, size_t bytes) {
    const int64_t at = take(static_cast<int64_t>(bytes));
    if (memory_ != nullptr && bytes > 0) std::memcpy(memory_ + at, from, bytes);
    return at;
  }
  template <class T>
  int64_t add(const std::vector<T>& values) {
    return add(values.data(), values.size() * sizeof(T));
  }
  /// Appends the rows of a plane without the padding between them.
  int64_t add_plane(const media::Plane& plane, int64_t row_bytes, int64_t rows) {
    const int64_t at = take(row_bytes * rows);
    plane_bytes_ += row_bytes * rows;
    for (int64_t y = 0; memory_ != nullptr && y < rows; ++y)
      std::memcpy(memory_ + at + y * row_bytes, plane.data + y * plane.stride,
                  static_cast<size_t>(row_bytes));
    return at;
  }

 private:
  int64_t take(int64_t bytes) {
    const int64_t at = size_;
    size_ = (size_ + bytes + kAlignment - 1) / kAlignment * kAlignment;
    return at;
  }

  std::byte* memory_;
  int64_t size_ = 0;
  int64_t plane_bytes_ = 0;
};

/// There is no base address while sizes are only computed.
template <class T>
const T* at(const std::byte* base, int64_t offset) {
  return reinterpret_cast<const T*>(reinterpret_cast<uintptr_t>(base) + static_cast<uintptr_t>(offset));
}

engine::FrameAxis pack_axis(const FrameForm::Axis& axis, const std::byte* base, Packing* packing) {
  if (axis.windows.empty()) return {.taps = at<engine::FrameTap>(base, packing->add(axis.taps))};
  const int64_t windows = packing->add(axis.windows);
  return {.windows = at<engine::FrameWindow>(base, windows),
          .weights = at<int32_t>(base, packing->add(axis.weights))};
}

/// `base` is the address of the packing's memory on the device.
engine::FrameImage pack(const FrameJob& job, const std::byte* base, Packing* packing) {
  const FrameForm& form = *job.form;
  engine::FrameImage image{.format = form.format,
                           .planes = {},
                           .strides = {},
                           .colours = form.colours,
                           .left = form.left,
                           .top = form.top,
                           .width = form.width,
                           .height = form.height,
                           .columns = {},
                           .rows = {}};
  for (int64_t p = 0; p < media::plane_count(job.frame->format); ++p) {
    const auto index = static_cast<size_t>(p);
    if (job.frame->on_device) {
      image.planes[index] = job.frame->planes[index].data;
      image.strides[index] = job.frame->planes[index].stride;
      continue;
    }
    const int64_t row =
        media::plane_width(*job.frame, p) * (job.frame->format == media::PixelFormat::kRgb24 ? 3 : 1);
    const int64_t offset =
        packing->add_plane(job.frame->planes[index], row, media::plane_height(*job.frame, p));
    image.planes[index] = at<uint8_t>(base, offset);
    image.strides[index] = row;
  }
  image.columns = pack_axis(form.columns, base, packing);
  image.rows = pack_axis(form.rows, base, packing);
  return image;
}

/// Returns the reason if a device cannot read the head from this output, else an empty refusal.
Refusal head_refusal(const tensor::TensorView& output, const engine::BoxHead& head, int64_t images) {
  const bool number = output.dtype == tensor::DType::kFloat32 || output.dtype == tensor::DType::kFloat16 ||
                      output.dtype == tensor::DType::kBFloat16;
  if (!number) return fmt::format("outputs are {}", tensor::dtype_name(output.dtype));
  const bool sound = head.rows.is_sound() && tensor::element_count(output.shape) == images * head.rows.image;
  if (!sound) return "an output has another form in a batch";
  // Scores are compared by their bit patterns as integers, which works only for positive numbers.
  if (!(head.threshold >= 0)) return "the threshold is negative";
  return {};
}

/// All boxes are numbered with 32-bit integers.
bool has_too_many_answers(const std::vector<HeadRule>& heads) {
  double answers = 0;
  for (const HeadRule& rule : heads)
    answers += static_cast<double>(rule.head.rows.boxes) *
               static_cast<double>(rule.head.all_classes ? rule.head.classes : 1);
  return answers > UINT32_MAX;
}

int64_t bytes_of(const tensor::TensorView& view) {
  return static_cast<int64_t>(tensor::dtype_size(view.dtype)) * tensor::element_count(view.shape);
}

/// Buffers of frames that were released. They are reused because allocating and freeing make a GPU wait.
struct FreeBuffers {
  std::mutex mutex;
  std::vector<tensor::Buffer> buffers;

  /// Returns a buffer of exactly this size; one without data if there is none.
  tensor::Buffer take(int64_t bytes) {
    const std::lock_guard lock(mutex);
    const auto found =
        std::ranges::find_if(buffers, [&](const tensor::Buffer& buffer) { return buffer.bytes == bytes; });
    if (found == buffers.end()) return {};
    tensor::Buffer buffer = std::move(*found);
    buffers.erase(found);
    return buffer;
  }
  void give_back(tensor::Buffer buffer) {
    const std::lock_guard lock(mutex);
    buffers.push_back(std::move(buffer));
  }
};

/// Lends the memory and a stream of the device to a decoder.
class LentDevice final : public media::DecodingDevice {
 public:
  LentDevice(const engine::Device& device, const engine::FrameDevice& frames,
             std::shared_ptr<TransferCounts> transfers)
      : device_(device), queue_(device.make_queue()), transfers_(std::move(transfers)) {
    handles_ = frames.decoder_handles(queue_.get());
  }

  bool has_handles() const { return handles_.context != nullptr; }
  std::string_view name() const override { return device_.name(); }
  void* context() const override { return handles_.context; }
  void* stream() const override { return handles_.stream; }
  std::shared_ptr<const std::byte> copy(std::span<const std::span<const std::byte>> pieces) override {
    int64_t bytes = 0;
    for (const auto& piece : pieces) bytes += static_cast<int64_t>(piece.size());
    tensor::Buffer to = free_->take(bytes);
    if (to.data == nullptr) to = device_.allocate(bytes);
    tensor::Buffer part = to;
    for (const auto& piece : pieces) {
      const tensor::Buffer source{.place = device_.place(),
                                  .data = const_cast<std::byte*>(piece.data()),
                                  .bytes = static_cast<int64_t>(piece.size()),
                                  .owner = nullptr};
      part.bytes = source.bytes;
      device_.copy(source, part, queue_.get());
      part.data += piece.size();
    }
    if (queue_ != nullptr) queue_->synchronize();
    transfers_->add(Transfer::kDecodedOnDevice, static_cast<int64_t>(pieces.size()), bytes);
    return {to.data, [free = free_, to](const std::byte*) { free->give_back(to); }};
  }

 private:
  const engine::Device& device_;
  std::unique_ptr<tensor::Queue> queue_;  ///< null on the host
  engine::DecoderHandles handles_;
  std::shared_ptr<TransferCounts> transfers_;
  std::shared_ptr<FreeBuffers> free_ = std::make_shared<FreeBuffers>();
};

}  // namespace

/// Memory that consecutive batches use in turns.
struct DeviceFrames::Slots {
  struct Slot {
    bool taken = false;
    tensor::Buffer staging;
    tensor::Buffer device;
    std::shared_ptr<const tensor::Event> ready;  ///< null if there is nothing to wait for
    std::vector<engine::FrameImage> images;
    const engine::BoxPlace* places = nullptr;         ///< for each image, on the device
    std::vector<std::shared_ptr<const void>> owners;  ///< keep frames on the device alive
  };

  size_t take() {
    const std::lock_guard lock(mutex);
    const auto free = std::ranges::find_if(all, [](const Slot& slot) { return !slot.taken; });
    if (free == all.end()) fail_internal("more than {} batches of frames are on their way", kSlots);
    free->taken = true;
    return static_cast<size_t>(free - all.begin());
  }
  void give_back(size_t index) {
    const std::lock_guard lock(mutex);
    all[index].taken = false;
    all[index].owners.clear();
  }

  mutable std::mutex mutex;
  std::array<Slot, kSlots> all;
};

DeviceFrames::Upload::~Upload() {
  if (slots_ != nullptr) slots_->give_back(slot_);
}

DeviceFrames::DeviceFrames(Parts parts)
    : parts_(std::move(parts)), copies_(parts_.device.make_queue()), slots_(std::make_shared<Slots>()) {
  for (const tensor::TensorView& output : parts_.runs->outputs())
    landings_.push_back(parts_.frames.allocate_staging(bytes_of(output)));
}

DeviceFrames::~DeviceFrames() = default;

int64_t DeviceFrames::bytes() const {
  const std::lock_guard lock(slots_->mutex);
  int64_t sum = 0;
  for (const Slots::Slot& slot : slots_->all) sum += slot.staging.bytes;
  return sum;
}

DeviceFrames::Upload DeviceFrames::upload(std::span<const FrameJob> frames) {
  Upload upload(slots_, slots_->take());
  Slots::Slot& slot = slots_->all[upload.slot_];
  Packing needed;
  for (const FrameJob& job : frames) pack(job, nullptr, &needed);
  std::vector<engine::BoxPlace> places;
  for (const FrameJob& job : frames) places.push_back(job.place);
  places.resize(static_cast<size_t>(parts_.images), places.back());
  needed.add(places);
  if (slot.staging.bytes < needed.size()) {
    tensor::Buffer staging = parts_.frames.allocate_staging(needed.size());
    tensor::Buffer device = parts_.device.allocate(needed.size());
    const std::lock_guard lock(slots_->mutex);
    slot.staging = std::move(staging);
    slot.device = std::move(device);
  }
  Packing packing(slot.staging.data);
  slot.images.clear();
  for (const FrameJob& job : frames) {
    slot.images.push_back(pack(job, slot.device.data, &packing));
    if (job.frame->on_device) slot.owners.push_back(job.frame->owner);
  }
  slot.images.resize(static_cast<size_t>(parts_.images), slot.images.back());
  slot.places = at<engine::BoxPlace>(slot.device.data, packing.add(places));
  tensor::Buffer used = slot.staging;
  used.bytes = packing.size();
  parts_.device.copy(used, slot.device, copies_.get());
  // A single copy; it contains the frames' planes if there are any.
  const bool has_frames = packing.plane_bytes() > 0;
  transfers_->add(Transfer::kDecodedToDevice, has_frames ? 1 : 0, packing.plane_bytes());
  transfers_->add(Transfer::kTablesToDevice, has_frames ? 0 : 1, packing.size() - packing.plane_bytes());
  slot.ready = copies_ == nullptr ? nullptr : copies_->record();
  return upload;
}

std::vector<tensor::Tensor> DeviceFrames::run(const Upload& upload) {
  submit(upload);
  return download();
}

Refusal DeviceFrames::find_boxes(BoxPlan plan) {
  std::vector<engine::BoxHead> heads;
  std::vector<tensor::DType> types;
  std::vector<tensor::TensorView> views;
  for (size_t i = 0; i < plan.heads.size(); ++i) {
    heads.push_back(plan.heads[i].get());
    views.push_back(parts_.runs->outputs()[plan.outputs[i]]);
    types.push_back(views.back().dtype);
    if (Refusal refusal = head_refusal(views.back(), heads.back(), parts_.images)) return refusal;
  }
  if (has_too_many_answers(plan.heads)) return "there are too many boxes";
  finder_ = parts_.frames.make_box_finder(heads, types);
  if (finder_ == nullptr) return fmt::format("{} finds none", device().name());
  plan.selection.most = std::min(plan.selection.most, engine::BoxCandidates::kMost);
  const int64_t lists = parts_.images * engine::BoxList::bytes(plan.selection.most);
  const tensor::Buffer zeros =
      parts_.frames.allocate_staging(parts_.images * static_cast<int64_t>(sizeof(engine::BoxCandidates)));
  std::memset(zeros.data, 0, static_cast<size_t>(zeros.bytes));
  candidates_ = parts_.device.allocate(zeros.bytes);
  parts_.device.copy(zeros, candidates_, parts_.queue.get());
  lists_ = parts_.device.allocate(lists);
  lists_on_host_ = parts_.frames.allocate_staging(lists);
  if (parts_.queue != nullptr) parts_.queue->synchronize();
  plan_ = std::move(plan);
  heads_ = std::move(views);
  return {};
}

NetworkOutputs DeviceFrames::run_finding(const Upload& upload) {
  submit(upload);
  const Slots::Slot& slot = upload.slots_->all[upload.slot_];
  finder_->find({.outputs = heads_,
                 .images = parts_.images,
                 .places = slot.places,
                 .selection = plan_.selection,
                 .candidates = reinterpret_cast<engine::BoxCandidates*>(candidates_.data),
                 .lists = lists_.data},
                parts_.queue.get());
  parts_.device.copy(lists_, lists_on_host_, parts_.queue.get());
  transfers_->add(Transfer::kBoxesToHost, 1, lists_.bytes);
  if (parts_.queue != nullptr) parts_.queue->synchronize();
  NetworkOutputs outputs{{}, found_boxes()};
  if (outputs.boxes.empty()) outputs.tensors = download();
  return outputs;
}

std::vector<std::vector<engine::FoundBox>> DeviceFrames::found_boxes() const {
  std::vector<std::vector<engine::FoundBox>> found;
  const int64_t bytes = engine::BoxList::bytes(plan_.selection.most);
  for (int64_t image = 0; image < parts_.images; ++image) {
    const std::byte* const list = lists_on_host_.data + image * bytes;
    int32_t count = 0;
    std::memcpy(&count, list, sizeof count);
    if (count < 0 || count > plan_.selection.most) return {};
    std::vector<engine::FoundBox>& boxes = found.emplace_back(static_cast<size_t>(count));
    std::memcpy(boxes.data(), list + sizeof count, boxes.size() * sizeof(engine::FoundBox));
  }
  return found;
}

void DeviceFrames::submit(const Upload& upload) {
  const Slots::Slot& slot = upload.slots_->all[upload.slot_];
  if (slot.ready != nullptr) parts_.queue->wait(*slot.ready);
  const int64_t image = bytes_of(parts_.input) / parts_.images;
  for (size_t i = 0; i < slot.images.size(); ++i)
    parts_.filler->fill(slot.images[i], parts_.input.data() + static_cast<int64_t>(i) * image,
                        parts_.queue.get());
  parts_.runs->submit();
}

std::vector<tensor::Tensor> DeviceFrames::download() {
  const std::vector<tensor::TensorView>& views = parts_.runs->outputs();
  for (size_t i = 0; i < views.size(); ++i) {
    tensor::Buffer from = views[i].buffer;
    from.bytes = bytes_of(views[i]);
    parts_.device.copy(from, landings_[i], parts_.queue.get());
    transfers_->add(Transfer::kOutputsToHost, 1, from.bytes);
  }
  if (parts_.queue != nullptr) parts_.queue->synchronize();
  std::vector<tensor::Tensor> outputs;
  for (size_t i = 0; i < views.size(); ++i) {
    tensor::Tensor output(views[i].dtype, views[i].shape);
    std::copy_n(landings_[i].data, output.byte_size(), output.mutable_bytes());
    outputs.push_back(std::move(output));
  }
  return outputs;
}

std::shared_ptr<media::DecodingDevice> DeviceFrames::decoding_device() const {
  auto lent = std::make_shared<LentDevice>(parts_.device, parts_.frames, transfers_);
  return lent->has_handles() ? lent : nullptr;
}

media::Frame DeviceFrames::on_host(const media::Frame& frame) const {
  const std::lock_guard lock(downloading_);
  if (downloads_ == nullptr) downloads_ = parts_.device.make_queue();
  // Both planes are in one allocation, and the last row may end with its last pixel.
  const int64_t chroma = frame.planes[1].data - frame.planes[0].data;
  if (chroma < 0) fail_internal("a decoded frame does not lie in one piece");
  const int64_t bytes = chroma + frame.planes[1].stride * (media::plane_height(frame, 1) - 1) +
                        2 * media::plane_width(frame, 1);
  if (frame_landing_.bytes < bytes) frame_landing_ = parts_.frames.allocate_staging(bytes);
  const tensor::Buffer from{.place = parts_.device.place(),
                            .data = reinterpret_cast<std::byte*>(const_cast<uint8_t*>(frame.planes[0].data)),
                            .bytes = bytes,
                            .owner = nullptr};
  parts_.device.copy(from, frame_landing_, downloads_.get());
  if (downloads_ != nullptr) downloads_->synchronize();
  transfers_->add(Transfer::kDecodedToHost, 1, bytes);
  const auto* landed = reinterpret_cast<const uint8_t*>(frame_landing_.data);
  return media::planar_of_nv12(frame, {landed, landed + chroma});
}

FrameBinding bind_frames(backend::Executable& executable, tensor::Place place, const tensor::Shape& shape,
                         const engine::FrameTarget& target) {
  if (place.kind == tensor::PlaceKind::kCpu) return {nullptr, "the network runs there"};
  try {
    const engine::Device& device = device::find_device(place);
    const auto* frames = dynamic_cast<const engine::FrameDevice*>(&device);
    if (frames == nullptr) return {nullptr, fmt::format("{} takes no frames", device.name())};
    DeviceFrames::Parts parts{.device = device, .frames = *frames};
    parts.filler = frames->make_frame_filler(target);
    if (parts.filler == nullptr)
      return {nullptr, fmt::format("{} fills no input of {} from frames", device.name(),
                                   tensor::dtype_name(target.dtype))};
    parts.exchange = std::make_unique<backend::DeviceExchange>(place);
    parts.queue = device.wrap_queue(parts.exchange->stream());
    parts.input = {.dtype = target.dtype, .shape = shape};
    parts.images = shape.size() == 4 ? shape.front() : 1;
    parts.input.buffer = parts.exchange->allocate(bytes_of(parts.input));
    backend::Bound bound = executable.bind({&parts.input, 1}, *parts.exchange);
    if (bound.refusal) return {nullptr, std::move(bound.refusal)};
    parts.runs = std::move(bound.runs);
    return {std::make_unique<DeviceFrames>(std::move(parts)), {}};
  } catch (const LostDevice&) {
    throw;
  } catch (const Error& error) {
    // There may be no memory for a second execution, or no kernel of hone's for the GPU of another backend.
    if (error.kind() != ErrorKind::kEnvironment) throw;
    return {nullptr, error.what()};
  }
}

}  // namespace hone::task
