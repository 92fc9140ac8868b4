// One layer of a run, as `hone bench --layers` measured it after the run's rounds. The result file keeps the
// layers of a run beside its other figures. Plain data.
#pragma once

#include <string>
#include <vector>

#include "base/described.hpp"
#include "bench/results/run_record.hpp"

namespace hone::bench {

struct LayerFigure {
  std::string name;
  std::string kind;    ///< operator
  std::string tactic;  ///< how the engine runs it
  std::vector<std::string> sources;
  std::vector<std::string> inputs;  ///< "float32 1x64x56x56 blocked8"
  std::vector<std::string> outputs;
  TimesFigure time;  ///< milliseconds in one run
  double flops = 0;  ///< a multiply-add is two; 0 where not known
  double bytes = 0;  ///< inputs, weights and outputs, each counted once; 0 where not known
};

}  // namespace hone::bench
