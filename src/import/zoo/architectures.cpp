// See architectures.hpp.
#include "import/zoo/architectures.hpp"

namespace hone::importer {
namespace {

constexpr int64_t kImageSide = 224;

template <ValueId (*layers)(GraphBuilder&)>
void classifier(GraphBuilder& net) {
  net.image(kImageSide);
  net.output("output", layers(net));
}

template <ValueId (*layers)(GraphBuilder&)>
ArchitectureEntry classifier_entry(std::string_view name, const FilterSeeding& seeding,
                                   const FileNames& names = {}) {
  return {.name = name,
          .build = classifier<layers>,
          .seeding = seeding,
          .classifies_images = true,
          .file_names = names};
}

const std::vector<ArchitectureEntry>& table() {
  /// Ignores the position ids that earlier versions of transformers stored with the weights.
  const FileNames bert_names{.prefix = "bert.", .ignored = {"embeddings.position_ids"}};
  /// Ignores the mask that earlier versions stored. The last projection is the table of words.
  const FileNames gpt2_names{.prefix = "transformer.", .ignored = {".attn.bias", ".attn.masked_bias"}};
  static const std::vector<ArchitectureEntry> entries{
      classifier_entry<build_resnet18>("resnet18", kHalfOfMean),
      classifier_entry<build_resnet34>("resnet34", kHalfOfMean),
      classifier_entry<build_resnet50>("resnet50", kHalfOfMean),
      classifier_entry<build_resnet101>("resnet101", kThreeQuartersOfMean),
      classifier_entry<build_mobilenet_v2>("mobilenet_v2", kThreeQuartersOfMean),
      classifier_entry<build_alexnet>("alexnet", kWholeMean),
      classifier_entry<build_vgg16>("vgg16", kWholeMean),
      classifier_entry<build_squeezenet1_1>("squeezenet1_1", kThreeQuartersOfMean),
      classifier_entry<build_densenet121>("densenet121", kHalfOfMean),
      classifier_entry<build_efficientnet_b0>("efficientnet_b0", kHalfOfMean),
      classifier_entry<build_efficientnet_v2_s>("efficientnet_v2_s", kHalfOfMean),
      classifier_entry<build_mobilenet_v3_large>("mobilenet_v3_large", kHalfOfMean),
      classifier_entry<build_convnext_tiny>("convnext_tiny", kWholeMean),
      classifier_entry<build_swin_t>("swin_t", kWholeMean, {.ignored = {".relative_position_index"}}),
      {.name = "vit_b_16", .build = build_vit_b_16, .classifies_images = true},
      {.name = "deeplabv3_resnet50",
       .build = build_deeplabv3_resnet50,
       .seeding = kHalfOfMean,
       .file_names = {.ignored = {"aux_classifier."}}},
      {.name = "bert_base",
       .build = build_bert_base,
       .file_names = bert_names,
       .typical_sizes = {{"sequence", 128}}},
      {.name = "minilm",
       .build = build_minilm,
       .file_names = bert_names,
       .typical_sizes = {{"sequence", 128}}},
      {.name = "gpt2",
       .build = build_gpt2,
       .file_names = gpt2_names,
       .typical_sizes = {{"sequence", 1}, {"past", 1023}}},
      {.name = "qwen2_0_5b",
       .build = build_qwen2_0_5b,
       .file_names = {.prefix = "model.", .ignored = {"lm_head.weight"}},
       .typical_sizes = {{"sequence", 1}, {"past", 1023}}},
      {.name = "whisper_tiny_encoder",
       .build = build_whisper_tiny_encoder,
       .file_names = {.prefix = "model.encoder."}},
      {.name = "whisper_base_encoder",
       .build = build_whisper_base_encoder,
       .file_names = {.prefix = "model.encoder."}},
      {.name = "whisper_small_encoder",
       .build = build_whisper_small_encoder,
       .file_names = {.prefix = "model.encoder."}},
      {.name = "whisper_tiny_decoder",
       .build = build_whisper_tiny_decoder,
       .file_names = {.prefix = "model.decoder."},
       .typical_sizes = {{"sequence", 1}, {"past", 127}}},
      {.name = "unet", .build = build_unet, .seeding = kHalfOfMean},
      {.name = "bilstm", .build = build_bilstm, .typical_sizes = {{"frames", 200}}},
  };
  return entries;
}

}  // namespace

std::span<const ArchitectureEntry> architectures() { return table(); }

}  // namespace hone::importer
