// Why something cannot be done, told as a value: a tactic that does not take a step, a pass that leaves a
// node as it is.
#pragma once

#include <string>
#include <utility>

namespace hone {

/// True when something is refused; then it holds the reason, part of a sentence for people ("only fp16 and
/// bf16").
class [[nodiscard]] Refusal {
 public:
  /// Nothing is refused.
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
