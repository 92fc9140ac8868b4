// See node_times.hpp.
#include "backend/partition/node_times.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <set>

#include "backend/partition/estimates.hpp"
#include "backend/partition/partitioned_executable.hpp"
#include "backend/partition/placement.hpp"
#include "backend/registry.hpp"
#include "base/clock.hpp"
#include "base/ranges.hpp"
#include "base/statistics.hpp"
#include "graph/operator.hpp"

namespace hone::backend::partition {
namespace {

constexpr int kWarmups = 3;
constexpr int kLeastRuns = 7;
constexpr int kMostRuns = 200;
constexpr double kSecondsPerModel = 0.7;
/// Time limit for measuring a block with a single node.
constexpr double kSecondsPerNode = 0.2;
constexpr int kRounds = 8;
constexpr int64_t kLargeElements = 1 << 20;

/// Adds up, by name, the time of outermost ranges in consecutive runs.
class StepClock final : public base::RangeListener {
 public:
  StepClock() { base::listen_to_ranges(this); }
  ~StepClock() override { base::listen_to_ranges(nullptr); }
  StepClock(const StepClock&) = delete;
  StepClock& operator=(const StepClock&) = delete;

  void begin(const std::string& name) override {
    if (depth_++ > 0) return;
    current_ = &sums_[name];
    start_ = base::Clock::now();
  }
  void end() override {
    if (--depth_ > 0) return;
    *current_ += 1e6 * base::seconds_since(start_);
  }
  /// Returns the sums since the last call.
  std::map<std::string, double> take() { return std::exchange(sums_, {}); }

 private:
  std::map<std::string, double> sums_;
  double* current_ = nullptr;
  base::Clock::time_point start_;
  int depth_ = 0;
};

/// Medians over runs.
struct Measured {
  std::vector<double> block_us;
  std::map<std::string, double> step_us;
};

/// On a GPU the inputs are already on the device, and each block is waited for.
Measured run_repeatedly(PartitionedExecutable& executable, const std::vector<tensor::Tensor>& inputs,
                        double seconds) {
  const auto run_once = [&] {
    if (executable.on_device()) return executable.execute_apart();
    executable.run(inputs);
  };
  executable.upload(inputs);
  for (int i = 0; i < kWarmups; ++i) run_once();
  std::map<std::string, std::vector<double>> steps;
  std::vector<std::vector<double>> blocks(executable.block_us().size());
  StepClock clock;
  const auto start = base::Clock::now();
  for (int run = 0; run < kMostRuns; ++run) {
    if (run >= kLeastRuns && base::seconds_since(start) > seconds) break;
    run_once();
    for (const auto& [name, us] : clock.take()) steps[name].push_back(us);
    for (size_t block = 0; block < blocks.size(); ++block)
      blocks[block].push_back(executable.block_us()[block]);
  }
  Measured measured;
  for (auto& [name, times] : steps) measured.step_us[name] = base::median(std::move(times));
  for (std::vector<double>& times : blocks) measured.block_us.push_back(base::median(std::move(times)));
  return measured;
}

/// A model that does almost nothing, with this number of elements in and out.
std::shared_ptr<const graph::Graph> small_graph(int64_t elements) {
  auto graph = std::make_shared<graph::Graph>();
  const graph::TensorType type{tensor::DType::kFloat32, graph::Dims{graph::Dim(elements)}};
  const graph::ValueId x = graph->add_value("x", type);
  const graph::ValueId y = graph->add_value("y", type);
  graph->inputs = {x};
  graph->outputs = {y};
  graph::Node node;
  node.name = "0";
  node.op = "Relu";
  node.inputs = {x};
  node.outputs = {y};
  node.sources = {"0"};
  graph::complete_node(node);
  graph->add_node(std::move(node));
  return graph;
}

double announced(const Measured& measured) {
  return std::accumulate(measured.step_us.begin(), measured.step_us.end(), 0.0,
                         [](double sum, const auto& step) { return sum + step.second; });
}

/// One node on one backend, with `elements` elements in and out.
struct OneNode {
  OneNode(const Subject& subject, int backend, int64_t elements)
      : graph(small_graph(elements)),
        executable({.name = "one node",
                    .graph = graph,
                    .blocks = {{0, {0}}},
                    .backends = {subject.backends[static_cast<size_t>(backend)]},
                    .predicted_ms = std::nullopt,
                    .predicted_shapes = {}},
                   options_of(subject, elements)) {
    inputs.emplace_back(tensor::DType::kFloat32, tensor::Shape{elements});
    std::fill_n(inputs[0].mutable_values<float>().begin(), elements, 1.0F);
  }
  static LoadOptions options_of(const Subject& subject, int64_t elements) {
    LoadOptions options = subject.options;
    options.input_shapes = {{"x", {elements}}};
    return options;
  }

