// Features that are 0 or 1, depending on a text or a number.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/record/row.h"

namespace nustream::record {
namespace {

Feature of(Term term) {
  Feature feature;
  feature.name = "f";
  feature.first = std::move(term);
  return feature;
}

/// The row that texts of the builder's columns make; empty where they make none.
std::vector<double> row_of(const RowBuilder& builder, const std::string& text) {
  std::vector<double> readings;
  for (const Field& field : builder.fields()) readings.push_back(read_field(field, text));
  std::vector<double> x(builder.dimension());
  double y = 0;
  return builder.build(readings.data(), x.data(), y) ? x : std::vector<double>();
}

TEST(RowBuilder, AnOtherIsNoneOfTheKnownTexts) {
  const RowBuilder builder(
      {{of({"c", Transform::indicator, "a"}), of({"c", Transform::other, {}, {"a", "b"}})}, {}, false});
  EXPECT_EQ(row_of(builder, "a"), (std::vector<double>{1, 0}));
  EXPECT_EQ(row_of(builder, "b"), (std::vector<double>{0, 0}));
  EXPECT_EQ(row_of(builder, "c"), (std::vector<double>{0, 1}));
  EXPECT_EQ(row_of(builder, " a"), (std::vector<double>{0, 1}));  // compared byte for byte, as with an indicator
}

// The values are from another implementation (Python's integers): the map is public, and stays the same for ever.
TEST(RowBuilder, ABucketIsAPublicFunctionOfTheText) {
  EXPECT_EQ(bucket_of("", 16), 6U);
  EXPECT_EQ(bucket_of("a", 16), 11U);
  EXPECT_EQ(bucket_of("red", 16), 2U);
  EXPECT_EQ(bucket_of("blue", 16), 10U);
  EXPECT_EQ(bucket_of("Z\xc3\xbcrich", 1000), 776U);
  EXPECT_EQ(bucket_of("10115", 4096), 2281U);
}

TEST(RowBuilder, EveryTextFallsIntoOneBucket) {
  constexpr std::uint32_t buckets = 8;
  std::vector<Feature> features;
  for (std::uint32_t bucket = 0; bucket < buckets; ++bucket) {
    Term term{"c", Transform::bucket, {}};
    term.buckets = buckets;
    term.bucket = bucket;
    features.push_back(of(term));
  }
  const RowBuilder builder({features, {}, false});
  EXPECT_EQ(builder.fields().size(), 1U);  // one column is read once
  std::vector<int> counts(buckets);
  for (int i = 0; i < 8000; ++i) {
    const std::string text = "key-" + std::to_string(i);
    const std::vector<double> x = row_of(builder, text);
    std::vector<double> expected(buckets);
    expected[bucket_of(text, buckets)] = 1;
    ASSERT_EQ(x, expected);
    ++counts[bucket_of(text, buckets)];
  }
  // 1,000 are expected in each bucket; seven standard deviations of that are 207.
  for (const int count : counts) EXPECT_NEAR(count, 1000, 207);
}

TEST(RowBuilder, ABinHasItsLowerBoundAndNotItsUpper) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto bin = [](double from, double below) {
    Term term{"c", Transform::bin, {}};
    term.from = from;
    term.below = below;
    return of(term);
  };
  const RowBuilder builder({{bin(-infinity, 18), bin(18, 65), bin(65, infinity)}, {}, false});
  EXPECT_EQ(row_of(builder, "17.999"), (std::vector<double>{1, 0, 0}));
  EXPECT_EQ(row_of(builder, "18"), (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(row_of(builder, "65"), (std::vector<double>{0, 0, 1}));
  EXPECT_EQ(row_of(builder, "1e300"), (std::vector<double>{0, 0, 1}));
  // No number makes the record unusable, and is not taken for zeros.
  EXPECT_EQ(row_of(builder, "old"), std::vector<double>());
  EXPECT_THROW(RowBuilder({{bin(2, 2)}, {}, false}), InvalidParameter);
}

}  // namespace
}  // namespace nustream::record
