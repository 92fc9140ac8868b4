// Fields of the page's document: schema hone.report.
#pragma once

#include "analysis/schema/trace_diff.hpp"
#include "base/partition_schema.hpp"
#include "bench/results/run_schema.hpp"
#include "report/page/document.hpp"

namespace hone::base {

template <>
struct Description<report::TimelineTrack> {
  using Track = report::TimelineTrack;
  static constexpr std::string_view kName = "TimelineTrack";
  static constexpr auto kFields =
      std::tuple{Field{"id", &Track::id, "Number of the track"},
                 Field{"group", &Track::group, "GPU or process"},
                 Field{"name", &Track::name, "Stream, thread or counter"},
                 Field{"kind", &Track::kind, "stream, ranges, api, sync, overhead or counter"},
                 Field{"first", &Track::first, "Its first event, or sample of a counter"},
                 Field{"count", &Track::count, "Events or samples", unit::kCount, origin::kMeasured},
                 Field{"depth", &Track::depth, "Rows that nested or overlapping events need", unit::kCount},
                 Field{"unit", &Track::unit, "Unit of a counter"}};
};

template <>
struct Description<report::TimelineSegment> {
  using Segment = report::TimelineSegment;
  static constexpr std::string_view kName = "TimelineSegment";
  static constexpr auto kFields =
      std::tuple{Field{"track", &Segment::track, "Number of the track"},
                 Field{"start_ns", &Segment::start, "From the origin", unit::kNs, origin::kEstimated},
                 Field{"end_ns", &Segment::end, "From the origin", unit::kNs, origin::kEstimated},
                 Field{"name", &Segment::name, "Call or operation: an index into strings"}};
};

template <>
struct Description<report::TimelineColumn> {
  using Column = report::TimelineColumn;
  static constexpr std::string_view kName = "TimelineColumn";
  static constexpr auto kFields =
      std::tuple{Field{"name", &Column::name, "Name of the column"},
                 Field{"type", &Column::type, "u8, u16, u32, i32 or f64, little-endian"},
                 Field{"offset", &Column::offset, "Where it begins", unit::kBytes},
                 Field{"count", &Column::count, "Numbers in it", unit::kCount}};
};

template <>
struct Description<report::Timeline> {
  using Timeline = report::Timeline;
  static constexpr std::string_view kName = "TimelineHeader";
  static constexpr auto kFields = std::tuple{
      Field{"origin_ns", &Timeline::origin, "Time of the trace that is 0 here", unit::kNs, origin::kMeasured},
      Field{"duration_ns", &Timeline::duration, "From the first to the last event", unit::kNs,
            origin::kMeasured},
      Field{"from_ns", &Timeline::from, "Begin of the window that events are from", unit::kNs},
      Field{"to_ns", &Timeline::to, "End of the window", unit::kNs},
      Field{"complete", &Timeline::complete, "True if no events are merged"},
      Field{"resolution_ns", &Timeline::resolution, "Events shorter than this are merged with neighbours",
            unit::kNs},
      Field{"strings", &Timeline::strings, "Names of events"},
      Field{"details", &Timeline::details, "Of launches, copies and operators"},
      Field{"tracks", &Timeline::tracks, "Streams, threads and counters"},
      Field{"path", &Timeline::path, "The critical path: its longest segments"},
      Field{"columns", &Timeline::columns, "Where the numbers of events lie"}};
};

template <>
struct Description<report::RunPair> {
  using Pair = report::RunPair;
  static constexpr std::string_view kName = "RunPair";
  static constexpr auto kFields =
      std::tuple_cat(extended(&Pair::run),
                     std::tuple{Field{"speedup", &Pair::speedup, "How fast the run is beside the other"}});
};

template <>
struct Description<report::ReportSweep> {
  using Sweep = report::ReportSweep;
  static constexpr std::string_view kName = "ReportSweep";
  static constexpr auto kFields =
      std::tuple{Field{"id", &Sweep::id, "Name for links"}, Field{"path", &Sweep::path, "File"},
                 Field{"sweep", &Sweep::sweep, "What the file holds"},
                 Field{"pairs", &Sweep::pairs, "Every two runs of a model and batch beside each other"}};
};

template <>
struct Description<report::ReportProfile> {
  using Profile = report::ReportProfile;
  static constexpr std::string_view kName = "Profile";
  static constexpr auto kFields = std::tuple{
      Field{"id", &Profile::id, "Name for links"},
      Field{"name", &Profile::name, "Name for people"},
      Field{"path", &Profile::path, "File"},
      Field{"metadata", &Profile::metadata, "Subject and settings of the recording"},
      Field{"analysis", &Profile::analysis, "Answers of hone analyze"},
      Field{"timeline", &Profile::timeline, "Events over time; their numbers lie next to the document"},
      Field{"ready", &Profile::ready, "False while hone view has yet to read the trace"}};
};

template <>
struct Description<report::ReportDiff> {
  using Diff = report::ReportDiff;
  static constexpr std::string_view kName = "ReportDiff";
  static constexpr auto kFields =
      std::tuple{Field{"a", &Diff::a, "A: the slower profile"}, Field{"b", &Diff::b, "B: the faster one"},
                 Field{"diff", &Diff::diff, "What hone diff A B says"}};
};

template <>
struct Description<report::ReportPartition> {
  using Partition = report::ReportPartition;
  static constexpr std::string_view kName = "ReportPartition";
  static constexpr auto kFields =
      std::tuple{Field{"id", &Partition::id, "Name for links"}, Field{"path", &Partition::path, "File"},
                 Field{"partition", &Partition::partition, "Result of hone partition"}};
};

template <>
struct Description<report::ReportPipeline> {
  using Pipeline = report::ReportPipeline;
  static constexpr std::string_view kName = "ReportPipeline";
  static constexpr auto kFields =
      std::tuple{Field{"id", &Pipeline::id, "Name for links"}, Field{"path", &Pipeline::path, "File"},
                 Field{"pipeline", &Pipeline::pipeline, "Result of hone detect"}};
};

template <>
struct Description<report::ReportProblem> {
  using Problem = report::ReportProblem;
  static constexpr std::string_view kName = "ReportProblem";
  static constexpr auto kFields = std::tuple{Field{"path", &Problem::path, "File"},
                                             Field{"text", &Problem::text, "What is wrong with it"}};
};

template <>
struct Description<report::Report> {
  using Report = report::Report;
  static constexpr std::string_view kName = "Report";
  static constexpr auto kFields = std::tuple{
      Field{"schema", [](const Report&) -> std::string_view { return "hone.report"; }, "hone.report"},
      Field{"version", [](const Report&) { return 1; }, "Of the schema"},
      Field{"generated", &Report::generated, "When the report was made, UTC"},
      Field{"hone", &Report::hone, "Version and commit of the program that made it"},
      Field{"live", &Report::live, "Whether files may come and go, as with hone view"},
      Field{"sweeps", &Report::sweeps, "Results of benchmarks"},
      Field{"profiles", &Report::profiles, "Profiles of traces"},
      Field{"diffs", &Report::diffs, "Comparisons of profiles"},
      Field{"diffs_left_out", &Report::diffs_left_out,
            "Pairs of profiles of one model and batch beyond the number that a page compares", unit::kCount,
            origin::kMeasured},
      Field{"partitions", &Report::partitions, "Models split between backends"},
      Field{"pipelines", &Report::pipelines, "Runs of hone detect, stage by stage"},
      Field{"problems", &Report::problems, "Files that could not be read"}};
};

}  // namespace hone::base
