// JSON lines: each line is one row.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "decode/reader.h"
#include "decode_rows.h"
#include "temporary_folder.h"

namespace nustream::decode {
namespace {

using tests::columns;
using tests::read_all;

record::RowBatch read(const std::string& text, const record::Schema& schema = columns({"a"}, "b"),
                      InputSettings settings = {}) {
  const tests::TemporaryFolder folder;
  settings.files = {folder.write("a.jsonl", text)};
  settings.format = Format::json_lines;
  return read_all(settings, schema);
}

TEST(JsonLines, NumbersStringsAndBooleansInAnyOrder) {
  const auto batch = read(
      "{\"a\":1.5,\"b\":-2}\n"
      "{\"b\":\"3\",\"x\":[1,{\"a\":9}],\"a\":true}\r\n"
      " { \"\\u0061\" : 1e3 , \"b\" : 12345678901234567890123 } \n"
      "{\"a\":false,\"b\":0.1}");
  EXPECT_EQ(batch.x, (std::vector<double>{1.5, 1, 1000, 0}));
  EXPECT_EQ(batch.y, (std::vector<double>{-2, 3, 12345678901234567890123.0, 0.1}));
  EXPECT_TRUE(batch.rejects.empty());
  EXPECT_EQ(batch.next, (std::vector<std::uint64_t>{1, 2, 3, 4}));
}

TEST(JsonLines, EachBadRecordIsOneRowOfZeros) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"a":1})", "column 'b': missing"},
      {R"({"b":1,"c":2})", "column 'a': missing"},
      {R"({"a":null,"b":1})", "column 'a': not a number"},
      {R"({"a":[1],"b":1})", "column 'a': not a number"},
      {R"({"a":{"a":1},"b":1})", "column 'a': not a number"},
      {R"({"a":"nan","b":1})", "column 'a': not a number"},
      {R"({"a":1e999,"b":1})", "column 'a': not a number"},
      {R"({"a":"1,5","b":1})", "column 'a': not a number"},
      {R"({"a":"","b":1})", "column 'a': empty"},
      {"", "the line is empty"},
      {"7", "not a JSON object"},
      {"[1,2]", "not a JSON object"},
      {"null", "not a JSON object"},
      {"binary \x01\x02\xff", "not a JSON object"},
      {R"({"a":1,"b":2)", "not a JSON object"},
      {R"({"a":1,"b":2}})", "not a JSON object"},
      {R"({"a":1,"b":2}{"a":1,"b":2})", "not a JSON object"},
      {R"({"a":1,"b":2} x)", "not a JSON object"},
      {R"({"a":1 "b":2})", "not a JSON object"},
      {R"({"a":1,"b":"2)", "not a JSON object"},
      {R"({"a":nan,"b":2})", "column 'a': not a number"},
      {R"({"a":0x10,"b":2})", "column 'a': not a number"},
      {R"({"a":1,"b":2,"a":3})", "the key 'a' is there twice"},
  };
  for (const auto& [line, reason] : cases) {
    const auto batch = read("{\"a\":1,\"b\":2}\n" + std::string(line) + "\n{\"a\":3,\"b\":4}\n");
    ASSERT_EQ(batch.count(), 3U) << line;
    EXPECT_EQ(batch.x, (std::vector<double>{1, 0, 3})) << line;
    EXPECT_EQ(batch.y, (std::vector<double>{2, 0, 4})) << line;
    ASSERT_EQ(batch.rejects.size(), 1U) << line;
    EXPECT_EQ(batch.rejects[0].reason, reason) << line;
    EXPECT_EQ(batch.rejects[0].position, Position{1});
  }
}

TEST(JsonLines, ANulByteOrAnOverlongLineIsOneBadRecord) {
  const auto batch = read(std::string("{\"a\":1,\"b\":2}\n{\"a\":\0 1,\"b\":2}\n", 31) + "{\"a\":\"" +
                          std::string(5'000'000, '1') + "\"}\n{\"a\":3,\"b\":4}\n");
  EXPECT_EQ(batch.x, (std::vector<double>{1, 0, 0, 3}));
  EXPECT_EQ(batch.rejects.size(), 2U);
}

TEST(JsonLines, TheLimitOfBytesDoesNotCountTheNewline) {
  const std::string line = "{\"a\":1,\"b\":2}";
  for (const std::size_t longest : {line.size() - 1, line.size()}) {
    const auto batch = read(line + "\n", columns({"a"}, "b"), {.record_bytes_max = longest});
    ASSERT_EQ(batch.count(), 1U);
    EXPECT_EQ(batch.x[0], longest == line.size() ? 1 : 0);
  }
}

TEST(JsonLines, TextReadingsAndTimes) {
  record::Schema schema = columns({});
  const auto indicator = [](const char* column, const char* equals) {
    record::Feature feature;
    feature.name = column;
    feature.first = {column, record::Transform::indicator, equals};
    return feature;
  };
  schema.features = {indicator("c", "Fr\"a"), indicator("n", "5"), indicator("t", "true")};
  const auto batch = read(
      "{\"c\":\"Fr\\\"a\",\"n\":5,\"t\":true,\"ts\":\"1970-01-01T00:00:05Z\"}\n{\"c\":\"x\",\"n\":5.0,\"t\":\"true\","
      "\"ts\":7}\n",
      schema, {.time_column = "ts"});
  EXPECT_EQ(batch.x, (std::vector<double>{1, 1, 1, 0, 0, 1}));
  EXPECT_EQ(batch.times, (std::vector<double>{5, 7}));
}

TEST(JsonLines, OneColumnUnderSeveralReadings) {
  record::Schema schema = columns({"a", "a"}, "a");
  record::Feature is_five;
  is_five.name = "five";
  is_five.first = {"a", record::Transform::indicator, "5"};
  schema.features.push_back(is_five);
  const auto batch = read("{\"a\":5}\n{\"a\":6}\n", schema);
  EXPECT_EQ(batch.x, (std::vector<double>{5, 5, 1, 6, 6, 0}));
  EXPECT_EQ(batch.y, (std::vector<double>{5, 6}));
}

}  // namespace
}  // namespace nustream::decode
