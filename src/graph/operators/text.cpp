// Operator table entry of TfIdfVectorizer, a part of the signal family.
#include "graph/operators/text.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "graph/operators/rules.hpp"

namespace hone::graph {
namespace {

using Kind = AttributeKind;

/// [words] or [batch, words] of word numbers become one count per output column.
void infer_tf_idf(InferenceContext& context) {
  require_choice(context, "mode", {"TF", "IDF", "TFIDF"});
  require_index_type(context, 0);
  context.require_rank(0, 1, 2);
  context.require(context.attributes().has("pool_int64s"),
                  "attribute 'pool_int64s' is missing; strings are not supported");
  const auto& columns = context.attributes().get_ints("ngram_indexes");
  context.require(!columns.empty(), "attribute 'ngram_indexes' is empty");
  context.require(*std::min_element(columns.begin(), columns.end()) >= 0,
                  "attribute 'ngram_indexes' has a negative entry");
  const int64_t width = base::checked_add(*std::max_element(columns.begin(), columns.end()), int64_t{1});
  context.set_output(0, DType::kFloat32, std::nullopt);
  if (!context.ranked(0)) return;
  Dims result = context.dims(0);
  result.back() = width;
  context.set_output(0, DType::kFloat32, std::move(result));
}

}  // namespace

void add_text_operators(std::vector<OperatorDef>& table) {
  table.push_back({.name = "TfIdfVectorizer",
                   .since_version = 9,
                   .min_inputs = 1,
                   .max_inputs = 1,
                   .attributes = {required_attribute("max_gram_length", Kind::kInt),
                                  required_attribute("max_skip_count", Kind::kInt),
                                  required_attribute("min_gram_length", Kind::kInt),
                                  required_attribute("mode", Kind::kString),
                                  required_attribute("ngram_counts", Kind::kInts),
                                  required_attribute("ngram_indexes", Kind::kInts),
                                  optional_attribute("pool_int64s", Kind::kInts),
                                  optional_attribute("pool_strings", Kind::kStrings),
                                  optional_attribute("weights", Kind::kFloats)},
                   .infer = infer_tf_idf});
}

}  // namespace hone::graph
