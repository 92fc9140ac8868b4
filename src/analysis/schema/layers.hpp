// Fields of the layers of a model.
#pragma once

#include "analysis/questions/layer_threads.hpp"
#include "analysis/questions/layers.hpp"
#include "analysis/schema/times.hpp"

namespace hone::base {

template <>
struct Description<analysis::LayerKernel> {
  static constexpr std::string_view kName = "LayerKernel";
  static constexpr auto kFields =
      std::tuple{Field{"name", &analysis::LayerKernel::name, "Name of the kernel"},
                 Field{"calls", &analysis::LayerKernel::calls, "Mean number of launches in an iteration",
                       unit::kCount, origin::kMeasured}};
};

template <>
struct Description<analysis::LayerRival> {
  using Rival = analysis::LayerRival;
  static constexpr std::string_view kName = "LayerRival";
  static constexpr auto kFields = std::tuple{
      Field{"tactic", &Rival::tactic, "A tactic that the engine looked at for the layer"},
      Field{"layout", &Rival::layout, "Arrangement of images in which it was tried, where that was recorded"},
      Field{"time_ns", &Rival::time,
            "Its median time inside the whole network when the engine was built. 0 where not known",
            unit::kNs, origin::kMeasured},
      Field{"chosen", &Rival::chosen, "Whether the engine runs it"},
      Field{"refusal", &Rival::refusal, "Why it does not run this layer; empty for one that does"}};
};

template <>
struct Description<analysis::Layer> {
  using Layer = analysis::Layer;
  static constexpr std::string_view kName = "Layer";
  static constexpr auto kFields = std::tuple{
      Field{"name", &Layer::name, "Name of the layer: a step of an engine, or a node of the model"},
      Field{"kind", &Layer::kind, "Operator, where it was recorded"},
      Field{"tactic", &Layer::tactic, "How the engine runs it, where it was recorded"},
      Field{"inputs", &Layer::inputs, "Types and shapes of its inputs, as JSON"},
      Field{"outputs", &Layer::outputs, "Types and shapes of its outputs, as JSON"},
      Field{"sources", &Layer::sources, "Nodes of the model that it computes, as JSON"},
      Field{
          "time", &Layer::time,
          "Time in one iteration: on a GPU the sum of its kernels, copies and sets, on the CPU its own range",
          unit::kNs, origin::kMeasured},
      Field{"kernels", &Layer::kernels, "What it ran on the device"},
      Field{"flops", &Layer::flops, "Arithmetic work; a multiply-add is two. 0 where it is not known",
            unit::kFlop, origin::kEstimated},
      Field{"bytes", &Layer::bytes, "Inputs, weights and outputs, each counted once. 0 where it is not known",
            unit::kBytes, origin::kEstimated},
      Field{"flops_per_second", &Layer::flops_rate, "Work by the median time", unit::kFlopRate,
            origin::kEstimated},
      Field{"bytes_per_second", &Layer::bytes_rate, "Bytes by the median time", unit::kByteRate,
            origin::kEstimated},
      Field{"floor_ns", &Layer::floor,
            "Time that the work needs at the rates the device reaches: the larger of arithmetic and memory. "
            "0 where either is not known",
            unit::kNs, origin::kEstimated},
      Field{"over_floor", &Layer::over_floor, "Median time by that floor. 0 where there is none",
            unit::kRatio, origin::kEstimated},
      Field{"predecessors", &Layer::predecessors,
            "Which earlier layers, from 0, make what it reads. Where no layer has any, they are not known"},
      Field{"rivals", &Layer::rivals, "Tactics that the engine looked at for it, the chosen one among them"}};
};

template <>
struct Description<analysis::LayerTable> {
  using Table = analysis::LayerTable;
  static constexpr std::string_view kName = "LayerTable";
  static constexpr auto kFields = std::tuple{
      Field{"layers", &Table::layers, "Layers in the order in which they run"},
      Field{"layer_sum", &Table::layer_sum, "Times of all layers of an iteration, added up", unit::kNs,
            origin::kMeasured},
      Field{"other_device", &Table::other_device,
            "Time of kernels, copies and sets of an iteration that belong to no layer", unit::kNs,
            origin::kMeasured},
      Field{"device_busy", &Table::device_busy,
            "Time of an iteration in which the device did anything: less than the sums where streams overlap",
            unit::kNs, origin::kMeasured},
      Field{"host", &Table::host, "Time of an iteration as the host sees it", unit::kNs, origin::kMeasured},
      Field{"iteration", &Table::iteration,
            "Time of an iteration from the end of the work of the one before to the end of its own",
            unit::kNs, origin::kMeasured},
      Field{"iteration_trend_ns", &Table::trend,
            "Growth of iterations, ns from one to the next; negative when they grow shorter", unit::kNs,
            origin::kEstimated},
      Field{"notes", &Table::notes, "What these figures leave out"}};
};

template <>
struct Description<analysis::LayerThreads> {
  using Layer = analysis::LayerThreads;
  static constexpr std::string_view kName = "LayerThreads";
  static constexpr auto kFields = std::tuple{
      Field{"name", &Layer::name, "Name of the layer"},
      Field{"calls", &Layer::calls, "How often it ran", unit::kCount, origin::kMeasured},
      Field{"wall_ns", &Layer::wall, "Time from its start to its end, added up", unit::kNs,
            origin::kMeasured},
      Field{"cpu_ns", &Layer::cpu, "Time of the CPU that all threads used", unit::kNs, origin::kMeasured},
      Field{"slowest_thread_ns", &Layer::slowest, "Time of the CPU that the busiest thread used", unit::kNs,
            origin::kMeasured},
      Field{"imbalance", &Layer::imbalance,
            "Share of the busiest thread's time beyond its fair part: 0 when all worked the same time",
            unit::kShare, origin::kMeasured},
      Field{"cycles", &Layer::cycles, "Cycles of user code", unit::kCount, origin::kMeasured},
      Field{"instructions", &Layer::instructions, "Instructions of user code", unit::kCount,
            origin::kMeasured},
      Field{"cache_misses", &Layer::cache_misses, "Misses of the last cache, by user code", unit::kCount,
            origin::kMeasured}};
};

template <>
struct Description<analysis::LayerThreadTable> {
  using Table = analysis::LayerThreadTable;
  static constexpr std::string_view kName = "LayerThreadTable";
  static constexpr auto kFields = std::tuple{
      Field{"threads", &Table::threads, "Threads that worked in some layer", unit::kCount, origin::kMeasured},
      Field{"layers", &Table::layers, "Layers, the longest first"}};
};

}  // namespace hone::base
