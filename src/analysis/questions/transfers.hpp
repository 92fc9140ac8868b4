// Compares copies with computing in each step: how long each took, how much of it overlapped, how fast the
// link was, and which of the two waited for the other.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "analysis/questions/steps.hpp"

namespace hone::analysis {

constexpr size_t kCopyDirections = 6;

/// Copies of one direction.
struct Traffic {
  int64_t copies = 0;  ///< each counted in the first step that it touches
  double bytes = 0;    ///< a copy in several steps is divided among them
  Time busy = 0;       ///< time in which at least one ran, ns

  /// Bytes per second while copies ran; 0 when there were none.
  double rate() const { return busy > 0 ? bytes * 1e9 / static_cast<double>(busy) : 0; }
};

/// One device in one step, or in all steps. Copies over the link are those between host and device or between
/// devices; computing means kernels. link_only + compute_only + both + other + idle is the length of the
/// step. ns.
struct Overlap {
  std::string step;
  Time length = 0;
  std::array<Traffic, kCopyDirections> directions;  ///< by trace::CopyDirection
  Time link = 0;
  Time compute = 0;
  Time both = 0;
  Time other = 0;  ///< only copies within the device and sets
  Time idle = 0;   ///< no activity of the device was recorded

  Time link_only() const { return link - both; }        ///< the link works and the GPU does not compute
  Time compute_only() const { return compute - both; }  ///< the GPU computes and the link is idle
  /// The directions that were used.
  base::Named<Traffic> named_directions() const;
  /// The time that a perfect overlap could save: the shorter of the two parts that did not overlap.
  Time hideable() const { return std::min(link_only(), compute_only()); }
};

struct DeviceTransfers {
  int32_t device = 0;
  std::vector<Overlap> steps;
  Overlap total;      ///< sums over the steps
  Time hideable = 0;  ///< sum over the steps; within each step, only its own kernels can hide its own copies
};

struct TransferAnalysis {
  std::vector<DeviceTransfers> devices;  ///< devices that did something, by id
};

TransferAnalysis analyze_transfers(const trace::Trace& trace, const StepList& steps);

Json to_json(const TransferAnalysis& analysis);

}  // namespace hone::analysis
