// See theme.hpp.
#include "report/plot/theme.hpp"

namespace hone::report {
namespace {

constexpr Color kBlue{0, 114, 178};
constexpr Color kVermillion{213, 94, 0};
constexpr Color kGreen{0, 158, 115};
constexpr Color kPurple{204, 121, 167};
constexpr Color kOrange{230, 159, 0};
constexpr Color kSky{86, 180, 233};
constexpr Color kYellow{240, 228, 66};
constexpr Color kBlack{0, 0, 0};

}  // namespace

const Theme kLightTheme{{255, 255, 255}, {28, 30, 33},
                        {92, 97, 104},   {229, 231, 234},
                        {140, 145, 152}, {kBlue, kVermillion, kGreen, kPurple, kOrange, kSky, kBlack},
                        {160, 165, 172}};

const Theme kDarkTheme{
    {22, 25, 29},   {236, 238, 240}, {166, 172, 180},
    {47, 52, 58},   {110, 116, 124}, {kSky, kOrange, kGreen, kPurple, kYellow, kVermillion, {214, 218, 223}},
    {118, 124, 132}};

}  // namespace hone::report
