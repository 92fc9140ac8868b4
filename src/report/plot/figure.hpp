// The content of a figure as plain data: axes, series, bars, boxes and sentences. Figures are made from
// sweeps (sweep_figures.hpp) and traces (trace_figures.hpp), and layout.hpp draws them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace hone::report {

/// The number of different colours in the palette; higher indices repeat them. kNeutralColor is grey, for
/// parts that are no series.
constexpr size_t kPaletteColors = 7;
constexpr size_t kNeutralColor = kPaletteColors;
/// The number of marker shapes; higher indices repeat them too.
constexpr size_t kMarkers = 6;

struct Axis {
  std::string title;  ///< including the unit
  bool log = false;
  std::vector<double> ticks = {};  ///< if not empty, ticks are at exactly these values; else they are chosen
  /// A value for comparison, drawn as a line.
  std::optional<double> reference = std::nullopt;
};

struct Point {
  double x = 0;
  double y = 0;
  std::optional<double> low = std::nullopt;  ///< ends of the error bar; both or none
  std::optional<double> high = std::nullopt;
  bool valid = true;  ///< false if the verdict is INVALID; the marker is then hollow
};

/// The style of a series in all figures.
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

/// An interval of the value axis.
struct Bar {
  double from = 0;
  double to = 0;
  size_t part = 0;
};

/// `low` and `high` are the ends of the whiskers.
struct Box {
  double low = 0;
  double q1 = 0;
  double median = 0;
  double q3 = 0;
  double high = 0;
};

/// One line of a RowChart: bars, a box or a dot, and its value as text at the right.
struct Row {
  std::string name;
  std::string text = {};
  bool heading = false;  ///< only a heading above the rows that follow
  std::vector<Bar> bars = {};
  std::optional<Box> box = std::nullopt;
  std::optional<Point> dot = std::nullopt;  ///< y is the value
  /// Drawn around the end of the bars.
  std::optional<std::pair<double, double>> whisker = std::nullopt;
  SeriesStyle style = {};  ///< of box and dot
};

/// Names at the left, values from left to right.
struct RowChart {
  Axis value;
  std::vector<Part> parts;
  std::vector<Row> rows;
  bool connected = false;  ///< each bar begins where the previous one ends, as in a waterfall
};

struct StackedColumn {
  std::string name;
  std::vector<double> values;  ///< one value for each part, stacked from 0
};

struct ColumnChart {
  std::string x_title;
  Axis y;
  std::vector<Part> parts;
  std::vector<StackedColumn> columns;
};

struct Figure {
  std::string name;  ///< name of its files, without extension
  std::string title;
  std::string subtitle;            ///< the machine, and the meaning of the spread
  std::vector<std::string> notes;  ///< sentences below the chart
  std::variant<LineChart, RowChart, ColumnChart> chart;
};

}  // namespace hone::report
