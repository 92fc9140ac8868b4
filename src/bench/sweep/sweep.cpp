// See sweep.hpp.
#include "bench/sweep/sweep.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>

#include "base/error.hpp"
#include "base/file.hpp"
#include "bench/results/model_names.hpp"
#include "bench/setup_schema.hpp"
#include "bench/sweep/context.hpp"
#include "bench/sweep/time_plan.hpp"
#include "bench/worker/subject.hpp"
#include "import/onnx/export.hpp"
#include "system/busy_threads.hpp"
#include "system/scratch.hpp"

namespace hone::bench {
namespace {

/// Rounds of figures besides the latency, which follow those of latencies; enough to average over the order
/// of turns.
constexpr int kExtraRounds = 3;
/// The verdict of a run before it is judged, so that the file of a killed sweep says so.
constexpr const char* kNotFinished = "not finished: the sweep was still running when this file was written";
/// Another worker is started only if at least this much memory would remain free.
constexpr int64_t kMemoryReserve = int64_t{1} << 30;

/// The fields of a setup that differ between configurations.
constexpr std::string_view kOwn[] = {"model", "backend", "precision", "batch"};

Json options_json(const SweepOptions& options) {
  const MeasureOptions& measure = options.measure;
  Json json = {{"models", options.models},
               {"backends", options.backends},
               {"precisions", options.precisions},
               {"batches", options.batches},
               {"compare_to", options.compare_to}};
  json.update(base::described_json_of(measure.setup, [](std::string_view field) {
    return std::find(std::begin(kOwn), std::end(kOwn), field) == std::end(kOwn);
  }));
  json.update({{"warmup_seconds", measure.warmup_seconds},
               {"duration_seconds", measure.duration_seconds},
               {"iterations", measure.iterations},
               {"rounds", measure.rounds},
               {"percentile", measure.percentile},
               {"timeout_seconds", measure.timeout_seconds}});
  return json;
}

/// Data about one model that its groups share.
struct Subject {
  ModelInfo info;
  std::vector<int64_t> batches;
};

class SweepRunner {
 public:
  SweepRunner(const SweepOptions& options, const Peers& peers, const SweepEvents& events,
              const system::StopFlag* stop)
      : options_(options), peers_(peers), events_(events), stop_(stop), names_(short_names(options.models)) {
    sweep_.context = describe_context(options.command_line);
    sweep_.options = options_json(options);
  }

  Sweep run() {
    for (const std::string& backend : options_.backends) peers_.command(backend);
    const std::vector<Subject> subjects = describe_subjects();
    note_shapes(subjects);
    const Sweep planned = plan(subjects);
    plan_ = std::make_unique<TimePlan>(planned.runs.size(), options_.measure.duration_seconds);
    if (events_.on_plan) events_.on_plan(planned, plan_->left_seconds());
    // Contenders hold pointers to their runs, so the vector must not grow.
    sweep_.runs.reserve(planned.runs.size());
    changed();
    try {
      for (const Subject& subject : subjects) run_model(subject);
      sweep_.complete = true;
    } catch (const system::Interrupted&) {
      // The results of the interrupted group were kept; `complete` stays false.
    }
    changed();
    return std::move(sweep_);
  }

 private:
  /// Records the input shapes of every model, because times at other shapes cannot be compared.
  void note_shapes(const std::vector<Subject>& subjects) {
    for (const Subject& subject : subjects) {
      std::vector<std::string> texts;
      for (const auto& [name, shape] : subject.info.shapes_at(subject.info.fixed_batch))
        texts.push_back(fmt::format("{} {}", name, tensor::shape_text(shape)));
      sweep_.context["input_shapes"][subject.info.spec] = fmt::format("{}", fmt::join(texts, ", "));
    }
  }

