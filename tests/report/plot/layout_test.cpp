// Laid out figures: no text over another, nothing outside the picture, whatever the figure and its size.
#include "report/plot/layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "report/plot/fake_measure.hpp"
#include "report/plot/sweep_figures.hpp"
#include "report/plot/sweep_json.hpp"

namespace hone::report {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

struct Frame {
  double left;
  double top;
  double right;
  double bottom;
};

/// Letters reach 0.75 of the size above the baseline and 0.2 below it.
Frame frame_of(const Label& label) {
  const double width = fake_measure(label.text, label.size, label.bold);
  const double left = label.anchor == Anchor::kStart    ? label.at.x
                      : label.anchor == Anchor::kMiddle ? label.at.x - width / 2
                                                        : label.at.x - width;
  return {left, label.at.y - 0.75 * label.size, left + width, label.at.y + 0.2 * label.size};
}

std::vector<Label> labels_of(const Scene& scene) {
  std::vector<Label> labels;
  for (const auto& item : scene.items) {
    if (const auto* label = std::get_if<Label>(&item)) labels.push_back(*label);
  }
  return labels;
}

std::vector<std::string> texts_of(const Scene& scene) {
  std::vector<std::string> texts;
  for (const Label& label : labels_of(scene)) texts.push_back(label.text);
  return texts;
}

void expect_tidy(const Scene& scene, const std::string& what) {
  const std::vector<Label> labels = labels_of(scene);
  constexpr double kTouch = 0.01;
  for (size_t i = 0; i < labels.size(); ++i) {
    const Frame a = frame_of(labels[i]);
    EXPECT_TRUE(a.left >= -kTouch && a.top >= 0 && a.right <= scene.width + kTouch &&
                a.bottom <= scene.height)
        << what << ": '" << labels[i].text << "' is not inside";
    for (size_t j = i + 1; j < labels.size(); ++j) {
      const Frame b = frame_of(labels[j]);
      const bool apart = a.right <= b.left + kTouch || b.right <= a.left + kTouch ||
                         a.bottom <= b.top + kTouch || b.bottom <= a.top + kTouch;
      EXPECT_TRUE(apart) << what << ": '" << labels[i].text << "' over '" << labels[j].text << "'";
    }
  }
  for (const auto& item : scene.items) {
    const auto* shape = std::get_if<Shape>(&item);
    if (shape == nullptr) continue;
    for (const Place& place : shape->points) {
      EXPECT_TRUE(std::isfinite(place.x) && std::isfinite(place.y)) << what;
      EXPECT_TRUE(place.x >= 0 && place.x <= scene.width && place.y >= 0 && place.y <= scene.height)
          << what << ": a point at " << place.x << ", " << place.y;
    }
  }
}

std::vector<Figure> many_series(int backends, std::vector<int> batches, double spread) {
  std::vector<Json> runs;
  for (int backend = 0; backend < backends; ++backend) {
    for (const int batch : batches) {
      Json run = run_json("a_backend_whose_name_is_rather_long_" + std::to_string(backend), "fp32", batch,
                          9 * batch * std::pow(spread, backend), 40);
      run["speedup"] = speedup_json(std::pow(spread, backend), 0.9 * std::pow(spread, backend),
                                    1.3 * std::pow(spread, backend));
      run["verdict"]["valid"] = backend % 3 != 0;
      runs.push_back(run);
    }
  }
  Json failed = run_json("failing", "fp32", batches.front(), 9);
  failed["failure"] = "the worker said: " + std::string(300, 'x') + " and died of a signal that nobody sent";
  runs.push_back(failed);
  return sweep_figures(group_of(runs));
}

Figure columns(size_t count, double value) {
  ColumnChart chart{"step", {"time, ms"}, {{"kernel 50.0 %", 0}, {"runtime 50.0 %", 4}}, {}};
  for (size_t i = 0; i < count; ++i) chart.columns.push_back({std::to_string(i), {value, value / 2}});
  return {"steps", "Where the steps' time goes", "a machine", {"No trend."}, chart};
}

Figure waterfall() {
  RowChart chart{{"time, ms"}, {{"iteration", kNeutralColor}, {"less", 0}, {"more", 1}}, {}, true};
  chart.rows.push_back({"A: " + std::string(200, 'n'), "5.000 ms ±1.000 ms", false, {{0, 5, 0}}});
  chart.rows.back().whisker = {4, 6};
  chart.rows.push_back({"layers", "−7.000 ms", false, {{5, -2, 1}}});
  chart.rows.push_back({"idle", "+3.000 ms", false, {{-2, 1, 2}}});
  chart.rows.push_back({"B", "1.000 ms", false, {{0, 1, 0}}});
  return {"waterfall", std::string(500, 'T'), std::string(300, 's') + " machine", {}, chart};
}

std::vector<Figure> all_figures() {
  std::vector<Figure> figures = {columns(1, 3), columns(120, 0.02), columns(40, 0), waterfall()};
  for (const auto& [backends, batches] : std::vector<std::pair<int, std::vector<int>>>{
           {1, {1}}, {1, {1, 8}}, {40, {1, 2, 4, 8}}, {40, {8}}, {3, {1, 1000000}}, {3, {7, 8}}}) {
    for (const double spread : {1.0, 1.01, 1.5}) {
      for (Figure& figure : many_series(backends, batches, spread)) figures.push_back(std::move(figure));
    }
  }
  return figures;
}

TEST(Layout, NothingLiesOverAnythingElse) {
  for (const Figure& figure : all_figures()) {
    for (const double width : {kLeastSide, 500.0, 900.0, 2000.0}) {
      for (const std::optional<double> height : {std::optional<double>(), {kLeastSide}, {600.0}, {2000.0}}) {
        PlotStyle style;
        style.width = width;
        style.height = height;
        const Scene scene = lay_out(figure, style, fake_measure);
        EXPECT_EQ(scene.width, width);
        EXPECT_EQ(scene.height, height.value_or(scene.height));
        expect_tidy(scene, fmt::format("{} '{}' {} x {}", figure.name, figure.title.substr(0, 40), width,
                                       height.value_or(0)));
        if (HasFailure()) return;
      }
    }
  }
}

TEST(Layout, WhatDoesNotFitIsCounted) {
  PlotStyle style;
  style.height = kLeastSide;
  const Figure lines = many_series(40, {1, 8}, 1.1).front();
  EXPECT_THAT(texts_of(lay_out(lines, style, fake_measure)), Contains(HasSubstr("… and ")));
  const Figure rows = many_series(40, {8}, 1.1).front();
  EXPECT_THAT(texts_of(lay_out(rows, style, fake_measure)), Contains(HasSubstr("… and ")));
  style.height.reset();
  EXPECT_THAT(texts_of(lay_out(rows, style, fake_measure)), Not(Contains(HasSubstr("… and "))));
}

TEST(Layout, HollowMarkersShowTheBackground) {
  const Figure figure = many_series(3, {8}, 1.5).front();
  for (const Theme* theme : {&kLightTheme, &kDarkTheme}) {
    PlotStyle style;
    style.theme = theme;
    size_t hollow = 0;
    for (const auto& item : lay_out(figure, style, fake_measure).items) {
      const auto same = [&](const std::optional<Color>& color) {
        return color && color->red == theme->background.red && color->blue == theme->background.blue;
      };
      if (const auto* shape = std::get_if<Shape>(&item)) hollow += same(shape->fill) ? 1 : 0;
      if (const auto* circle = std::get_if<Circle>(&item)) hollow += same(circle->fill) ? 1 : 0;
    }
    EXPECT_EQ(hollow, 1U);
  }
}

TEST(Layout, ErrorBarsStandWhereTheirValuesAre) {
  Json run = run_json("hone", "fp32", 1, 50);
  Figure figure = latency_figure(group_of({run})).value();
  auto& row = std::get<RowChart>(figure.chart).rows.at(0);
  row.dot->low = 25;
  row.dot->high = 100;
  const Scene scene = lay_out(figure, {}, fake_measure);
  double zero = 0;
  double hundred = 0;
  for (const Label& label : labels_of(scene)) {
    if (label.text == "0") zero = label.at.x;
    if (label.text == "100") hundred = label.at.x;
  }
  ASSERT_GT(hundred, zero);
  bool found = false;
  for (const auto& item : scene.items) {
    const auto* shape = std::get_if<Shape>(&item);
    if (shape == nullptr || shape->points.size() != 2 || shape->points[0].y != shape->points[1].y) continue;
    found |= std::abs(shape->points[0].x - (zero + 0.25 * (hundred - zero))) < 1e-6 &&
             std::abs(shape->points[1].x - hundred) < 1e-6;
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace hone::report
