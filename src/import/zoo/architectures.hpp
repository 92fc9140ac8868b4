// The built-in architectures: layer by layer those of torchvision, with its parameter names.
#pragma once

#include "import/zoo/builder.hpp"

namespace hone::importer {

/// Adds the architecture's layers and returns its logits, float32 [batch, 1000].
using Architecture = ValueId (*)(GraphBuilder& net);

struct ArchitectureEntry {
  std::string_view name;
  Architecture build;
  FilterSeeding seeding;
};

/// In the order they are shown.
std::span<const ArchitectureEntry> architectures();

ValueId build_resnet18(GraphBuilder& net);
ValueId build_resnet34(GraphBuilder& net);
ValueId build_resnet50(GraphBuilder& net);
ValueId build_resnet101(GraphBuilder& net);
ValueId build_mobilenet_v2(GraphBuilder& net);
ValueId build_alexnet(GraphBuilder& net);
ValueId build_vgg16(GraphBuilder& net);
ValueId build_squeezenet1_1(GraphBuilder& net);
ValueId build_densenet121(GraphBuilder& net);
ValueId build_efficientnet_b0(GraphBuilder& net);

}  // namespace hone::importer
