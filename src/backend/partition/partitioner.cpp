// See partitioner.hpp.
#include "backend/partition/partitioner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "backend/partition/advice.hpp"
#include "backend/partition/estimates.hpp"
#include "backend/partition/partition_backend.hpp"
#include "backend/partition/partitioned_executable.hpp"
#include "backend/partition/placement.hpp"
#include "backend/partition/record_parts.hpp"
#include "backend/partition/times_cache.hpp"
#include "backend/registry.hpp"
#include "base/bootstrap.hpp"
#include "base/statistics.hpp"
#include "graph/infer.hpp"
#include "graph/operator.hpp"
#include "reference/interpreter.hpp"
#include "tensor/metrics.hpp"

namespace hone::backend::partition {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
/// The most nodes that an error names.
constexpr size_t kMostNamed = 3;

void check_names(const PartitionRequest& request) {
  if (request.backends.empty()) fail_usage("name a backend at least");
  std::set<std::string> names;
  for (const std::string& name : request.backends) {
    if (is_partition(name)) fail_usage("'{}' is a partition, and no backend to share nodes out to", name);
    if (!names.insert(name).second) fail_usage("the backend {} is named twice", name);
  }
  if (request.min_block_size < 1)
    fail_usage("a block of {} nodes is none: give 1 or more", request.min_block_size);
  for (const std::string& op : request.excluded) {
    if (graph::find_operator(op) == nullptr) fail_usage("'{}' is no operator (hone ops lists them)", op);
  }
}

/// One way to run the model.
struct Plan {
  std::string name;
  Solution solution;
  std::string refusal;
  std::optional<size_t> timed;  ///< index of its measurement
};

class Partitioner {
 public:
  explicit Partitioner(const PartitionRequest& request)
      : request_(request),
        graph_(prepare(request.model.graph, request.spec)),
        typed_(graph::with_input_shapes(*graph_, request.options.input_shapes)),
        wiring_(typed_),
        names_(request.backends) {}

  base::PartitionRecord find() {
    for (const std::string& name : names_) {
      backends_.push_back(make_backend(name));
      backends_.back()->require_device(device_for(backends_.size() - 1));
    }
    const bool any_binds =
        std::any_of(backends_.begin(), backends_.end(), [](const auto& backend) { return backend->binds(); });
    // Otherwise everything would run on the host.
    if (!any_binds) backends_.front()->require_device(request_.options.device);
    ask_backends();
    require_takers();
    find_costs();
    find_plans();
    if (request_.measure) measure_all_plans();
    return record();
  }

 private:
  std::string device_for(size_t backend) const {
    return device_of(*backends_[backend], request_.options.device);
  }

  void ask_backends() {
    const importer::Model model{request_.spec, request_.model.file, graph_, request_.model.metadata};
    for (size_t backend = 0; backend < names_.size(); ++backend) {
      LoadOptions options = request_.options;
      options.device = device_for(backend);
      refusals_.push_back(backends_[backend]->refusals(model, options));
      if (backend + 1 == names_.size()) continue;
      for (size_t node = 0; node < graph_->nodes.size(); ++node) {
        const auto& excluded = request_.excluded;
        if (std::find(excluded.begin(), excluded.end(), graph_->nodes[node].op) != excluded.end())
          refusals_[backend][node] = Refusal("excluded by --exclude");
      }
    }
  }

  void require_takers() const {
    std::string sentence;
    size_t refused = 0;
    for (size_t node = 0; node < graph_->nodes.size(); ++node) {
      if (request_.require_full && refusals_[0][node] && refused++ < kMostNamed)
        sentence += fmt::format("; {}: {}", graph_->nodes[node].text(), refusals_[0][node].text());
      const bool taken = std::any_of(refusals_.begin(), refusals_.end(),
                                     [&](const std::vector<Refusal>& of) { return !of[node]; });
      if (taken) continue;
      std::string reasons;
      for (size_t backend = 0; backend < names_.size(); ++backend)
        reasons += fmt::format("{}{}: {}", backend == 0 ? "" : "; ", names_[backend],
                               refusals_[backend][node].text());
      fail_bad_input("{}: no backend takes {} ({}): add one that does to --backends, such as reference",
                     request_.spec, graph_->nodes[node].text(), reasons);
    }
    if (refused == 0) return;
    throw Error(ErrorKind::kThreshold,
                fmt::format("{} does not take the whole model: it refuses {} of {} nodes{}", names_[0],
                            refused, graph_->nodes.size(), sentence));
  }

