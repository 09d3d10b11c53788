// The writer of all JSON: commas, names, escapes, and what JSON has no number for.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "publish/json_writer.h"

namespace nustream::publish {
namespace {

template <class Write>
std::string written(const Write& write) {
  std::string out;
  JsonWriter json(out);
  write(json);
  return out;
}

TEST(JsonWriter, WritesEmptyObjectsAndArrays) {
  EXPECT_EQ(object_text([](JsonWriter&) {}), "{}");
  EXPECT_EQ(object_text([](JsonWriter& json) {
              { const auto object = json.object("a"); }
              { const auto array = json.array("b"); }
              json.fields("c", NamedValues{});
              json.elements("d", std::vector<double>{});
              json.fields_or_null("e", NamedValues{});
              json.raw_members("");
              json.field("f", 1);
            }),
            R"({"a":{},"b":[],"c":{},"d":[],"e":null,"f":1})");
}

TEST(JsonWriter, PutsCommasBetweenSiblingsAlone) {
  EXPECT_EQ(object_text([](JsonWriter& json) {
              json.field("first", 1);
              {
                const auto rows = json.array("rows");
                for (const int row : {2, 3}) {
                  const auto object = json.object();
                  json.field("row", row);
                  const auto inner = json.array("inner");
                  json.element(row);
                  { const auto empty = json.array(); }
                  json.element("last");
                }
              }
              json.field("behind", true);
            }),
            R"({"first":1,"rows":[{"row":2,"inner":[2,[],"last"]},{"row":3,"inner":[3,[],"last"]}],"behind":true})");
}

TEST(JsonWriter, WritesEveryKindOfValue) {
  EXPECT_EQ(object_text([](JsonWriter& json) {
              json.field("largest", std::numeric_limits<std::uint64_t>::max());
              json.field("smallest", std::numeric_limits<std::int64_t>::min());
              json.field("tenth", 0.1);
              json.field("zero", -0.0);
              json.field("large", 1e300);
              json.field("no", false);
              json.field("none", nullptr);
              json.field("text", "abc");
              json.field("some", std::optional<double>(2.5));
              json.field("lacking", std::optional<std::string>());
              json.fields("by_name", NamedValues{{"x", 1}, {"y", 2}});
              json.elements("all", std::vector<std::uint32_t>{4, 5});
            }),
            R"({"largest":18446744073709551615,"smallest":-9223372036854775808,"tenth":0.1,"zero":-0,"large":1e+300,)"
            R"("no":false,"none":null,"text":"abc","some":2.5,"lacking":null,"by_name":{"x":1,"y":2},"all":[4,5]})");
}

TEST(JsonWriter, HasNullForWhatIsNoNumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(object_text([&](JsonWriter& json) {
              json.field("nan", nan);
              json.elements("infinite", std::vector<double>{infinity, 1, -infinity});
            }),
            R"({"nan":null,"infinite":[null,1,null]})");
}

TEST(JsonWriter, EscapesTextsAndNamesThatAreNoLiterals) {
  const std::string text = "a\"b\\c\n\x01";
  const std::string escaped = R"("a\"b\\c\u000a\u0001")";
  EXPECT_EQ(object_text([&](JsonWriter& json) { json.field(text, text); }), "{" + escaped + ":" + escaped + "}");
  EXPECT_EQ(object_text([](JsonWriter& json) { json.field("é", "\x1f\"\"é"); }), R"({"é":"\u001f\"\"é"})");
}

TEST(JsonWriter, TakesInWhatIsJsonAlready) {
  const std::string members = written([](JsonWriter& json) {
    json.field("a", 1);
    const auto object = json.object("b");
  });
  EXPECT_EQ(members, R"("a":1,"b":{})");
  std::string more = members;
  JsonWriter::behind(more).field("c", 2);
  EXPECT_EQ(more, R"("a":1,"b":{},"c":2)");
  EXPECT_EQ(object_text([&](JsonWriter& json) {
              json.raw_members(members);
              json.raw("d", "[1,2]");
              const auto array = json.array("e");
              json.raw("{}");
              json.raw("{}");
            }),
            R"({"a":1,"b":{},"d":[1,2],"e":[{},{}]})");
}

TEST(JsonWriter, GoesOnWithAnObject) {
  for (const auto& [begun, whole] : {std::pair("{", R"({"a":1})"), std::pair(R"({"b":{})", R"({"b":{},"a":1})")}) {
    std::string text = begun;
    JsonWriter json(text);
    {
      const auto object = json.rest_of_object();
      json.field("a", 1);
    }
    EXPECT_EQ(text, whole);
  }
}

TEST(JsonWriter, BeginsEveryLineAnew) {
  std::string lines = "before\n";
  JsonWriter json(lines);
  for (const int line : {1, 2}) {
    {
      const auto object = json.object();
      json.field("line", line);
    }
    json.end_line();
  }
  EXPECT_EQ(lines, "before\n{\"line\":1}\n{\"line\":2}\n");
}

using JsonWriterDeathTest = ::testing::Test;

TEST(JsonWriterDeathTest, RefusesNamesInArraysAndValuesWithoutNamesInObjects) {
  EXPECT_DEATH(written([](JsonWriter& json) {
                 const auto array = json.array();
                 json.field("a", 1);
               }),
               "an element of an array has no name");
  EXPECT_DEATH(written([](JsonWriter& json) {
                 const auto object = json.object();
                 json.element(1);
               }),
               "a member of an object has a name");
  EXPECT_DEATH(written([](JsonWriter& json) {
                 const auto array = json.array();
                 json.raw_members("\"a\":1");
               }),
               "members are within objects");
  EXPECT_DEATH(written([](JsonWriter& json) {
                 const auto object = json.object();
                 json.end_line();
               }),
               "a line ends behind its value");
}

}  // namespace
}  // namespace nustream::publish
