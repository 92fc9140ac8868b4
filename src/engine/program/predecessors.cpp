// See predecessors.hpp.
#include "engine/program/predecessors.hpp"

#include <iterator>
#include <map>
#include <set>

namespace hone::engine {
namespace {

constexpr size_t kMaxPredecessors = 1'000'000;

/// Records which step wrote which bytes last.
class LastWriters {
 public:
  void write(int64_t begin, int64_t end, int32_t step) {
    if (begin >= end) return;
    split(begin);
    split(end);
    written_.erase(written_.lower_bound(begin), written_.lower_bound(end));
    written_[begin] = {end, step};
  }

  void read(int64_t begin, int64_t end, std::set<int32_t>& writers) const {
    auto at = written_.upper_bound(begin);
    if (at != written_.begin() && std::prev(at)->second.end > begin) --at;
    for (; at != written_.end() && at->first < end; ++at) writers.insert(at->second.step);
  }

 private:
  struct Part {
    int64_t end;
    int32_t step;
  };

  /// Splits the part that extends over `position`.
  void split(int64_t position) {
    const auto after = written_.lower_bound(position);
    if (after == written_.begin()) return;
    Part& before = std::prev(after)->second;
    if (before.end <= position) return;
    written_.emplace_hint(after, position, before);
    before.end = position;
  }

  std::map<int64_t, Part> written_;  // by begin; parts do not overlap
};

class Finder {
 public:
  explicit Finder(const std::vector<ProgramStep>& steps) : steps_(steps) {}

  std::vector<std::vector<int32_t>> find() {
    std::vector<std::vector<int32_t>> result;
    size_t total = 0;
    for (size_t i = 0; i < steps_.size(); ++i) {
      std::set<int32_t> writers;
      for (const Operand& input : steps_[i].inputs) read(input, writers);
      if (adds_to_copy(i)) writers.insert(static_cast<int32_t>(i) - 1);
      for (const Operand& output : steps_[i].outputs) write(output, static_cast<int32_t>(i));
      total += writers.size();
      if (total > kMaxPredecessors) return std::vector<std::vector<int32_t>>(steps_.size());
      result.emplace_back(writers.begin(), writers.end());
    }
    return result;
  }

 private:
  /// True if the engine copied a tensor into the step's output just before, and the step adds to it; the step
  /// has no input for this tensor.
  bool adds_to_copy(size_t i) const {
    if (i == 0 || steps_[i].outputs.empty()) return false;
    const ProgramStep& before = steps_[i - 1];
    if (before.node >= 0 || before.kind != "Copy") return false;
    const Operand& copied = before.outputs[0];
    return copied.storage == steps_[i].outputs[0].storage && copied.position == steps_[i].outputs[0].position;
  }

  void read(const Operand& operand, std::set<int32_t>& writers) const {
    if (operand.storage == Operand::Storage::kArena) {
      arena_.read(operand.position, operand.position + operand.desc.bytes(), writers);
      return;
    }
    const auto found = others_.find({operand.storage, operand.position});
    if (found != others_.end()) writers.insert(found->second);
  }

  void write(const Operand& operand, int32_t step) {
    if (operand.storage == Operand::Storage::kArena)
      arena_.write(operand.position, operand.position + operand.desc.bytes(), step);
    if (operand.storage == Operand::Storage::kOutput || operand.storage == Operand::Storage::kDynamic)
      others_[{operand.storage, operand.position}] = step;
  }

  const std::vector<ProgramStep>& steps_;
  LastWriters arena_;
  std::map<std::pair<Operand::Storage, int64_t>, int32_t> others_;
};

}  // namespace

std::vector<std::vector<int32_t>> find_predecessors(const std::vector<ProgramStep>& steps) {
  return Finder(steps).find();
}

}  // namespace hone::engine
