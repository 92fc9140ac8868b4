// Ids for objects over the frames of a video, after ByteTrack (Zhang et al., ECCV 2022): first detections of
// high scores are matched with tracks, then those of low scores with the tracks that are left.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "task/detection.hpp"

namespace hone::task {

/// A Kalman filter over centre, aspect and height of a box and how fast they change.
class BoxFilter {
 public:
  explicit BoxFilter(const Box& box);
  void predict();
  void update(const Box& box);
  Box box() const;

 private:
  static constexpr size_t kNumbers = 4;
  /// Numbers are independent of each other in this model: each has its value, its speed and a 2 x 2
  /// covariance.
  struct State {
    double value = 0;
    double speed = 0;
    double value_variance = 0;
    double covariance = 0;
    double speed_variance = 0;
  };
  std::array<State, kNumbers> states_;
};

/// Used by one thread, frame by frame.
class Tracker {
 public:
  /// Detections of a lower score than this do not matter.
  static constexpr float kLowScore = 0.1f;

  explicit Tracker(double frames_a_second);

  /// Gives an id to the detections that belong to a track; the others keep -1.
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

  /// Matches some detections with some tracks by the least sum of costs below `limit`; those that are matched
  /// leave both lists.
  void match(double limit, bool by_score, std::vector<Detection>* detections, std::vector<size_t>* open,
             std::vector<size_t>* tracks);
  void begin_track(Detection* detection);
  void end_tracks();

  std::vector<Track> tracks_;
  int64_t frame_ = 0;
  int64_t next_id_ = 1;
  int64_t patience_;
};

/// For each row the column it is given, or -1: the assignment of the least sum, in which costs above `limit`
/// are never chosen.
std::vector<int64_t> assign(const std::vector<std::vector<double>>& costs, double limit);

}  // namespace hone::task
