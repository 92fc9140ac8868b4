// Frames that a device turns into a network's input: the same numbers, order and results as on the host, in
// bounded memory.
#include "task/device_frames.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "import/image/preprocess.hpp"
#include "media/planar.hpp"
#include "task/frame_device.hpp"
#include "task/frame_feed.hpp"
#include "task/preprocess.hpp"

namespace hone::task {
namespace {

using media::PixelFormat;
using test::FrameDevice;
using test::LoopFiller;

media::Frame noise(PixelFormat format, int64_t width, int64_t height, unsigned seed = 7) {
  media::Frame like;
  like.format = format;
  like.full_range = false;
  media::WritableFrame frame = media::blank_like(like, width, height);
  std::mt19937 generator(seed);
  for (int64_t plane = 0; plane < media::plane_count(format); ++plane) {
    const auto index = static_cast<size_t>(plane);
    const int64_t bytes = frame.frame.planes[index].stride * media::plane_height(frame.frame, plane);
    std::generate_n(frame.data[index], bytes, [&] { return static_cast<uint8_t>(generator() >> 20); });
  }
  return frame.frame;
}

/// Its output is its input.
class Echo final : public backend::BoundRuns {
 public:
  explicit Echo(tensor::TensorView input) : outputs_{std::move(input)} {}
  void submit() override {}
  const std::vector<tensor::TensorView>& outputs() const override { return outputs_; }

