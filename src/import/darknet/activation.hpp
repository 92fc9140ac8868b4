// The activations of darknet as nodes.
#pragma once

#include <optional>
#include <string>

#include "import/darknet/network.hpp"

namespace hone::importer::darknet {

/// Writes the activation of x; its last node has the name of the layer.
using Activate = ValueId (*)(Emission& emission, ValueId x);

struct Activation {
  std::string_view name;
  /// Null for linear.
  Activate write;
};

/// Reads the option `activation`. For an unknown name, ReLU with a warning, as in darknet.
const Activation& activation_of(SectionContext& context, std::string_view otherwise);

/// Returns x itself for linear.
ValueId activated(Emission& emission, ValueId x, const Activation& activation);

/// Gain of seeded weights before the activation: the gain of a rectifier, or 1.
float gain_of(const Activation& activation);

}  // namespace hone::importer::darknet
