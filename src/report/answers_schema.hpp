// Fields of an analysis of a trace: schema hone.analysis.
#pragma once

#include "analysis/schema/activity_summary.hpp"
#include "analysis/schema/advice.hpp"
#include "analysis/schema/critical_path.hpp"
#include "analysis/schema/gpu_usage.hpp"
#include "analysis/schema/idle_time.hpp"
#include "analysis/schema/kernel_metrics.hpp"
#include "analysis/schema/layers.hpp"
#include "analysis/schema/memory_timeline.hpp"
#include "analysis/schema/operators.hpp"
#include "analysis/schema/steps.hpp"
#include "analysis/schema/transfers.hpp"
#include "report/answers.hpp"

namespace hone::base {

template <>
struct Description<report::LayerAnswers> {
  using Layers = report::LayerAnswers;
  static constexpr std::string_view kName = "LayerAnalysis";
  static constexpr auto kFields = std::tuple_cat(
      extended<analysis::LayerTable>(&Layers::table),
      std::tuple{Field{"threads", &Layers::threads, "What threads of the CPU used in each layer"}});
};

template <>
struct Description<report::DependencyAnswers> {
  using Dependencies = report::DependencyAnswers;
  static constexpr std::string_view kName = "Dependencies";
  static constexpr auto kFields = std::tuple{
      Field{"critical_path", &Dependencies::path,
            "The chain of activities that the program's time consists of"},
      Field{"what_if", &Dependencies::what_if, "What the program would take if something changed"}};
};

template <>
struct Description<report::Answers> {
  using Answers = report::Answers;
  static constexpr std::string_view kName = "Analysis";
  static constexpr auto kFields = std::tuple{
      Field{"schema", [](const Answers&) -> std::string_view { return "hone.analysis"; }, "hone.analysis"},
      Field{"version", [](const Answers&) { return 1; }, "Of the schema"},
      Field{"trace", &Answers::path, "File of the trace"},
      Field{"doubts", [](const Answers& a) -> const auto& {return a.trace().doubts;
}, "Losses of the trace, and doubts about it"
}  // namespace hone::base
, Field{"summary", [](const Answers& a) -> const auto& {return a.analyses().summary;
}
, "Kernels, copies and other work"
}
, Field{"steps", [](const Answers& a) -> const auto& {return a.analyses().steps;
}
, "Categories of the time of steps"
}
, Field{"gpu", [](const Answers& a) -> const auto& {return a.analyses().gpu;
}
, "How busy GPUs were"
}
, Field{"metrics", &Answers::metrics, "What was measured of each kernel"},
    Field{"layers", &Answers::layers, "What each layer of the model costs"},
    Field{"dependencies", &Answers::dependencies, "Dependencies between operations"},
    Field{"idle", &Answers::idle, "What GPUs waited for"},
    Field{"operators", [](const Answers& a) -> const auto& {return a.analyses().operators;
}
, "Time of a framework's operators"
}
, Field{"transfers", [](const Answers& a) -> const auto& {return a.analyses().transfers;
}
, "Copies, and what they overlap with"
}
, Field{"memory", [](const Answers& a) -> const auto& {return a.analyses().memory;
}
, "Memory over time"
}
, Field {
  "advice", [](const Answers& a) -> const auto& { return a.analyses().advice; }
  , "Suggestions to make it faster"
}
}
;
}
;

}  // namespace hone::base
