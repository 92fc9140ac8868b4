// See layout.hpp.
#include "report/plot/layout.hpp"

#include <algorithm>
#include <cmath>

#include "report/plot/charts.hpp"
#include "report/plot/text_fit.hpp"

namespace hone::report {
namespace {

constexpr double kMargin = 20;
constexpr double kSubtitleLine = 16;
constexpr double kNoteLine = 15;
constexpr double kChartGap = 16;
constexpr size_t kMostSubtitleLines = 3;
constexpr size_t kMostNoteLines = 14;

std::vector<std::string> note_lines(const Figure& figure, double width, size_t most,
                                    const TextMeasure& measure) {
  std::vector<std::string> lines;
  for (const std::string& note : figure.notes) {
    for (std::string& line : wrap_text(note, width, kSmallSize, 4, measure)) lines.push_back(std::move(line));
  }
  if (lines.size() <= most) return lines;
  lines.resize(most);
  if (most > 0) lines.back() = "… more notes do not fit here";
  return lines;
}

}  // namespace

Scene lay_out(const Figure& figure, const PlotStyle& style, const TextMeasure& measure) {
  Canvas canvas(*style.theme, measure);
  const double width = style.width - 2 * kMargin;
  const std::vector<std::string> subtitle =
      wrap_text(figure.subtitle, width, kTextSize, kMostSubtitleLines, measure);
  // Notes take at most a quarter of a fixed height.
  const size_t most_notes =
      style.height ? static_cast<size_t>(*style.height / 4 / kNoteLine) : kMostNoteLines;
  const std::vector<std::string> notes = note_lines(figure, width, most_notes, measure);
  const double head =
      kMargin + kTitleSize + 6 + kSubtitleLine * static_cast<double>(subtitle.size()) + kChartGap;
  const double foot = (notes.empty() ? 0 : 10) + kNoteLine * static_cast<double>(notes.size()) + kMargin - 4;
  const double chart =
      std::visit([&](const auto& each) { return wanted_height(each, style.width); }, figure.chart);
  const double height = style.height.value_or(std::min(std::ceil(head + chart + foot), kMostSide));

  Scene& scene = canvas.scene();
  scene.width = style.width;
  scene.height = height;
  scene.background = style.theme->background;
  scene.title = drawable_text(figure.title);
  scene.description = drawable_text(figure.subtitle);
  canvas.title({kMargin, kMargin + kTitleSize - 2}, figure.title, width);
  double y = kMargin + kTitleSize + 6 + kTextSize - 2;
  for (const std::string& line : subtitle) {
    canvas.muted({kMargin, y}, line, width);
    y += kSubtitleLine;
  }
  const Area area{kMargin, head, kMargin + width, height - foot};
  std::visit([&](const auto& each) { draw(each, area, &canvas); }, figure.chart);
  y = height - foot + 10 + kSmallSize;
  for (const std::string& line : notes) {
    canvas.muted({kMargin, y}, line, width, kSmallSize);
    y += kNoteLine;
  }
  return std::move(scene);
}

}  // namespace hone::report
