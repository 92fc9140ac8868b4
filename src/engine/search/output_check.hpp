// Checks whether programs that differ in their tactics compute the same: a kernel that is fast because it is
// wrong must not win a search.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "engine/program/execution.hpp"

namespace hone::engine {

using Outputs = std::vector<tensor::Tensor>;

/// The outputs that some programs agree on: those of the first of them.
struct Ballot {
  Outputs outputs;
  size_t votes = 0;
};

class OutputCheck {
 public:
  /// `overlapping`: steps overlap on the device, so that a program's first run may be gentler than all later
  /// ones.
  OutputCheck(Precision precision, std::span<const tensor::Tensor> inputs, bool overlapping)
      : precision_(precision), inputs_(inputs), overlapping_(overlapping) {}

  /// Runs on memory without the results of an earlier run: values that a kernel does not write, or reads
  /// before they are written, would otherwise go unseen.
  Outputs run(Execution& program) const;

  /// The ballot that the outputs are a vote for, a new one where they agree with none: the outputs of many
  /// programs would not all find room.
  size_t vote(Outputs outputs, std::vector<Ballot>& ballots) const;
  /// Sets the outputs that programs must compute from now on, from at least one ballot: among those with the
  /// fewest values that are not finite, the one that most votes agree with; where no two agree, the one that
  /// agrees with the outputs of `decide`, the first one when none does.
  void expect(const std::vector<Ballot>& ballots, const std::function<Outputs()>& decide);
  bool agrees(const Outputs& outputs) const;
  bool agrees(Execution& program) const { return agrees(run(program)); }

 private:
  Precision precision_;
  std::span<const tensor::Tensor> inputs_;
  bool overlapping_;
  Outputs expected_;
};

}  // namespace hone::engine