 private:
  std::vector<tensor::TensorView> outputs_;
};

ImageInput input_of(int64_t batch, bool channels_last) {
  ImageInput input;
  input.batch = batch;
  input.width = 64;
  input.height = 48;
  input.channels_last = channels_last;
  return input;
}

std::unique_ptr<DeviceFrames> echo_on(const FrameDevice& device, const ImageInput& input,
                                      const engine::FrameTarget& target) {
  DeviceFrames::Parts parts{.device = device, .frames = device};
  parts.input = tensor::view_of(tensor::Tensor(tensor::DType::kFloat32, input.shape()));
  parts.images = input.batch;
  parts.filler = device.make_frame_filler(target);
  parts.runs = std::make_unique<Echo>(parts.input);
  return std::make_unique<DeviceFrames>(std::move(parts));
}

/// A batch of three with frames for two.
void expect_what_the_host_fills(const std::vector<media::Frame>& frames, const InputForm& form,
                                bool channels_last) {
  const FrameDevice device;
  const ImageInput input = input_of(3, channels_last);
  const Preprocessor preprocessor(input, form, {}, {});
  const auto on_device = echo_on(device, input, preprocessor.target());
  std::vector<FrameJob> jobs;
  std::vector<float> wanted;
  for (size_t i = 0; i < 3; ++i) {
    const media::Frame& frame = frames[std::min(i, frames.size() - 1)];
    const Geometry geometry = preprocessor.place(frame.width, frame.height);
    std::vector<float> image(static_cast<size_t>(3 * input.width * input.height));
    preprocessor.fill(frame, geometry, image.data());
    wanted.insert(wanted.end(), image.begin(), image.end());
    if (i < frames.size())
      jobs.push_back({&frame, std::make_shared<FrameForm>(preprocessor.form_of(frame, geometry))});
  }
  const auto found = on_device->run(on_device->upload(jobs)).at(0);
  EXPECT_THAT(found.values<float>(), testing::ElementsAreArray(wanted));
}

TEST(DeviceFrames, FillWhatTheHostFills) {
  for (const PixelFormat format : {PixelFormat::kRgb24, PixelFormat::kYuv420}) {
    const std::vector<media::Frame> frames{noise(format, 97, 55), noise(format, 33, 65, 8)};
    for (const Fit fit : {Fit::kStretch, Fit::kLetterbox, Fit::kCorner, Fit::kDarknet})
      for (const bool channels_last : {false, true})
        expect_what_the_host_fills(frames, {fit, 114, channels_last, 1.0f / 255, true}, channels_last);
    InputForm antialiased{Fit::kStretch, 0, false, 1, false};
    antialiased.antialias = true;
    expect_what_the_host_fills(frames, antialiased, false);
  }
}

TEST(DeviceFrames, CutAndResizeAsClassifiersDo) {
  const FrameDevice device;
  const ImageInput input = input_of(1, false);
  importer::Preprocessing preprocessing;
  preprocessing.resize = 50;
  engine::FrameTarget target = target_of(input);
  for (size_t c = 0; c < 3; ++c)
    target.levels[c] = importer::level_values(preprocessing, static_cast<int64_t>(c), 3);
  const auto on_device = echo_on(device, input, target);
  const media::Frame frame = noise(PixelFormat::kYuv420, 131, 97);
  const importer::Image resized = importer::resize_image(media::interleaved(media::to_rgb(frame)), 67, 50);
  const auto form = std::make_shared<FrameForm>(antialiased_form(frame, {67, 2, 64}, {50, 1, 48}, 0, 0));
  const FrameJob job{&frame, form};
  const auto found = on_device->run(on_device->upload({&job, 1})).at(0);
  const auto values = found.values<float>();
  for (size_t c = 0; c < 3; ++c)
    for (size_t y = 0; y < 48; ++y)
      for (size_t x = 0; x < 64; ++x)
        ASSERT_EQ(values[(c * 48 + y) * 64 + x],
                  target.levels[c][resized.pixels[((y + 1) * 67 + x + 2) * 3 + c]])
            << c << ", " << x << ", " << y;
}

TEST(DeviceFrames, KeepOrderInBoundedMemory) {
  const FrameDevice device;
  const ImageInput input = input_of(1, false);
  const Preprocessor preprocessor(input, {Fit::kStretch, 0, false, 1, false}, {}, {});
  const auto on_device = echo_on(device, input, preprocessor.target());
  const auto upload = [&](unsigned seed) {
    const media::Frame frame = noise(PixelFormat::kYuv420, 64, 48, seed);
    const FrameJob job{&frame,
                       std::make_shared<FrameForm>(preprocessor.form_of(frame, preprocessor.place(64, 48)))};
    return on_device->upload({&job, 1});
  };
  std::vector<DeviceFrames::Upload> waiting;
  for (unsigned seed = 0; seed < DeviceFrames::kSlots; ++seed) waiting.push_back(upload(seed));
  EXPECT_THROW(upload(99), Error) << "more than there is room for";
  const int allocations = device.allocations;
  const int64_t bytes = on_device->bytes();
  EXPECT_GT(bytes, 0);
  for (unsigned seed = 0; seed < 50; ++seed) {
    const media::Frame frame = noise(PixelFormat::kYuv420, 64, 48, seed);
    std::vector<float> wanted(3 * 64 * 48);
    preprocessor.fill(frame, preprocessor.place(64, 48), wanted.data());
    const auto found = on_device->run(waiting.front()).at(0);
    ASSERT_THAT(found.values<float>(), testing::ElementsAreArray(wanted)) << seed;
    waiting.erase(waiting.begin());
    waiting.push_back(upload(seed + DeviceFrames::kSlots));
  }
  EXPECT_EQ(device.allocations, allocations);
  EXPECT_EQ(on_device->bytes(), bytes);
}

/// As a GPU's decoder leaves a frame: both of chroma in one plane, rows longer than what is in them.
media::Frame decoded_on_device(const media::Frame& planar) {
  constexpr int64_t kStride = 256;
  const int64_t chroma_rows = media::plane_height(planar, 1);
  const auto memory = std::make_shared<std::vector<uint8_t>>(
      static_cast<size_t>(kStride * (planar.height + chroma_rows)), uint8_t{0xee});
  for (int64_t y = 0; y < planar.height; ++y)
    std::copy_n(planar.planes[0].data + y * planar.planes[0].stride, planar.width,
                memory->data() + y * kStride);
  uint8_t* chroma = memory->data() + kStride * planar.height;
  for (int64_t y = 0; y < chroma_rows; ++y)
    for (int64_t x = 0; x < media::plane_width(planar, 1); ++x)
      for (size_t p = 1; p <= 2; ++p)
        chroma[y * kStride + 2 * x + static_cast<int64_t>(p) - 1] =
            planar.planes[p].data[y * planar.planes[p].stride + x];
  media::Frame frame = planar;
  frame.format = PixelFormat::kNv12;
  frame.on_device = true;
  frame.planes = {{{memory->data(), kStride}, {chroma, kStride}, {}}};
  frame.owner = memory;
  return frame;
}

TEST(DeviceFrames, TakeFramesThatAreThereAlready) {
  const FrameDevice device;
  const ImageInput input = input_of(2, false);
  const Preprocessor preprocessor(input, {Fit::kLetterbox, 114, false, 1, false}, {}, {});
  const auto on_device = echo_on(device, input, preprocessor.target());
  for (const auto& [width, height] : {std::pair{97, 55}, {64, 48}}) {
    const media::Frame planar = noise(PixelFormat::kYuv420, width, height);
    const Geometry geometry = preprocessor.place(width, height);
    std::vector<float> wanted(static_cast<size_t>(3 * input.width * input.height));
    preprocessor.fill(planar, geometry, wanted.data());
    // One that is there beside one that comes from the host.
    media::Frame decoded = decoded_on_device(planar);
    const std::weak_ptr<const void> memory = decoded.owner;
    const auto form_of = [&](const media::Frame& frame) {
      return std::make_shared<FrameForm>(preprocessor.form_of(frame, geometry));
    };
    {
      const FrameJob jobs[] = {{&decoded, form_of(decoded)}, {&planar, form_of(planar)}};
      const auto upload = on_device->upload(jobs);
      decoded = {};
      EXPECT_FALSE(memory.expired()) << "the device still reads it";
      const tensor::Tensor filled = on_device->run(upload).at(0);
      const auto found = filled.values<float>();
      EXPECT_THAT(found.subspan(0, wanted.size()), testing::ElementsAreArray(wanted));
      EXPECT_THAT(found.subspan(wanted.size()), testing::ElementsAreArray(wanted));
    }
    EXPECT_TRUE(memory.expired()) << "the decoder may use it again";
  }
  // One frame of each batch came from the host, in one copy with the tables.
  const TransferCounts& transfers = on_device->transfers();
  EXPECT_EQ(transfers.of(Transfer::kDecodedToDevice).copies, 2);
  EXPECT_EQ(transfers.of(Transfer::kDecodedToDevice).bytes, 97 * 55 + 2 * 49 * 28 + 64 * 48 * 3 / 2);
  EXPECT_EQ(transfers.of(Transfer::kTablesToDevice).copies, 0);
  EXPECT_EQ(transfers.of(Transfer::kDecodedToHost).bytes, 0);
}

TEST(DeviceFrames, BringFramesToTheHost) {
  const FrameDevice device;
  const ImageInput input = input_of(1, false);
  const Preprocessor preprocessor(input, {Fit::kStretch, 0, false, 1, false}, {}, {});
  const auto on_device = echo_on(device, input, preprocessor.target());
  EXPECT_EQ(on_device->decoding_device(), nullptr) << "it has no driver";
  for (const auto& [width, height] : {std::pair{96, 54}, {97, 55}, {1, 1}}) {
    media::Frame planar = noise(PixelFormat::kYuv420, width, height);
    planar.matrix = media::ColourMatrix::kBt709;
    planar.seconds = 1.5;
    const media::Frame found = on_device->on_host(decoded_on_device(planar));
    EXPECT_FALSE(found.on_device);
    EXPECT_EQ(found.format, PixelFormat::kYuv420);
    EXPECT_EQ(found.matrix, planar.matrix);
    EXPECT_EQ(found.seconds, planar.seconds);
    for (int64_t p = 0; p < 3; ++p)
      for (int64_t y = 0; y < media::plane_height(planar, p); ++y)
        for (int64_t x = 0; x < media::plane_width(planar, p); ++x) {
          const auto index = static_cast<size_t>(p);
          ASSERT_EQ(found.planes[index].data[y * found.planes[index].stride + x],
                    planar.planes[index].data[y * planar.planes[index].stride + x])
              << "plane " << p << " at " << x << ", " << y;
        }
  }
  EXPECT_EQ(on_device->transfers().of(Transfer::kDecodedToHost).copies, 3) << "one for each frame";
}

TEST(DeviceFrames, LendMemoryThatFramesTakeTurnsWith) {
  FrameDevice device;
  device.driver = &device;
  const ImageInput input = input_of(1, false);
  const Preprocessor preprocessor(input, {Fit::kStretch, 0, false, 1, false}, {}, {});
  const auto on_device = echo_on(device, input, preprocessor.target());
  auto lent = on_device->decoding_device();
  ASSERT_NE(lent, nullptr);
  EXPECT_EQ(lent->name(), "fake");
  EXPECT_EQ(lent->context(), &device);
  const int before = device.allocations;
  std::vector<std::byte> picture(1000);
  std::vector<std::byte> picture_chroma(500);
  const std::array<std::span<const std::byte>, 2> planes{picture, picture_chroma};
  for (int i = 0; i < 50; ++i) {
    std::ranges::fill(picture, static_cast<std::byte>(i));
    std::ranges::fill(picture_chroma, static_cast<std::byte>(2 * i));
    const auto both = lent->copy(planes);
    std::ranges::fill(picture, std::byte{255});
    EXPECT_EQ(both.get()[999], static_cast<std::byte>(i));
    EXPECT_EQ(both.get()[1000], static_cast<std::byte>(2 * i)) << "in one piece";
    EXPECT_EQ(both.get()[1499], static_cast<std::byte>(2 * i));
  }
  EXPECT_EQ(device.allocations, before + 1);
  const Traffic traffic = on_device->transfers().of(Transfer::kDecodedOnDevice);
  EXPECT_EQ(traffic.copies, 2 * 50);
  EXPECT_EQ(traffic.bytes, 1500 * 50);
  // A frame may outlive what lent it.
  auto kept = lent->copy(planes);
  lent.reset();
  EXPECT_EQ(kept.get()[0], std::byte{255});
}

TEST(Transfers, HaveARowForEachKindAndForFramesThatStayed) {
  TransferCounts counts;
  AllTraffic traffic{};
  EXPECT_TRUE(report_transfers(traffic, 10).empty());
  counts.add(Transfer::kDecodedOnDevice, 20, 3000);
  counts.add(Transfer::kTablesToDevice, 10, 500);
  add_traffic(counts, &traffic);
  add_traffic(counts, &traffic);
  const std::vector<TransferReport> rows = report_transfers(traffic, 10);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].direction, "on_device");
  EXPECT_EQ(rows[0].bytes_a_frame, 600);
  EXPECT_EQ(rows[1].what, "tables");
  EXPECT_EQ(rows[1].copies_a_frame, 2);
  EXPECT_EQ(rows[2].what, "decoded frames");
  EXPECT_EQ(rows[2].direction, "to_host");
  EXPECT_EQ(rows[2].copies, 0);
  EXPECT_EQ(rows[2].bytes, 0);
}

