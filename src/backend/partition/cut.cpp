// See cut.hpp.
#include "backend/partition/cut.hpp"

#include <algorithm>
#include <cmath>

#include "backend/partition/max_flow.hpp"

namespace hone::backend::partition {
namespace {

constexpr double kPicosecondsPerMicrosecond = 1e6;
/// The most rounds of alpha-expansion; each round tries every backend.
constexpr int kMostRounds = 20;

int64_t capacity(double us) {
  if (!std::isfinite(us)) return FlowNetwork::kInfinite;
  return std::llround(std::min(us, 1e9) * kPicosecondsPerMicrosecond);
}

/// The cut for two backends: the source's side belongs to the first one.
class TwoWayCut {
 public:
  TwoWayCut(const Wiring& wiring, const Costs& costs, double launch_share)
      : wiring_(wiring), costs_(costs), launch_share_(launch_share) {}

  Cut solve() {
    for (size_t node = 0; node < wiring_.size(); ++node) {
      const int32_t vertex = network_.add_vertex();
      vertices_.push_back(vertex);
      network_.add_edge(vertex, FlowNetwork::kSink, capacity(costs_.node(0, node)));
      network_.add_edge(FlowNetwork::kSource, vertex, capacity(costs_.node(1, node)));
    }
    for (const Flow& flow : wiring_.flows) add(flow);
    Cut cut;
    cut.bound_us = static_cast<double>(network_.maximise()) / kPicosecondsPerMicrosecond;
    for (const int32_t vertex : vertices_) cut.labels.push_back(network_.on_source_side(vertex) ? 0 : 1);
    return cut;
  }

 private:
  int32_t vertex(int32_t node) const { return vertices_[static_cast<size_t>(node)]; }

  double crossing(int from, int to, double bytes) const {
    return costs_.output_us(from, bytes) + costs_.input_us(to, bytes) +
           launch_share_ * costs_.backends[static_cast<size_t>(to)].launch_us;
  }

  void add(const Flow& flow) {
    if (flow.producer < 0) {
      // Each side that reads the value takes it in once.
      charge_source_side(flow, FlowNetwork::kSink, costs_.input_us(0, flow.bytes));
      charge_sink_side(flow, FlowNetwork::kSource, costs_.input_us(1, flow.bytes));
      return;
    }
    const int32_t producer = vertex(flow.producer);
    if (flow.is_output) {
      network_.add_edge(producer, FlowNetwork::kSink, capacity(costs_.output_us(0, flow.bytes)));
      network_.add_edge(FlowNetwork::kSource, producer, capacity(costs_.output_us(1, flow.bytes)));
      // The value is handed out anyway.
      charge_sink_side(flow, producer, crossing(0, 1, flow.bytes) - costs_.output_us(0, flow.bytes));
      charge_source_side(flow, producer, crossing(1, 0, flow.bytes) - costs_.output_us(1, flow.bytes));
      return;
    }
    charge_sink_side(flow, producer, crossing(0, 1, flow.bytes));
    charge_source_side(flow, producer, crossing(1, 0, flow.bytes));
  }

  /// Adds a cost of `us`, paid once if `from` is on the source's side and any reader is not.
  void charge_sink_side(const Flow& flow, int32_t from, double us) {
    if (flow.consumers.empty() || us <= 0) return;
    const int32_t any = network_.add_vertex();
    network_.add_edge(from, any, capacity(us));
    for (const int32_t reader : flow.consumers)
      network_.add_edge(any, vertex(reader), FlowNetwork::kInfinite);
  }
  /// Adds a cost of `us`, paid once if any reader is on the source's side and `to` is not.
  void charge_source_side(const Flow& flow, int32_t to, double us) {
    if (flow.consumers.empty() || us <= 0) return;
    const int32_t any = network_.add_vertex();
    for (const int32_t reader : flow.consumers)
      network_.add_edge(vertex(reader), any, FlowNetwork::kInfinite);
    network_.add_edge(any, to, capacity(us));
  }

  const Wiring& wiring_;
  const Costs& costs_;
  double launch_share_;
  FlowNetwork network_;
  std::vector<int32_t> vertices_;
};

/// The expansion for three or more backends. Each reader of
/// a value is charged with its share of the crossing.
class Expansion {
 public:
  Expansion(const Wiring& wiring, const Costs& costs, double launch_share)
      : wiring_(wiring), costs_(costs), launch_share_(launch_share) {
    for (size_t node = 0; node < wiring.size(); ++node) labels_.push_back(fastest(node));
  }

