// See architectures.hpp.
#include "import/zoo/architectures.hpp"

namespace hone::importer {
namespace {

constexpr ArchitectureEntry kArchitectures[] = {
    {"resnet18", build_resnet18, kHalfOfMean},
    {"resnet34", build_resnet34, kHalfOfMean},
    {"resnet50", build_resnet50, kHalfOfMean},
    {"resnet101", build_resnet101, kThreeQuartersOfMean},
    {"mobilenet_v2", build_mobilenet_v2, kThreeQuartersOfMean},
    {"alexnet", build_alexnet, kWholeMean},
    {"vgg16", build_vgg16, kWholeMean},
    {"squeezenet1_1", build_squeezenet1_1, kThreeQuartersOfMean},
    {"densenet121", build_densenet121, kHalfOfMean},
    {"efficientnet_b0", build_efficientnet_b0, kHalfOfMean},
};

}  // namespace

std::span<const ArchitectureEntry> architectures() { return kArchitectures; }

}  // namespace hone::importer
