// Runs one case inside a test.
#pragma once

#include "cases/case_file.hpp"

namespace hone::test {

/// A pass: the graph that comes out is the expected one, what it should say it says, a second run changes
/// nothing, and the outputs of both graphs are the same.
void run_pass_case(const Case& test);

/// An importer: the graph that comes out is the expected one, or the sentence of the refusal is.
void run_import_case(const Case& test);

/// A failure that shows the difference where the texts differ; where authors want it, the text goes into the
/// file.
void compare_text(const Case& test, const CaseSection& section, const std::string& expected,
                  const std::string& actual);

}  // namespace hone::test