  Cut solve() {
    Cut cut;
    for (size_t node = 0; node < wiring_.size(); ++node) cut.bound_us += costs_.node(labels_[node], node);
    double energy = energy_of(labels_);
    bool improved = true;
    for (int round = 0; round < kMostRounds && improved; ++round) {
      improved = false;
      for (int alpha = 0; alpha < static_cast<int>(costs_.count()); ++alpha) {
        Labels moved = expand(alpha);
        const double changed = energy_of(moved);
        if (changed >= energy - 1e-9) continue;
        labels_ = std::move(moved);
        energy = changed;
        improved = true;
      }
    }
    cut.labels = labels_;
    return cut;
  }

 private:
  int fastest(size_t node) const {
    int best = 0;
    for (int backend = 1; backend < static_cast<int>(costs_.count()); ++backend) {
      if (costs_.node(backend, node) < costs_.node(best, node)) best = backend;
    }
    return best;
  }

  double crossing(int from, int to, const Flow& flow) const {
    if (from == to) return 0;
    const double us = costs_.output_us(from, flow.bytes) + costs_.input_us(to, flow.bytes) +
                      launch_share_ * costs_.backends[static_cast<size_t>(to)].launch_us;
    return us / static_cast<double>(flow.consumers.size());
  }

  template <class Visit>
  void for_edges(const Visit& visit) const {
    for (const Flow& flow : wiring_.flows) {
      if (flow.producer < 0) continue;
      for (const int32_t reader : flow.consumers)
        visit(static_cast<size_t>(flow.producer), static_cast<size_t>(reader), flow);
    }
  }

  double energy_of(const Labels& labels) const {
    double sum = 0;
    for (size_t node = 0; node < labels.size(); ++node) sum += costs_.node(labels[node], node);
    for_edges(
        [&](size_t from, size_t to, const Flow& flow) { sum += crossing(labels[from], labels[to], flow); });
    return sum;
  }

  /// The best labels in which each node either keeps its label (the source's side) or takes alpha.
  Labels expand(int alpha) const {
    FlowNetwork network;
    std::vector<double> keep(wiring_.size());
    std::vector<double> take(wiring_.size());
    for (size_t node = 0; node < wiring_.size(); ++node) {
      network.add_vertex();
      keep[node] = costs_.node(labels_[node], node);
      take[node] = costs_.node(alpha, node);
    }
    const auto vertex = [](size_t node) { return static_cast<int32_t>(node) + 2; };
    for_edges([&](size_t from, size_t to, const Flow& flow) {
      // Kolmogorov and Zabih: E(0,0) = a, E(0,1) = b, E(1,0) = c, E(1,1) = 0. a <= b + c holds, because the
      // cost of a crossing is the sum of the costs of its two sides.
      const double a = crossing(labels_[from], labels_[to], flow);
      const double b = crossing(labels_[from], alpha, flow);
      const double c = crossing(alpha, labels_[to], flow);
      take[from] += c;
      keep[from] += a;
      take[to] -= c;
      network.add_edge(vertex(from), vertex(to), capacity(std::max(b + c - a, 0.0)));
    });
    for (size_t node = 0; node < wiring_.size(); ++node) {
      const double least = std::min(keep[node], take[node]);
      network.add_edge(vertex(node), FlowNetwork::kSink, capacity(keep[node] - least));
      network.add_edge(FlowNetwork::kSource, vertex(node), capacity(take[node] - least));
    }
    network.maximise();
    Labels labels = labels_;
    for (size_t node = 0; node < labels.size(); ++node) {
      if (!network.on_source_side(vertex(node))) labels[node] = alpha;
    }
    return labels;
  }

  const Wiring& wiring_;
  const Costs& costs_;
  double launch_share_;
  Labels labels_;
};

}  // namespace

Cut cut_labels(const Wiring& wiring, const Costs& costs, double launch_share) {
  if (costs.count() == 2) return TwoWayCut(wiring, costs, launch_share).solve();
  return Expansion(wiring, costs, launch_share).solve();
}

}  // namespace hone::backend::partition
