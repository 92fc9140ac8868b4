// Moves the spread of channels between layers, so that one scale fits all channels of a value: the model
// computes the same as before.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "quantize/calibration.hpp"
#include "quantize/data.hpp"
#include "quantize/placement.hpp"
#include "quantize/qdq.hpp"
#include "quantize/runner.hpp"

namespace hone::quantize {

/// A value that can be equalized.
struct EqualizationSite {
  enum class Kind {
    kCrossLayer,  ///< between two layers with weights, with nothing between that a factor does not pass
    kSmooth,      ///< of a LayerNormalization, or of a product and a sum with constants, before products
  };
  Kind kind = Kind::kCrossLayer;
  graph::ValueId value = graph::kNoValue;
  int64_t channels = 0;
  int32_t maker = 0;
  /// Layers that read it, or what is made of it.
  std::vector<int32_t> readers;
};

/// In the order of the graph, each value in one site at most.
std::vector<EqualizationSite> equalization_sites(const graph::Graph& graph, const Placement& placement);

/// The graph with its constants changed. Bad input for a value that is no site of the graph, for the wrong
/// number of factors, and for one that is not positive.
graph::Graph with_equalization(const graph::Graph& graph, const Placement& placement,
                               const Equalization& equalization);

/// Cross-layer equalization (Nagel and others 2019, arXiv 1906.04721, eq. 11): factor = sqrt(r1 / r2), r1 and
/// r2 the largest magnitudes of the weights that make and that read a channel; repeated until no factor of
/// chained layers moves by more than a thousandth. Channels without weights on one side keep 1.
Equalization cross_layer_factors(const graph::Graph& graph, const std::vector<EqualizationSite>& sites);

/// SmoothQuant (Xiao and others 2022, arXiv 2211.10438, eq. 4): factor = max|x|^alpha / max|w|^(1 - alpha) of
/// each channel; `largest[i][c]` is max|x| of channel c of site i.
Equalization smooth_factors(const graph::Graph& graph, const std::vector<EqualizationSite>& sites,
                            const std::vector<std::vector<double>>& largest, double alpha);

struct EqualizeOptions {
  Target target = Target::kPortable;
  std::function<void(const base::Progress&)> progress;
  const system::StopFlag* stop = nullptr;
};

/// Chooses changes that lower the error at the outputs of the quantized model by more than a twentieth,
/// measured on the samples with the ranges of least squared error; nothing if none does.
Equalization choose_equalization(const graph::Graph& graph, const Placement& placement,
                                 const std::vector<Samples>& samples, const MakeRunner& make_runner,
                                 const EqualizeOptions& options);

}  // namespace hone::quantize
