// The body of a region as tactics of this device read it: each part as a step of its own.
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

/// The places of a part's operands among the inputs of its step.
class PartOperands {
 public:
  PartOperands() = default;
  /// One position for each operand, -1 for one that is absent or made inside the region.
  explicit PartOperands(std::vector<int> positions) : positions_(std::move(positions)) {}

  size_t count() const { return positions_.size(); }
  /// -1 for an operand that is none of the step's inputs.
  int position(size_t operand) const { return operand < count() ? positions_[operand] : -1; }
  /// The same within a step of which these operands' step is a part.
  PartOperands within(const PartOperands& outer) const;

  /// The pointer to an operand among the pointers of a step's inputs; null where it is none of them.
  const void* of(std::span<const void* const> inputs, size_t operand) const {
    return position(operand) < 0 ? nullptr : inputs[static_cast<size_t>(position(operand))];
  }
  /// Adds the arrangements that a part wants of its operands to those that the step wants of its inputs.
  /// Refuses where two of them differ.
  Refusal arrange(const std::vector<engine::TensorDesc>& wanted,
                  std::vector<engine::TensorDesc>& inputs) const;

 private:
  std::vector<int> positions_;
};

struct RegionPart {
  graph::Node node;  ///< graph::outer_part()
  PartOperands operands;
  /// The request for that node. Operands that are made inside the region have a type and lie plain.
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

  /// The roles, what plays them, which of their operands the others make, and what leaves the region:
  /// "conv=Conv pool=MaxPool(0:conv) -> pool". A FusedConv stands there as Conv, a region as Region:kind.
  /// Untrusted files may have any body in a region of any kind, so that tactics compare this with the forms
  /// that they take. Names that are no words are "?", so that no two bodies of words have the same form.
  const std::string& form() const { return form_; }
  /// The part in a role; null where there is none.
  const RegionPart* find(std::string_view role) const;
  /// One of the roles that the form names.
  const RegionPart& part(std::string_view role) const;

 private:
  std::list<RegionPart> parts_;
  std::string form_;
};

/// Why a part of a region is no convolution without groups that keeps the size of its image, by windows of
/// `kernel` x `kernel`; empty when it is.
Refusal same_size_refusal(const RegionPart& part, int64_t kernel);

}  // namespace hone::device::cuda
