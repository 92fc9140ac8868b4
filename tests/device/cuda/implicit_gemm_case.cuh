// A case of the implicit GEMM's check: what it needs on the device, and the loop over its ways to run.
#pragma once

#include "device/cuda/gemm_way_memory.cuh"
#include "device/cuda/implicit_gemm_reference.cuh"
#include "support/part.hpp"

namespace hone::device::cuda::check {

/// With --quick only every 23rd configuration runs (a prime, so that all tile sizes, depths and splits take
/// part over the cases).
inline constexpr size_t kQuickStride = 23;

struct Counts {
  bool quick = false;
  std::string only;  ///< part of the names of cases
  std::string way;   ///< part of the names of configurations
  Part part;         ///< of the configurations, for processes that share them
  size_t ways = 0;
  int cases = 0;
  long runs = 0;
  long failures = 0;

  /// Whether this process runs the next configuration.
  bool takes_way() { return ways++ % part.of == part.first; }
};

inline void report(Counts& counts, const std::string& what, const std::string& config,
                   const Difference& found, bool wrong) {
  ++counts.runs;
  if (!wrong) return;
  if (++counts.failures > 40) return;
  std::printf("FAILED %s, %s: l2 %.3e, %llu elements out of bounds, %llu differ between two runs\n",
              what.c_str(), config.c_str(), found.l2(), found.outside, found.unequal);
}

/// Everything that one case needs on the device, and the loop over its configurations.
template <class T>
class Case {
 public:
  Case(std::string name, const ConvProblem& problem)
      : name_(std::string(ElementOf<T>::kName) + " " + name + " b" + std::to_string(problem.batch)),
        problem_(problem),
        count_(static_cast<size_t>(problem.rows()) * problem.filters),
        y_(count_),
        again_(count_),
        values_(count_),
        magnitudes_(count_),
        scratch_(1) {}

  double* values() const { return values_.get(); }
  double* magnitudes() const { return magnitudes_.get(); }

  void run(const DeviceProperties& device, ConvArgs args, size_t limit, Counts& counts) {
    ++counts.cases;
    const std::vector<Way> ways = gemm_ways(problem_, args, device, limit);
    if (ways.empty()) {
      ++counts.failures;
      std::printf("FAILED %s: no way to run it\n", name_.c_str());
    }
    const SharedMemory shared(ways);
    shared.give_to(args);
    const size_t stride = counts.quick && counts.way.empty() ? kQuickStride : 1;
    for (size_t i = static_cast<size_t>(counts.cases) % stride; i < ways.size(); i += stride) {
      if (ways[i].name.find(counts.way) != std::string::npos && counts.takes_way())
        try_way(ways[i], device, args, counts);
    }
  }

  /// Twice, the second time as a programmatic launch: right, and the same.
  void try_way(const Way& way, const DeviceProperties& device, const ConvArgs& args, Counts& counts) {
    launch(way, args, y_.get(), false);
    launch(way, args, again_.get(), device.clusters);
    const Difference found = compare(y_.get(), again_.get(), values_.get(), magnitudes_.get(),
                                     static_cast<int64_t>(count_), problem_.depth(), scratch_.get());
    const bool wrong = !(found.l2() < ElementOf<T>::kL2) || found.outside != 0 || found.unequal != 0;
    report(counts, name_, way.name, found, wrong);
  }

 private:
  /// Into NaN, so that an element that is not written is seen.
  void launch(const Way& way, ConvArgs args, T* y, bool pdl) {
    HONE_MUST(cudaMemsetAsync(y, 0xff, count_ * sizeof(T)));
    args.y = y;
    const cudaError_t error = way.launch(args, {.device = &gpu(), .pdl = pdl});
    if (error == cudaSuccess) return;
    std::printf("FAILED %s, %s: %s\n", name_.c_str(), way.name.c_str(), cudaGetErrorString(error));
    std::exit(1);
  }

  std::string name_;
  ConvProblem problem_;
  size_t count_;
  Buffer<T> y_;
  Buffer<T> again_;
  Buffer<double> values_;
  Buffer<double> magnitudes_;
  Buffer<Difference> scratch_;
};

}  // namespace hone::device::cuda::check
