// Splits the text of a cfg file into sections of options, by darknet's own grammar (docs/DARKNET.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::importer::darknet {

struct CfgOption {
  std::string key;
  /// Empty for a line without '=', which counts as given but leaves the default.
  std::optional<std::string> value;
  int line = 0;
};

struct Section {
  /// Without brackets, as written: "convolutional".
  std::string type;
  int line = 0;
  std::vector<CfgOption> options;
};

/// Lines are counted from 1. All blanks are removed, also inside of words; lines that begin with # or ; are
/// comments. `key=` without a value is ignored with a note in `warnings`. Throws bad input that names the
/// line for an option before any section, for a section without its closing bracket and for a file that is
/// not text.
std::vector<Section> parse_cfg(std::string_view text, std::vector<std::string>* warnings);

/// Reads like C's atoi: digits after a sign, whatever follows them; 0 if there are none. Throws bad input
/// beyond 32 bits.
int parse_int(std::string_view text);
/// Reads like C's atof. Throws bad input for infinities and NaN.
double parse_number(std::string_view text);

}  // namespace hone::importer::darknet
