// The built-in architectures. They have the layers and parameter names of torchvision and of Hugging Face's
// transformers.
#pragma once

#include <utility>
#include <vector>

#include "import/model.hpp"
#include "import/zoo/builder.hpp"

namespace hone::importer {

/// Adds the architecture's inputs, layers and outputs.
using Architecture = void (*)(GraphBuilder& net);

struct ArchitectureEntry {
  std::string_view name;
  Architecture build;
  FilterSeeding seeding = kWholeMean;
  /// True if it classifies images that are preprocessed like torchvision's presets.
  bool classifies_images = false;
  FileNames file_names = {};
  /// By symbol, the sizes of open dimensions for which the user gives none.
  std::vector<std::pair<std::string_view, int64_t>> typical_sizes = {};
};

/// Architectures in the order they are shown.
std::span<const ArchitectureEntry> architectures();

/// The layers of a classifier of images: from GraphBuilder::input() to its logits, float32 [batch, 1000].
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
ValueId build_efficientnet_v2_s(GraphBuilder& net);
ValueId build_mobilenet_v3_large(GraphBuilder& net);
ValueId build_swin_t(GraphBuilder& net);
ValueId build_convnext_tiny(GraphBuilder& net);

/// The layers of ResNet-50 before its last pooling, at an eighth of the image's size: the last two stages
/// dilate their filters instead of striding. Names begin with the prefix.
ValueId dilated_resnet50(GraphBuilder& net, const std::string& prefix, ValueId image);
/// Image 224 x 224; output "out", [batch, 21, 224, 224].
void build_deeplabv3_resnet50(GraphBuilder& net);

/// Inputs input_ids, attention_mask and token_type_ids, int64 [batch, sequence]; outputs last_hidden_state,
/// [batch, sequence, 768], and pooler_output, [batch, 768].
void build_bert_base(GraphBuilder& net);
/// BERT with 384 channels; inputs and outputs are otherwise the same.
void build_minilm(GraphBuilder& net);
/// Image 224 x 224; output "output", [batch, 1000].
void build_vit_b_16(GraphBuilder& net);
/// Inputs input_ids, int64 [batch, sequence], and past_key_values.<layer>.<key|value>, [batch, 12, past, 64];
/// outputs logits, [batch, sequence, 50257], and present.<layer>.<key|value>, [batch, 12, past + sequence,
/// 64]. There are at most 1024 tokens, including those of the past.
void build_gpt2(GraphBuilder& net);
/// Like GPT-2, with 2 heads of keys and values, vocabulary 151936 and any number of tokens.
void build_qwen2_0_5b(GraphBuilder& net);
/// Input input_features, [batch, 80, 3000]; output last_hidden_state, [batch, 1500, 384].
void build_whisper_tiny_encoder(GraphBuilder& net);
/// Like the tiny encoder, with 512 and with 768 channels.
void build_whisper_base_encoder(GraphBuilder& net);
void build_whisper_small_encoder(GraphBuilder& net);
/// The input encoder_hidden_states, [batch, 1500, 384], is the encoder's result; otherwise it is like GPT-2,
/// with 6 heads, vocabulary 51865 and at most 448 tokens. Every run computes the keys and values of the
/// encoder's result.
void build_whisper_tiny_decoder(GraphBuilder& net);
/// Image 256 x 256; output "output" of the same shape.
void build_unet(GraphBuilder& net);
/// Input "input", [batch, frames, 80]; output "output", [batch, frames, 40].
void build_bilstm(GraphBuilder& net);

}  // namespace hone::importer
