// Described structs come back from their JSON, and what is wrong in it is named with its path.
#include "base/read_described.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::base {

struct Lamp {
  double watts = 0;
  std::optional<int> age;
};
struct Room {
  std::string name;
  int doors = 1;
  bool dark = false;
  std::vector<Lamp> lamps;
  std::array<double, 2> size = {};
  Named<int64_t> costs;
  std::vector<std::vector<double>> light;
  Json other;
};
struct House {
  Room hall;
  std::vector<Room> rooms;
};

template <>
struct Description<Lamp> {
  static constexpr std::string_view kName = "Lamp";
  static constexpr auto kFields = std::tuple{at_least(0, Field{"watts", &Lamp::watts, "Power"}),
                                             at_least(0, Field{"age", &Lamp::age, "Years"})};
};
template <>
struct Description<Room> {
  static constexpr std::string_view kName = "Room";
  static constexpr auto kFields =
      std::tuple{Field{"name", &Room::name, "Its name"},
                 later(at_least(1, Field{"doors", &Room::doors, "Its doors", unit::kCount})),
                 Field{"dark", &Room::dark, "Whether it is"},
                 Field{"lamps", &Room::lamps, "Its lamps"},
                 Field{"size", &Room::size, "Width and length"},
                 Field{"costs", &Room::costs, "By part"},
                 Field{"light", &Room::light, "By hour"},
                 Field{"other", &Room::other, "Anything"},
                 Field{"count", [](const Room& room) { return room.lamps.size(); }, "Of lamps"}};
};
template <>
struct Description<House> {
  static constexpr std::string_view kName = "House";
  static constexpr auto kFields =
      std::tuple_cat(extended(&House::hall), std::tuple{Field{"rooms", &House::rooms, "Its rooms"}});
};

namespace {

Json house_json() {
  Room room{"hall",          2, true, {{40, 3}, {60, std::nullopt}}, {3, 4}, {{"paint", 5}}, {{1, 2}, {}},
            Json{{"any", 1}}};
  House house{room, {room}};
  house.rooms[0].name = "attic";
  return described_json(house);
}

TEST(ReadDescribed, IsWhatWasWritten) {
  const Json json = house_json();
  EXPECT_EQ(described_json(read_described<House>(json)), json);
}

TEST(ReadDescribed, IgnoresWhatItDoesNotKnowAndWhatIsComputed) {
  Json json = house_json();
  json["colour"] = "red";
  json["count"] = "many";
  EXPECT_EQ(described_json(read_described<House>(json)), house_json());
}

TEST(ReadDescribed, LeavesDefaultsWhereOlderFilesSayNothing) {
  Json json = house_json();
  json.erase("doors");
  json["lamps"][0].erase("age");
  const auto house = read_described<House>(json);
  EXPECT_EQ(house.hall.doors, 1);
  EXPECT_FALSE(house.hall.lamps[0].age);
}

struct BadValue {
  const char* name;
  const char* field;  ///< a JSON pointer
  const char* value;  ///< JSON; empty to leave the field out
  const char* sentence;
};

class BadDescribed : public ::testing::TestWithParam<BadValue> {};

TEST_P(BadDescribed, IsOneSentenceWithThePath) {
  Json json = house_json();
  const Json::json_pointer field(GetParam().field);
  if (*GetParam().value != 0) {
    json[field] = Json::parse(GetParam().value);
  } else {
    json[field.parent_pointer()].erase(field.back());
  }
  try {
    read_described<House>(json);
    FAIL() << "was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_STREQ(error.what(), GetParam().sentence);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Values, BadDescribed,
    ::testing::Values(BadValue{"document", "", "[]", "the document is no object"},
                      BadValue{"missing", "/name", "", "the field name is missing"},
                      BadValue{"text", "/rooms/0/name", "7", "the field rooms[0].name is no text"},
                      BadValue{"number", "/rooms/0/lamps/1/watts", "\"9\"",
                               "the field rooms[0].lamps[1].watts is no number"},
                      BadValue{"null", "/lamps/0/watts", "null", "the field lamps[0].watts is no number"},
                      BadValue{"integer", "/doors", "1.5", "the field doors is no integer"},
                      BadValue{"large", "/doors", "4294967296", "the field doors is out of range"},
                      BadValue{"least", "/doors", "0", "the field doors is 0, below 1"},
                      BadValue{"least_of_an_option", "/lamps/0/age", "-1",
                               "the field lamps[0].age is -1, below 0"},
                      BadValue{"flag", "/dark", "1", "the field dark is neither true nor false"},
                      BadValue{"list", "/lamps", "{}", "the field lamps is no list"},
                      BadValue{"pair", "/size", "[1]", "the field size is no list of 2"},
                      BadValue{"deep", "/light/0/1", "\"x\"", "the field light[0][1] is no number"},
                      BadValue{"named", "/costs/paint", "true", "the field costs.paint is no integer"},
                      BadValue{"object", "/rooms/0", "3", "the field rooms[0] is no object"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hone::base
