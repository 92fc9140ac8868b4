// Converts scenes to files: the interface of libhone-plot.so (cairo), which is loaded when the first figure
// is drawn.
#pragma once

#include <string>

#include "report/plot/scene.hpp"

namespace hone::report {

class Painter {
 public:
  virtual ~Painter() = default;
  virtual double text_width(const std::string& text, double size, bool bold) const = 0;
  /// Returns the content of the file. Environment error if cairo fails.
  virtual std::string svg(const Scene& scene) const = 0;
  /// The PNG file has `scale` pixels for each pixel of the scene.
  virtual std::string png(const Scene& scene, double scale) const = 0;
};

/// The type of the function that the plugin exports as `hone_painter`.
using GetPainter = const Painter* (*)();

/// If the plugin is missing, throws an environment error that says how to get it.
const Painter& painter();

}  // namespace hone::report
