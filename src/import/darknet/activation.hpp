// darknet's activations as nodes.
#pragma once

#include <optional>
#include <string>

#include "import/darknet/network.hpp"

namespace hone::importer::darknet {

/// Writes the activation after x; the last node has the layer's own name.
using Activate = ValueId (*)(Emission& emission, ValueId x);

struct Activation {
  std::string_view name;
  /// Null for linear.
  Activate write;
};

/// Option `activation`: that of the name; ReLU, with a warning, for an unknown one, as darknet has it.
const Activation& activation_of(SectionContext& context, std::string_view otherwise);

/// x itself for linear.
ValueId activated(Emission& emission, ValueId x, const Activation& activation);

/// Gain of seeded weights before the activation: that of a rectifier, or 1.
float gain_of(const Activation& activation);

}  // namespace hone::importer::darknet
