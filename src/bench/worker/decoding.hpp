// A decoder with its cache, as a benchmark runs it: the next token at a given context.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/worker/model_info.hpp"

namespace hone::bench {

struct Decoding {
  /// Texts as engine::parse_carries() has them: which outputs become which inputs; empty: nothing is decoded.
  std::vector<std::string> bind;
  /// Tokens that the new ones see, themselves included; 0: what the model's author calls typical.
  int64_t context = 0;
};

/// describe_model() of a decoder whose caches hold the tokens before the new ones. A further open dimension
/// without a given size is one token, and as long as the context for an attention mask. Usage error where the
/// bound inputs are no caches that grow by a known number of tokens, where the context has no room for those,
/// and where `shapes` has a bound input.
ModelInfo describe_decoder(const importer::Model& model, const std::string& spec,
                           const std::map<std::string, tensor::Shape>& shapes, const Decoding& decoding);

}  // namespace hone::bench
