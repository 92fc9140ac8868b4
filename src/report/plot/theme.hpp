// Colours of figures. Series use the palette of Okabe and Ito, "Color Universal Design" (2008), which people
// with colour vision deficiencies can distinguish; each background uses those colours that contrast with it.
#pragma once

#include <array>
#include <string>

#include "report/plot/figure.hpp"
#include "report/plot/scene.hpp"

namespace hone::report {

struct Theme {
  Color background;
  Color ink;    ///< titles, names
  Color muted;  ///< subtitles, notes, ticks
  Color grid;
  Color axis;
  std::array<Color, kPaletteColors> palette;
  Color neutral;

  Color series(size_t color) const { return color < kPaletteColors ? palette[color] : neutral; }
};

extern const Theme kLightTheme;
extern const Theme kDarkTheme;

}  // namespace hone::report
