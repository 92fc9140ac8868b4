// Post-processing of scores in the classifiers and regressors of ai.onnx.ml.
#pragma once

#include "import/onnx/expand/expansion.hpp"

namespace hone::importer {

/// float32, which is what these operators compute in.
graph::ValueId as_float(Expansion& e, graph::ValueId x);

/// Rows of scores through the attribute post_transform. As in ONNX Runtime, a single score stays as it is.
graph::ValueId post_transform(Expansion& e, graph::ValueId scores);

/// Names of the classes; bad input when they are strings and output 0 is wanted.
struct Labels {
  std::vector<int64_t> numbers;
  size_t count;
};
Labels read_labels(Expansion& e, const char* numbers, const char* strings);

/// Outputs 0 and 1 from scores [rows, classes].
void give_classes(Expansion& e, const Labels& labels, graph::ValueId scores);
/// The same from one score of the second class, [rows, 1], which wins above `border`. Without LOGISTIC the
/// score of the first class is what the second lacks to 1 where `rest_of_one`, otherwise its opposite.
void give_two_classes(Expansion& e, const Labels& labels, graph::ValueId score, float border,
                      bool rest_of_one);

}  // namespace hone::importer
