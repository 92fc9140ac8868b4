// The reason why something cannot be done, as a value: a tactic that refuses a step, a pass that leaves a
// node unchanged.
#pragma once

#include <string>
#include <utility>

namespace hone {

/// True if it contains a reason, which is a part of a sentence for people ("only fp16 and bf16").
class [[nodiscard]] Refusal {
 public:
  /// Refuses nothing.
  Refusal() = default;
  /// An empty reason refuses nothing.
  Refusal(std::string reason) : reason_(std::move(reason)) {}
  Refusal(const char* reason) : reason_(reason) {}

  explicit operator bool() const { return !reason_.empty(); }
  const std::string& text() const { return reason_; }

 private:
  std::string reason_;
};

}  // namespace hone
