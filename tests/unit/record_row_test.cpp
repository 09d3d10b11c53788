#include "nustream/record/row.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "nustream/base/error.h"

namespace nustream::record {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Feature feature(const std::string& column, Transform transform = Transform::identity) {
  Feature result;
  result.name = column;
  result.first = {column, transform, {}};
  return result;
}

struct Row {
  bool usable;
  std::vector<double> x;
  double y;
};
Row build(const RowBuilder& builder, const std::vector<double>& readings) {
  Row row{false, std::vector<double>(builder.dimension(), -77), -77};
  row.usable = builder.build(readings.data(), row.x.data(), row.y);
  return row;
}

TEST(RowBuilder, PutsTheInterceptFirstAndTheTargetApart) {
  Schema schema{{feature("a"), feature("b")}, feature("c"), true};
  const RowBuilder builder(schema);
  ASSERT_EQ(builder.dimension(), 3U);
  ASSERT_EQ(builder.fields().size(), 3U);
  EXPECT_EQ(builder.fields()[2].column, "c");
  const Row row = build(builder, {2, 3, 5});
  EXPECT_TRUE(row.usable);
  EXPECT_EQ(row.x, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(row.y, 5);
}

TEST(RowBuilder, WithoutATargetYIsZero) {
  const Row row = build(RowBuilder({{feature("a")}, {}, false}), {2});
  EXPECT_EQ(row.x, std::vector<double>{2});
  EXPECT_EQ(row.y, 0);
}

TEST(RowBuilder, AppliesEachTransform) {
  const std::pair<Transform, double> cases[] = {{Transform::identity, 4.0},
                                                {Transform::log, std::log(4.0)},
                                                {Transform::log1p, std::log(5.0)},
                                                {Transform::sqrt, 2.0},
                                                {Transform::square, 16.0}};
  for (const auto& [transform, expected] : cases) {
    EXPECT_DOUBLE_EQ(build(RowBuilder({{feature("a", transform)}, {}, false}), {4}).x[0], expected);
  }
}

TEST(RowBuilder, ClampsBeforeItCentersAndScales) {
  Feature price = feature("price");
  price.lower = 0;
  price.upper = 10;
  price.center = 4;
  price.scale = 2;
  const RowBuilder builder({{price}, {}, false});
  EXPECT_EQ(build(builder, {7}).x[0], 1.5);
  EXPECT_EQ(build(builder, {1e300}).x[0], 3);
  EXPECT_EQ(build(builder, {-1e300}).x[0], -2);
}

TEST(RowBuilder, InteractionIsTheProductOfTwoTermsThenCentered) {
  Feature both = feature("price", Transform::log);
  both.second = Term{"country", Transform::indicator, "France"};
  both.center = 1;
  const RowBuilder builder({{both}, feature("price"), false});
  ASSERT_EQ(builder.fields().size(), 2U);  // price is read once
  EXPECT_DOUBLE_EQ(build(builder, {8, 1}).x[0], std::log(8.0) - 1);
  EXPECT_EQ(build(builder, {8, 0}).x[0], -1);
}

TEST(RowBuilder, IndicatorsOfOneColumnAreDifferentFields) {
  Feature france = feature("country", Transform::indicator);
  france.first.equals = "France";
  Feature spain = france;
  spain.first.equals = "Spain";
  const RowBuilder builder({{france, spain, france}, {}, false});
  ASSERT_EQ(builder.fields().size(), 2U);
  EXPECT_EQ(build(builder, {0, 1}).x, (std::vector<double>{0, 1, 0}));
}

TEST(ReadField, ReadsTextAsItsReadingSays) {
  EXPECT_EQ(read_field({"a", Reading::number, {}, {}}, "-1.5"), -1.5);
  EXPECT_TRUE(std::isnan(read_field({"a", Reading::number, {}, {}}, "nan")));
  EXPECT_EQ(read_field({"a", Reading::equals, "UK", {}}, "UK"), 1);
  EXPECT_EQ(read_field({"a", Reading::equals, "UK", {}}, "UK "), 0);
  EXPECT_EQ(read_field({"a", Reading::hour, {}, {}}, "2010-12-01 08:26:00"), 8);
  EXPECT_EQ(read_field({"a", Reading::day_of_week, {}, {}}, "2010-12-01"), 2);
  EXPECT_TRUE(std::isnan(read_field({"a", Reading::hour, {}, {}}, "8")));
  const Field label{"a", Reading::label, {}, {"no", "yes"}};
  EXPECT_EQ(read_field(label, "no"), 0);
  EXPECT_EQ(read_field(label, " yes\t"), 1);
  EXPECT_TRUE(std::isnan(read_field(label, "Yes")));
  EXPECT_TRUE(std::isnan(read_field(label, "")));
}

TEST(ReadField, WhatIsMissingIsToldFromWhatCannotBeRead) {
  EXPECT_TRUE(std::isnan(missing));
  EXPECT_TRUE(is_missing(missing));
  EXPECT_FALSE(is_missing(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_FALSE(is_missing(1));
}

// A row of zeros, intercept and target included, has gradient zero under every loss: a record with one bad field must
// leave nothing behind.
TEST(RowBuilder, UnusableRecordsAreRowsOfZeros) {
  Feature bounded = feature("a", Transform::log);
  bounded.lower = -5;  // a clamp after the logarithm would turn −∞ into a number
  Feature product = feature("a");
  product.second = Term{"b", Transform::square, {}};
  product.upper = 1;
  const RowBuilder builder({{bounded, product}, feature("c"), true});
  const std::vector<double> unusable[] = {{nan, 1, 1}, {1, nan, 1},   {1, 1, nan},     {0, 1, 1},
                                          {-1, 1, 1},  {1, 1e200, 1}, {1e300, 1e10, 1}};
  for (const auto& readings : unusable) {
    const Row row = build(builder, readings);
    EXPECT_FALSE(row.usable);
    EXPECT_EQ(row.x, (std::vector<double>{0, 0, 0}));
    EXPECT_EQ(row.y, 0);
    EXPECT_FALSE(builder.reason(readings.data()).empty());
  }
  EXPECT_TRUE(build(builder, {1, 1, 1}).usable);
}

TEST(RowBuilder, UnusableWithoutAnyTransform) {
  const RowBuilder builder({{feature("a"), feature("b")}, feature("c"), true});
  for (std::size_t bad = 0; bad < 3; ++bad) {
    std::vector<double> readings{1, 2, 3};
    readings[bad] = nan;
    const Row row = build(builder, readings);
    EXPECT_FALSE(row.usable);
    EXPECT_EQ(row.x, (std::vector<double>{0, 0, 0}));
    EXPECT_EQ(row.y, 0);
  }
}

TEST(RowBuilder, ScalingThatOverflowsIsUnusable) {
  Feature tiny = feature("a");
  tiny.scale = 1e-300;
  EXPECT_FALSE(build(RowBuilder({{tiny}, {}, false}), {1e10}).usable);
  Feature far = feature("a");
  far.center = -1.7e308;
  EXPECT_FALSE(build(RowBuilder({{far}, {}, false}), {1.7e308}).usable);
}

TEST(RowBuilder, ReasonsNameTheColumnAndNeverAValue) {
  const RowBuilder builder({{feature("quantity", Transform::log)}, feature("hour_seen", Transform::hour), false});
  const double unreadable[] = {nan, 3};
  EXPECT_EQ(builder.reason(unreadable), "column 'quantity': not a number");
  const double no_time[] = {1, nan};
  EXPECT_EQ(builder.reason(no_time),
            "column 'hour_seen': not a timestamp such as 2010-01-31T09:00 (ISO 8601; a plain number is one where its "
            "unit is set)");
  const double negative[] = {-4242, 3};
  EXPECT_EQ(builder.reason(negative), "column 'quantity': log is not finite");
  EXPECT_EQ(builder.reason(negative).find("4242"), std::string::npos);
}

TEST(RowBuilder, RefusesFeaturesThatAreNone) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto with = [](auto change) {
    Feature bad = feature("a");
    change(bad);
    return Schema{{bad}, {}, false};
  };
  EXPECT_THROW(RowBuilder(with([](Feature& f) { f.scale = 0; })), InvalidParameter);
  EXPECT_THROW(RowBuilder(with([](Feature& f) { f.scale = -1; })), InvalidParameter);
  EXPECT_THROW(RowBuilder(with([&](Feature& f) { f.scale = infinity; })), InvalidParameter);
  EXPECT_THROW(RowBuilder(with([&](Feature& f) { f.center = infinity; })), InvalidParameter);
  EXPECT_THROW(RowBuilder(with([](Feature& f) { f.center = nan; })), InvalidParameter);
  EXPECT_THROW(RowBuilder(with([](Feature& f) { f.lower = nan; })), InvalidParameter);
  EXPECT_THROW(RowBuilder(with([&](Feature& f) { f.lower = infinity; })), InvalidParameter);
  EXPECT_THROW(RowBuilder(with([](Feature& f) { f.lower = 2, f.upper = 1; })), InvalidParameter);
  EXPECT_THROW(RowBuilder(with([](Feature& f) { f.first.column.clear(); })), InvalidParameter);
  EXPECT_THROW(RowBuilder(with([](Feature& f) { f.second = Term{}; })), InvalidParameter);
  try {
    RowBuilder(with([](Feature& f) { f.scale = 0; }));
  } catch (const InvalidParameter& error) {
    EXPECT_EQ(error.name(), "scale of 'a'");
    EXPECT_EQ(error.allowed(), "a finite number > 0");
  }
}

// Where features are public, they may not tell whether the target could be read.
TEST(RowBuilder, PublicFeaturesOutliveTheirTarget) {
  Schema schema;
  schema.features.push_back({"a", Term{"a", Transform::identity, ""}, {}});
  schema.target = Feature{"b", Term{"b", Transform::identity, ""}, {}};
  schema.intercept = true;
  for (const bool is_public : {false, true}) {
    schema.features_public = is_public;
    const RowBuilder builder(schema);
    const double no_target[] = {2.5, std::nan("")};
    double x[] = {7, 7};
    double y = 7;
    EXPECT_FALSE(builder.build(no_target, x, y));
    EXPECT_EQ(x[0], is_public ? 1 : 0);
    EXPECT_EQ(x[1], is_public ? 2.5 : 0);
    EXPECT_EQ(std::isnan(y), is_public);
    const double no_feature[] = {std::nan(""), 1};
    EXPECT_FALSE(builder.build(no_feature, x, y));
    EXPECT_EQ(x[0], 0);
    EXPECT_EQ(x[1], 0);
    EXPECT_EQ(y, 0);
  }
}

}  // namespace
}  // namespace nustream::record
