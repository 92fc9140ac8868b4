// See tracker.hpp.
#include "task/tracker.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace hone::task {
namespace {

constexpr float kHighScore = 0.5f;
/// A new track needs a score clearly above the high threshold.
constexpr float kNewScore = kHighScore + 0.1f;
constexpr double kFirstLimit = 0.8;
constexpr double kLowLimit = 0.5;
constexpr double kUnconfirmedLimit = 0.7;
/// Two tracks whose boxes are this close belong to one object.
constexpr double kDuplicate = 0.15;
constexpr double kPatienceSeconds = 1;
/// Standard deviations as shares of the box's height; those of the aspect ratio are absolute.
constexpr double kOfPosition = 1.0 / 20;
constexpr double kOfSpeed = 1.0 / 160;
constexpr size_t kAspect = 2;
constexpr size_t kHeight = 3;

std::array<double, 4> numbers_of(const Box& box) {
  const double height = std::max(1e-3, static_cast<double>(box.height()));
  return {(static_cast<double>(box.x1) + box.x2) / 2, (static_cast<double>(box.y1) + box.y2) / 2,
          box.width() / height, height};
}

double square(double value) { return value * value; }

}  // namespace

BoxFilter::BoxFilter(const Box& box) {
  const auto numbers = numbers_of(box);
  const double height = numbers[kHeight];
  for (size_t i = 0; i < kNumbers; ++i) {
    states_[i].value = numbers[i];
    states_[i].value_variance = square(i == kAspect ? 1e-2 : 2 * kOfPosition * height);
    states_[i].speed_variance = square(i == kAspect ? 1e-5 : 10 * kOfSpeed * height);
  }
}

void BoxFilter::predict() {
  const double height = states_[kHeight].value;
  for (size_t i = 0; i < kNumbers; ++i) {
    State& s = states_[i];
    s.value += s.speed;
    s.value_variance +=
        2 * s.covariance + s.speed_variance + square(i == kAspect ? 1e-2 : kOfPosition * height);
    s.covariance += s.speed_variance;
    s.speed_variance += square(i == kAspect ? 1e-5 : kOfSpeed * height);
  }
}

void BoxFilter::update(const Box& box) {
  const auto numbers = numbers_of(box);
  const double height = states_[kHeight].value;
  for (size_t i = 0; i < kNumbers; ++i) {
    State& s = states_[i];
    const double noise = square(i == kAspect ? 1e-1 : kOfPosition * height);
    const double gain = s.value_variance / (s.value_variance + noise);
    const double speed_gain = s.covariance / (s.value_variance + noise);
    const double error = numbers[i] - s.value;
    s.value += gain * error;
    s.speed += speed_gain * error;
    s.speed_variance -= speed_gain * s.covariance;
    s.covariance *= 1 - gain;
    s.value_variance *= 1 - gain;
  }
}

Box BoxFilter::box() const {
  const double height = std::max(0.0, states_[kHeight].value);
  const double width = std::max(0.0, states_[kAspect].value) * height;
  const double x = states_[0].value;
  const double y = states_[1].value;
  return {static_cast<float>(x - width / 2), static_cast<float>(y - height / 2),
          static_cast<float>(x + width / 2), static_cast<float>(y + height / 2)};
}

/// Shortest augmenting paths with potentials (Jonker and Volgenant), on a square matrix of costs in which a
/// row may also stay unmatched at the cost `limit`.
std::vector<int64_t> assign(const std::vector<std::vector<double>>& costs, double limit) {
  const size_t rows = costs.size();
  const size_t columns = rows == 0 ? 0 : costs[0].size();
  std::vector<int64_t> result(rows, -1);
  if (columns == 0) return result;
  // Each row has an extra column that means unmatched.
  const size_t all = columns + rows;
  const auto cost = [&](size_t row, size_t column) {
    if (column >= columns) return column - columns == row ? limit : 2 * limit + 1;
    return costs[row][column] > limit ? 2 * limit + 1 : costs[row][column];
  };
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  std::vector<double> of_row(rows + 1, 0);
  std::vector<double> of_column(all + 1, 0);
  std::vector<size_t> row_of(all + 1, 0);
  std::vector<size_t> way(all + 1, 0);
  for (size_t row = 1; row <= rows; ++row) {
    row_of[0] = row;
    size_t at = 0;
    std::vector<double> least(all + 1, kInfinite);
    std::vector<bool> used(all + 1, false);
    do {
      used[at] = true;
      const size_t current = row_of[at];
      double step = kInfinite;
      size_t next = 0;
      for (size_t k = 1; k <= all; ++k) {
        if (used[k]) continue;
        const double reduced = cost(current - 1, k - 1) - of_row[current] - of_column[k];
        if (reduced < least[k]) least[k] = reduced, way[k] = at;
        if (least[k] < step) step = least[k], next = k;
      }
      for (size_t k = 0; k <= all; ++k) {
        if (used[k])
          of_row[row_of[k]] += step, of_column[k] -= step;
        else
          least[k] -= step;
      }
      at = next;
    } while (row_of[at] != 0);
    for (; at != 0; at = way[at]) row_of[at] = row_of[way[at]];
  }
  for (size_t k = 1; k <= columns; ++k) {
    if (row_of[k] == 0 || costs[row_of[k] - 1][k - 1] > limit) continue;
    result[row_of[k] - 1] = static_cast<int64_t>(k - 1);
  }
  return result;
}

