// See partition_text.hpp.
#include "report/terminal/partition_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/units.hpp"
#include "report/terminal/sheet.hpp"
#include "report/terminal/table.hpp"

namespace hone::report {
namespace {

constexpr size_t kWidth = 110;
/// Limit on the nodes, blocks and borders that are listed; the file and --json contain all.
constexpr size_t kMostListed = 20;
constexpr size_t kLongestName = 48;

std::string ms_text(const std::optional<double>& ms) { return ms ? fmt::format("{:.3f}", *ms) : "-"; }

std::string name_text(const std::string& name) { return cut_middle(printable(name), kLongestName); }

std::string counted(int64_t count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

class Text {
 public:
  explicit Text(const base::PartitionRecord& record) : record_(record) {}

  std::vector<std::string> make() {
    head();
    support();
    blocks();
    borders();
    plans();
    statistics();
    sizes();
    list("Recommendations", record_.recommendations);
    list("Notes", record_.notes);
    return std::move(lines_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    lines_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }
  void title(const std::string& text) {
    lines_.emplace_back();
    lines_.push_back(text);
  }
  void wrapped(const std::string& text, size_t indent) {
    for (std::string& part : wrap(text, kWidth, indent)) lines_.push_back(std::move(part));
  }

  void head() {
    std::vector<std::string> names;
    for (const base::PartitionBackend& backend : record_.backends) names.push_back(backend.name);
    std::vector<std::string> shapes;
    for (const auto& [name, shape] : record_.input_shapes)
      shapes.push_back(fmt::format("{}:{}", printable(name), fmt::join(shape, "x")));
    wrapped(fmt::format("{} on {} ({}, {}, {} threads; {})", printable(record_.model), fmt::join(names, ", "),
                        record_.device, record_.precision, record_.threads, fmt::join(shapes, ", ")),
            2);
    wrapped("times: " + record_.times, 2);
  }

  void support() {
    title("Support");
    const size_t nodes = record_.nodes.size();
    for (size_t i = 0; i < record_.backends.size(); ++i) {
      const base::PartitionBackend& backend = record_.backends[i];
      line("  {} takes {} of {} nodes, {:.2f} %", backend.name, backend.taken, nodes,
           100.0 * static_cast<double>(backend.taken) / static_cast<double>(nodes));
      refusals(i);
    }
  }

  /// Combines nodes that have the same operator and the same reason.
  void refusals(size_t backend) {
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> groups;
    for (const base::PartitionNode& node : record_.nodes) {
      if (backend < node.refusals.size() && !node.refusals[backend].empty())
        groups[{node.op, node.refusals[backend]}].push_back(node.name);
    }
    size_t listed = 0;
    for (const auto& [group, names] : groups) {
      if (listed++ == kMostListed) return line("    and {} more reasons", groups.size() - kMostListed);
      const std::string more = names.size() > 1 ? fmt::format(" and {} more", names.size() - 1) : "";
      wrapped(fmt::format("    not {} '{}'{}: {}", printable(group.first), name_text(names.front()), more,
                          printable(group.second)),
              6);
    }
  }

  void blocks() {
    title("Blocks, in the order in which they run");
    const Table table({{"block", 5},
                       {"backend", 12, false},
                       {"nodes", 6},
                       {"counted", 7},
                       {"in", 3},
                       {"out", 3},
                       {"nodes ms", 9},
                       {"launch ms", 9},
                       {"measured ms", 11},
                       {"from .. to", 40, false}});
    line("{}", table.header());
    for (size_t i = 0; i < record_.blocks.size() && i < kMostListed; ++i) {
      const base::PartitionBlock& block = record_.blocks[i];
      const auto node = [&](int32_t index) {
        const base::PartitionNode& of = record_.nodes.at(static_cast<size_t>(index));
        return cut_middle(printable(of.name.empty() ? of.op : of.name), 24);
      };
      line("{}", table.row({std::to_string(i), block.backend, std::to_string(block.nodes.size()),
                            std::to_string(block.counted), std::to_string(block.inputs.size()),
                            std::to_string(block.outputs.size()), fmt::format("{:.3f}", block.nodes_ms),
                            fmt::format("{:.3f}", block.launch_ms), ms_text(block.measured_ms),
                            fmt::format("{} .. {}", node(block.nodes.front()), node(block.nodes.back()))}));
      if (!block.note.empty()) wrapped("        " + block.note, 8);
    }
    more(record_.blocks.size());
  }

  void borders() {
    title("Borders");
    const Table table(
        {{"from", 6}, {"to", 6}, {"size", 9}, {"copies", 6}, {"syncs", 5}, {"ms", 7}, {"value", 40, false}});
    line("{}", table.header());
    const auto end = [](int32_t block) { return block < 0 ? std::string("caller") : std::to_string(block); };
    for (size_t i = 0; i < record_.borders.size() && i < kMostListed; ++i) {
      const base::PartitionBorder& border = record_.borders[i];
      line("{}", table.row({end(border.from), end(border.to),
                            base::bytes_text(static_cast<double>(border.value.bytes)),
                            std::to_string(border.copies), std::to_string(border.synchronisations),
                            fmt::format("{:.3f}", border.time_ms),
                            fmt::format("{} {}", name_text(border.value.name), border.value.type)}));
    }
    more(record_.borders.size());
  }

  void more(size_t count) {
    if (count > kMostListed) line("  and {} more", count - kMostListed);
  }

  void plans() {
    title("Ways to run it");
    const Table table({{"plan", 18, false},
                       {"blocks", 6},
                       {"borders", 7},
                       {"MB", 8},
                       {"nodes ms", 9},
                       {"borders ms", 10},
                       {"launches ms", 11},
                       {"predicted ms", 12},
                       {"measured ms", 11},
                       {"n", 5}});
    line("{}", table.header());
    for (const base::PartitionPlan& plan : record_.plans) {
      if (plan.blocks == 0) {
        line("{:<18}  cannot: {}", plan.name, printable(plan.refusal));
        continue;
      }
      line("{}{}{}",
           table.row({plan.name, std::to_string(plan.blocks), std::to_string(plan.borders),
                      fmt::format("{:.3f}", plan.border_mb), ms_text(plan.nodes_ms), ms_text(plan.borders_ms),
                      ms_text(plan.launches_ms), ms_text(plan.predicted_ms), ms_text(plan.measured_ms),
                      plan.measured_ms ? std::to_string(plan.samples) : "-"}),
           plan.chosen ? "  chosen" : "", plan.refusal.empty() ? "" : "  not chosen: " + plan.refusal);
    }
    if (record_.predicted_ms && record_.measured_ms) {
      line("  predicted {:.3f} ms, measured {:.3f} ms ({})", *record_.predicted_ms, *record_.measured_ms,
           base::change_text(*record_.measured_ms / *record_.predicted_ms - 1));
    }
    wrapped("  search: " + record_.algorithm, 4);
  }

  void statistics() {
    title("Aggregate statistics");
    const base::PartitionStatistics& s = record_.statistics;
    const std::string& first = record_.backends.front().name;
    line("  {} in the graph, {} on {}: {:.2f} % coverage", counted(s.nodes, "operator"), s.supported, first,
         100 * s.coverage);
    for (const auto& [op, count] : s.unsupported)
      line("  not on {} or excluded: {}, {}", first, printable(op), counted(count, "node"));
    line("  {} of {}", counted(s.first_blocks, "block"), first);
    if (s.first_blocks == 0) return;
    line("  operators a block of {}: {:.1f} on average, {} at most", first, s.average_nodes, s.most_nodes);
  }

  void sizes() {
    if (record_.what_if.size() < 2) return;
    title("Greedy partitions by --min-block-size");
    const std::string& first = record_.backends.front().name;
    const Table table({{"size", 5}, {"blocks", 6}, {"of " + first, 12}, {"predicted ms", 12}});
    line("{}", table.header());
    for (const base::PartitionWhatIf& row : record_.what_if) {
      line("{}", table.row({std::to_string(row.min_block_size), std::to_string(row.blocks),
                            std::to_string(row.first_blocks), fmt::format("{:.3f}", row.predicted_ms)}));
    }
  }

  void list(const char* name, const std::vector<std::string>& sentences) {
    if (sentences.empty()) return;
    title(name);
    for (const std::string& sentence : sentences) wrapped("  - " + printable(sentence), 4);
  }

  const base::PartitionRecord& record_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> partition_text(const base::PartitionRecord& record) { return Text(record).make(); }

}  // namespace hone::report