  ModelInfo describe(const importer::Model& model, const std::string& spec) const {
    const std::map<std::string, tensor::Shape> shapes = with_given_shapes(options_.shapes, options_.given);
    ModelInfo info = options_.decoding.bind.empty()
                         ? describe_subject(model, spec, shapes)
                         : describe_decoder(model, spec, shapes, options_.decoding);
    give_values(options_.given, &info);
    return info;
  }

  std::vector<Subject> describe_subjects() const {
    std::vector<ModelInfo> models;
    for (const std::string& spec : options_.models)
      models.push_back(describe(options_.load_model(spec), spec));
    check_shapes(options_.shapes, models,
                 options_.batches.empty() ? options_.usual_batches : options_.batches);
    std::vector<Subject> subjects;
    for (ModelInfo& model : models) {
      std::vector<int64_t> batches = options_.batches;
      // If the first dimension is fixed, it need not be a batch, so the default batch 1 means one run of the
      // model as it is.
      const bool one_run = !model.dynamic_batch && (batches.empty() || batches == std::vector<int64_t>{1});
      if (one_run) batches = {model.fixed_batch};
      if (batches.empty())
        batches = model.tuned_batch > 0 ? std::vector<int64_t>{model.tuned_batch} : options_.usual_batches;
      for (const int64_t batch : batches) require_runs_at(model, batch);
      subjects.push_back({std::move(model), std::move(batches)});
    }
    return subjects;
  }

  Sweep plan(const std::vector<Subject>& subjects) const {
    Sweep planned{sweep_.context, sweep_.options, {}, false};
    for (const Subject& subject : subjects) {
      for (const int64_t batch : subject.batches) add_group(subject.info, batch, &planned.runs);
    }
    return planned;
  }

  /// Adds the runs of one group without measuring them.
  void add_group(const ModelInfo& model, int64_t batch, std::vector<Run>* runs) const {
    const std::vector<std::string> precisions = model.engine_precision.empty()
                                                    ? options_.precisions
                                                    : std::vector<std::string>{model.engine_precision};
    for (const std::string& precision : precisions) {
      for (const std::string& backend : options_.backends) {
        Run& run = runs->emplace_back();
        run.setup = options_.measure.setup;
        run.setup.model = model.spec;
        run.setup.backend = backend;
        run.setup.precision = precision;
        run.setup.batch = batch;
        run.verdict = {false, {kNotFinished}};
      }
    }
  }

  void run_model(const Subject& subject) {
    const std::filesystem::path folder = scratch_.make_folder(fmt::format("model_{}", model_index_++));
    InputPool inputs(subject.info, folder, stop_);
    progress(subject.info.name + ": reference outputs");
    const ReferenceOutputs reference =
        reference_outputs({subject.info, inputs, peers_.command("reference"), folder,
                           options_.measure.timeout_seconds, options_.measure.setup.threads, stop_});
    const ModelUnderTest tested{subject.info,
                                inputs,
                                onnx_file(subject.info, folder),
                                reference,
                                options_.measure.setup.on_cpu() ? nullptr : &gpu_,
                                subject.batches};
    for (const int64_t batch : subject.batches) run_group(tested, batch);
  }

  /// The file that external workers load: the user's file, or a built-in architecture exported to ONNX. Empty
  /// if there is no external worker, and for TorchScript archives.
  std::string onnx_file(const ModelInfo& model, const std::filesystem::path& folder) const {
    const bool wanted = std::any_of(options_.backends.begin(), options_.backends.end(),
                                    [&](const std::string& backend) { return peers_.is_external(backend); });
    if (!wanted || !model.has_graph) return "";
    if (model.file.ends_with(".onnx")) return model.file;
    const std::filesystem::path file = folder / "model.onnx";
    const auto graph = options_.load_model(model.spec).graph;
    importer::export_onnx(file, *graph, importer::usual_opset(*graph));
    return file.string();
  }

