// The content of a figure, as plain data: axes, series, bars, boxes and the sentences around them. Made from
// sweeps (sweep_figures.hpp) and traces (trace_figures.hpp), laid out by layout.hpp.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace hone::report {

/// Colours of the palette that differ; a higher index starts again. This one is grey, for parts that are no
/// series.
constexpr size_t kPaletteColors = 7;
constexpr size_t kNeutralColor = kPaletteColors;
/// Shapes of markers, likewise.
constexpr size_t kMarkers = 6;

struct Axis {
  std::string title;  ///< with the unit
  bool log = false;
  std::vector<double> ticks = {};  ///< where exactly these values occur; else ticks are chosen
  /// A value to compare with, drawn as a line.
  std::optional<double> reference = std::nullopt;
};

struct Point {
  double x = 0;
  double y = 0;
  std::optional<double> low = std::nullopt;  ///< of the error bar; both ends or none
  std::optional<double> high = std::nullopt;
  bool valid = true;  ///< the verdict; a hollow marker when false
};

/// How a series looks wherever it appears.
struct SeriesStyle {
  size_t color = 0;
  size_t marker = 0;
  bool dashed = false;
};

struct Series {
  std::string name;
  SeriesStyle style;
  std::vector<Point> points;  ///< x ascending
};

struct LineChart {
  Axis x;
  Axis y;
  std::vector<Series> series;
};

/// The meaning of a colour.
struct Part {
  std::string name;
  size_t color = 0;
};

/// A stretch of the value axis.
struct Bar {
  double from = 0;
  double to = 0;
  size_t part = 0;
};

/// Low and high are the ends of the whiskers.
struct Box {
  double low = 0;
  double q1 = 0;
  double median = 0;
  double q3 = 0;
  double high = 0;
};

/// One line of a RowChart: bars, a box or a dot, and at the right what it says in figures.
struct Row {
  std::string name;
  std::string text = {};
  bool heading = false;  ///< only a name, over the rows that follow
  std::vector<Bar> bars = {};
  std::optional<Box> box = std::nullopt;
  std::optional<Point> dot = std::nullopt;  ///< y is the value
  /// Around the end of the bars.
  std::optional<std::pair<double, double>> whisker = std::nullopt;
  SeriesStyle style = {};  ///< of box and dot
};

/// Names at the left, values from left to right.
struct RowChart {
  Axis value;
  std::vector<Part> parts;
  std::vector<Row> rows;
  bool connected = false;  ///< bars go on from each other: a waterfall
};

struct StackedColumn {
  std::string name;
  std::vector<double> values;  ///< one a part, stacked from 0
};

struct ColumnChart {
  std::string x_title;
  Axis y;
  std::vector<Part> parts;
  std::vector<StackedColumn> columns;
};

struct Figure {
  std::string name;  ///< of its files, without extension
  std::string title;
  std::string subtitle;            ///< the machine, and what the spread is
  std::vector<std::string> notes;  ///< sentences below
  std::variant<LineChart, RowChart, ColumnChart> chart;
};

}  // namespace hone::report
