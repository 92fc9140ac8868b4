// See output_check.hpp.
#include "engine/search/output_check.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "tensor/metrics.hpp"

namespace hone::engine {
namespace {

/// Limit on the relative L2 distance between outputs of networks that differ only in their tactics. Rounding
/// changes outputs by a few unit roundoffs (fp16 0x1p-11, bf16 0x1p-8); a wrong kernel changes them by much
/// more than this limit.
double tolerance(Precision precision) {
  switch (precision) {
    case Precision::kBf16: return 0.1;
    case Precision::kFp16: return 0.02;
    case Precision::kTf32: return 0.01;
    default: return 1e-3;
  }
}

size_t values_not_finite(const Outputs& outputs) {
  size_t count = 0;
  for (const tensor::Tensor& output : outputs) {
    if (!tensor::is_floating(output.dtype())) continue;
    const std::vector<double> values = output.to_double();
    count += static_cast<size_t>(
        std::count_if(values.begin(), values.end(), [](double value) { return !std::isfinite(value); }));
  }
  return count;
}

/// Compares outputs without rounding, such as indices. They agree if most elements are equal or, because
/// rounding can change the order of values, if most elements occur in both.
bool mostly_equal(const tensor::Tensor& a, const tensor::Tensor& b) {
  std::vector<double> ours = a.to_double();
  std::vector<double> theirs = b.to_double();
  const size_t may_differ = 4 + ours.size() / 10;
  size_t different = 0;
  for (size_t i = 0; i < ours.size(); ++i) different += ours[i] == theirs[i] ? 0 : 1;
  if (different <= may_differ) return true;
  std::sort(ours.begin(), ours.end());
  std::sort(theirs.begin(), theirs.end());
  std::vector<double> common;
  std::set_intersection(ours.begin(), ours.end(), theirs.begin(), theirs.end(), std::back_inserter(common));
  return common.size() + may_differ >= ours.size();
}

/// If there are rounded outputs, they decide.
bool agree(const Outputs& a, const Outputs& b, Precision precision) {
  if (a.size() != b.size()) return false;
  bool rounded = false;
  bool whole_numbers_agree = true;
  for (size_t i = 0; i < b.size(); ++i) {
    // If the number of results depends on values, it can also change because of rounding.
    if (a[i].dtype() != b[i].dtype() || a[i].shape() != b[i].shape()) continue;
    if (tensor::is_floating(a[i].dtype())) {
      rounded = true;
      if (!(tensor::relative_l2(a[i], b[i]) <= tolerance(precision))) return false;
    } else {
      whole_numbers_agree = whole_numbers_agree && mostly_equal(a[i], b[i]);
    }
  }
  return rounded || whole_numbers_agree;
}

}  // namespace

Outputs OutputCheck::run(Execution& program) const {
  if (overlapping_) {
    program.executor().poison();
    (void)program.run(inputs_);
  }
  program.executor().poison();
  return program.run(inputs_);
}

size_t OutputCheck::vote(Outputs outputs, std::vector<Ballot>& ballots) const {
  auto found = std::find_if(ballots.begin(), ballots.end(),
                            [&](const Ballot& ballot) { return agree(outputs, ballot.outputs, precision_); });
  if (found == ballots.end()) found = ballots.insert(found, {std::move(outputs), 0});
  ++found->votes;
  return static_cast<size_t>(found - ballots.begin());
}

void OutputCheck::expect(const std::vector<Ballot>& ballots, const std::function<Outputs()>& decide) {
  // A kernel that reads unwritten memory produces values that are not finite, and many such outputs may agree
  // with each other.
  std::vector<size_t> broken;
  for (const Ballot& ballot : ballots) broken.push_back(values_not_finite(ballot.outputs));
  const size_t fewest = *std::min_element(broken.begin(), broken.end());
  size_t most = 0;
  size_t all = 0;
  Outputs best;
  for (size_t i = 0; i < ballots.size(); ++i) {
    all += ballots[i].votes;
    if (broken[i] != fewest) continue;
    // Agreement is not transitive: an output that agrees with two ballots voted only for the first of them.
    size_t votes = 0;
    for (const Ballot& other : ballots)
      votes += agree(other.outputs, ballots[i].outputs, precision_) ? other.votes : 0;
    if (votes <= most) continue;
    most = votes;
    best = ballots[i].outputs;
  }
  if (most == 1 && all > 1) {
    expected_ = decide();
    if (std::any_of(ballots.begin(), ballots.end(), [this](const Ballot& b) { return agrees(b.outputs); }))
      return;
  }
  expected_ = std::move(best);
}

bool OutputCheck::agrees(const Outputs& outputs) const { return agree(outputs, expected_, precision_); }

}  // namespace hone::engine
