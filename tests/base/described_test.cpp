// Described structs become JSON and TypeScript that tell the same.
#include "base/described.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/typescript.hpp"

namespace hone::base {

struct Wheel {
  double radius = 0;
};
struct Cart {
  std::string name;
  std::vector<Wheel> wheels;
  std::optional<int64_t> load;
  bool painted() const { return true; }
  Named<double> costs;
  std::array<std::string_view, 2> owners;
};
struct Shed {
  Cart cart;
  JsonOf<Cart> other;
};

template <>
struct Description<Wheel> {
  static constexpr std::string_view kName = "Wheel";
  static constexpr auto kFields =
      std::tuple{Field{"radius_ns", &Wheel::radius, "Half of \"it\"", unit::kNs, origin::kMeasured}};
};
template <>
struct Description<Cart> {
  static constexpr std::string_view kName = "Cart";
  static constexpr auto kFields =
      std::tuple{Field{"name", &Cart::name, "Its name"},
                 Field{"wheels", &Cart::wheels, "What it rolls on"},
                 Field{"load", &Cart::load, "What it carries"},
                 Field{"painted", &Cart::painted, "Whether it is"},
                 Field{"costs", &Cart::costs, "By part"},
                 Field{"owners", &Cart::owners, "Who"},
                 Field{"count", [](const Cart& cart) { return cart.wheels.size(); }, "Of wheels"}};
};
template <>
struct Description<Shed> {
  static constexpr std::string_view kName = "Shed";
  static constexpr auto kFields =
      std::tuple_cat(extended<Cart>(&Shed::cart), std::tuple{Field{"other", &Shed::other, "As it was read"}});
};

namespace {

using ::testing::HasSubstr;

const Cart kCart{"a <b>", {{1.5}, {2}}, std::nullopt, {{"z", 1}, {"a", 2}}, {"x", "y"}};

TEST(Described, BecomesJsonInTheOrderOfItsFields) {
  EXPECT_EQ(described_json(kCart).dump(),
            R"({"name":"a <b>","wheels":[{"radius_ns":1.5},{"radius_ns":2.0}],"load":null,"painted":true,)"
            R"("costs":{"z":1.0,"a":2.0},"owners":["x","y"],"count":2})");
}

TEST(Described, NumbersThatAreNotFiniteBecomeNull) {
  EXPECT_EQ(described_json(Wheel{std::numeric_limits<double>::quiet_NaN()}).dump(), R"({"radius_ns":null})");
}

TEST(Described, AsksOnlyForWhatIsWanted) {
  const Json json = described_json_of(kCart, [](std::string_view name) { return name == "load"; });
  EXPECT_EQ(json.dump(), R"({"load":null})");
}

TEST(Described, FieldsOfAPartStandBesideThoseOfTheWhole) {
  const Json json = described_json(Shed{kCart, {Json{{"any", 1}}}});
  EXPECT_EQ(json["name"], "a <b>");
  EXPECT_EQ(json["other"].dump(), R"({"any":1})");
}

TEST(TypeScript, DeclaresEveryTypeOnceBeforeItIsUsed) {
  TypeScript types;
  types.add<Shed>();
  types.add<Cart>();
  const std::string text = types.text();
  EXPECT_THAT(text,
              HasSubstr("export interface Cart {\n  name: string;\n  wheels: Wheel[];\n"
                        "  load: number | null;\n  painted: boolean;\n"
                        "  costs: Record<string, number | null>;\n  owners: string[];\n  count: number;\n}"));
  EXPECT_THAT(text, HasSubstr("  other: Cart;\n"));
  EXPECT_LT(text.find("interface Wheel"), text.find("interface Cart"));
  EXPECT_EQ(text.find("interface Cart"), text.rfind("interface Cart"));
}

TEST(TypeScript, SaysWhatEveryFieldIs) {
  TypeScript types;
  types.add<Wheel>();
  EXPECT_THAT(types.text(),
              HasSubstr(R"(    radius_ns: { text: "Half of \"it\"", unit: "ns", origin: "measured" },)"));
}

}  // namespace
}  // namespace hone::base
