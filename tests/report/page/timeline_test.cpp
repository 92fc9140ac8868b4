// The page's timeline: tracks, rows, links, merging, and numbers that decode to what they were.
#include "report/page/timeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "analysis/questions/critical_path.hpp"

namespace hone::report {
namespace {

using trace::DeviceKind;
using trace::HostKind;
using trace::Trace;

/// Two nested ranges, a launch in the inner one, the kernel, a copy, and a counter.
Trace small_trace() {
  Trace trace;
  trace.devices.push_back({0, trace.strings.intern("H200"), 0, 9, 0, 132, 32, 2048});
  const int32_t thread = trace.thread_index(42, 43);
  const auto range = [&](trace::Time start, trace::Time end, const char* name, HostKind kind) {
    trace.host_events.push_back({start, end, kind, trace.strings.intern(name), thread});
  };
  range(1000, 9000, "step", HostKind::kStep);
  range(2000, 5000, "layer", HostKind::kRange);
  range(2100, 2200, "cudaLaunchKernel_v7000", HostKind::kRuntimeApi);
  trace.host_events.back().correlation = 7;
  range(4000, 6500, "cudaDeviceSynchronize", HostKind::kRuntimeApi);
  trace.host_events.back().correlation = 8;
  trace.synchronizations.push_back(
      {4000, 6500, trace::SyncKind::kContextSynchronize, 0, 1, trace::kNone, trace::kNone, trace::kNone, 8});
  trace.launches.push_back({{4, 1, 1}, {128, 1, 1}});
  trace.device_events.push_back({3000, 6000, DeviceKind::kKernel, trace.strings.intern("gemm"), 0, 1, 7, 7});
  trace.device_events.back().detail = 0;
  trace.transfers.push_back({512, trace::CopyDirection::kDeviceToHost});
  trace.device_events.push_back({6100, 6200, DeviceKind::kCopy, trace.strings.intern("copy"), 0, 1, 8});
  trace.device_events.back().detail = 0;
  trace.counter_samples.push_back({4000, trace.strings.intern("power"), 0, 321.5});
  normalize(trace);
  return trace;
}

Timeline make_timeline(const Trace& trace, const analysis::CriticalPath& path,
                       const TimelineOptions& options = {}) {
  return TimelineSource(trace, path).window(options);
}

template <class T>
std::vector<T> column(const Timeline& timeline, const std::string& name) {
  for (const TimelineColumn& column : timeline.columns) {
    if (column.name != name) continue;
    std::vector<T> values(static_cast<size_t>(column.count));
    if (!values.empty())
      std::memcpy(values.data(), timeline.blob.data() + column.offset, values.size() * sizeof(T));
    return values;
  }
  ADD_FAILURE() << "no column " << name;
  return {};
}

/// Starts from the origin, as the page computes them.
std::vector<int64_t> starts(const Timeline& timeline) {
  const auto low = column<uint32_t>(timeline, "start_lo");
  const auto high = column<uint16_t>(timeline, "start_hi");
  std::vector<int64_t> result;
  for (const TimelineTrack& track : timeline.tracks) {
    if (track.kind == "counter") continue;
    int64_t at = 0;
    for (int64_t i = track.first; i < track.first + track.count; ++i) {
      at += static_cast<int64_t>(high[static_cast<size_t>(i)]) << 32 | low[static_cast<size_t>(i)];
      result.push_back(at);
    }
  }
  return result;
}

std::vector<std::string> names(const Timeline& timeline) {
  std::vector<std::string> result;
  for (const uint32_t name : column<uint32_t>(timeline, "name")) result.push_back(timeline.strings.at(name));
  return result;
}

TEST(Timeline, HasATrackForEachStreamAndEachPartOfAThread) {
  const Timeline timeline = make_timeline(small_trace(), {});
  std::vector<std::string> tracks;
  for (const TimelineTrack& track : timeline.tracks)
    tracks.push_back(track.group + "|" + track.name + "|" + track.kind);
  EXPECT_THAT(tracks,
              ::testing::ElementsAre("GPU 0 · H200|stream 7|stream", "GPU 0 · H200|stream 8|stream",
                                     "process 42|thread 43|ranges", "process 42|thread 43 · CUDA API|api",
                                     "GPU 0 counters|power|counter"));
  EXPECT_EQ(timeline.tracks[2].depth, 2);
  EXPECT_TRUE(timeline.complete());
}

TEST(Timeline, NumbersDecodeToWhatTheyWere) {
  const Timeline timeline = make_timeline(small_trace(), {});
  EXPECT_EQ(timeline.origin, 1000);
  EXPECT_EQ(timeline.duration, 8000);
  EXPECT_THAT(names(timeline), ::testing::ElementsAre("gemm", "copy", "step", "layer", "cudaLaunchKernel",
                                                      "cudaDeviceSynchronize"));
  EXPECT_THAT(starts(timeline), ::testing::ElementsAre(2000, 5100, 0, 1000, 1100, 3000));
  EXPECT_THAT(column<uint32_t>(timeline, "duration_lo"),
              ::testing::ElementsAre(3000, 100, 8000, 3000, 100, 2500));
  EXPECT_THAT(column<uint16_t>(timeline, "depth"), ::testing::ElementsAre(0, 0, 0, 1, 0, 0));
  EXPECT_THAT(column<double>(timeline, "value"), ::testing::ElementsAre(321.5));
  for (const TimelineColumn& column : timeline.columns) EXPECT_EQ(column.offset % 8, 0) << column.name;
}

TEST(Timeline, KernelsPointAtTheirLaunchAndTellTheirShape) {
  const Timeline timeline = make_timeline(small_trace(), {});
  EXPECT_THAT(column<int32_t>(timeline, "link"), ::testing::ElementsAre(4, -1, -1, -1, -1, -1));
  const auto details = column<uint32_t>(timeline, "detail");
  ASSERT_EQ(details[0], 1U);
  EXPECT_EQ(timeline.details[0]["grid"], Json({4, 1, 1}));
  EXPECT_EQ(timeline.details[details[1] - 1]["direction"], "DtoH");
}

TEST(Timeline, HighlightsTheCriticalPath) {
  const Trace trace = small_trace();
  const Timeline timeline = make_timeline(trace, analysis::critical_path(trace));
  EXPECT_EQ(column<uint8_t>(timeline, "flags")[0] & 1, 1);
  trace::Time covered = 0;
  for (const TimelineSegment& segment : timeline.path) covered += segment.end - segment.start;
  EXPECT_EQ(covered, timeline.duration);
}

TEST(Timeline, MergesWhatIsShorterThanAPixel) {
  Trace trace;
  const int32_t thread = trace.thread_index(1, 1);
  for (int i = 0; i < 1000; ++i)
    trace.host_events.push_back(
        {i * 10, i * 10 + 5, HostKind::kRuntimeApi, trace.strings.intern("a"), thread});
  trace.host_events.push_back({20'000, 30'000, HostKind::kRuntimeApi, trace.strings.intern("b"), thread});
  normalize(trace);
  const Timeline timeline = make_timeline(trace, {}, {.pixels = 100});
  EXPECT_FALSE(timeline.complete());
  EXPECT_THAT(names(timeline), ::testing::ElementsAre("a", "b"));
  EXPECT_THAT(column<uint32_t>(timeline, "merged"), ::testing::ElementsAre(1000, 1));
  EXPECT_THAT(column<uint8_t>(timeline, "flags"), ::testing::ElementsAre(2, 0));
  EXPECT_THAT(column<uint32_t>(timeline, "duration_lo"), ::testing::ElementsAre(9995, 10'000));
}

TEST(Timeline, KernelsThatOverlapTakeTurnsInTwoRows) {
  Trace trace;
  for (int i = 0; i < 50; ++i)
    trace.device_events.push_back(
        {i * 100, i * 100 + 120, DeviceKind::kKernel, trace.strings.intern("k"), 0, 1, 7});
  normalize(trace);
  EXPECT_EQ(make_timeline(trace, {}).tracks[0].depth, 2);
}

TEST(Timeline, CallsStandBelowAllThatGoOn) {
  Trace trace;
  const int32_t thread = trace.thread_index(1, 1);
  const std::vector<std::pair<int, int>> spans = {{0, 50}, {10, 100}, {60, 70}, {110, 120}};
  for (const auto& [start, end] : spans)
    trace.host_events.push_back({start, end, HostKind::kRange, trace.strings.intern("r"), thread});
  normalize(trace);
  EXPECT_THAT(column<uint16_t>(make_timeline(trace, {}), "depth"), ::testing::ElementsAre(0, 1, 2, 0));
}

TEST(Timeline, HoldsOnlyWhatTouchesItsWindow) {
  const Timeline timeline = make_timeline(small_trace(), {}, {.from = 5050, .to = 5400});
  EXPECT_THAT(names(timeline), ::testing::ElementsAre("copy", "step", "cudaDeviceSynchronize"));
  EXPECT_EQ(timeline.from, 5050);
}

TEST(Timeline, AnEventHasTheSameRowInEveryWindow) {
  Trace trace;
  const int32_t thread = trace.thread_index(1, 1);
  const std::vector<std::pair<int, int>> spans = {{0, 500}, {10, 20}, {600, 900}, {610, 800}, {620, 700}};
  for (const auto& [start, end] : spans)
    trace.host_events.push_back({start, end, HostKind::kRange, trace.strings.intern("r"), thread});
  for (int i = 0; i < 3; ++i)
    trace.device_events.push_back(
        {i * 100, i * 100 + 350, DeviceKind::kKernel, trace.strings.intern("k"), 0, 1, 7});
  normalize(trace);
  const analysis::CriticalPath path;
  const TimelineSource source(trace, path);
  EXPECT_THAT(column<uint16_t>(source.window(), "depth"), ::testing::ElementsAre(0, 1, 2, 0, 1, 0, 1, 2));
  const Timeline later = source.window({.from = 400, .to = 650});
  EXPECT_THAT(column<uint16_t>(later, "depth"), ::testing::ElementsAre(1, 2, 0, 0, 1, 2));
  EXPECT_EQ(later.tracks[0].depth, 3);
}

TEST(Timeline, CountersAreThoseOfTheWindow) {
  Trace trace = small_trace();
  const trace::StringId power = trace.strings.intern("power");
  for (int i = 1; i <= 50; ++i) trace.counter_samples.push_back({4000 + i * 10, power, 0, 1.0 * i});
  normalize(trace);
  const Timeline timeline = make_timeline(trace, {}, {.from = 3205, .to = 3230});
  // The first holds as the window begins.
  EXPECT_THAT(column<double>(timeline, "value"), ::testing::ElementsAre(20, 21, 22, 23));
  EXPECT_THAT(column<uint32_t>(timeline, "time_lo"), ::testing::ElementsAre(3200, 10, 10, 10));
}

TEST(Timeline, DenseCountersKeepTheirSmallestAndLargest) {
  Trace trace = small_trace();
  const trace::StringId power = trace.strings.intern("noise");
  for (int i = 0; i < 8000; ++i)
    trace.counter_samples.push_back({1000 + i, power, 0, i == 4321 ? 9.0 : i == 4330 ? -9.0 : 1.0 * (i % 2)});
  normalize(trace);
  const Timeline timeline = make_timeline(trace, {}, {.pixels = 80});
  EXPECT_EQ(timeline.resolution, 100);
  const auto values = column<double>(timeline, "value");
  EXPECT_EQ(values.size(), 80 * 2 + 1U);  // and one of power
  EXPECT_THAT(values, ::testing::IsSupersetOf({9.0, -9.0}));
}

TEST(Timeline, ManySamplesCountAsManyEvents) {
  Trace trace;
  const trace::StringId power = trace.strings.intern("noise");
  for (int i = 0; i < 100'000; ++i) trace.counter_samples.push_back({i, power, 0, 1.0 * i});
  trace.device_events.push_back({0, 100'000, DeviceKind::kKernel, trace.strings.intern("k"), 0, 1, 7});
  normalize(trace);
  EXPECT_TRUE(make_timeline(trace, {}).complete());
  const Timeline timeline = make_timeline(trace, {}, {.most_events = 50'000});
  EXPECT_FALSE(timeline.complete());
  EXPECT_LE(std::ssize(column<double>(timeline, "value")), 2 * (100'000 / timeline.resolution + 1));
}

TEST(Timeline, OfNothingIsEmpty) {
  const Timeline timeline = make_timeline(Trace(), {});
  EXPECT_TRUE(timeline.tracks.empty());
  EXPECT_EQ(timeline.duration, 0);
}

}  // namespace
}  // namespace hone::report
