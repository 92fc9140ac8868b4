// See option_checks.hpp.
#include "cli/option_checks.hpp"

#include "base/error.hpp"

namespace hone::cli {

CLI::Validator finite_range(double least, double most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    double value = 0;
    if (CLI::detail::lexical_cast(text, value) && value >= least && value <= most) return "";
    return fmt::format("Value {} not in range {:.10g} to {:.10g}", text, least, most);
  };
  return {check, fmt::format("FLOAT in [{:.10g} - {:.10g}]", least, most)};
}

void refuse_given(const OptionList& options, const std::string& reason) {
  for (const CLI::Option* option : options) {
    if (option->count() > 0) fail_usage("{} {}", option->get_name(), reason);
  }
}

}  // namespace hone::cli