  void run_group(const ModelUnderTest& tested, int64_t batch) {
    const size_t first = sweep_.runs.size();
    add_group(tested.model, batch, &sweep_.runs);
    const std::span<Run> group(sweep_.runs.data() + first, sweep_.runs.size() - first);
    std::deque<Run*> waiting;
    try {
      if (make_inputs(tested, batch, group)) {
        for (Run& run : group) waiting.push_back(&run);
      }
      while (!waiting.empty()) run_together(tested, &waiting);
    } catch (const system::Interrupted&) {
      finish_interrupted(group);
      throw;
    }
    finish_group(group);
  }

  /// Returns false if inputs cannot be generated, which fails every run of the group.
  bool make_inputs(const ModelUnderTest& tested, int64_t batch, std::span<Run> group) {
    progress(fmt::format("{} batch {}: making inputs", names_.at(tested.model.spec), batch));
    try {
      tested.inputs.reserve(batch);
      return true;
    } catch (const Error& error) {
      for (Run& run : group) {
        run.failure = error.what();
        judge_run(&run, options_.measure.percentile);
        plan_->prepared(0);
        plan_->finished(0);
      }
      return false;
    }
  }

  void finish_group(std::span<Run> group) {
    compare_runs(group, options_.compare_to);
    changed();
    if (events_.on_group) events_.on_group(group);
  }

  /// Keeps what was measured of the group, and marks each run as interrupted.
  void finish_interrupted(std::span<Run> group) {
    std::vector<Run> kept;
    for (Run& run : group) {
      if (!run.failure && run.rounds.empty()) continue;
      if (run.verdict.reasons == std::vector<std::string>{kNotFinished}) {
        judge_run(&run, options_.measure.percentile);
        run.verdict.valid = false;
        run.verdict.reasons.emplace_back("the sweep was interrupted");
      }
      kept.push_back(std::move(run));
    }
    sweep_.runs.resize(sweep_.runs.size() - group.size());
    const size_t first = sweep_.runs.size();
    for (Run& run : kept) sweep_.runs.push_back(std::move(run));
    finish_group(std::span(sweep_.runs).subspan(first));
  }

  /// Starts waiting configurations until memory is full, and measures them in turns.
  void run_together(const ModelUnderTest& tested, std::deque<Run*>* waiting) {
    std::deque<Contender> contenders;
    ++session_;
    int64_t largest = 0;
    while (!waiting->empty() &&
           (contenders.empty() || system::available_memory() > largest + kMemoryReserve)) {
      Contender& contender = contenders.emplace_back(waiting->front(), options_.measure, tested);
      waiting->front()->session = session_;
      waiting->pop_front();
      const int64_t free_before = system::available_memory();
      prepare(&contender);
      largest = std::max(largest, free_before - system::available_memory());
    }
    // Busy threads start only after the models were loaded and tuned: the load may change the engines' speed,
    // but not the choice of tactics.
    const system::BusyThreads busy(options_.measure.setup.busy);
    for (size_t round = 0; measure_round(&contenders, round, busy.pids()); ++round) changed();
    for (Contender& contender : contenders) contender.read_memory(contenders.size() == 1);
    // On the CPU, device figures do not differ from the latency, but runs can overlap there too.
    const Setup& setup = options_.measure.setup;
    const int extras = setup.on_cpu() && setup.streams == 1 ? 0 : kExtraRounds;
    for (int round = 0; round < extras; ++round) measure_extras(&contenders, static_cast<size_t>(round));
    for (Contender& contender : contenders) measure_layers(&contender);
    for (Contender& contender : contenders) contender.finish();
  }