TEST(FrameFeed, SaysWhereFramesWerePreprocessed) {
  const FrameDevice device;
  const ImageInput input = input_of(1, false);
  const Preprocessor preprocessor(input, {Fit::kStretch, 0, false, 1, false}, {}, {});
  std::vector<FrameBinding> bindings(1);
  bindings[0].frames = echo_on(device, input, preprocessor.target());
  FrameFeed feed(std::move(bindings));
  const auto takes = [&](PixelFormat format) {
    const media::Frame frame = noise(format, 32, 32);
    const media::Frame* const pointer = &frame;
    const auto make = [&](size_t) { return preprocessor.form_of(frame, preprocessor.place(32, 32)); };
    return feed.upload(0, {&pointer, 1}, make).has_value();
  };
  EXPECT_TRUE(takes(PixelFormat::kYuv420));
  EXPECT_EQ(feed.text(), "on fake");
  EXPECT_FALSE(takes(PixelFormat::kYuv444));
  EXPECT_EQ(feed.text(), "on fake, but 1 of 2 on the CPU: frames are 4:4:4");
  EXPECT_FALSE(takes(PixelFormat::kGray));
  EXPECT_EQ(feed.text(), "on fake, but 2 of 3 on the CPU: frames are 4:4:4");
  // One stream without room is enough.
  std::vector<FrameBinding> short_of_room(2);
  short_of_room[0].frames = echo_on(device, input, preprocessor.target());
  short_of_room[1].refusal = "there is no room";
  FrameFeed refused(std::move(short_of_room));
  EXPECT_FALSE(refused.has_device());
  EXPECT_EQ(refused.text(), "on the CPU: there is no room");
}

}  // namespace
}  // namespace hone::task
