// Counts the copies between the host and the network's device in the pipeline, and their bytes, by kind.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/described.hpp"

namespace hone::task {

enum class Transfer : uint8_t {
  kDecodedToDevice,  ///< decoded frames from the host's decoder
  kDecodedOnDevice,  ///< decoded frames, copied from the memory of the GPU's decoder
  kTablesToDevice,   ///< tables for resizing and for mapping boxes
  kInputToDevice,    ///< inputs that the host filled
  kOutputsToHost,    ///< outputs of the network
  kBoxesToHost,      ///< boxes that the device found
  kDecodedToHost     ///< decoded frames from the GPU's decoder
};
inline constexpr size_t kTransferKinds = 7;

struct Traffic {
  int64_t copies = 0;
  int64_t bytes = 0;

  Traffic& operator+=(const Traffic& other) {
    copies += other.copies;
    bytes += other.bytes;
    return *this;
  }
};

/// May be used from any number of threads.
class TransferCounts {
 public:
  /// Bytes that travel with others in one copy are added with `copies` 0.
  void add(Transfer kind, int64_t copies, int64_t bytes) {
    copies_[static_cast<size_t>(kind)] += copies;
    bytes_[static_cast<size_t>(kind)] += bytes;
  }
  Traffic of(Transfer kind) const {
    return {copies_[static_cast<size_t>(kind)], bytes_[static_cast<size_t>(kind)]};
  }

 private:
  std::array<std::atomic<int64_t>, kTransferKinds> copies_{};
  std::array<std::atomic<int64_t>, kTransferKinds> bytes_{};
};

using AllTraffic = std::array<Traffic, kTransferKinds>;

/// Adds these counts to the total.
void add_traffic(const TransferCounts& counts, AllTraffic* traffic);

/// One row of the table.
struct TransferReport {
  std::string what;
  std::string direction;
  int64_t copies = 0;
  int64_t bytes = 0;
  double copies_a_frame = 0;
  double bytes_a_frame = 0;
};

/// Returns the kinds that occurred. If a GPU decoded, also returns decoded frames to the host, even if there
/// were none.
std::vector<TransferReport> report_transfers(const AllTraffic& traffic, int64_t frames);

}  // namespace hone::task

namespace hone::base {

template <>
struct Description<task::TransferReport> {
  using T = task::TransferReport;
  static constexpr std::string_view kName = "PipelineTransfer";
  static constexpr auto kFields = std::tuple{
      Field{"what", &T::what, "What was copied"},
      Field{"direction", &T::direction, "to_device, on_device or to_host"},
      Field{"copies", &T::copies, "Copies of all frames; 0 where these bytes went with others", unit::kCount},
      Field{"bytes", &T::bytes, "Bytes of all frames", unit::kBytes},
      Field{"copies_a_frame", &T::copies_a_frame, "copies / frames", unit::kCount},
      Field{"bytes_a_frame", &T::bytes_a_frame, "bytes / frames", unit::kBytes}};
};

}  // namespace hone::base