  /// As many nodes as possible on this backend, the others on the first backend that accepts them.
  Blocks blocks_preferring(int backend) const {
    Labels labels(wiring_.size(), backend);
    for (size_t node = 0; node < labels.size(); ++node) {
      for (int other = 0; refusals_[static_cast<size_t>(labels[node])][node]; ++other) labels[node] = other;
    }
    return make_blocks(wiring_, labels);
  }

  Subject subject() const { return {request_.spec, graph_, typed_, names_, request_.options, inputs_}; }

  void find_costs() {
    const std::string print = fingerprint(*graph_);
    std::vector<std::optional<NodeTimes>> times(names_.size());
    bool all = true;
    for (size_t backend = 0; backend < names_.size(); ++backend) {
      const std::string key = times_key(subject(), print, *backends_[backend]) + refused_text(backend);
      times[backend] = find_times(key, wiring_.size());
      if (!times[backend] && request_.measure) {
        request_.progress("timing the nodes on " + names_[backend]);
        if (inputs_.empty()) inputs_ = request_.inputs();
        times[backend] =
            measure_nodes(subject(), blocks_preferring(static_cast<int>(backend)), static_cast<int>(backend));
        keep_times(key, *times[backend]);
      }
      all = all && times[backend];
    }
    measured_ = all;
    for (size_t backend = 0; backend < names_.size(); ++backend) {
      add_costs(backend, all ? *times[backend] : estimate(backend));
      if (all && times[backend]->shared_out)
        notes_.push_back(fmt::format(
            "{} reports nothing about its steps: the time of whole blocks was shared out by the cost model",
            names_[backend]));
    }
  }

  /// The key includes the refused nodes, because they determine which nodes are measured together.
  std::string refused_text(size_t backend) const {
    std::string text = " | without";
    for (size_t node = 0; node < wiring_.size(); ++node) {
      if (refusals_[backend][node]) text += fmt::format(" {}", node);
    }
    return text;
  }

  NodeTimes estimate(size_t backend) const {
    const double factor = std::pow(kAssumedRatio, static_cast<double>(backend));
    const Handover handover = handover_of(*backends_[backend], request_.options.device);
    const bool over_host = on_gpu() && !backends_[backend]->binds();
    NodeTimes times{roofline_us(typed_, rates_of(device_for(backend), request_.options.threads)),
                    {launch_us() + (over_host ? wait_us() : 0), handover.input_copies * copy_us_per_byte(),
                     handover.output_copies * copy_us_per_byte()}};
    for (double& us : times.node_us) us *= factor;
    return times;
  }

  bool on_gpu() const { return tensor::parse_place(request_.options.device).kind != tensor::PlaceKind::kCpu; }

  void add_costs(size_t backend, NodeTimes times) {
    for (size_t node = 0; node < wiring_.size(); ++node) {
      if (refusals_[backend][node]) times.node_us[node] = kInfinite;
    }
    costs_.node_us.push_back(std::move(times.node_us));
    costs_.backends.push_back(times.cost);
  }

  SearchRequest search() const { return {wiring_, costs_, request_.min_block_size}; }

  std::string refusal_of(const Blocks& blocks) const {
    if (large_enough(search(), blocks)) return "";
    return fmt::format("a block is smaller than --min-block-size {}", request_.min_block_size);
  }

