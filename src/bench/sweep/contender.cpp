// See contender.hpp.
#include "bench/sweep/contender.hpp"

#include <algorithm>

#include "backend/run_precision.hpp"
#include "base/error.hpp"
#include "base/statistics.hpp"
#include "bench/sweep/layer_times.hpp"
#include "bench/sweep/warmup.hpp"
#include "system/cpu.hpp"

namespace hone::bench {
namespace {

/// Warm-up runs in blocks of this length, so that its end is noticed soon.
constexpr double kWarmupBlockSeconds = 0.1;
/// Limit on the time of one round of phase measurements.
constexpr double kMostPhaseSeconds = 10;
/// If a run takes more than this share of a round, its first run in the round is measured too.
constexpr double kLongRunShare = 0.2;
/// Time limit of a block with an exact number of runs.
constexpr double kNoLimit = 1e9;

}  // namespace

void judge_run(Run* run, double percentile) {
  if (run->failure) {
    run->verdict = {false, {"failed: " + *run->failure}};
    return;
  }
  VerdictInput input;
  input.rounds = run->rounds;
  input.percentile = percentile;
  input.warm = run->warm;
  input.threads = run->setup.threads;
  input.cores = system::usable_cores();
  input.interference = run->interference;
  input.disturbed = run->setup.busy > 0;
  if (!run->setup.on_cpu()) input.gpu = &run->gpu;
  input.outputs_finite = run->accuracy.finite;
  input.impossible_outputs = run->accuracy.impossible;
  input.error = run->accuracy.relative_l2;
  input.precision = backend::parse_run_precision(run->setup.precision).precision;
  input.reference = run->accuracy.reference;
  run->verdict = judge(input);
}

void Contender::guarded(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    run_.failure = error.what();
    run_.failed_by_bug = error.kind() == ErrorKind::kInternal;
    drop_worker();
  }
}

void Contender::drop_worker() {
  if (tested_.gpu != nullptr && worker_ != nullptr) tested_.gpu->remove_worker(worker_->pid());
  worker_.reset();
}

void Contender::prepare(const Command& command, const std::filesystem::path& folder,
                        const system::StopFlag* stop, const WorkerClient::OnProgress& on_progress) {
  guarded([&] {
    load(command, folder, stop, on_progress);
    compare_outputs(folder);
    warm_up();
  });
}

void Contender::load(const Command& command, const std::filesystem::path& folder,
                     const system::StopFlag* stop, const WorkerClient::OnProgress& on_progress) {
  const Setup& setup = run_.setup;
  const auto start = [&] {
    worker_ = std::make_unique<WorkerClient>(command, folder / "stderr.txt", options_.timeout_seconds, stop);
    run_.backend_version = worker_->hello(setup.backend).version;
    run_.memory.baseline = system::read_process_memory(worker_->pid()).resident;
  };
  start();

  LoadRequest request;
  request.setup = setup;
  request.onnx = tested_.onnx;
  request.bind = tested_.model.bind;
  request.context = tested_.model.context;
  const size_t sets = count_sets(tested_.model, setup.batch);
  request.inputs = tested_.inputs.at_batch(setup.batch, sets);
  for (const InputFile& input : request.inputs) {
    const int64_t bytes =
        tensor::element_count(input.shape) * static_cast<int64_t>(tensor::dtype_size(input.dtype));
    run_.memory.inputs += bytes * static_cast<int64_t>(sets);
  }
  request.settings = options_.settings;
  for (const int64_t batch : tested_.batches)
    if (tested_.model.runs_at(batch)) request.profiles.push_back(tested_.model.shapes_at(batch));
  loaded_ = worker_->load(request, on_progress);
  run_.load_ms = loaded_.load_ms;
  const bool replaced = loaded_.tuned;
  if (replaced) {
    // After tuning, the worker is replaced: kernels of candidates remain in device memory, and the memory for
    // trying them is part of the peak of the process, but later processes load only the chosen tactics.
    worker_->quit();
    start();
    loaded_ = worker_->load(request, on_progress);
  }
  run_.notes = loaded_.notes;
  run_.int8_share = loaded_.int8_share;
  if (loaded_.predicted_ms > 0) run_.predicted_ms = loaded_.predicted_ms;
  if (!tested_.model.dynamic_batch && tested_.model.engine_precision.empty() && tested_.model.has_graph)
    run_.notes.push_back(
        fmt::format("the first dimension of its inputs is fixed at {}, so no other batch can be measured; {}",
                    tested_.model.fixed_batch, way_to_other_batches(tested_.model)));
  if (replaced && loaded_.tuned)
    run_.notes.emplace_back(
        "its memory includes what candidates took: loaded again, it found no choices in the cache and timed "
        "them once more");
  if (!loaded_.version.empty()) run_.backend_version = loaded_.version;
  if (tested_.gpu != nullptr) tested_.gpu->add_worker(worker_->pid(), loaded_.bus_id);
  if (setup.cold_l2 && !loaded_.has(kColdL2Feature))
    fail_environment("the backend {} cannot empty the GPU's caches before a run", setup.backend);
  if (setup.streams > 1 && !loaded_.has(kPipelineFeature))
    run_.notes.emplace_back("there is no pipelined throughput: its runs do not overlap");
}