  std::shared_ptr<const graph::Graph> graph;
  PartitionedExecutable executable;
  std::vector<tensor::Tensor> inputs;
};

/// The time that a block on the host takes in addition to its steps, with this number of elements in and out.
double overhead_us(const Subject& subject, int backend, int64_t elements) {
  OneNode one(subject, backend, elements);
  const Measured measured = run_repeatedly(one.executable, one.inputs, kSecondsPerNode);
  const double steps = announced(measured);
  const double step =
      steps > 0 ? steps : roofline_us(*one.graph, rates_of("cpu", subject.options.threads))[0];
  return std::max(measured.block_us[0] - step, 0.0);
}

BackendCost host_cost(const Subject& subject, int backend) {
  BackendCost cost;
  cost.launch_us = overhead_us(subject, backend, 1);
  // Input and output times are not separated: each gets half.
  const double bytes = 2.0 * static_cast<double>(kLargeElements) * sizeof(float);
  const double us = std::max(overhead_us(subject, backend, kLargeElements) - cost.launch_us, 0.0) / bytes;
  cost.input_us_per_byte = cost.output_us_per_byte = us;
  return cost;
}

template <class F>
double median_us(F&& action) {
  std::vector<double> times;
  for (int i = -kWarmups; i < kLeastRuns; ++i) {
    const auto start = base::Clock::now();
    action();
    if (i >= 0) times.push_back(1e6 * base::seconds_since(start));
  }
  return base::median(std::move(times));
}

/// Adds the cost of copying values from the GPU to a block on the host, and back.
void add_round_trip(const Subject& subject, BackendCost& cost) {
  DeviceExchange exchange(tensor::parse_place(subject.options.device));
  const auto round_trip = [&](int64_t elements) {
    const tensor::Buffer there = exchange.allocate(elements * static_cast<int64_t>(sizeof(float)));
    const tensor::Tensor here = exchange.copy_to_host(there, tensor::DType::kFloat32, {elements});
    const double in = median_us([&] { exchange.copy_to_host(there, here.dtype(), here.shape()); });
    const double out = median_us([&] {
      exchange.copy_to_device(here, there);
      exchange.synchronize();
    });
    return std::pair(in, out);
  };
  const auto [least_in, least_out] = round_trip(1);
  const auto [in, out] = round_trip(kLargeElements);
  const double bytes = static_cast<double>(kLargeElements) * sizeof(float);
  cost.launch_us += least_in + least_out;
  cost.input_us_per_byte += std::max(in - least_in, 0.0) / bytes;
  cost.output_us_per_byte += std::max(out - least_out, 0.0) / bytes;
}

/// The cost of a block that binds on a GPU, and so reads and writes values in place.
BackendCost bound_cost(const Subject& subject, int backend) {
  OneNode one(subject, backend, 1);
  BackendCost cost;
  cost.launch_us = run_repeatedly(one.executable, one.inputs, kSecondsPerNode).block_us[0];
  cost.wait_us = std::max(median_us([&] { one.executable.execute(); }) - cost.launch_us, 0.0);
  return cost;
}

BackendCost border_cost(const Subject& subject, int backend) {
  const std::unique_ptr<Backend> made = make_backend(subject.backends[static_cast<size_t>(backend)]);
  const bool on_gpu = tensor::parse_place(subject.options.device).kind != tensor::PlaceKind::kCpu;
  if (on_gpu && made->binds()) return bound_cost(subject, backend);
  if (!on_gpu) return host_cost(subject, backend);
  LoadOptions options = subject.options;
  options.device = "cpu";
  options.precision = Precision::kFp32;
  BackendCost cost = host_cost(
      {subject.name, subject.graph, subject.typed, subject.backends, options, subject.inputs}, backend);
  add_round_trip(subject, cost);
  return cost;
}

/// Names nodes by their indices, so that steps can be mapped to the nodes from which they were made.
std::shared_ptr<const graph::Graph> numbered(const graph::Graph& graph) {
  auto result = std::make_shared<graph::Graph>(graph);
  for (size_t i = 0; i < result->nodes.size(); ++i) {
    result->nodes[i].name = std::to_string(i);
    result->nodes[i].sources = {std::to_string(i)};
  }
  return result;
}

/// Adds a time to nodes in proportion to their weights.
void share_out(double us, const std::vector<size_t>& nodes, const std::vector<double>& weights,
               std::vector<double>& times) {
  double sum = 0;
  for (const size_t node : nodes) sum += weights[node];
  for (const size_t node : nodes) times[node] += us * weights[node] / sum;
}

std::vector<size_t> numbers_of(const StepInfo& step, size_t count) {
  std::vector<size_t> nodes;
  for (const std::string& source : step.sources) {
    // Nodes that an engine adds have names in another form.
    size_t node = 0;
    const char* const end = source.data() + source.size();
    const auto [rest, error] = std::from_chars(source.data(), end, node);
    if (error == std::errc() && rest == end && node < count) nodes.push_back(node);
  }
  return nodes;
}

/// Adds the times of steps to their nodes; returns false if none of the block's steps has a time.
bool share_out_steps(const std::vector<StepInfo>& steps, const std::map<std::string, double>& told,
                     const Block& block, const std::vector<double>& weights, std::vector<double>& times) {
  bool any = false;
  std::set<std::string> seen;
  for (const StepInfo& step : steps) {
    const auto found = told.find(step.name);
    if (found == told.end() || found->second <= 0 || !seen.insert(step.name).second) continue;
    const std::vector<size_t> own = numbers_of(step, weights.size());
    // The time of a step that an engine inserts, such as a reorder, belongs to all nodes of the block.
    share_out(found->second, own.empty() ? std::vector<size_t>(block.nodes.begin(), block.nodes.end()) : own,
              weights, times);
    any = true;
  }
  return any;
}

void scale_to(double whole, const Block& block, std::vector<double>& times) {
  double sum = 0;
  for (const int32_t node : block.nodes) sum += times[static_cast<size_t>(node)];
  for (const int32_t node : block.nodes) times[static_cast<size_t>(node)] *= whole / sum;
}

}  // namespace

NodeTimes measure_nodes(const Subject& subject, const Blocks& blocks, int backend) {
  const std::unique_ptr<Backend> made = make_backend(subject.backends[static_cast<size_t>(backend)]);
  const std::vector<double> weights =
      roofline_us(subject.typed, rates_of(device_of(*made, subject.options.device), subject.options.threads));
  NodeTimes times{std::vector<double>(weights.size(), 0), border_cost(subject, backend)};
  PartitionedExecutable executable({.name = subject.name,
                                    .graph = numbered(*subject.graph),
                                    .blocks = blocks,
                                    .backends = subject.backends,
                                    .predicted_ms = std::nullopt,
                                    .predicted_shapes = {}},
                                   subject.options);
  const Measured measured = run_repeatedly(executable, subject.inputs, kSecondsPerModel);
  std::vector<std::map<std::string, double>> profiles(blocks.size());
  if (executable.on_device()) profiles = executable.profile_steps(kLeastRuns);
  const std::vector<std::vector<StepInfo>> steps = executable.block_steps();
  for (size_t block = 0; block < blocks.size(); ++block) {
    if (blocks[block].backend != backend) continue;
    const std::map<std::string, double>& told = profiles[block].empty() ? measured.step_us : profiles[block];
    const double whole = std::max(measured.block_us[block] - times.cost.launch_us, 0.0);
    const bool any = share_out_steps(steps[block], told, blocks[block], weights, times.node_us);
    if (!any) {
      share_out(whole, {blocks[block].nodes.begin(), blocks[block].nodes.end()}, weights, times.node_us);
      times.shared_out = true;
    } else if (executable.on_device()) {
      scale_to(whole, blocks[block], times.node_us);
    }
  }
  return times;
}

/// Runs once as the measurement does: on a GPU with the inputs already on the device, as in hone bench.
void run_as_measured(PartitionedExecutable& executable, const std::vector<tensor::Tensor>& inputs) {
  if (executable.on_device()) return executable.execute();
  executable.run(inputs);
}

std::vector<Timed> measure_plans(const Subject& subject, const std::vector<Blocks>& plans) {
  std::vector<std::unique_ptr<PartitionedExecutable>> executables;
  for (const Blocks& blocks : plans) {
    executables.push_back(std::make_unique<PartitionedExecutable>(
        PartitionedModel{subject.name, subject.graph, blocks, subject.backends, std::nullopt, {}},
        subject.options));
    executables.back()->upload(subject.inputs);
    for (int i = 0; i < kWarmups; ++i) run_as_measured(*executables.back(), subject.inputs);
  }
  std::vector<Timed> timed(plans.size());
  for (size_t round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < plans.size(); ++i) {
      const size_t plan = (round + i) % plans.size();
      PartitionedExecutable& executable = *executables[plan];
      // The caches hold another plan's data, so the first run is not timed.
      run_as_measured(executable, subject.inputs);
      std::vector<double>& latencies = timed[plan].rounds_ms.emplace_back();
      const auto start = base::Clock::now();
      for (int run = 0; run < kMostRuns; ++run) {
        if (run > 0 && base::seconds_since(start) > kSecondsPerModel / kRounds) break;
        const auto begin = base::Clock::now();
        run_as_measured(executable, subject.inputs);
        latencies.push_back(base::milliseconds_between(begin, base::Clock::now()));
        if (!executable.on_device()) timed[plan].block_us.push_back(executable.block_us());
      }
      if (!executable.on_device()) continue;
      executable.execute_apart();
      timed[plan].block_us.push_back(executable.block_us());
    }
  }
  return timed;
}

}  // namespace hone::backend::partition
