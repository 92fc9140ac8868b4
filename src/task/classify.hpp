// Classification of images and frames: runs batches through a network and finds the most probable classes of
// each image.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "import/image/preprocess.hpp"
#include "media/source.hpp"
#include "task/network.hpp"

namespace hone::task {

struct ClassifyRequest {
  NetworkOptions network;
  std::string input;
  std::string labels;  ///< a file of names; empty: the names in the metadata
  /// The source of the true classes, as for TrueClasses; empty if they are unknown.
  std::string ground_truth;
  size_t top = 5;
  /// Settings from options. If absent, the model's metadata decide, else a default.
  struct {
    std::optional<int64_t> resize;
    std::optional<int64_t> crop;
    std::optional<float> scale;
    std::vector<float> mean;
    std::vector<float> std;
  } preprocess;
  double timeout_seconds = 10;
  std::optional<int64_t> most_images;  ///< reading ends after this number
  const std::atomic<bool>* stop = nullptr;
};

struct ClassScore {
  int64_t label = 0;
  std::string name;
  double probability = 0;
  double score = 0;  ///< as the network computed it
};

struct ImageClasses {
  int64_t frame = 0;
  std::string file;  ///< empty for frames of a video
  double seconds = 0;
  std::vector<ClassScore> classes;  ///< most probable first
  std::optional<ClassScore> truth;  ///< if the true class is known
  int64_t truth_rank = 0;           ///< rank of the true class among all, from 1
};

/// How often the true class was the first, or among the first, of the results.
struct TopAccuracy {
  int64_t images = 0;
  int64_t top1 = 0;
  int64_t top5 = 0;
};

struct ClassifyOutcome {
  int64_t images = 0;
  std::optional<TopAccuracy> accuracy;  ///< only with ground truth
  std::vector<std::string> notes;
  std::vector<std::string> losses;  ///< clauses about what could not be read (losses.hpp)
  bool stopped = false;
};

/// Calls `use` for each image in order. Bad input if the network's first output is not one row of scores for
/// each image, if the number of labels or of true classes does not match that of the network's classes, or if
/// no image can be read.
ClassifyOutcome classify(const ClassifyRequest& request, const std::function<void(const ImageClasses&)>& use);

}  // namespace hone::task
