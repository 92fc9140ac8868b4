// Moves scale factors of channels between layers, so that one scale fits all channels of a value. The model
// still computes the same function.
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
    kCrossLayer,  ///< between two layers with weights; factors pass through all nodes in between
    kSmooth,      ///< from a LayerNormalization, or a product and a sum with constants, to products
  };
  Kind kind = Kind::kCrossLayer;
  graph::ValueId value = graph::kNoValue;
  int64_t channels = 0;
  int32_t maker = 0;
  /// Layers that read the value, or a value derived from it.
  std::vector<int32_t> readers;
};

/// Returns the sites in the order of the graph; each value is in at most one site.
std::vector<EqualizationSite> equalization_sites(const graph::Graph& graph, const Placement& placement);

/// Returns the graph with changed constants. Bad input for a value that is not a site of the graph, for a
/// wrong number of factors, and for a factor that is not positive.
graph::Graph with_equalization(const graph::Graph& graph, const Placement& placement,
                               const Equalization& equalization);

/// Cross-layer equalization (Nagel et al. 2019, arXiv 1906.04721, eq. 11): factor = sqrt(r1 / r2), where r1
/// and r2 are the largest magnitudes of the weights that produce and read a channel. It is repeated until no
/// factor of connected layers changes by more than a thousandth. Channels without weights on one side keep
/// the factor 1.
Equalization cross_layer_factors(const graph::Graph& graph, const std::vector<EqualizationSite>& sites);

/// SmoothQuant (Xiao et al. 2022, arXiv 2211.10438, eq. 4): factor = max|x|^alpha / max|w|^(1 - alpha) for
/// each channel; `largest[i][c]` is max|x| of channel c of site i.
Equalization smooth_factors(const graph::Graph& graph, const std::vector<EqualizationSite>& sites,
                            const std::vector<std::vector<double>>& largest, double alpha);

struct EqualizeOptions {
  Target target = Target::kPortable;
  std::function<void(const base::Progress&)> progress;
  const system::StopFlag* stop = nullptr;
};

/// Chooses changes that lower the error at the outputs of the quantized model by more than 5 %, measured on
/// the samples with ranges of least squared error. Returns nothing if no change does.
Equalization choose_equalization(const graph::Graph& graph, const Placement& placement,
                                 const std::vector<Samples>& samples, const MakeRunner& make_runner,
                                 const EqualizeOptions& options);

}  // namespace hone::quantize
