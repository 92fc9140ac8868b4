// Files of test cases: a header, the text that goes in and the text that comes out. docs/GRAPH-TEXT.md
// describes the format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tensor/shape.hpp"

namespace hone::test {

struct CaseSection {
  std::string name;  ///< before, after, unchanged, onnx, graph
  std::string text;
  /// Lines of the text in its file, from 0: begin and end.
  size_t begin = 0;
  size_t end = 0;

  /// The text after as many empty lines as it has before it in its file, so that a parser counts those too.
  std::string padded() const { return std::string(begin, '\n') + text; }
};

struct Case {
  std::filesystem::path file;
  int line = 0;        ///< of its name, from 1
  std::string folder;  ///< the pass or importer it is about
  std::string name;
  /// Keys and values in the order of the file; a key may be there several times.
  std::vector<std::pair<std::string, std::string>> header;
  std::vector<CaseSection> sections;

  /// Values of a key.
  std::vector<std::string> all(const std::string& key) const;
  /// The value of a key that is there once at most; empty when it is not.
  std::string get(const std::string& key) const;
  bool has(const std::string& key) const { return !all(key).empty(); }
  /// Null when there is none.
  const CaseSection* section(const std::string& section_name) const;
  /// Bad input, naming file and line, when there is none.
  const CaseSection& need(const std::string& section_name) const;

  /// The passes that are named, in "pass:" or "passes:"; none where all run ("optimize:").
  std::vector<std::string> passes() const;
  /// "symbols: N = 2, H = 8".
  std::map<std::string, int64_t> symbols() const;
  /// "shape: x = 2x3", as often as needed.
  std::map<std::string, tensor::Shape> shapes() const;

  [[noreturn]] void fail(const std::string& sentence) const;
};

/// The cases of a file; bad input with file and line for what is none.
std::vector<Case> read_cases(const std::filesystem::path& file, const std::string& folder);

/// Keeps the texts that go into case files when authors want that (HONE_WRITE_CASES=1), until all cases have
/// run.
class CaseWriter {
 public:
  static CaseWriter& get();
  bool wanted() const { return wanted_; }
  void replace(const Case& test, const CaseSection& section, const std::string& text);
  /// Writes the files anew.
  void finish();

 private:
  CaseWriter();

  struct Replacement {
    size_t end;
    std::string text;
  };
  bool wanted_;
  /// By file and first line.
  std::map<std::filesystem::path, std::map<size_t, Replacement>> replacements_;
};

}  // namespace hone::test
