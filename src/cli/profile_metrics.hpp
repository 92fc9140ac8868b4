// `hone profile --query-metrics`: lists the kernel metrics that can be measured.
#pragma once

#include <string>

namespace hone::cli {

/// Lists the metrics with the hardware metrics that replace them, and whether this chip supports them. An
/// empty `chip` is the chip of the first GPU of this machine; a chip that CUPTI does not know is a usage
/// error.
void list_metrics(const std::string& chip, bool json);

}  // namespace hone::cli
