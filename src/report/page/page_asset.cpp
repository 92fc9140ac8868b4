// Embeds the page that is built from web/ in the library.
#include "report/page/page.hpp"

// C++20 has no #embed, so the assembler includes the file.
asm(".pushsection .rodata\n"
    ".hidden kHonePageBegin\n"
    ".global kHonePageBegin\n"
    "kHonePageBegin:\n"
    ".incbin \"" HONE_PAGE
    "\"\n"
    ".hidden kHonePageEnd\n"
    ".global kHonePageEnd\n"
    "kHonePageEnd:\n"
    ".byte 0\n"
    ".popsection\n");

extern "C" {
extern const char kHonePageBegin[];
extern const char kHonePageEnd[];
}

namespace hone::report {

std::string_view page_asset() { return {kHonePageBegin, static_cast<size_t>(kHonePageEnd - kHonePageBegin)}; }

}  // namespace hone::report
