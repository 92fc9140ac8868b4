// Classification of images and frames: batches through a network, the likeliest classes of each.
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
  std::string labels;  ///< a file of names; empty: those of the metadata
  /// The right classes, as TrueClasses has them; empty: they are not known.
  std::string ground_truth;
  size_t top = 5;
  /// Settings from options; absent: the model's metadata, else a guess.
  struct {
    std::optional<int64_t> resize;
    std::optional<int64_t> crop;
    std::optional<float> scale;
    std::vector<float> mean;
    std::vector<float> std;
  } preprocess;
  double timeout_seconds = 10;
  const std::atomic<bool>* stop = nullptr;
};

struct ClassScore {
  int64_t label = 0;
  std::string name;
  double probability = 0;
  double score = 0;  ///< as the network gave it
};

struct ImageClasses {
  int64_t frame = 0;
  std::string file;  ///< empty for frames of a video
  double seconds = 0;
  std::vector<ClassScore> classes;  ///< likeliest first
  std::optional<ClassScore> truth;  ///< where the right class is known
  int64_t truth_rank = 0;           ///< of the right class among all, from 1
};

/// How often the network was right.
struct TopAccuracy {
  int64_t images = 0;
  int64_t top1 = 0;
  int64_t top5 = 0;
};

struct ClassifyOutcome {
  int64_t images = 0;
  std::optional<TopAccuracy> accuracy;  ///< with ground truth
  std::vector<std::string> notes;
  media::Losses losses;
  bool stopped = false;
};

/// Calls `use` for each image in order. Bad input for a network whose first output is no row of scores an
/// image, for labels and ground truth whose number is not that of classes, and where no image can be read.
ClassifyOutcome classify(const ClassifyRequest& request, const std::function<void(const ImageClasses&)>& use);

}  // namespace hone::task
