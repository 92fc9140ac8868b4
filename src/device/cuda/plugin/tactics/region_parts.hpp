// The body of a region in the form that tactics of this device use: each part is a separate step.
#pragma once

#include <list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/refusal.hpp"
#include "engine/kernel.hpp"
#include "graph/convolution_geometry.hpp"

namespace hone::device::cuda {

/// The indices of a part's operands among the inputs of its step.
class PartOperands {
 public:
  PartOperands() = default;
  /// One index for each operand; -1 for one that is absent or computed inside the region.
  explicit PartOperands(std::vector<int> positions) : positions_(std::move(positions)) {}

  size_t count() const { return positions_.size(); }
  /// -1 for an operand that is not an input of the step.
  int position(size_t operand) const { return operand < count() ? positions_[operand] : -1; }
  /// Converts the indices to those of an outer step that contains this step as a part.
  PartOperands within(const PartOperands& outer) const;

  /// The pointer to an operand among the step's inputs; null if it is not an input.
  const void* of(std::span<const void* const> inputs, size_t operand) const {
    return position(operand) < 0 ? nullptr : inputs[static_cast<size_t>(position(operand))];
  }
  /// Adds the arrangements that a part needs for its operands to those of the step's inputs. Refuses if they
  /// contradict each other.
  Refusal arrange(const std::vector<engine::TensorDesc>& wanted,
                  std::vector<engine::TensorDesc>& inputs) const;

 private:
  std::vector<int> positions_;
};

struct RegionPart {
  graph::Node node;  ///< the node as graph::outer_part() returns it
  PartOperands operands;
  /// The request for this node. Operands that are computed inside the region have a type and are plain.
  engine::StepRequest request;

  RegionPart(graph::Node outer, PartOperands positions, const engine::StepRequest& whole);
  RegionPart(const RegionPart&) = delete;
  RegionPart& operator=(const RegionPart&) = delete;

  bool is_constant(size_t operand) const;
  graph::Convolution geometry() const;
};

/// The parts of a step that is a region, for its shapes.
class RegionParts {
 public:
  explicit RegionParts(const engine::StepRequest& whole);

  /// Describes the roles, the operators in them, the operands that other parts compute, and the results:
  /// "conv=Conv pool=MaxPool(0:conv) -> pool". A FusedConv appears as Conv, a region as Region:kind.
  /// Untrusted files may contain any body in a region of any kind, so tactics compare this text with the
  /// forms that they support. Names that are not words appear as "?", so that no two bodies with word names
  /// have the same form.
  const std::string& form() const { return form_; }
  /// The part in a role; null if there is none.
  const RegionPart* find(std::string_view role) const;
  /// The part in a role that the form contains.
  const RegionPart& part(std::string_view role) const;

 private:
  std::list<RegionPart> parts_;
  std::string form_;
};

/// The reason why a part of a region is not a convolution without groups that keeps the size of its image,
/// with windows of `kernel` x `kernel`; empty if it is.
Refusal same_size_refusal(const RegionPart& part, int64_t kernel);

}  // namespace hone::device::cuda
