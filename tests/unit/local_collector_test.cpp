// Sums of reports: exact, the same in any order and any grouping, and written as bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/inference/local_collector.h"

namespace nustream::inference {
namespace {

__extension__ using Wide = __int128;

Wide wide(const WideSum& sum) {
  return static_cast<Wide>(sum.high) * (static_cast<Wide>(1) << 64) + static_cast<Wide>(sum.low);
}

std::vector<std::int64_t> random_report(std::mt19937_64& random, std::size_t size) {
  std::vector<std::int64_t> report(size);
  for (std::int64_t& number : report) number = static_cast<std::int64_t>(random()) >> (random() % 64);
  return report;
}

TEST(WideSum, IsA128BitInteger) {
  std::mt19937_64 random(1);
  WideSum sum;
  Wide expected = 0;
  for (int i = 0; i < 100'000; ++i) {
    const auto value = static_cast<std::int64_t>(random()) >> (i % 64);
    sum.add(value);
    expected += value;
    ASSERT_TRUE(wide(sum) == expected) << i;
    ASSERT_NEAR(sum.value(), static_cast<double>(expected), 1e-15 * std::fabs(static_cast<double>(expected))) << i;
  }
  WideSum twice = sum;
  twice.add(sum);
  EXPECT_TRUE(wide(twice) == 2 * expected);
}

TEST(WideSum, SmallNegativeNumbersKeepTheirDigits) {
  for (const std::int64_t value : {std::int64_t{-1}, std::int64_t{-3}, std::numeric_limits<std::int64_t>::min()}) {
    WideSum sum;
    sum.add(value);
    EXPECT_EQ(sum.value(), static_cast<double>(value));
  }
  WideSum edge;  // −2^64, whose low half is 0
  edge.high = -1;
  EXPECT_EQ(edge.value(), -0x1p64);
}

TEST(LocalCollector, NeitherOrderNorGroupingChangesABit) {
  std::mt19937_64 random(2);
  const std::size_t p = 3;
  std::vector<std::vector<std::int64_t>> reports;
  for (int i = 0; i < 500; ++i) reports.push_back(random_report(random, local_report_size(p)));
  LocalCollector whole(p);
  for (const auto& report : reports) whole.add(report);
  for (std::size_t trial = 0; trial < 20; ++trial) {
    std::ranges::shuffle(reports, random);
    std::vector<LocalCollector> parts(1 + trial % 4, LocalCollector(p));
    for (const auto& report : reports) parts[random() % parts.size()].add(report);
    LocalCollector merged(p);
    for (const LocalCollector& part : parts) merged.merge(part);
    ASSERT_EQ(merged.encode(), whole.encode());
    ASSERT_EQ(merged.reports(), 500u);
  }
  EXPECT_THROW(whole.merge(LocalCollector(4)), InvalidParameter);
}

TEST(LocalCollector, Bytes) {
  LocalCollector collector(1);
  const std::vector<std::int64_t> report{-2, 0x0102030405060708};
  collector.add(report);
  const std::string f(8, '\xff');
  const std::string zeros(8, '\0');
  const std::string expected = std::string("nu-sums\x01", 8) + std::string("\x01\0\0\0\0\0\0\0", 8) +
                               std::string("\x01\0\0\0\0\0\0\0", 8) + std::string("\xfe", 1) + f.substr(1) + f +
                               "\x08\x07\x06\x05\x04\x03\x02\x01" + zeros;
  EXPECT_EQ(collector.encode(), expected);
  EXPECT_EQ(LocalCollector::decode(expected), collector);
}

TEST(LocalCollector, RefusesOtherBytes) {
  LocalCollector collector(2);
  const std::string bytes = collector.encode();
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_THROW(static_cast<void>(LocalCollector::decode(bytes.substr(0, cut))), InvalidParameter) << cut;
  }
  EXPECT_THROW(static_cast<void>(LocalCollector::decode(bytes + "x")), InvalidParameter);
  std::string other = bytes;
  other[7] = 2;
  EXPECT_THROW(static_cast<void>(LocalCollector::decode(other)), InvalidParameter);
  std::string huge = bytes;  // a dimension so large that it must be checked before memory is taken for it
  huge[14] = 0x7f;
  EXPECT_THROW(static_cast<void>(LocalCollector::decode(huge)), InvalidParameter);
}

TEST(LocalMoments, AreMeansInNaturalUnits) {
  LocalCollector collector(2);
  collector.add(std::vector<std::int64_t>{4, -6, 8, 10, 20});
  collector.add(std::vector<std::int64_t>{0, 2, 0, 2, -4});
  const LocalMoments moments = local_moments(collector, 0.5, 0.25);
  EXPECT_EQ(moments.reports, 2u);
  EXPECT_EQ(moments.second_moment, (std::vector<double>{1, -1, -1, 2}));
  EXPECT_EQ(moments.cross_moment, (std::vector<double>{1.5, 2}));
  EXPECT_THROW(static_cast<void>(local_moments(LocalCollector(2), 1, 1)), InvalidParameter);
}

}  // namespace
}  // namespace nustream::inference
