// Fields of a run and of a sweep in the result file, schema hone.bench, by which it is written and read.
// Fields that were added within the version may be absent.
#pragma once

#include "base/described.hpp"
#include "bench/results/result_file.hpp"
#include "bench/results/run_record.hpp"
#include "bench/setup_schema.hpp"

namespace hone::base {

/// Marks fields that files may lack.
template <class... Get>
constexpr auto all_later(Field<Get>... field) {
  return std::tuple{later(field)...};
}

template <>
struct Description<bench::TimesFigure> {
  using Times = bench::TimesFigure;
  static constexpr std::string_view kName = "Times";
  static constexpr auto kFields =
      all_later(Field{"p50", &Times::p50, "Half of the runs take at most this (nearest rank)", unit::kMs,
                      origin::kMeasured},
                Field{"p90", &Times::p90, "90 % of the runs take at most this", unit::kMs, origin::kMeasured},
                Field{"p95", &Times::p95, "95 % of the runs take at most this", unit::kMs, origin::kMeasured},
                Field{"p99", &Times::p99, "99 % of the runs take at most this", unit::kMs, origin::kMeasured},
                Field{"mean", &Times::mean, "Sum by number", unit::kMs, origin::kMeasured},
                Field{"sd", &Times::sd, "Standard deviation of the sample", unit::kMs, origin::kMeasured},
                Field{"n", &Times::n, "Runs that were measured", unit::kCount, origin::kMeasured},
                Field{"min", &Times::min, "Fastest run", unit::kMs, origin::kMeasured},
                Field{"max", &Times::max, "Slowest run", unit::kMs, origin::kMeasured},
                Field{"p50_interval", &Times::p50_interval,
                      "95 % confidence interval of the median, from order statistics; null below 6 samples",
                      unit::kMs, origin::kEstimated},
                Field{"supported", &Times::supported, "Percentiles that this number of runs supports"});
};

template <>
struct Description<bench::PipelinedFigure> {
  using Pipelined = bench::PipelinedFigure;
  static constexpr std::string_view kName = "Pipelined";
  static constexpr auto kFields = all_later(
      Field{"throughput_per_s", &Pipelined::throughput, "Samples of the model per second when runs overlap",
            unit::kPerSecond, origin::kMeasured},
      Field{"streams", &Pipelined::streams, "Streams that they overlap on", unit::kCount},
      Field{"includes_transfers", &Pipelined::transfers,
            "True if copies to the device and back are included"},
      Field{"runs", &Pipelined::runs, "Runs that were measured", unit::kCount, origin::kMeasured},
      Field{"seconds", &Pipelined::seconds, "Time that they took", unit::kSeconds, origin::kMeasured});
};

template <>
struct Description<bench::MemoryFigure> {
  using Memory = bench::MemoryFigure;
  static constexpr std::string_view kName = "RunMemory";
  static constexpr auto kFields =
      std::tuple{Field{"baseline_mb", &Memory::baseline, "Resident before the model was loaded",
                       unit::kMegabytes, origin::kMeasured},
                 Field{"inputs_mb", &Memory::inputs, "Inputs that the benchmark keeps", unit::kMegabytes,
                       origin::kRecorded},
                 Field{"weights_mb", &Memory::weights, "Weights, as the backend reports them",
                       unit::kMegabytes, origin::kRecorded},
                 Field{"activations_mb", &Memory::activations, "Activations, as the backend reports them",
                       unit::kMegabytes, origin::kRecorded},
                 Field{"engine_file_mb", &Memory::engine_file, "Size of the engine file", unit::kMegabytes,
                       origin::kMeasured}};
};

template <>
struct Description<bench::DeviceMemoryFigure> {
  using Memory = bench::DeviceMemoryFigure;
  static constexpr std::string_view kName = "RunDeviceMemory";
  static constexpr auto kFields = std::tuple{
      Field{"planned_mb", &Memory::planned, "Memory that the engine planned to take", unit::kMegabytes,
            origin::kRecorded},
      Field{"allocated_mb", &Memory::allocated, "Memory that the backend's allocator holds", unit::kMegabytes,
            origin::kRecorded},
      Field{"peak_allocated_mb", &Memory::peak_allocated, "The most that it held", unit::kMegabytes,
            origin::kRecorded},
      Field{"driver_mb", &Memory::driver,
            "Decrease of the device's free memory by loading, as the driver reports it; only for systems "
            "measured one at a time",
            unit::kMegabytes, origin::kMeasured},
      Field{"process_mb", &Memory::process, "The worker's memory on the device, as the driver lists it",
            unit::kMegabytes, origin::kMeasured},
      Field{"streams_allocated_mb", &Memory::streams_allocated, "Held with all streams of overlapping runs",
            unit::kMegabytes, origin::kRecorded}};
};

template <>
struct Description<bench::GrowthFigure> {
  using Growth = bench::GrowthFigure;
  static constexpr std::string_view kName = "MemoryGrowth";
  static constexpr auto kFields = all_later(
      Field{"runs", &Growth::runs, "Runs between the first and the last look", unit::kCount,
            origin::kMeasured},
      Field{"resident_mb", &Growth::resident, "Resident memory at the first and at the last look",
            unit::kMegabytes, origin::kMeasured},
      Field{"device_mb", &Growth::device, "Memory taken on the device at the first and at the last look",
            unit::kMegabytes, origin::kMeasured});
};

template <>
struct Description<bench::AccuracyFigure> {
  using Accuracy = bench::AccuracyFigure;
  static constexpr std::string_view kName = "Accuracy";
  static constexpr auto kFields = all_later(
      Field{"relative_l2", &Accuracy::relative_l2,
            "Length of the difference from the fp32 reference's outputs, by the length of those",
            unit::kRatio, origin::kMeasured},
      Field{"max_abs", &Accuracy::max_abs, "Largest difference of one output value", "", origin::kMeasured},
      Field{"top1_agreement", &Accuracy::top1_agreement,
            "Samples for which the largest output is the same one", unit::kShare, origin::kMeasured},
      Field{"samples", &Accuracy::samples, "Samples that were compared", unit::kCount, origin::kMeasured},
      Field{"reason", &Accuracy::reason, "Why figures are absent"});
};

template <>
struct Description<bench::SystemName> {
  static constexpr std::string_view kName = "SystemName";
  static constexpr auto kFields =
      std::tuple{Field{"backend", &bench::SystemName::backend, "System that ran the model"},
                 Field{"precision", &bench::SystemName::precision, "Precision it ran in"}};
};

template <>
struct Description<bench::SpeedupFigure> {
  using Speedup = bench::SpeedupFigure;
  static constexpr std::string_view kName = "Speedup";
  static constexpr auto kFields = std::tuple{
      Field{"over", &Speedup::over, "What it is compared with"},
      Field{"ratio", &Speedup::ratio,
            "Median latency of that by the median latency of this: above 1 is faster", unit::kRatio,
            origin::kMeasured},
      Field{"interval", &Speedup::interval, "95 % confidence interval of the ratio (bootstrap over rounds)",
            unit::kRatio, origin::kEstimated},
      Field{"differs", &Speedup::differs,
            "True if the interval leaves out 1: the difference is more than noise"},
      later(Field{"interleaved", &Speedup::interleaved, "True if both took turns in the same rounds"})};
};

template <>
struct Description<bench::WarmupFigure> {
  using Warmup = bench::WarmupFigure;
  static constexpr std::string_view kName = "Warmup";
  static constexpr auto kFields = all_later(
      Field{"runs", &Warmup::runs, "Runs before the measured ones", unit::kCount, origin::kMeasured},
      Field{"seconds", &Warmup::seconds, "Time that they took", unit::kSeconds, origin::kMeasured},
      Field{"stationary", &Warmup::stationary, "True if latencies had settled"});
};

template <>
struct Description<bench::MachineFigure> {
  using Machine = bench::MachineFigure;
  static constexpr std::string_view kName = "MachineState";
  static constexpr auto kFields = all_later(
      Field{"other_cpu_share", &Machine::other_cpu, "Time of the CPU that other processes used meanwhile",
            unit::kShare, origin::kMeasured},
      Field{"near_cpu_share", &Machine::near_cpu,
            "Part of that on the cores that the sweep may use and those that share a physical one with them",
            unit::kShare, origin::kMeasured},
      Field{"steal_share", &Machine::steal, "Time that the hypervisor kept the CPU from this machine",
            unit::kShare, origin::kMeasured},
      Field{"throttle_events", &Machine::throttles, "Times that the CPU was throttled", unit::kCount,
            origin::kMeasured},
      Field{"gpu", &Machine::gpu, "Clocks, power, temperature and other processes of the GPU meanwhile"});
};

template <>
struct Description<bench::Verdict> {
  static constexpr std::string_view kName = "Verdict";
  static constexpr auto kFields =
      all_later(Field{"valid", &bench::Verdict::valid, "Whether the figures can be relied on"},
                Field{"reasons", &bench::Verdict::reasons, "Why not"});
};

template <>
struct Description<bench::RunRecord> {
  using Run = bench::RunRecord;
  static constexpr std::string_view kName = "Run";
  static constexpr auto kFields = std::tuple_cat(
      extended(&Run::setup),
      all_later(
          Field{"session", &Run::session,
                "Runs of a file with the same number took turns in the same rounds"},
          Field{"backend_version", &Run::backend_version, "Version of the system"},
          Field{"latency_ms", &Run::latency,
                "Time of one run, from the call to its outputs, with nothing else under way", unit::kMs,
                origin::kMeasured},
          Field{"throughput_per_s", &Run::throughput,
                "Samples of the model per second in back-to-back runs, one in flight", unit::kPerSecond,
                origin::kMeasured},
          Field{"device_ms", &Run::device, "From the first to the last step, by events of the device",
                unit::kMs, origin::kMeasured},
          Field{"enqueue_ms", &Run::enqueue, "Host time to hand over a run", unit::kMs, origin::kMeasured},
          Field{"h2d_ms", &Run::h2d, "Copies to the device, by events of the device", unit::kMs,
                origin::kMeasured},
          Field{"d2h_ms", &Run::d2h, "Copies from the device, by events of the device", unit::kMs,
                origin::kMeasured},
          Field{"pipelined", &Run::pipelined, "Runs that overlap"},
          Field{"peak_memory_mb", &Run::peak_memory, "The most memory that the worker had resident",
                unit::kMegabytes, origin::kMeasured},
          Field{"memory", &Run::memory, "Parts of the worker's memory"},
          Field{"device_memory", &Run::device_memory, "Memory on the device"},
          Field{"growth", &Run::growth, "Memory that runs leave behind"},
          Field{"accuracy", &Run::accuracy, "Error against the fp32 reference"},
          Field{"int8_share", &Run::int8_share,
                "Share of the multiply-adds of convolutions and matrix products that runs on integers",
                unit::kShare, origin::kRecorded},
          Field{"speedup", &Run::speedup, "How fast it is beside the run it is compared with"},
          Field{"load_ms", &Run::load_ms, "Time to load or build the model", unit::kMs, origin::kMeasured},
          Field{"warmup", &Run::warmup, "Runs before the measured ones"},
          Field{"machine", &Run::machine, "What the machine was like meanwhile"},
          Field{"predicted_ms", &Run::predicted, "Latency that hone partition predicted, of a partition",
                unit::kMs, origin::kEstimated},
          Field{"notes", &Run::notes, "What is to be known of the run"},
          Field{"verdict", &Run::verdict, "Whether the figures can be relied on"},
          Field{"failure", &Run::failure, "Why there are no figures"}),
      std::tuple{Field{"samples_ms", &Run::samples, "Every latency, a list for each round", unit::kMs,
                       origin::kMeasured},
                 later(Field{"block_wall_ms", &Run::block_wall_ms, "Time of each round's runs", unit::kMs,
                             origin::kMeasured})});
};

template <>
struct Description<bench::SweepRecord> {
  using Sweep = bench::SweepRecord;
  static constexpr std::string_view kName = "Sweep";
  static constexpr auto kFields = std::tuple{
      Field{"schema", [](const Sweep&) -> std::string_view { return bench::kSchema; }, "hone.bench"},
      Field{"version", [](const Sweep&) { return bench::kSchemaVersion; }, "Of the schema"},
      later(Field{"complete", &Sweep::complete, "False when the benchmark was interrupted"}),
      later(Field{"context", &Sweep::context, "Machine, libraries, commit and command line"}),
      later(Field{"options", &Sweep::options, "Options of the benchmark"}),
      Field{"runs", &Sweep::runs, "A run for each configuration"}};
};

}  // namespace hone::base
