// See operator_table.hpp.
#include "graph/operator_table.hpp"

#include <algorithm>

namespace hone::graph {
namespace {

constexpr OperatorFamily kFamilies[] = {
    add_elementwise_operators,  add_reduction_operators, add_shape_operators,
    add_convolution_operators,  add_matrix_operators,    add_normalization_operators,
    add_quantization_operators, add_recurrent_operators, add_control_operators,
    add_detection_operators,    add_signal_operators,    add_loss_operators,
    add_fused_operators,        add_region_operator,
};

std::vector<OperatorDef> build_table() {
  std::vector<OperatorDef> table;
  for (const OperatorFamily family : kFamilies) family(table);
  std::sort(table.begin(), table.end(),
            [](const OperatorDef& a, const OperatorDef& b) { return a.name < b.name; });
  for (size_t i = 1; i < table.size(); ++i) {
    if (table[i].name == table[i - 1].name)
      fail_internal("operator {} stands twice in the table", table[i].name);
  }
  return table;
}

}  // namespace

const std::vector<OperatorDef>& operator_table() {
  static const std::vector<OperatorDef> kTable = build_table();
  return kTable;
}

const OperatorDef* find_operator(std::string_view name) {
  const auto& table = operator_table();
  const auto found =
      std::lower_bound(table.begin(), table.end(), name,
                       [](const OperatorDef& def, std::string_view key) { return def.name < key; });
  return found != table.end() && found->name == name ? &*found : nullptr;
}

}  // namespace hone::graph
