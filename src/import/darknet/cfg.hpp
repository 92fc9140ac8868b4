// The text of a cfg file as sections of options, by darknet's own grammar (docs/DARKNET.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::importer::darknet {

struct CfgOption {
  std::string key;
  /// Absent for a line without '=', which counts as given but leaves the default.
  std::optional<std::string> value;
  int line = 0;
};

struct Section {
  /// Without brackets, as written: "convolutional".
  std::string type;
  int line = 0;
  std::vector<CfgOption> options;
};

/// Lines counted from 1. Every blank is dropped, also inside of words; lines that begin with # or ; are
/// comments. `key=` without a value is left out, and noted in `warnings`. Bad input naming the line for an
/// option before any section, for a section whose bracket stays open and for a file that is no text.
std::vector<Section> parse_cfg(std::string_view text, std::vector<std::string>* warnings);

/// Reads like C's atoi: digits after a sign, whatever follows them; 0 where there are none. Bad input beyond
/// 32 bits.
int parse_int(std::string_view text);
/// As C's atof, in the same way. Bad input for infinities and NaN.
double parse_number(std::string_view text);

}  // namespace hone::importer::darknet