void Contender::compare_outputs(const std::filesystem::path& folder) {
  if (!tested_.reference.available()) {
    run_.accuracy.reason = tested_.reference.reason();
    return;
  }
  const int64_t units = tested_.model.units(run_.setup.batch);
  const int64_t needed = tested_.reference.units();
  std::vector<size_t> sets(static_cast<size_t>((needed + units - 1) / units));
  for (size_t i = 0; i < sets.size(); ++i) sets[i] = i;
  const std::vector<std::vector<OutputFile>> outputs = worker_->accuracy(sets, folder);
  run_.accuracy = compare_to_reference(tested_.reference, outputs, units);
  run_.accuracy.reference = tested_.model.precision;
  run_.accuracy.impossible =
      impossible_outputs(tested_.model, tested_.reference.unit(0), outputs.front(), run_.setup.batch);
}

void Contender::warm_up() {
  WarmupDetector detector(
      {options_.warmup_seconds, std::max(options_.duration_seconds, options_.warmup_seconds)});
  while (!detector.done()) {
    const Block block =
        worker_->run(WorkerClient::Purpose::kWarmup, MeasureOptions::kMostSamples, kWarmupBlockSeconds);
    detector.add(block.latencies_ms, block.wall_ms / 1e3);
    run_seconds_ = block.latencies_ms.back() / 1e3;
  }
  run_.warmup_runs = detector.runs();
  run_.warmup_seconds = detector.seconds();
  run_.warm = detector.stationary();
}

void Contender::measure_round(std::span<const pid_t> busy) {
  guarded([&] {
    const double share = options_.duration_seconds / options_.rounds;
    const int64_t samples = options_.exact ? options_.iterations : MeasureOptions::kMostSamples;
    const int64_t left = samples - run_.sample_count();
    const int64_t most = std::min((samples + options_.rounds - 1) / options_.rounds, left);
    // Other configurations have just used the caches and the cores, so the first run is not counted, unless
    // it is so long that filling the caches is a small part of it.
    if (run_seconds_ < kLongRunShare * share) worker_->run(WorkerClient::Purpose::kWarmup, 1, 0);
    if (run_.rounds.empty()) first_round_ = base::Clock::now();
    const system::CpuCounters before = system::read_cpu_counters(worker_->pid(), busy);
    const Block block = [&] {
      const GpuWatch watch(tested_.gpu, &run_.gpu, worker_->pid(), first_round_);
      return worker_->run(WorkerClient::Purpose::kSample, most, options_.exact ? kNoLimit : share);
    }();
    const system::CpuCounters after = system::read_cpu_counters(worker_->pid(), busy);
    run_.interference.add(before, after, system::usable_cores());
    run_.rounds.push_back(block.latencies_ms);
    run_.block_wall_ms.push_back(block.wall_ms);
    watch_growth();
  });
}

