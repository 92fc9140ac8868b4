// See transfers.hpp.
#include "task/transfers.hpp"

namespace hone::task {
namespace {

struct KindText {
  std::string_view what;
  std::string_view direction;
};

constexpr std::array<KindText, kTransferKinds> kTexts{{{"decoded frames", "to_device"},
                                                       {"decoded frames", "on_device"},
                                                       {"tables", "to_device"},
                                                       {"inputs", "to_device"},
                                                       {"outputs", "to_host"},
                                                       {"boxes", "to_host"},
                                                       {"decoded frames", "to_host"}}};

}  // namespace

void add_traffic(const TransferCounts& counts, AllTraffic* traffic) {
  for (size_t i = 0; i < kTransferKinds; ++i) (*traffic)[i] += counts.of(static_cast<Transfer>(i));
}

std::vector<TransferReport> report_transfers(const AllTraffic& traffic, int64_t frames) {
  const bool stayed = traffic[static_cast<size_t>(Transfer::kDecodedOnDevice)].bytes > 0;
  std::vector<TransferReport> reports;
  for (size_t i = 0; i < kTransferKinds; ++i) {
    const auto [copies, bytes] = traffic[i];
    if (bytes == 0 && !(stayed && i == static_cast<size_t>(Transfer::kDecodedToHost))) continue;
    const auto a_frame = [&](int64_t count) {
      return frames == 0 ? 0.0 : static_cast<double>(count) / static_cast<double>(frames);
    };
    reports.push_back({std::string(kTexts[i].what), std::string(kTexts[i].direction), copies, bytes,
                       a_frame(copies), a_frame(bytes)});
  }
  return reports;
}

}  // namespace hone::task
