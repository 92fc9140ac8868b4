// See painter.hpp.
#include "report/plot/painter.hpp"

#include "base/plugin.hpp"

namespace hone::report {

const Painter& painter() {
  static const auto kGet = reinterpret_cast<GetPainter>(base::load_plugin_symbol("plot", "hone_painter"));
  return *kGet();
}

}  // namespace hone::report
