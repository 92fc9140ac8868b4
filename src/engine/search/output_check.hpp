// Checks whether programs that differ in their tactics compute the same result, because a kernel that is fast
// because it is wrong must not win a search.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "engine/program/execution.hpp"

namespace hone::engine {

using Outputs = std::vector<tensor::Tensor>;

/// Outputs on which several programs agree; those of the first program are stored.
struct Ballot {
  Outputs outputs;
  size_t votes = 0;
};

class OutputCheck {
 public:
  /// `overlapping` is true if steps overlap on the device, so that errors may not show in a program's first
  /// run.
  OutputCheck(Precision precision, std::span<const tensor::Tensor> inputs, bool overlapping)
      : precision_(precision), inputs_(inputs), overlapping_(overlapping) {}

  /// Runs on poisoned memory, because results of an earlier run would hide missing writes and reads of
  /// unwritten memory.
  Outputs run(Execution& program) const;

  /// Returns the ballot that these outputs vote for, or a new one if they agree with none. Only one output
  /// per ballot is kept, because the outputs of many programs would take too much memory.
  size_t vote(Outputs outputs, std::vector<Ballot>& ballots) const;
  /// Sets the expected outputs for all later checks, from at least one ballot. Among the ballots with the
  /// fewest values that are not finite, it takes the one with the most votes. If no two outputs agree, it
  /// takes the outputs of `decide`, or the first ballot if none agrees with them.
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
