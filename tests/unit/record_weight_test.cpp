// How much a record counts, and over what exposure it counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "nustream/record/row.h"

namespace nustream::record {
namespace {

using testing::HasSubstr;

struct Built {
  bool usable;
  double x, y, weight;
  std::string reason;
};

/// A builder over the columns x, y, w and e.
Built built(const Schema& schema, const std::vector<std::pair<std::string, std::string>>& record) {
  const RowBuilder builder(schema);
  std::vector<double> readings;
  for (const Field& field : builder.fields()) {
    for (const auto& [column, text] : record) {
      if (column == field.column) readings.push_back(read_field(field, text));
    }
  }
  Built result{};
  result.usable = builder.build(readings.data(), &result.x, result.y, &result.weight);
  if (!result.usable) result.reason = builder.reason(readings.data());
  return result;
}

Schema schema_of(bool with_weight, bool with_exposure) {
  Schema schema;
  schema.features.resize(1);
  schema.features[0].name = schema.features[0].first.column = "x";
  schema.target.emplace();
  schema.target->name = schema.target->first.column = "y";
  if (with_weight) schema.weight = Weight{{"w", Transform::identity, {}}, 10};
  if (with_exposure) schema.exposure = Exposure{{"e", Transform::identity, {}}, false, 100};
  return schema;
}

TEST(RowBuilder, AWeightIsHeldToItsBound) {
  const Schema schema = schema_of(true, false);
  EXPECT_EQ(built(schema, {{"x", "2"}, {"y", "3"}, {"w", "0.5"}}).weight, 0.5);
  EXPECT_EQ(built(schema, {{"x", "2"}, {"y", "3"}, {"w", "11"}}).weight, 10);
  const Built zero = built(schema, {{"x", "2"}, {"y", "3"}, {"w", "0"}});
  EXPECT_TRUE(zero.usable);
  EXPECT_EQ(zero.weight, 0);
  EXPECT_EQ(zero.x, 2);  // as it was read: the step multiplies it by the weight
}

TEST(RowBuilder, ANegativeWeightIsNone) {
  for (const char* text : {"-1", "-0.001", "many"}) {
    const Built none = built(schema_of(true, false), {{"x", "2"}, {"y", "3"}, {"w", text}});
    EXPECT_FALSE(none.usable) << text;
    EXPECT_EQ(none.x, 0);
    EXPECT_EQ(none.y, 0);
    EXPECT_EQ(none.weight, 0);
    EXPECT_THAT(none.reason, HasSubstr("column 'w'"));
  }
  EXPECT_THAT(built(schema_of(true, false), {{"x", "2"}, {"y", "3"}, {"w", "-1"}}).reason, HasSubstr("not a weight"));
}

TEST(RowBuilder, AnExposureMakesARateOfACount) {
  const Schema schema = schema_of(false, true);
  const Built half = built(schema, {{"x", "2"}, {"y", "3"}, {"e", "0.5"}});
  EXPECT_EQ(half.y, 6);
  EXPECT_EQ(half.weight, 0.5);
  const Built beyond = built(schema, {{"x", "2"}, {"y", "3"}, {"e", "400"}});
  EXPECT_EQ(beyond.y, 3.0 / 400);  // the rate is as measured, and the record counts as one of exposure 100
  EXPECT_EQ(beyond.weight, 100);
  for (const char* text : {"0", "-2", "x"}) {
    const Built none = built(schema, {{"x", "2"}, {"y", "3"}, {"e", text}});
    EXPECT_FALSE(none.usable) << text;
    EXPECT_EQ(none.weight, 0);
  }
  EXPECT_THAT(built(schema, {{"x", "2"}, {"y", "3"}, {"e", "0"}}).reason, HasSubstr("not an exposure"));
  EXPECT_THAT(built(schema, {{"x", "2"}, {"y", "1e300"}, {"e", "1e-300"}}).reason, HasSubstr("not finite"));
}

TEST(RowBuilder, AnOffsetIsTheLogarithmOfAnExposure) {
  Schema schema = schema_of(true, true);
  schema.exposure->is_log = true;
  const Built row = built(schema, {{"x", "2"}, {"y", "3"}, {"w", "4"}, {"e", "0.6931471805599453"}});
  EXPECT_NEAR(row.y, 1.5, 1e-15);
  EXPECT_NEAR(row.weight, 8, 1e-14);
  for (const char* text : {"710", "-800"}) {
    EXPECT_EQ(built(schema, {{"x", "2"}, {"y", "3"}, {"w", "4"}, {"e", text}}).reason,
              "column 'e': exp of it is 0 or not finite, so not an exposure")
        << text;
  }
}

// Where the target alone is private, a bad target hides neither the features nor the weight.
TEST(RowBuilder, APublicWeightOutlivesAPrivateTarget) {
  Schema schema = schema_of(true, false);
  schema.features_public = true;
  const Built row = built(schema, {{"x", "2"}, {"y", "no"}, {"w", "4"}});
  EXPECT_FALSE(row.usable);
  EXPECT_EQ(row.x, 2);
  EXPECT_TRUE(std::isnan(row.y));
  EXPECT_EQ(row.weight, 4);
}

}  // namespace
}  // namespace nustream::record
