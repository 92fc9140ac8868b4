// Assigns ids to objects over the frames of a video, like ByteTrack (Zhang et al., ECCV 2022): detections
// with high scores are matched with tracks first, then detections with low scores with the remaining tracks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "task/detection.hpp"

namespace hone::task {

/// A Kalman filter for the centre, aspect ratio and height of a box and their velocities.
class BoxFilter {
 public:
  explicit BoxFilter(const Box& box);
  void predict();
  void update(const Box& box);
  Box box() const;

 private:
  static constexpr size_t kNumbers = 4;
  /// The model treats the four numbers as independent: each has a value, a velocity and a 2 x 2 covariance.
  struct State {
    double value = 0;
    double speed = 0;
    double value_variance = 0;
    double covariance = 0;
    double speed_variance = 0;
  };
  std::array<State, kNumbers> states_;
};

/// Call it from one thread, frame by frame.
class Tracker {
 public:
  /// Detections with a lower score are ignored.
  static constexpr float kLowScore = 0.1f;

  explicit Tracker(double frames_a_second);

  /// Sets the id of detections that belong to a track; the others keep -1.
  void follow(std::vector<Detection>* detections);

 private:
  struct Track {
    BoxFilter filter;
    int64_t id;
    int64_t label;
    float score;
    int64_t last_seen;
    int64_t first_seen;
    bool confirmed;
    bool lost;
  };

  /// Matches detections with tracks so that the sum of costs is least; costs must be below `limit`. Matched
  /// ones are removed from both lists.
  void match(double limit, bool by_score, std::vector<Detection>* detections, std::vector<size_t>* open,
             std::vector<size_t>* tracks);
  void begin_track(Detection* detection);
  void end_tracks();

  std::vector<Track> tracks_;
  int64_t frame_ = 0;
  int64_t next_id_ = 1;
  int64_t patience_;
};

/// Returns the column assigned to each row, or -1. The assignment has the least sum of costs, and never uses
/// a cost above `limit`.
std::vector<int64_t> assign(const std::vector<std::vector<double>>& costs, double limit);

}  // namespace hone::task
