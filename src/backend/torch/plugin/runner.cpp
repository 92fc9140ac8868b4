// See runner.hpp.
#include "backend/torch/plugin/runner.hpp"

#include "backend/torch/plugin/cuda.hpp"

namespace hone::backend::aten {

double Runner::time_on_device(bool cold) {
  if (cold) evict_caches(placement_.device);
  return time_between_events(placement_.device, [this] { run(); });
}

}  // namespace hone::backend::aten