void Contender::watch_growth() {
  const system::ProcessMemory memory = system::read_process_memory(worker_->pid());
  run_.memory.peak = memory.peak_resident;
  MemoryGrowth& growth = run_.growth;
  growth.resident_last = memory.resident;
  if (run_.rounds.size() > 1) {
    growth.runs += static_cast<int64_t>(run_.rounds.back().size());
    return;
  }
  growth.device_first = worker_->memory().device.driver;
  growth.resident_first = system::read_process_memory(worker_->pid()).resident;
}

void Contender::read_memory(bool alone) {
  if (worker_ == nullptr) return;
  guarded([&] {
    const backend::MemoryUse use = worker_->memory();
    run_.memory.weights = use.weights;
    run_.memory.activations = use.activations;
    run_.memory.engine_file = use.engine_file;
    run_.memory.device = use.device;
    run_.growth.device_last = use.device.driver;
    if (!alone) run_.memory.device.driver = run_.growth.device_first = run_.growth.device_last = 0;
  });
}

namespace {

void append(const std::vector<double>& from, std::vector<double>* to) {
  to->insert(to->end(), from.begin(), from.end());
}

}  // namespace

void Contender::measure_extras() {
  if (worker_ == nullptr) return;
  const bool has_phases = loaded_.has(kPhasesFeature);
  // Overlapping runs keep the caches warm, so they cannot be measured with cold caches.
  const bool overlaps = loaded_.has(kPipelineFeature) && !run_.setup.cold_l2;
  if (!has_phases && !overlaps) return;
  guarded([&] {
    const double share = options_.duration_seconds / options_.rounds;
    const GpuWatch watch(tested_.gpu, &run_.gpu, worker_->pid(), first_round_,
                         GpuWatch::Scope::kDisturbances);
    if (has_phases) {
      const PhaseBlock block = worker_->phases(std::min(share, kMostPhaseSeconds));
      append(block.h2d_ms, &run_.phases.h2d_ms);
      append(block.enqueue_ms, &run_.phases.enqueue_ms);
      append(block.device_ms, &run_.phases.device_ms);
      append(block.d2h_ms, &run_.phases.d2h_ms);
    }
    if (!overlaps) return;
    const PipelineBlock block = worker_->pipeline(share);
    run_.pipelined.runs += block.runs;
    run_.pipelined.wall_ms += block.wall_ms;
  });
}

void Contender::measure_layers() {
  if (worker_ == nullptr || !options_.layers) return;
  guarded([&] {
    // An interval of the median needs six runs; one more is left out.
    constexpr int64_t kFewest = 7;
    constexpr int64_t kMost = 51;
    const double seconds = options_.duration_seconds / options_.rounds;
    const auto fitting = static_cast<int64_t>(std::min(seconds / std::max(run_seconds_, 1e-9), 1e6));
    const int64_t runs = std::clamp(fitting, kFewest, kMost);
    if (loaded_.has(kLayersFeature)) {
      run_.layers = layer_figures(worker_->layers(static_cast<int>(runs)));
    } else if (loaded_.has(kTraceFeature)) {
      TraceOptions options;
      options.observe.device = loaded_.has(kDeviceTimesFeature);
      options.observe.awaited_steps = !options.observe.device;
      run_.layers = layer_figures(worker_->trace(runs, options));
    }
    if (run_.layers.empty())
      run_.notes.push_back(fmt::format("there are no layers: {} does not report them", run_.setup.backend));
  });
}

bool Contender::done() const {
  if (options_.exact) return run_.sample_count() >= options_.iterations;
  const double seconds = run_.measured_seconds();
  if (seconds >= MeasureOptions::kOvertime * options_.duration_seconds) return true;
  if (run_.sample_count() >= MeasureOptions::kMostSamples) return true;
  const int64_t needed = std::max(options_.iterations, base::samples_for_percentile(options_.percentile));
  // The last block may end slightly early; a tenth of a round does not justify another one.
  const double enough = options_.duration_seconds * (1 - 0.1 / options_.rounds);
  return seconds >= enough && run_.sample_count() >= needed;
}

void Contender::finish() {
  if (worker_ != nullptr) {
    guarded([&] {
      if (run_.pipelined.runs > 0) run_.memory.streams_allocated = worker_->memory().device.allocated;
      worker_->quit();
    });
    drop_worker();
  }
  judge_run(&run_, options_.percentile);
}

}  // namespace hone::bench
