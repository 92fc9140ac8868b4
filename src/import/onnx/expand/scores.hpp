// Post-processing of scores in the classifiers and regressors of ai.onnx.ml.
#pragma once

#include "import/onnx/expand/expansion.hpp"

namespace hone::importer {

/// Casts to float32, in which these operators compute.
graph::ValueId as_float(Expansion& e, graph::ValueId x);

/// Applies the attribute post_transform to rows of scores. As in ONNX Runtime, a single score stays as it is.
graph::ValueId post_transform(Expansion& e, graph::ValueId scores);

/// Names of the classes; bad input if they are strings and output 0 is used.
struct Labels {
  std::vector<int64_t> numbers;
  size_t count;
};
Labels read_labels(Expansion& e, const char* numbers, const char* strings);

/// Sets outputs 0 and 1 from scores [rows, classes].
void give_classes(Expansion& e, const Labels& labels, graph::ValueId scores);
/// Sets both from one score of the second class, [rows, 1], which is selected if its score is above `border`.
/// Without LOGISTIC, the score of the first class is 1 minus that of the second if `rest_of_one` is true, and
/// its negation otherwise.
void give_two_classes(Expansion& e, const Labels& labels, graph::ValueId score, float border,
                      bool rest_of_one);

}  // namespace hone::importer