  void find_plans() {
    request_.progress("searching");
    bound_us_ = lower_bound(search());
    plans_.push_back({"best", best(search()), ""});
    plans_.push_back({"greedy", greedy(search()), ""});
    for (size_t backend = 0; backend < names_.size(); ++backend) {
      const auto one = alone(search(), static_cast<int>(backend));
      const std::string name = names_[backend] + " alone";
      if (one) {
        plans_.push_back({name, *one, refusal_of(one->blocks)});
      } else {
        const auto& of = refusals_[backend];
        const auto refused =
            std::count_if(of.begin(), of.end(), [](const Refusal& refusal) { return bool(refusal); });
        plans_.push_back({name, {}, fmt::format("it refuses {} of {} nodes", refused, wiring_.size())});
      }
    }
    if (request_.require_full) chosen_ = 2;
  }

  void measure_all_plans() {
    std::vector<Blocks> different;
    for (Plan& plan : plans_) {
      if (plan.solution.blocks.empty()) continue;
      const auto found = std::find(different.begin(), different.end(), plan.solution.blocks);
      plan.timed = static_cast<size_t>(found - different.begin());
      if (found == different.end()) different.push_back(plan.solution.blocks);
    }
    request_.progress("timing partitions against each other");
    if (inputs_.empty()) inputs_ = request_.inputs();
    timed_ = measure_plans(subject(), different);
    if (request_.require_full) return;
    for (size_t i = 0; i < plans_.size(); ++i) {
      const Plan& plan = plans_[i];
      if (!plan.timed || !plan.refusal.empty() || plan.timed == plans_[chosen_].timed) continue;
      const base::Ratio ratio = base::ratio_of_medians(timed_[*plans_[chosen_].timed].rounds_ms,
                                                       timed_[*plan.timed].rounds_ms, base::Pairing::kPaired);
      // A difference below the noise does not count.
      if (ratio.known && ratio.low > 1) chosen_ = i;
    }
    if (chosen_ != 0)
      notes_.push_back(fmt::format("'{}' was measured faster than the predicted best", plans_[chosen_].name));
  }

  base::PartitionPlan plan_record(size_t index) const {
    const Plan& plan = plans_[index];
    base::PartitionPlan row;
    row.name = plan.name;
    row.refusal = plan.refusal;
    row.chosen = index == chosen_;
    if (plan.solution.blocks.empty()) return row;
    fill_plan(wiring_, plan.solution, row);
    if (plan.timed && *plan.timed < timed_.size()) {
      const std::vector<double> all = base::all_samples(timed_[*plan.timed].rounds_ms);
      row.measured_ms = base::median(all);
      row.samples = static_cast<int64_t>(all.size());
    }
    return row;
  }

  base::PartitionRecord record() const {
    base::PartitionRecord record;
    record.model = request_.spec;
    record.fingerprint = fingerprint(*graph_);
    record.device = request_.options.device;
    record.precision = precision_name(request_.options.precision);
    record.threads = request_.options.threads;
    for (const auto& [name, shape] : request_.options.input_shapes)
      record.input_shapes.emplace_back(name, shape);
    record.min_block_size = request_.min_block_size;
    record.excluded = request_.excluded;
    record.measured = measured_;
    record.times = times_text();
    record.bound_ms = bound_us_ / 1e3;
    record.algorithm = algorithm_text();
    for (size_t i = 0; i < plans_.size(); ++i) record.plans.push_back(plan_record(i));
    const Plan& chosen = plans_[chosen_];
    record.predicted_ms = record.plans[chosen_].predicted_ms;
    record.measured_ms = record.plans[chosen_].measured_ms;
    const Parts parts{typed_, wiring_, costs_, names_, refusals_, chosen.solution.blocks, on_gpu()};
    for (size_t backend = 0; backend < names_.size(); ++backend)
      record.backends.push_back(backend_record(backend));
    record.blocks = block_records(parts);
    if (chosen.timed && *chosen.timed < timed_.size()) add_block_times(timed_[*chosen.timed], record.blocks);
    record.borders = border_records(parts, record.backends);
    record.statistics = statistics_of(parts);
    record.nodes = node_records(parts);
    record.what_if = what_if(search());
    record.notes = notes_;
    for (const std::string& op : request_.excluded) {
      const bool there = std::any_of(graph_->nodes.begin(), graph_->nodes.end(),
                                     [&](const graph::Node& node) { return node.op == op; });
      if (!there) record.notes.push_back(fmt::format("--exclude {}: the model has no such node", op));
    }
    record.recommendations = recommendations(record);
    return record;
  }