  void prepare(Contender* contender) {
    const Setup& setup = contender->run().setup;
    progress(text_of(setup) + ": loading, warming up" + first_figure_);
    const auto start = base::Clock::now();
    const std::filesystem::path folder = scratch_.make_folder(fmt::format("worker_{}", worker_index_++));
    contender->prepare(peers_.command(setup.backend), folder, stop_, [&](const base::Progress& loading) {
      progress(fmt::format("{}: loading: {}{}", text_of(setup), loading.doing, first_figure_));
    });
    plan_->prepared(base::seconds_since(start));
    if (contender->alive() && contender->run_seconds() > 0)
      first_figure_ = fmt::format(" ({} {} took {:.3g} ms)", setup.backend, setup.precision,
                                  1e3 * contender->run_seconds());
    if (!contender->alive()) settle(contender);
    if (const auto gpu = gpu_.identity(); gpu && !sweep_.context.contains("gpu"))
      sweep_.context["gpu"] = to_json(*gpu);
  }

  void settle(Contender* contender) {
    plan_->finished(contender->run().measured_seconds());
    if (!contender->alive()) contender->finish();
    changed();
  }

  /// Returns false if no contender remains. Each round starts with another contender.
  bool measure_round(std::deque<Contender>* contenders, size_t round, std::span<const pid_t> busy) {
    bool any = false;
    for (size_t i = 0; i < contenders->size(); ++i) {
      Contender& contender = (*contenders)[(round + i) % contenders->size()];
      if (!contender.alive() || contender.done()) continue;
      any = true;
      progress(fmt::format("{}: round {}", text_of(contender.run().setup), round + 1));
      const double before = contender.run().measured_seconds();
      contender.measure_round(busy);
      plan_->measured(contender.run().measured_seconds() - before);
      if (!contender.alive() || contender.done()) settle(&contender);
    }
    return any;
  }

  void measure_extras(std::deque<Contender>* contenders, size_t round) {
    for (size_t i = 0; i < contenders->size(); ++i) {
      Contender& contender = (*contenders)[(round + i) % contenders->size()];
      if (!contender.alive()) continue;
      progress(text_of(contender.run().setup) + ": parts of a run, pipelined runs");
      contender.measure_extras();
    }
    changed();
  }

  void measure_layers(Contender* contender) {
    if (!options_.measure.layers || !contender->alive()) return;
    progress(text_of(contender->run().setup) + ": layers");
    contender->measure_layers();
  }

  /// Names a configuration by its model's short name.
  std::string text_of(Setup setup) const {
    setup.model = names_.at(setup.model);
    return setup.text();
  }
  void progress(const std::string& doing) const {
    if (events_.on_progress) events_.on_progress({plan_->done_seconds(), plan_->left_seconds(), doing});
  }
  void changed() const {
    if (events_.on_change) events_.on_change(sweep_);
  }

  const SweepOptions& options_;
  const Peers& peers_;
  const SweepEvents& events_;
  const system::StopFlag* stop_;
  std::map<std::string, std::string> names_;
  system::Scratch scratch_;
  Sweep sweep_;
  GpuMonitor gpu_;
  std::unique_ptr<TimePlan> plan_;
  int model_index_ = 0;
  int worker_index_ = 0;
  int session_ = 0;
  /// The latency during the warm-up of the last configuration, which can be shown long before the first row.
  std::string first_figure_;
};

}  // namespace

void compare_runs(std::span<Run> group, const std::string& compare_to) {
  const auto base = std::find_if(group.begin(), group.end(), [&](const Run& run) {
    return run.measured() && run.setup.backend == compare_to;
  });
  if (base == group.end()) return;
  for (Run& run : group) {
    if (!run.measured() || &run == &*base) continue;
    const bool interleaved = run.session == base->session;
    const auto pairing = interleaved ? base::Pairing::kPaired : base::Pairing::kUnpaired;
    run.speedup = Speedup{base->setup.backend, base->setup.precision,
                          base::ratio_of_medians(base->rounds, run.rounds, pairing), interleaved};
  }
}

Sweep run_sweep(const SweepOptions& options, const Peers& peers, const SweepEvents& events,
                const system::StopFlag* stop) {
  return SweepRunner(options, peers, events, stop).run();
}

}  // namespace hone::bench
