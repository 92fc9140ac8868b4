// Describes the steps of an engine in the form that backends report.
#pragma once

#include <vector>

#include "backend/backend.hpp"
#include "engine/description.hpp"

namespace hone::backend {

std::vector<StepInfo> step_infos(const engine::Description& description);

}  // namespace hone::backend
