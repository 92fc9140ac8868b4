// Fields of workers' answers, by which answers are written and read.
#pragma once

#include "base/described.hpp"
#include "base/device_record.hpp"
#include "bench/worker/protocol.hpp"

namespace hone::base {

template <>
struct Description<bench::Block> {
  using Block = bench::Block;
  static constexpr std::string_view kName = "Block";
  static constexpr std::tuple kFields{
      Field{"latencies_ms", &Block::latencies_ms, "Latency of each run", unit::kMs, origin::kMeasured},
      Field{"wall_ms", &Block::wall_ms, "From before the first run to after the last", unit::kMs,
            origin::kMeasured}};
};

template <>
struct Description<bench::PhaseBlock> {
  using Block = bench::PhaseBlock;
  static constexpr std::string_view kName = "PhaseBlock";
  static constexpr std::tuple kFields{
      Field{"h2d_ms", &Block::h2d_ms, "Copies to the device", unit::kMs, origin::kMeasured},
      Field{"enqueue_ms", &Block::enqueue_ms, "Until the host had handed over the work", unit::kMs,
            origin::kMeasured},
      Field{"device_ms", &Block::device_ms, "From the first to the last step", unit::kMs, origin::kMeasured},
      Field{"d2h_ms", &Block::d2h_ms, "Copies from the device", unit::kMs, origin::kMeasured}};
};

template <>
struct Description<bench::PipelineBlock> {
  using Block = bench::PipelineBlock;
  static constexpr std::string_view kName = "PipelineBlock";
  static constexpr std::tuple kFields{
      at_least(1, Field{"runs", &Block::runs, "Runs that overlapped", unit::kCount, origin::kMeasured}),
      Field{"wall_ms", &Block::wall_ms, "From before the first run to after the last", unit::kMs,
            origin::kMeasured}};
};

template <>
struct Description<backend::DeviceMemoryUse> {
  using Use = backend::DeviceMemoryUse;
  static constexpr std::string_view kName = "DeviceMemoryUse";
  static constexpr std::tuple kFields{
      later(Field{"planned", &Use::planned, "What a run was planned to take", unit::kBytes}),
      later(Field{"allocated", &Use::allocated, "Bytes that the backend's allocations hold", unit::kBytes}),
      later(Field{"peak_allocated", &Use::peak_allocated, "The most that they held", unit::kBytes}),
      later(Field{"driver", &Use::driver, "What the driver counts as taken by loading", unit::kBytes})};
};

template <>
struct Description<backend::MemoryUse> {
  using Use = backend::MemoryUse;
  static constexpr std::string_view kName = "MemoryUse";
  static constexpr std::tuple kFields{
      Field{"weights", &Use::weights, "Weights", unit::kBytes},
      Field{"activations", &Use::activations, "Activations", unit::kBytes},
      later(Field{"engine_file", &Use::engine_file, "The executable as a file", unit::kBytes}),
      later(Field{"device", &Use::device, "Memory of the device's own"})};
};

template <>
struct Description<backend::Rival> {
  using Rival = backend::Rival;
  static constexpr std::string_view kName = "Rival";
  static constexpr std::tuple kFields{
      Field{"tactic", &Rival::tactic, "Tactic and variant"},
      later(Field{"layout", &Rival::layout, "Layout in which it was tried"}),
      at_least(0, later(Field{"time_us", &Rival::time_us, "Median time inside the network, in us"})),
      later(Field{"chosen", &Rival::chosen, "Whether the step is run by it"}),
      later(Field{"refusal", &Rival::refusal, "Why it does not run the step"})};
};

template <>
struct Description<DeviceDescription> {
  using Device = DeviceDescription;
  static constexpr std::string_view kName = "DeviceDescription";
  static constexpr std::tuple kFields{
      Field{"name", &Device::name, "Name of the GPU"},
      Field{"uuid", &Device::uuid, "GPU- and 32 digits in 5 groups"},
      later(Field{"ordinal", &Device::ordinal, "Among those that the process sees"}),
      Field{"memory_bytes", &Device::memory_bytes, "Its memory", unit::kBytes},
      Field{"compute_major", &Device::compute_major, "Major number of its compute capability"},
      Field{"compute_minor", &Device::compute_minor, "Minor number of its compute capability"},
      Field{"multiprocessors", &Device::multiprocessors, "Multiprocessors", unit::kCount},
      Field{"warp_size", &Device::warp_size, "Threads of a warp", unit::kCount},
      Field{"threads_per_multiprocessor", &Device::threads_per_multiprocessor, "At most", unit::kCount},
      Field{"registers_per_multiprocessor", &Device::registers_per_multiprocessor, "At most", unit::kCount},
      Field{"shared_bytes_per_multiprocessor", &Device::shared_bytes_per_multiprocessor, "At most",
            unit::kBytes},
      Field{"blocks_per_multiprocessor", &Device::blocks_per_multiprocessor, "At most", unit::kCount}};
};

}  // namespace hone::base
