// Benchmarks a decoder with its cache: computes the next token at a given context length.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/worker/model_info.hpp"

namespace hone::bench {

struct Decoding {
  /// The outputs that become inputs of the next run, in the form of engine::parse_carries(); empty: no
  /// decoding.
  std::vector<std::string> bind;
  /// Number of tokens that the new ones see, including themselves; 0: the typical number of the model.
  int64_t context = 0;
};

/// Like describe_model(), for a decoder whose caches hold the tokens before the new ones. An open dimension
/// without a given size is one token, or the length of the context for an attention mask. Usage error if the
/// bound inputs are not caches that grow by a known number of tokens, if the context has no room for these,
/// or if `shapes` contains a bound input.
ModelInfo describe_decoder(const importer::Model& model, const std::string& spec,
                           const std::map<std::string, tensor::Shape>& shapes, const Decoding& decoding);

}  // namespace hone::bench
