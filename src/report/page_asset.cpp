// The page that web/ is built to, as it is, inside the library.
#include "report/page.hpp"

// C++20 has no #embed.
asm(".pushsection .rodata\n"
    ".hidden hone_page_begin\n"
    ".global hone_page_begin\n"
    "hone_page_begin:\n"
    ".incbin \"" HONE_PAGE
    "\"\n"
    ".hidden hone_page_end\n"
    ".global hone_page_end\n"
    "hone_page_end:\n"
    ".byte 0\n"
    ".popsection\n");

extern "C" {
extern const char hone_page_begin[];
extern const char hone_page_end[];
}

namespace hone::report {

std::string_view page_asset() {
  return {hone_page_begin, static_cast<size_t>(hone_page_end - hone_page_begin)};
}

}  // namespace hone::report
