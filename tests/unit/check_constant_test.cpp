// What the first records have in common, and when an operator is told of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "check/constant_columns.h"

namespace nustream::check {
namespace {

using record::Transform;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Of = ConstantColumns::Of;
using Row = std::vector<double>;

record::Feature feature(const std::string& column, Transform transform = Transform::identity,
                        const std::string& text = {}) {
  const std::string name = text.empty() ? column : column + "=" + text;
  return {.name = name, .first = {column, transform, text}, .second = {}};
}

/// A schema of an intercept, of the features and of a target 'y'.
record::Schema schema_of(std::vector<record::Feature> features) {
  record::Schema schema;
  schema.features = std::move(features);
  schema.intercept = true;
  schema.target = feature("y");
  return schema;
}

/// `count` rows of `schema`, of which row i has the features `x(i)` and the target i.
template <class Features>
record::RowBatch rows_of(const record::Schema& schema, std::size_t count, const Features& x) {
  record::RowBatch rows;
  rows.dimension = schema.dimension();
  for (std::size_t i = 0; i < count; ++i) {
    if (schema.intercept) rows.x.push_back(1);
    const Row features = x(i);
    rows.x.insert(rows.x.end(), features.begin(), features.end());
    rows.y.push_back(static_cast<double>(i));
    rows.next.push_back(i + 1);
  }
  return rows;
}

std::string told(const record::Schema& schema, const record::RowBatch& rows, Of of = Of::first_records) {
  ConstantColumns columns(schema);
  columns.take(rows);
  return columns.in_words(of, "nustream check a.toml --data");
}

constexpr std::size_t enough = 30;

TEST(ConstantColumns, NamesFeaturesThatAreTheSameInAllRows) {
  const record::Schema schema = schema_of({feature("a"), feature("b"), feature("c")});
  const auto x = [](std::size_t i) { return Row{7, static_cast<double>(i), 0}; };
  EXPECT_EQ(told(schema, rows_of(schema, enough, x)),
            "the first 30 usable records all have the same 'a', 'c': while that stays so, what is released of them "
            "tells nothing; nustream check a.toml --data shows the texts and ranges");
  EXPECT_THAT(told(schema, rows_of(schema, enough, x), Of::table),
              StartsWith("all 30 usable records have the same 'a', 'c': what is released"));
  EXPECT_THAT(told(schema, rows_of(schema, enough, [](std::size_t i) { return Row(3, static_cast<double>(i)); })),
              IsEmpty());
}

TEST(ConstantColumns, SaysNothingOfFewRows) {
  const record::Schema schema = schema_of({feature("a")});
  const auto x = [](std::size_t) { return Row{7}; };
  EXPECT_THAT(told(schema, rows_of(schema, ConstantColumns::usable_judged - 1, x)), IsEmpty());
  EXPECT_THAT(told(schema, rows_of(schema, ConstantColumns::usable_judged, x)), HasSubstr("the first 20 usable"));
}

TEST(ConstantColumns, NamesFourAndCountsTheOthers) {
  const record::Schema schema =
      schema_of({feature("a"), feature("b"), feature("c"), feature("d"), feature("e"), feature("f"), feature("g")});
  EXPECT_THAT(told(schema, rows_of(schema, enough, [](std::size_t) { return Row(7, 2.0); })),
              HasSubstr("the same 'a', 'b', 'c', 'd' and 3 more: "));
}

// One text of a list may well be absent from the first records.
TEST(ConstantColumns, NamesFeaturesOfAListOnlyWhereAllOfThemAreTheSame) {
  record::Feature other = feature("x", Transform::other);
  other.name = "x=other";
  const record::Schema schema =
      schema_of({feature("x", Transform::indicator, "Yes"), feature("x", Transform::indicator, "No"), other,
                 feature("z", Transform::bin), feature("z", Transform::bin)});
  const auto rare = [](std::size_t i) {
    return Row{i % 2 == 0 ? 1. : 0., i % 2 == 0 ? 0. : 1., 0, 0, i % 3 == 0 ? 1. : 0.};
  };
  EXPECT_THAT(told(schema, rows_of(schema, enough, rare)), IsEmpty());
  const auto none = [](std::size_t i) { return Row{0, 0, 1, 0, i % 3 == 0 ? 1. : 0.}; };
  EXPECT_THAT(told(schema, rows_of(schema, enough, none)), HasSubstr("the same 'x=Yes', 'x=No', 'x=other': "));
}

TEST(ConstantColumns, LooksAtUsableRowsAloneFromARowOn) {
  const record::Schema schema = schema_of({feature("a")});
  record::RowBatch rows = rows_of(schema, 60, [](std::size_t i) { return Row{i < 10 ? static_cast<double>(i) : 7}; });
  for (const std::uint64_t at : {3U, 20U, 40U}) {  // an unusable record is a row of zeros
    rows.rejects.push_back({Position{at}, "column 'a': missing"});
    rows.x[2 * at] = rows.x[2 * at + 1] = 0;
  }
  ConstantColumns late(schema);
  late.take(rows, 10);
  EXPECT_EQ(late.usable(), 48U);
  EXPECT_THAT(late.in_words(Of::first_records, "nustream check a.toml --data"),
              HasSubstr("the first 48 usable records all have the same 'a'"));
  EXPECT_THAT(told(schema, rows), IsEmpty()) << "the first rows differ";
}

TEST(ConstantColumns, TellsOfOneTargetAndOfWeightsThatAreAllZero) {
  record::Schema schema = schema_of({feature("a")});
  record::RowBatch rows = rows_of(schema, enough, [](std::size_t i) { return Row{static_cast<double>(i)}; });
  rows.y.assign(enough, 3);
  EXPECT_THAT(told(schema, rows), StartsWith("the first 30 usable records all have the same target 'y': while that "
                                             "stays so, there is nothing for the features to explain; "));
  schema.weight = record::Weight{{"w", Transform::identity, {}}, 5};
  rows.weights.assign(enough, 0);
  EXPECT_THAT(told(schema, rows), StartsWith("the first 30 usable records all have weight 0: while that stays so, "
                                             "what is released is noise alone; "));
  rows.weights.back() = 1;
  EXPECT_THAT(told(schema, rows), HasSubstr("the same target 'y'"));
}

// A column of ones is how settings without an intercept have one.
TEST(ConstantColumns, LeavesAColumnThatStandsForTheIntercept) {
  record::Schema schema = schema_of({feature("one"), feature("a")});
  schema.intercept = false;
  const auto x = [](std::size_t i) { return Row{1, static_cast<double>(i)}; };
  EXPECT_THAT(told(schema, rows_of(schema, enough, x)), IsEmpty());
  EXPECT_THAT(told(schema, rows_of(schema, enough,
                                   [](std::size_t i) {
                                     return Row{0, static_cast<double>(i)};
                                   })),
              HasSubstr("the same 'one'"));
  EXPECT_THAT(told(schema, rows_of(schema, enough,
                                   [](std::size_t) {
                                     return Row{1, 2};
                                   })),
              HasSubstr("the same 'a':"));
}

}  // namespace
}  // namespace nustream::check
