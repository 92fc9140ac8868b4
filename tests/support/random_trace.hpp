// Traces of random but possible programs for property tests: nested operators that call APIs, streams that
// work through what was launched, steps around it all.
#pragma once

#include <array>

#include "base/random.hpp"
#include "support/trace_builder.hpp"

namespace hone::support {

/// `steps` iterations; 0 announces none. Device events outlive their step now and then.
inline Trace random_trace(base::Random& random, size_t steps) {
  TraceBuilder b;
  Time now = 1000;
  int64_t correlation = 1;
  std::array<Time, 3> stream_free{};
  const auto pause = [&](size_t longest) { now += static_cast<Time>(random.below(longest)); };
  const auto device_work = [&](Time launched) {
    const size_t stream = random.below(stream_free.size());
    const Time start = std::max(launched, stream_free.at(stream)) + static_cast<Time>(random.below(40));
    const Time end = start + static_cast<Time>(random.below(900));
    stream_free.at(stream) = end;
    b.on_stream(static_cast<int64_t>(stream)).on_device(static_cast<int32_t>(random.below(2)));
    switch (random.below(5)) {
      case 0: {
        const auto direction = static_cast<CopyDirection>(random.below(6));
        b.copy(direction, static_cast<int64_t>(random.below(1 << 20)), start, end, correlation);
        break;
      }
      case 1: b.set(static_cast<int64_t>(random.below(4096)), start, end, correlation); break;
      case 2: b.kernel("ncclDevKernel_AllReduce", start, end, correlation); break;
      default:
        b.kernel("void gemm_" + std::to_string(random.below(4)) + "<int>(int)", start, end, correlation);
    }
  };
  const auto call = [&](int64_t external_id) {
    const Time start = now;
    pause(60);
    HostEvent& api = b.api("cudaLaunchKernel", start, now, correlation);
    if (random.below(2) == 0) api.external_id = external_id;
    if (random.below(8) != 0) device_work(start + 5);
    ++correlation;
  };
  int64_t id = 0;
  const auto operation = [&](auto&& self, int depth) -> void {
    const Time start = now;
    const int64_t own = ++id;
    for (size_t parts = random.below(4); parts-- > 0;) {
      pause(50);
      if (depth < 3 && random.below(2) == 0) {
        self(self, depth + 1);
      } else {
        call(own);
      }
    }
    pause(50);
    b.op("aten::op" + std::to_string(depth + static_cast<int>(random.below(2))), start, now, own);
  };
  const auto body = [&] {
    for (size_t operations = random.below(6); operations-- > 0;) {
      operation(operation, 0);
      pause(80);
      if (random.below(4) == 0) call(0);
    }
    pause(300);
  };
  if (steps == 0) body();
  for (size_t step = 0; step < steps; ++step) {
    const Time start = now;
    body();
    b.step("ProfilerStep#" + std::to_string(step), start, now);
    pause(100);
  }
  return b.build();
}

}  // namespace hone::support
