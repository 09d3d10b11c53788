// The bundled stream, UCI Online Retail (CC BY 4.0): 397,884 order lines. Ordinary least squares of log(quantity) on
// an intercept and log(unit_price) is 1.987337, −0.529010 (statsmodels).
#include <gtest/gtest.h>

#include <string>

#include "decode/reader.h"
#include "decode_rows.h"

namespace nustream::decode {
namespace {

const std::string retail = std::string(NUSTREAM_ROOT_DIR) + "/examples/retail/online_retail_events.csv.gz";
constexpr std::uint64_t records = 397'884;

TEST(RetailStream, LeastSquaresOfItsRowsIsTheKnownAnswer) {
  record::Schema schema;
  schema.intercept = true;
  const auto log_of = [](const char* column) {
    record::Feature feature;
    feature.name = column;
    feature.first = {column, record::Transform::log, {}};
    return feature;
  };
  schema.features = {log_of("unit_price")};
  schema.target = log_of("quantity");
  const auto batch = tests::read_all({.files = {retail}}, schema, 2048);
  ASSERT_EQ(batch.count(), records);
  EXPECT_EQ(batch.next.back(), records);
  EXPECT_TRUE(batch.rejects.empty());

  double count = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (std::size_t i = 0; i < batch.count(); ++i) {
    count += batch.x[2 * i];
    x += batch.x[2 * i + 1];
    y += batch.y[i];
    xx += batch.x[2 * i + 1] * batch.x[2 * i + 1];
    xy += batch.x[2 * i + 1] * batch.y[i];
  }
  const double slope = (count * xy - x * y) / (count * xx - x * x);
  EXPECT_NEAR(slope, -0.529010, 5e-7);
  EXPECT_NEAR((y - slope * x) / count, 1.987337, 5e-7);
}

TEST(RetailStream, CountsAndTimes) {
  const InputSettings settings{.files = {retail}, .time_column = "ts", .times_public = true};
  EXPECT_EQ(count_records(settings), records);
  // The number is that of zcat | awk -F, 'NR > 1 && $1 >= "2011-06-01" { print NR − 2; exit }'
  EXPECT_EQ(ordinal_at_or_after(settings, 1306886400.0), 145'450U);
}

}  // namespace
}  // namespace nustream::decode