Tracker::Tracker(double frames_a_second)
    : patience_(std::max<int64_t>(1, static_cast<int64_t>(frames_a_second * kPatienceSeconds))) {}

void Tracker::match(double limit, bool by_score, std::vector<Detection>* detections,
                    std::vector<size_t>* open, std::vector<size_t>* tracks) {
  std::vector<std::vector<double>> costs;
  for (const size_t track : *tracks) {
    auto& row = costs.emplace_back();
    for (const size_t index : *open) {
      const Detection& found = (*detections)[index];
      const double overlap = iou(tracks_[track].filter.box(), found.box);
      const double likeness = tracks_[track].label == found.label ? overlap : 0;
      row.push_back(1 - (by_score ? likeness * static_cast<double>(found.score) : likeness));
    }
  }
  const auto chosen = assign(costs, limit);
  std::vector<bool> taken(open->size(), false);
  std::vector<size_t> left;
  for (size_t i = 0; i < tracks->size(); ++i) {
    if (chosen[i] < 0) {
      left.push_back((*tracks)[i]);
      continue;
    }
    const auto place = static_cast<size_t>(chosen[i]);
    taken[place] = true;
    Detection& found = (*detections)[(*open)[place]];
    Track& track = tracks_[(*tracks)[i]];
    track.filter.update(found.box);
    track.score = found.score;
    track.last_seen = frame_;
    track.lost = false;
    track.confirmed = true;
    found.track = track.id;
  }
  std::vector<size_t> still_open;
  for (size_t i = 0; i < open->size(); ++i)
    if (!taken[i]) still_open.push_back((*open)[i]);
  *tracks = left;
  *open = still_open;
}

void Tracker::begin_track(Detection* detection) {
  // An object that was seen only once may be a false detection, except in the first frame of the video.
  const bool first = frame_ == 1;
  tracks_.push_back({BoxFilter(detection->box), next_id_++, detection->label, detection->score, frame_,
                     frame_, first, false});
  if (first) detection->track = tracks_.back().id;
}

void Tracker::end_tracks() {
  std::vector<bool> ends(tracks_.size(), false);
  for (size_t i = 0; i < tracks_.size(); ++i) {
    const Track& track = tracks_[i];
    ends[i] = frame_ - track.last_seen > patience_ || (!track.confirmed && track.last_seen < frame_);
    for (size_t k = 0; k < i && !ends[i]; ++k) {
      const Track& other = tracks_[k];
      const bool one = other.label == track.label && other.lost != track.lost && !ends[k] &&
                       1 - static_cast<double>(iou(other.filter.box(), track.filter.box())) < kDuplicate;
      if (!one) continue;
      // The track that has been seen for longer remains.
      const bool other_is_older = other.last_seen - other.first_seen >= track.last_seen - track.first_seen;
      ends[other_is_older ? i : k] = true;
    }
  }
  size_t at = 0;
  std::erase_if(tracks_, [&](const Track&) { return ends[at++]; });
}

void Tracker::follow(std::vector<Detection>* detections) {
  ++frame_;
  for (Track& track : tracks_) track.filter.predict();
  std::vector<size_t> high;
  std::vector<size_t> low;
  for (size_t i = 0; i < detections->size(); ++i) {
    const float score = (*detections)[i].score;
    if (score > kHighScore)
      high.push_back(i);
    else if (score > kLowScore)
      low.push_back(i);
  }
  std::vector<size_t> known;
  std::vector<size_t> unconfirmed;
  for (size_t i = 0; i < tracks_.size(); ++i) (tracks_[i].confirmed ? known : unconfirmed).push_back(i);
  match(kFirstLimit, true, detections, &high, &known);
  std::erase_if(known, [&](size_t track) { return tracks_[track].lost; });
  match(kLowLimit, false, detections, &low, &known);
  for (const size_t track : known) tracks_[track].lost = true;
  match(kUnconfirmedLimit, true, detections, &high, &unconfirmed);
  for (const size_t index : high)
    if ((*detections)[index].score >= kNewScore) begin_track(&(*detections)[index]);
  end_tracks();
}

}  // namespace hone::task
