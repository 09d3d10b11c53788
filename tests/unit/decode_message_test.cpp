// Messages of a log as rows: framing by length, keys and headers, offsets.
#include "decode/message_decoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "decode_rows.h"
#include "expect_failure.h"
#include "stored_message.h"

namespace nustream::decode {
namespace {

using tests::columns;
using tests::expect_failure;
using tests::StoredMessage;
using tests::values_from;

InputSettings csv(std::vector<std::string> names) {
  InputSettings settings;
  settings.columns = std::move(names);
  return settings;
}
InputSettings json() {
  return {.format = Format::json_lines};
}

record::RowBatch rows_of(const std::vector<StoredMessage>& messages, const InputSettings& settings,
                         const record::Schema& schema) {
  MessageDecoder decoder(settings, schema);
  record::RowBatch batch;
  auto views = tests::views(messages);
  decoder.decode(views.messages(), batch);
  return batch;
}

// The reason why one value is refused; empty where it makes a row.
std::string reason(const std::optional<std::string>& value, const InputSettings& settings,
                   const record::Schema& schema) {
  const auto batch = rows_of({{.offset = 5, .value = value}}, settings, schema);
  EXPECT_EQ(batch.next, (std::vector<std::uint64_t>{6}));
  if (batch.rejects.empty()) return {};
  EXPECT_EQ(batch.rejects[0].position, Position{5});
  EXPECT_EQ(batch.x, std::vector<double>(batch.dimension, 0.0));
  return batch.rejects[0].reason;
}

record::Feature indicator(const std::string& column, const std::string& equals) {
  record::Feature feature;
  feature.name = column + "=" + equals;
  feature.first = {column, record::Transform::indicator, equals};
  return feature;
}

TEST(Messages, ThePositionAfterARowIsItsOffsetPlusOneAcrossGaps) {
  const std::vector<StoredMessage> messages = {
      {.offset = 7, .value = "1,2"}, {.offset = 9, .value = "bad,2"}, {.offset = 1'000'000'000'000, .value = "3,4"}};
  const auto batch = rows_of(messages, csv({"a", "b"}), columns({"a"}, "b"));
  EXPECT_EQ(batch.x, (std::vector<double>{1, 0, 3}));
  EXPECT_EQ(batch.y, (std::vector<double>{2, 0, 4}));
  EXPECT_EQ(batch.next, (std::vector<std::uint64_t>{8, 10, 1'000'000'000'001}));
  ASSERT_EQ(batch.rejects.size(), 1U);
  EXPECT_EQ(batch.rejects[0].position, Position{9});
  EXPECT_TRUE(batch.times.empty());
}

TEST(Messages, ABatchGrowsCallByCall) {
  MessageDecoder decoder(csv({"a"}), columns({"a"}));
  record::RowBatch batch;
  for (std::uint64_t offset = 10; offset < 40; offset += 10) {
    const std::vector<StoredMessage> messages = values_from(offset, {"1", "x", "3"});
    auto views = tests::views(messages);
    decoder.decode(views.messages(), batch);
  }
  EXPECT_EQ(batch.x, (std::vector<double>{1, 0, 3, 1, 0, 3, 1, 0, 3}));
  EXPECT_EQ(batch.next, (std::vector<std::uint64_t>{11, 12, 13, 21, 22, 23, 31, 32, 33}));
  ASSERT_EQ(batch.rejects.size(), 3U);
  EXPECT_EQ(batch.rejects[2].position, Position{31});
}

TEST(Messages, ALineBreakSpoilsOneCsvValueAndIsDroppedAtItsEnd) {
  const auto batch =
      rows_of(values_from(0, {"1\n", "2\r\n", "3\n4", "\n", "5\n\n", "\"6", "7"}), csv({"a"}), columns({"a"}));
  EXPECT_EQ(batch.x, (std::vector<double>{1, 2, 0, 0, 0, 0, 7}));
  ASSERT_EQ(batch.rejects.size(), 4U);
  EXPECT_EQ(batch.rejects[0].reason, "the value holds a line break");
  EXPECT_EQ(batch.rejects[1].reason, "the line is empty");
  EXPECT_EQ(batch.rejects[2].reason, "the value holds a line break");
  EXPECT_EQ(batch.rejects[3].reason, "a quotation mark is never closed");
  // A line break is refused even within quotes, where RFC 4180 would allow it.
  EXPECT_EQ(reason("\"1\n2\",3", csv({"a", "b"}), columns({"b"})), "the value holds a line break");
}

TEST(Messages, LineBreaksInJsonAreWhiteSpaceBetweenTokensOnly) {
  const auto schema = columns({"a", "b"});
  EXPECT_EQ(reason("{\n  \"a\": 1,\r\n  \"b\":\n2\n}\n", json(), schema), "");
  const auto batch = rows_of(values_from(0, {"{\"a\":1\n,\"b\":\n2}"}), json(), schema);
  EXPECT_EQ(batch.x, (std::vector<double>{1, 2}));
  EXPECT_EQ(reason("{\"a\":1,\"b\":2,\"c\":\"x\ny\"}", json(), schema), "not a JSON object");
  EXPECT_EQ(reason("{\"a\":1,\"b\":2}\n{\"a\":1,\"b\":2}", json(), schema), "not a JSON object");
  EXPECT_EQ(reason("{\"a\":1\n2,\"b\":2}", json(), schema), "not a JSON object");
}

TEST(Messages, TombstonesEmptyBinaryAndOverLongValuesAreRowsOfZeros) {
  InputSettings settings = csv({"a"});
  settings.record_bytes_max = 8;
  const auto schema = columns({"a"});
  EXPECT_EQ(reason(std::nullopt, settings, schema), "the record has no value (a tombstone)");
  EXPECT_EQ(reason("", settings, schema), "the line is empty");
  EXPECT_EQ(reason(std::string("1\0", 2), settings, schema), "the line holds a NUL byte");
  EXPECT_EQ(reason("12345678", settings, schema), "");
  EXPECT_EQ(reason("12345678\n", settings, schema), "");
  EXPECT_EQ(reason("123456789", settings, schema), too_long);
  EXPECT_EQ(reason(std::string(5'000'000, '1'), settings, schema), too_long);
  EXPECT_EQ(reason(std::nullopt, json(), schema), "the record has no value (a tombstone)");
  EXPECT_EQ(reason(std::string("{\"a\":1}\0", 8), json(), schema), "not a JSON object");
}

TEST(Messages, AValueLongerThanAStrideIsReadAmongOthers) {
  const std::string longest = "1," + std::string(300'000, 'x');
  const auto batch =
      rows_of(values_from(0, {"5,y", longest, "6,z", longest, longest, "7,w"}), csv({"a", "b"}), columns({"a"}));
  EXPECT_EQ(batch.x, (std::vector<double>{5, 1, 6, 1, 1, 7}));
  EXPECT_TRUE(batch.rejects.empty());
}

TEST(Messages, KeyAndHeadersAreFieldsLikeAnyOther) {
  record::Schema schema = columns({"a", "@key", "@header:h"}, "b");
  schema.features.push_back(indicator("@header:kind", "new"));
  const std::vector<StoredMessage> messages = {
      {.offset = 0, .key = "5", .value = "1,2", .headers = {{"h", "7"}, {"kind", "new"}}},
      {.offset = 1, .key = " 6e1 ", .value = "3,4", .headers = {{"kind", "old"}, {"h", "8"}, {"h", "9"}}},
  };
  const auto batch = rows_of(messages, csv({"a", "b"}), schema);
  EXPECT_EQ(batch.x, (std::vector<double>{1, 5, 7, 1, 3, 60, 8, 0}));
  EXPECT_EQ(batch.y, (std::vector<double>{2, 4}));
  EXPECT_TRUE(batch.rejects.empty());
}

TEST(Messages, AMissingKeyOrHeaderIsARowOfZerosWithItsName) {
  const record::Schema schema = columns({"@key", "@header:h", "a"});
  const std::vector<StoredMessage> messages = {
      {.offset = 0, .value = "1", .headers = {{"h", "7"}}},
      {.offset = 1, .key = "5", .value = "1"},
      // The first header of a name counts.
      {.offset = 2, .key = "5", .value = "1", .headers = {{"h", std::nullopt}, {"h", "7"}}},
      {.offset = 3, .key = "", .value = "1", .headers = {{"h", "7"}}},
      {.offset = 4, .value = std::nullopt},
      {.offset = 5, .key = "5", .value = "x", .headers = {{"h", "7"}}},
      {.offset = 6, .key = "5", .value = "1", .headers = {{"h", "7"}}},
  };
  const auto batch = rows_of(messages, csv({"a"}), schema);
  EXPECT_EQ(batch.x, (std::vector<double>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 7, 1}));
  ASSERT_EQ(batch.rejects.size(), 6U);
  EXPECT_EQ(batch.rejects[0].reason, "column '@key': missing");
  EXPECT_EQ(batch.rejects[1].reason, "column '@header:h': missing");
  EXPECT_EQ(batch.rejects[2].reason, "column '@header:h': not a number");
  EXPECT_EQ(batch.rejects[3].reason, "column '@key': empty");
  EXPECT_EQ(batch.rejects[4].reason, "the record has no value (a tombstone)");
  EXPECT_EQ(batch.rejects[5].reason, "column 'a': not a number");
}

TEST(Messages, NothingInAValueShadowsTheKey) {
  const record::Schema schema = columns({"@key", "a"});
  const std::vector<StoredMessage> as_json = {
      {.offset = 0, .key = "5", .value = R"({"@key":9,"a":1})"},
      {.offset = 1, .key = std::nullopt, .value = R"({"@key":9,"a":1})"},
      // A member that is not needed may be there twice.
      {.offset = 2, .key = "5", .value = R"({"@key":9,"@key":8,"a":1})"},
  };
  auto batch = rows_of(as_json, json(), schema);
  EXPECT_EQ(batch.x, (std::vector<double>{5, 1, 0, 0, 5, 1}));
  EXPECT_EQ(batch.rejects.size(), 1U);
  batch = rows_of({{.offset = 0, .key = "5", .value = "9,1"}}, csv({"@key", "a"}), schema);
  EXPECT_EQ(batch.x, (std::vector<double>{5, 1}));
  // Other names that begin with @ are fields of the value.
  batch = rows_of({{.offset = 0, .key = "5", .value = R"({"@id":3})"}}, json(), columns({"@id"}));
  EXPECT_EQ(batch.x, (std::vector<double>{3}));
}

TEST(Messages, KeysMayHoldAnyBytes) {
  record::Schema schema = columns({"a"});
  const std::string key("\"\n,\0\xff", 5);
  schema.features.push_back(indicator("@key", key));
  EXPECT_EQ(rows_of({{.offset = 0, .key = key, .value = "1"}}, csv({"a"}), schema).x, (std::vector<double>{1, 1}));
  EXPECT_EQ(rows_of({{.offset = 0, .key = "\"", .value = "1"}}, csv({"a"}), schema).x, (std::vector<double>{1, 0}));
}

TEST(Messages, TheKeyAloneCanMakeARowAndTheValueMustStillBeOne) {
  const record::Schema schema = columns({"@key"});
  const std::vector<StoredMessage> messages = {{.offset = 0, .key = "5", .value = "{}"},
                                               {.offset = 1, .key = "5", .value = "{"}};
  const auto batch = rows_of(messages, json(), schema);
  EXPECT_EQ(batch.x, (std::vector<double>{5, 0}));
  EXPECT_EQ(batch.rejects.size(), 1U);
}

TEST(Messages, TheirOwnTimeOrOneOfTheValue) {
  const std::vector<StoredMessage> messages = {
      {.offset = 0, .value = "1,10", .milliseconds = 1500, .time_kind = TimeKind::broker},
      {.offset = 1, .value = "1,11", .milliseconds = -250, .time_kind = TimeKind::producer},
      {.offset = 2, .value = "1,12", .milliseconds = 99, .time_kind = TimeKind::none},
      {.offset = 3, .value = std::nullopt, .milliseconds = 2000, .time_kind = TimeKind::broker},
  };
  InputSettings settings = csv({"a", "t"});
  settings.time_column = "@timestamp";
  auto batch = rows_of(messages, settings, columns({"a"}));
  ASSERT_EQ(batch.times.size(), 4U);
  EXPECT_EQ(batch.times[0], 1.5);
  EXPECT_EQ(batch.times[1], -.25);
  EXPECT_TRUE(std::isnan(batch.times[2]));
  EXPECT_EQ(batch.times[3], 2);
  settings.time_column = "t";
  batch = rows_of(messages, settings, columns({"a"}));
  ASSERT_EQ(batch.times.size(), 4U);
  EXPECT_EQ(batch.times[0], 10);
  EXPECT_EQ(batch.times[2], 12);
  EXPECT_TRUE(std::isnan(batch.times[3]));
}

// A producer may date a record as it likes, and the record counts all the same: so do those before and behind it.
TEST(Messages, OfAnotherTimeAreRowsLikeAnyOther) {
  constexpr std::int64_t today = 1'700'000'000'000;
  constexpr std::int64_t year_9999 = 253'402'300'799'000;
  const auto rows_with = [](std::int64_t time, TimeKind kind, const char* time_column) {
    std::vector<StoredMessage> messages = values_from(0, {"1", "2", "bad", "4"});
    for (StoredMessage& message : messages) message.milliseconds = today;
    for (StoredMessage& message : messages) message.time_kind = kind;
    messages[1].milliseconds = time;
    InputSettings settings = csv({"a"});
    settings.time_column = time_column;
    return rows_of(messages, settings, columns({"a"}));
  };
  for (const char* const time_column : {"", "@timestamp"}) {
    for (const TimeKind kind : {TimeKind::producer, TimeKind::broker}) {
      const auto usual = rows_with(today, kind, time_column);
      EXPECT_EQ(usual.x, (std::vector<double>{1, 2, 0, 4}));
      for (const std::int64_t time : {year_9999, std::numeric_limits<std::int64_t>::max(), std::int64_t{-1}}) {
        const auto batch = rows_with(time, kind, time_column);
        EXPECT_EQ(batch.x, usual.x) << time;
        EXPECT_EQ(batch.next, usual.next) << time;
        ASSERT_EQ(batch.rejects.size(), 1U) << time;
        EXPECT_EQ(batch.rejects[0].position, Position{2});
      }
    }
  }
}

TEST(Messages, SettingsThatCannotBeAreRefused) {
  const auto make = [](const InputSettings& settings, const record::Schema& schema) {
    return [=] { const MessageDecoder decoder(settings, schema); };
  };
  expect_failure(Exit::configuration, make(csv({}), columns({"a"})), "stream.columns");
  expect_failure(Exit::configuration, make(csv({"b"}), columns({"a"})), "no column 'a'");
  expect_failure(Exit::configuration, make(csv({"a"}), columns({"@header:"})), "@header:NAME");
  expect_failure(Exit::configuration, make(json(), columns({"@timestamp"})), "stream.time");
  InputSettings timed = json();
  timed.time_column = "@key";
  expect_failure(Exit::configuration, make(timed, columns({"a"})), "'@key' holds no time");
}

// What the settings say of a header line is for files.
TEST(Messages, HaveNoHeaderLineWhateverTheSettingsSay) {
  InputSettings settings = csv({"a"});
  EXPECT_TRUE(settings.header);
  EXPECT_EQ(rows_of(values_from(0, {"a", "1"}), settings, columns({"a"})).x, (std::vector<double>{0, 1}));
}

}  // namespace
}  // namespace nustream::decode
