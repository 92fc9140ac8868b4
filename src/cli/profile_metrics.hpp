// `hone profile --query-metrics`: the metrics of kernels that can be measured.
#pragma once

#include <string>

namespace hone::cli {

/// Lists them with the metrics measured instead, and whether this chip knows them: "GH100", or that of the
/// first GPU of the machine when it is empty. Usage error for a chip that CUPTI does not know.
void list_metrics(const std::string& chip, bool json);

}  // namespace hone::cli
