// The pipeline with a device that preprocesses: what is found does not change, and a failure there ends it in
// one sentence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/plugin.hpp"
#include "task/classify.hpp"
#include "task/detect.hpp"
#include "task/frame_device.hpp"

namespace hone::task {
namespace {

namespace fs = std::filesystem;
using test::FrameDevice;

constexpr int64_t kFrames = 10;
const std::string kShapes = std::string(HONE_SOURCE_DIR) + "/models/shapes/";

bool reads_videos() {
  try {
    base::plugin_file("video");
    return true;
  } catch (const Error&) {
    return false;
  }
}

DetectRequest request_on(const FrameDevice* device, int64_t batch, int streams = 1) {
  DetectRequest request;
  request.detector.network.model = kShapes + "shapes.cfg";
  request.detector.network.load.weights = kShapes + "shapes.weights";
  request.detector.network.batch = batch;
  request.detector.network.streams = streams;
  request.detector.network.bind_frames = device == nullptr ? BindFrames() : test::binds_to(*device);
  request.input = kShapes + "shapes.mp4";
  request.most_frames = kFrames;
  return request;
}

struct Found {
  std::string text;
  DetectOutcome outcome;
};

Found found_on(const FrameDevice* device, int64_t batch, int streams = 1) {
  Found found;
  DetectRequest request = request_on(device, batch, streams);
  request.results = [&](std::string_view text) { found.text += text; };
  found.outcome = detect(request);
  return found;
}

TEST(DetectOnADevice, FindsWhatTheHostFinds) {
  if (!reads_videos()) GTEST_SKIP() << "libhone-video.so is not built";
  for (const int64_t batch : {1, 4}) {
    const FrameDevice device;
    const Found on_host = found_on(nullptr, batch);
    const Found on_device = found_on(&device, batch);
    EXPECT_EQ(on_host.outcome.preprocessing, "on the CPU: --preprocess cpu");
    EXPECT_EQ(on_device.outcome.preprocessing, "on fake");
    EXPECT_EQ(on_device.outcome.report.frames, kFrames);
    EXPECT_GT(on_device.outcome.report.detections, 0);
    // To the bit, in order.
    EXPECT_EQ(on_device.text, on_host.text);
    const int64_t batches = (kFrames + batch - 1) / batch;
    EXPECT_EQ(device.fills, batches * batch);
    EXPECT_TRUE(on_host.outcome.report.transfers.empty());
    // Frames go there in one copy a batch, and nothing but boxes comes back.
    std::vector<std::string> rows;
    for (const TransferReport& row : on_device.outcome.report.transfers)
      rows.push_back(fmt::format("{} {} {}", row.what, row.direction, row.copies));
    EXPECT_THAT(rows, testing::ElementsAre(fmt::format("decoded frames to_device {}", batches),
                                           "tables to_device 0", fmt::format("boxes to_host {}", batches)));
    EXPECT_EQ(on_device.outcome.report.transfers[0].bytes, kFrames * 960 * 540 * 3 / 2);
    EXPECT_EQ(on_device.outcome.report.transfers[2].bytes, batches * batch * engine::BoxList::bytes(300));
    // And the boxes that are found, with their candidates.
    EXPECT_LE(device.allocations, 2 + static_cast<int>(DeviceFrames::kSlots));
  }
}

/// Detections of all frames, found by the host or the device.
Found found_by(bool device_finds, float threshold, int* searches) {
  const FrameDevice device;
  Found found;
  DetectRequest request = request_on(&device, 4);
  request.detector.find_on_device = device_finds;
  request.detector.threshold = threshold;
  request.results = [&](std::string_view text) { found.text += text; };
  found.outcome = detect(request);
  *searches = device.searches;
  return found;
}

TEST(DetectOnADevice, FindsTheBoxesThereThatTheHostWould) {
  if (!reads_videos()) GTEST_SKIP() << "libhone-video.so is not built";
  // With the lowest threshold there are more candidates than fit: the host gets all outputs then.
  for (const float threshold : {0.25f, 0.9f, 0.0f}) {
    int searches = 0;
    const Found by_host = found_by(false, threshold, &searches);
    EXPECT_EQ(searches, 0);
    const Found by_device = found_by(true, threshold, &searches);
    EXPECT_GT(searches, 0);
    EXPECT_EQ(by_device.text, by_host.text) << threshold;
    EXPECT_GT(by_host.outcome.report.detections, 0);
    EXPECT_THAT(by_device.outcome.notes, testing::Contains(testing::HasSubstr("found on the device")));
    EXPECT_THAT(by_host.outcome.notes, testing::Contains(testing::HasSubstr("found on the host: ")));
  }
}

TEST(DetectInStreams, FindsTheSameInTheSameOrder) {
  if (!reads_videos()) GTEST_SKIP() << "libhone-video.so is not built";
  for (const int64_t batch : {1, 4}) {
    const Found in_turn = found_on(nullptr, batch);
    for (const int streams : {2, 3, 7}) {
      const Found on_host = found_on(nullptr, batch, streams);
      EXPECT_EQ(on_host.text, in_turn.text) << streams << " streams, batch " << batch;
      EXPECT_EQ(on_host.outcome.report.streams, streams);
      EXPECT_EQ(on_host.outcome.report.frames, kFrames);
      const FrameDevice device;
      EXPECT_EQ(found_on(&device, batch, streams).text, in_turn.text);
      EXPECT_LE(device.allocations, streams * (2 + static_cast<int>(DeviceFrames::kSlots)));
    }
  }
}

TEST(DetectInStreams, KeepsAThreadAndItsSpansForEach) {
  if (!reads_videos()) GTEST_SKIP() << "libhone-video.so is not built";
  DetectRequest request = request_on(nullptr, 1, 2);
  request.timeline = true;
  const DetectOutcome outcome = detect(request);
  std::vector<int64_t> frames;
  std::set<int64_t> threads;
  for (const StageTimes& stage : outcome.timeline) {
    if (stage.name != "infer") continue;
    threads.insert(stage.thread);
    for (const StageSpan& span : stage.spans) frames.push_back(span.frame);
  }
  EXPECT_EQ(threads.size(), 2u);
  EXPECT_THAT(frames, testing::ElementsAre(0, 2, 4, 6, 8, 1, 3, 5, 7, 9));
}

TEST(DetectInStreams, AFailureInOneEndsAll) {
  if (!reads_videos()) GTEST_SKIP() << "libhone-video.so is not built";
  for (const int fails_at : {0, 3}) {
    const FrameDevice device(fails_at);
    EXPECT_THROW(found_on(&device, 1, 3), Error);
  }
}

TEST(DetectOnADevice, FailsInOneSentence) {
  if (!reads_videos()) GTEST_SKIP() << "libhone-video.so is not built";
  for (const int fails_at : {0, 3}) {
    const FrameDevice device(fails_at);
    try {
      found_on(&device, 1);
      FAIL() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
      EXPECT_THAT(error.what(), testing::HasSubstr("failed on the fake device"));
    }
  }
}

TEST(DetectOnADevice, AFailureElsewhereEndsItToo) {
  if (!reads_videos()) GTEST_SKIP() << "libhone-video.so is not built";
  const FrameDevice device;
  DetectRequest request = request_on(&device, 1);
  request.results = [](std::string_view) { fail_environment("the disk is full"); };
  EXPECT_THROW(detect(request), Error);
}

/// A darknet classifier with numbers that mean nothing.
fs::path write_classifier(const fs::path& folder) {
  std::ofstream(folder / "net.cfg") << "[net]\nwidth=32\nheight=32\nchannels=3\n"
                                       "[convolutional]\nfilters=5\nsize=3\nstride=2\nactivation=leaky\n"
                                       "[avgpool]\n[softmax]\n";
  std::ofstream weights(folder / "net.weights", std::ios::binary);
  const auto write = [&](auto value) { weights.write(reinterpret_cast<const char*>(&value), sizeof value); };
  for (const int32_t version : {0, 2, 5}) write(version);
  write(uint64_t{0});
  for (int i = 0; i < 5 + 5 * 3 * 9; ++i) write(0.1f * static_cast<float>(i * 37 % 19 - 9));
  return folder / "net.cfg";
}

std::vector<double> scores_on(const FrameDevice* device, const fs::path& model, int64_t batch,
                              std::optional<int64_t> resize, int streams = 1) {
  ClassifyRequest request;
  request.network.model = model.string();
  request.network.batch = batch;
  request.network.streams = streams;
  request.network.load.weights = (model.parent_path() / "net.weights").string();
  request.network.bind_frames = device == nullptr ? BindFrames() : test::binds_to(*device);
  request.input = kShapes + "shapes.mp4";
  request.preprocess.resize = resize;
  request.preprocess.crop = resize == 0 ? 0 : 32;
  std::atomic<bool> stop = false;
  request.stop = &stop;
  std::vector<double> scores;
  classify(request, [&](const ImageClasses& image) {
    for (const ClassScore& one : image.classes) scores.push_back(one.score);
    stop = image.frame >= kFrames;
  });
  return scores;
}

TEST(ClassifyOnADevice, GivesTheHostsScores) {
  if (!reads_videos()) GTEST_SKIP() << "libhone-video.so is not built";
  const fs::path folder = fs::path(testing::TempDir()) / "device_classifier";
  fs::create_directories(folder);
  const fs::path model = write_classifier(folder);
  for (const std::optional<int64_t> resize : {std::optional<int64_t>(), {40}, {0}}) {
    for (const int64_t batch : {1, 3}) {
      const FrameDevice device;
      const auto on_host = scores_on(nullptr, model, batch, resize);
      EXPECT_GE(on_host.size(), static_cast<size_t>(5 * kFrames));
      EXPECT_EQ(scores_on(&device, model, batch, resize), on_host);
      EXPECT_EQ(scores_on(&device, model, batch, resize, 3), on_host);
      EXPECT_EQ(scores_on(nullptr, model, batch, resize, 2), on_host);
      EXPECT_GT(device.fills, 0);
    }
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace hone::task