  base::PartitionBackend backend_record(size_t backend) const {
    const auto& of = refusals_[backend];
    const Handover handover = handover_of(*backends_[backend], request_.options.device);
    const BackendCost& cost = costs_.backends[backend];
    constexpr double kMega = 1e6;
    return {.name = names_[backend],
            .version = backends_[backend]->version(device_for(backend)),
            .taken = std::count_if(of.begin(), of.end(), [](const Refusal& refusal) { return !refusal; }),
            .measured = measured_,
            .launch_us = cost.launch_us,
            .input_us_per_mb = cost.input_us_per_byte * kMega,
            .output_us_per_mb = cost.output_us_per_byte * kMega,
            .input_copies = handover.input_copies,
            .output_copies = handover.output_copies,
            .synchronisations = handover.synchronisations};
  }

  std::string times_text() const {
    if (measured_)
      return "measured: steps of each backend's own run of the model, shared out among their nodes";
    return fmt::format(
        "estimated: a roofline of the {}, each backend taking {} times as long as the one before it "
        "(assumed)",
        on_gpu() ? "GPU, and of the CPU for nodes that run there" : "CPU", kAssumedRatio);
  }

  std::string algorithm_text() const {
    if (names_.size() == 1) return "one backend: there is nothing to search";
    const double predicted = plans_[0].solution.prediction.total();
    const double above = bound_us_ > 0 ? 100 * (predicted / bound_us_ - 1) : 0;
    const std::string gap =
        fmt::format("its prediction is {:.1f} % above what no partition can go below", above);
    if (names_.size() == 2)
      return "smallest cut, exact for times of nodes and borders; launches, convexity and --min-block-size "
             "come "
             "afterwards, with blocks moved while that helps, so the result may be improvable: " +
             gap;
    return "alpha-expansion over smallest cuts, a local optimum for three backends and more, then blocks "
           "moved while "
           "that helps: " +
           gap;
  }

  const PartitionRequest& request_;
  std::shared_ptr<const graph::Graph> graph_;
  graph::Graph typed_;
  Wiring wiring_;
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<Backend>> backends_;
  std::vector<std::vector<Refusal>> refusals_;
  std::vector<tensor::Tensor> inputs_;
  Costs costs_;
  bool measured_ = false;
  double bound_us_ = 0;
  std::vector<Plan> plans_;
  size_t chosen_ = 0;
  std::vector<Timed> timed_;
  std::vector<std::string> notes_;
};

}  // namespace

base::PartitionRecord find_partition(const PartitionRequest& request) {
  check_names(request);
  return Partitioner(request).find();
}

double check_outputs(const PartitionRequest& request, const base::PartitionRecord& record) {
  PartitionedModel model{.name = request.spec, .graph = prepare(request.model.graph, request.spec)};
  std::map<std::string, int> numbers;
  for (const base::PartitionBlock& block : record.blocks) {
    const auto [found, added] = numbers.try_emplace(block.backend, static_cast<int>(model.backends.size()));
    if (added) model.backends.push_back(block.backend);
    model.blocks.push_back({found->second, block.nodes});
  }
  const std::vector<tensor::Tensor> inputs = request.inputs();
  const auto expected = reference::run_graph(*request.model.graph, inputs);
  PartitionedExecutable executable(std::move(model), request.options);
  const auto actual = executable.run(inputs);
  double error = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    error = std::max(error, tensor::relative_l2(actual[i], expected[i]));
  return error;
}

}  // namespace hone::backend::partition
