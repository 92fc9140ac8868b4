// Scenes to files: the interface of libhone-plot.so (cairo), which is loaded when the first figure is made.
#pragma once

#include <string>

#include "report/plot/scene.hpp"

namespace hone::report {

class Painter {
 public:
  virtual ~Painter() = default;
  virtual double text_width(const std::string& text, double size, bool bold) const = 0;
  /// The file's content. Environment error when cairo cannot.
  virtual std::string svg(const Scene& scene) const = 0;
  /// `scale` pixels of the file for each of the scene.
  virtual std::string png(const Scene& scene, double scale) const = 0;
};

/// The type of the function that the plugin exports as `hone_painter`.
using GetPainter = const Painter* (*)();

/// Environment error that says how to get it when the plugin is missing.
const Painter& painter();

}  // namespace hone::report
