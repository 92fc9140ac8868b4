// See page_schema.hpp.
#include "report/page/page_schema.hpp"

#include "base/typescript.hpp"
#include "report/page/document_schema.hpp"

namespace hone::report {

std::string page_schema() {
  base::TypeScript types;
  types.add<Report>();
  return "// What the program writes for the page. Made from the structs in src/ by a test, which fails when "
         "they\n"
         "// part: HONE_WRITE_DOCS=1 build/release/bin/report_test --gtest_filter='PageSchema.*' writes it "
         "anew.\n\n" +
         types.text();
}

}  // namespace hone::report
