// Fields of a setup in the result file, in the request to a worker and in the page's document.
#pragma once

#include "base/described.hpp"
#include "bench/setup.hpp"

namespace hone::base {

template <>
struct Description<bench::Setup> {
  using Setup = bench::Setup;
  static constexpr std::string_view kName = "Setup";
  static constexpr auto kFields = std::tuple{
      Field{"model", &Setup::model, "Model, as it was named"},
      Field{"backend", &Setup::backend, "System that ran it"},
      Field{"precision", &Setup::precision, "Precision it ran in"},
      at_least(1, Field{"batch", &Setup::batch, "Samples of the model in a run", unit::kCount}),
      later(Field{"device", &Setup::device, "cpu, cuda, which is the first GPU, or cuda:1"}),
      at_least(1, Field{"threads", &Setup::threads, "Threads of the CPU", unit::kCount}),
      later(
          Field{"includes_transfers", &Setup::transfers, "Latencies include copies to the device and back"}),
      later(Field{"cold_l2", &Setup::cold_l2, "The device's caches were emptied before every run"}),
      later(at_least(
          1, Field{"streams", &Setup::streams, "Streams that pipelined runs overlap on", unit::kCount})),
      later(at_least(0, Field{"busy_threads", &Setup::busy,
                              "Foreign threads that spun while runs were measured", unit::kCount}))};
};

}  // namespace hone::base
