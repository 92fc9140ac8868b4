// Fields of transfers and of the work that they overlap.
#pragma once

#include "analysis/questions/transfers.hpp"
#include "analysis/schema/times.hpp"

namespace hone::base {

template <>
struct Description<analysis::Traffic> {
  using Traffic = analysis::Traffic;
  static constexpr std::string_view kName = "Traffic";
  static constexpr auto kFields = std::tuple{
      Field{"copies", &Traffic::copies, "Copies, each counted in the first step that it touches",
            unit::kCount, origin::kMeasured},
      Field{"bytes", &Traffic::bytes, "Bytes; of a copy that lies in several steps each has its part",
            unit::kBytes, origin::kRecorded},
      Field{"busy_ns", &Traffic::busy, "Time in which at least one of them ran", unit::kNs,
            origin::kMeasured},
      Field{"bytes_per_second", &Traffic::rate, "Bytes by that time", unit::kByteRate, origin::kMeasured}};
};

template <>
struct Description<analysis::Overlap> {
  using Overlap = analysis::Overlap;
  static constexpr std::string_view kName = "Overlap";
  static constexpr auto kFields = std::tuple{
      Field{"step", &Overlap::step, "Name of the step"},
      Field{"length_ns", &Overlap::length, "Length of the step", unit::kNs, origin::kMeasured},
      Field{"directions", &Overlap::named_directions, "Copies by direction"},
      Field{"link_ns", &Overlap::link, "Time in which copies between host and device ran", unit::kNs,
            origin::kMeasured},
      Field{"compute_ns", &Overlap::compute, "Time in which kernels ran", unit::kNs, origin::kMeasured},
      Field{"both_ns", &Overlap::both, "Time in which both ran", unit::kNs, origin::kMeasured},
      Field{"link_only_ns", &Overlap::link_only, "Copies ran and no kernel", unit::kNs, origin::kMeasured},
      Field{"compute_only_ns", &Overlap::compute_only, "Kernels ran and no copy", unit::kNs,
            origin::kMeasured},
      Field{"other_ns", &Overlap::other, "Only copies within the device and sets ran", unit::kNs,
            origin::kMeasured},
      Field{"idle_ns", &Overlap::idle, "The device did nothing that was recorded", unit::kNs,
            origin::kMeasured}};
};

template <>
struct Description<analysis::DeviceTransfers> {
  using Device = analysis::DeviceTransfers;
  static constexpr std::string_view kName = "DeviceTransfers";
  static constexpr auto kFields =
      std::tuple{Field{"device", &Device::device, "Number of the GPU"},
                 Field{"total", &Device::total, "All steps added up"},
                 Field{"hideable_ns", &Device::hideable,
                       "Most time that a perfect overlap of copies and kernels could save, within each step",
                       unit::kNs, origin::kEstimated},
                 Field{"steps", &Device::steps, "Every step"}};
};

template <>
struct Description<analysis::TransferAnalysis> {
  static constexpr std::string_view kName = "TransferAnalysis";
  static constexpr auto kFields =
      std::tuple{Field{"devices", &analysis::TransferAnalysis::devices, "GPUs that did something"}};
};

}  // namespace hone::base
