// Draws the legend above stacked bars; see charts.hpp.
#include <algorithm>

#include "report/plot/charts.hpp"
#include "report/plot/text_fit.hpp"

namespace hone::report {

double draw_parts(const std::vector<Part>& parts, const Area& area, Canvas* canvas) {
  constexpr double kSwatch = 11;
  constexpr double kGap = 18;
  constexpr double kLine = 19;
  if (parts.empty()) return 0;
  double x = area.left;
  double y = area.top;
  for (const Part& part : parts) {
    const double most = area.width() - kSwatch - 6;
    const double wide = kSwatch + 6 + canvas->width_of(std::vector<std::string>{part.name}, kTextSize, most);
    if (x > area.left && x + wide > area.right) {
      x = area.left;
      y += kLine;
    }
    canvas->box({x, y, x + kSwatch, y + kSwatch}, canvas->theme().series(part.color));
    canvas->text({x + kSwatch + 6, y + kSwatch - 1}, part.name, most);
    x += wide + kGap;
  }
  return y + kLine + 4 - area.top;
}

}  // namespace hone::report
