// libhone-plot.so: draws scenes with cairo, as SVG and as PNG; see ../painter.hpp.
#include <cairo-svg.h>
#include <cairo.h>

#include <memory>

#include "base/error.hpp"
#include "report/plot/painter.hpp"

namespace hone::report {
namespace {

using Surface = std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)>;
using Context = std::unique_ptr<cairo_t, decltype(&cairo_destroy)>;

void require(cairo_status_t status) {
  if (status != CAIRO_STATUS_SUCCESS)
    fail_environment("cairo cannot draw: {}", cairo_status_to_string(status));
}

cairo_status_t append(void* text, const unsigned char* data, unsigned length) {
  static_cast<std::string*>(text)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

void use(cairo_t* cairo, const Color& color) {
  cairo_set_source_rgba(cairo, color.red / 255.0, color.green / 255.0, color.blue / 255.0, color.alpha);
}

void choose_font(cairo_t* cairo, double size, bool bold) {
  cairo_select_font_face(cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                         bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(cairo, size);
}

/// Disables hinting, so that texts have their measured widths in every resolution.
void plain_metrics(cairo_t* cairo) {
  cairo_font_options_t* options = cairo_font_options_create();
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  cairo_set_font_options(cairo, options);
  cairo_font_options_destroy(options);
}

double advance(cairo_t* cairo, const std::string& text) {
  cairo_text_extents_t extents;
  cairo_text_extents(cairo, text.c_str(), &extents);
  return extents.x_advance;
}

/// Fills and strokes the current path.
void paint_path(cairo_t* cairo, const std::optional<Color>& fill, const std::optional<Color>& stroke,
                double width) {
  if (fill) {
    use(cairo, *fill);
    cairo_fill_preserve(cairo);
  }
  if (stroke) {
    use(cairo, *stroke);
    cairo_set_line_width(cairo, width);
    cairo_stroke_preserve(cairo);
  }
  cairo_new_path(cairo);
}

void paint(cairo_t* cairo, const Shape& shape) {
  for (const Place& place : shape.points) cairo_line_to(cairo, place.x, place.y);
  if (shape.closed) cairo_close_path(cairo);
  constexpr double kDashes[] = {6, 4};
  if (shape.dashed) cairo_set_dash(cairo, kDashes, 2, 0);
  cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
  paint_path(cairo, shape.fill, shape.stroke, shape.line_width);
  cairo_set_dash(cairo, nullptr, 0, 0);
}

void paint(cairo_t* cairo, const Circle& circle) {
  constexpr double kWhole = 6.283185307179586;
  cairo_arc(cairo, circle.center.x, circle.center.y, circle.radius, 0, kWhole);
  paint_path(cairo, circle.fill, circle.stroke, circle.line_width);
}

void paint(cairo_t* cairo, const Label& label) {
  choose_font(cairo, label.size, label.bold);
  const double width = label.anchor == Anchor::kStart ? 0 : advance(cairo, label.text);
  use(cairo, label.color);
  cairo_move_to(cairo, label.at.x - (label.anchor == Anchor::kMiddle ? width / 2 : width), label.at.y);
  cairo_show_text(cairo, label.text.c_str());
  cairo_new_path(cairo);
}

void paint_scene(cairo_surface_t* surface, const Scene& scene, double scale) {
  require(cairo_surface_status(surface));
  const Context cairo(cairo_create(surface), &cairo_destroy);
  cairo_scale(cairo.get(), scale, scale);
  plain_metrics(cairo.get());
  use(cairo.get(), scene.background);
  cairo_paint(cairo.get());
  for (const auto& item : scene.items) std::visit([&](const auto& each) { paint(cairo.get(), each); }, item);
  require(cairo_status(cairo.get()));
}

std::string xml_text(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '&') result += "&amp;";
    if (c == '<') result += "&lt;";
    if (c == '>') result += "&gt;";
    if (c != '&' && c != '<' && c != '>') result += c;
  }
  return result;
}

class CairoPainter : public Painter {
 public:
  CairoPainter()
      : surface_(cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1), &cairo_surface_destroy),
        cairo_(cairo_create(surface_.get()), &cairo_destroy) {
    plain_metrics(cairo_.get());
  }

  double text_width(const std::string& text, double size, bool bold) const override {
    choose_font(cairo_.get(), size, bold);
    const double width = advance(cairo_.get(), text);
    require(cairo_status(cairo_.get()));
    return width;
  }

  /// Letters become outlines, so that the file looks the same on machines with other fonts. Title and
  /// description are for screen readers.
  std::string svg(const Scene& scene) const override {
    std::string file;
    {
      const Surface surface(cairo_svg_surface_create_for_stream(&append, &file, scene.width, scene.height),
                            &cairo_surface_destroy);
      cairo_svg_surface_set_document_unit(surface.get(), CAIRO_SVG_UNIT_PX);
      paint_scene(surface.get(), scene, 1);
      cairo_surface_finish(surface.get());
      require(cairo_surface_status(surface.get()));
    }
    const size_t open = file.find("<svg");
    const size_t inside = file.find('>', open);
    if (open == std::string::npos || inside == std::string::npos) fail_internal("cairo wrote no SVG");
    file.insert(inside + 1, fmt::format("\n<title>{}</title>\n<desc>{}</desc>", xml_text(scene.title),
                                        xml_text(scene.description)));
    return file;
  }

  std::string png(const Scene& scene, double scale) const override {
    const Surface surface(
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(scene.width * scale),
                                   static_cast<int>(scene.height * scale)),
        &cairo_surface_destroy);
    paint_scene(surface.get(), scene, scale);
    std::string file;
    require(cairo_surface_write_to_png_stream(surface.get(), &append, &file));
    return file;
  }

 private:
  Surface surface_;
  Context cairo_;
};

}  // namespace
}  // namespace hone::report

extern "C" const hone::report::Painter* hone_painter() {
  static const hone::report::CairoPainter kPainter;
  return &kPainter;
}
