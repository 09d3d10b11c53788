// Members of nested JSON: pointers, envelopes, and values that are no numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "decode/json_members.h"
#include "decode/message_decoder.h"
#include "decode_rows.h"
#include "expect_failure.h"
#include "stored_message.h"

namespace nustream::decode {
namespace {

using tests::columns;
using tests::expect_failure;
using tests::StoredMessage;
using Values = std::vector<double>;

InputSettings json(config::Envelope envelope = config::Envelope::none) {
  InputSettings settings;
  settings.format = Format::json_lines;
  settings.envelope = envelope;
  return settings;
}
const InputSettings debezium = json(config::Envelope::debezium);

record::RowBatch rows_of(const std::vector<std::optional<std::string>>& values, const record::Schema& schema,
                         const InputSettings& settings = json()) {
  std::vector<StoredMessage> messages;
  for (const auto& value : values) messages.push_back({.offset = messages.size(), .value = value});
  MessageDecoder decoder(settings, schema);
  record::RowBatch batch;
  auto views = tests::views(messages);
  decoder.decode(views.messages(), batch);
  return batch;
}

std::string reason(const std::string& value, const record::Schema& schema, const InputSettings& settings = json()) {
  const auto batch = rows_of({value}, schema, settings);
  return batch.rejects.empty() ? "" : batch.rejects[0].reason;
}

TEST(JsonPath, IsAPointerBehindASlashAndANameWithoutOne) {
  EXPECT_EQ(json_path("a.b"), (std::vector<std::string>{"a.b"}));
  EXPECT_EQ(json_path("/payload/after/x"), (std::vector<std::string>{"payload", "after", "x"}));
  EXPECT_EQ(json_path("/a~1b/~0c"), (std::vector<std::string>{"a/b", "~c"}));
  EXPECT_EQ(json_path("/a/"), (std::vector<std::string>{"a", ""})) << "the member without a name";
  expect_failure(
      Exit::configuration, [] { (void)json_path("/"); }, "names no member");
  expect_failure(
      Exit::configuration, [] { (void)json_path("/a~2"); }, "a ~ in it is written ~0");
  expect_failure(
      Exit::configuration, [] { (void)json_path("/a~"); }, "a ~ in it is written ~0");
}

TEST(JsonPointer, FindsMembersAtAnyDepthInAnyOrder) {
  const auto schema = columns({"/p/a", "/p/q/b", "c"}, "/list/1");
  const auto batch = rows_of({R"({"p":{"a":1,"q":{"b":2}},"c":3,"list":[9,4,9]})",
                              R"({"list":[9,"5"],"c":6,"p":{"x":[{"a":0}],"q":{"z":{},"b":7},"a":8}})"},
                             schema);
  EXPECT_EQ(batch.x, (Values{1, 2, 3, 8, 7, 6}));
  EXPECT_EQ(batch.y, (Values{4, 5}));
  EXPECT_TRUE(batch.rejects.empty());
}

TEST(JsonPointer, AMemberThatIsNotThereIsMissingAndOneThatIsNoNumberIsNone) {
  const auto schema = columns({"/p/a"}, "y");
  EXPECT_EQ(reason(R"({"y":1})", schema), "column '/p/a': missing");
  EXPECT_EQ(reason(R"({"p":null,"y":1})", schema), "column '/p/a': missing");
  EXPECT_EQ(reason(R"({"p":7,"y":1})", schema), "column '/p/a': missing");
  EXPECT_EQ(reason(R"({"p":{},"y":1})", schema), "column '/p/a': missing");
  EXPECT_EQ(reason(R"({"p":[1],"y":1})", schema), "column '/p/a': missing");
  EXPECT_EQ(reason(R"({"p":{"a":{}},"y":1})", schema), "column '/p/a': not a number");
  EXPECT_EQ(reason(R"({"p":{"a":null},"y":1})", schema), "column '/p/a': not a number");
}

TEST(JsonPointer, WhatIsThereTwiceSpoilsItsRecordAtAnyDepth) {
  const auto schema = columns({"/p/a"}, "y");
  EXPECT_EQ(reason(R"({"p":{"a":1,"a":2},"y":1})", schema), "the key 'a' is there twice");
  EXPECT_EQ(reason(R"({"p":{"a":1},"p":{"a":1},"y":1})", schema), "the key 'p' is there twice");
  EXPECT_EQ(reason(R"({"p":{"a":1,"b":1,"b":2},"y":1})", schema), "") << "nobody needs b";
  EXPECT_EQ(reason(R"({"p":{"a":1)", schema), "not a JSON object");
  const auto batch = rows_of({R"({"p":{"a":1},"y":1})", R"({"p":{"a":2},"y":2})"}, schema);
  EXPECT_TRUE(batch.rejects.empty()) << "the next record begins anew";
}

TEST(JsonMembers, ADotIsPartOfAName) {
  const auto batch = rows_of({R"({"a.b":1,"a":{"b":2},"y":3})"}, columns({"a.b"}, "y"));
  EXPECT_EQ(batch.x, Values{1});
}

// Some writers write NaN. That spoils no record in which the members that are needed are numbers.
TEST(JsonMembers, NanAndInfinityAreNoNumbersAndSpoilNothingElse) {
  const auto schema = columns({"a"}, "y");
  for (const char* const token : {"NaN", "Infinity", "-Infinity"}) {
    EXPECT_EQ(reason(std::string(R"({"z":)") + token + R"(,"a":1,"y":2})", schema), "") << token;
    EXPECT_EQ(reason(std::string(R"({"z":[1,{"q":)") + token + R"(}],"a":1,"y":2})", schema), "") << token;
    EXPECT_EQ(reason(std::string(R"({"a":)") + token + R"(,"y":2})", schema), "column 'a': not a number") << token;
    EXPECT_EQ(reason(std::string(R"({"y":2,"a":)") + token + "}", schema), "column 'a': not a number") << token;
  }
}

TEST(Debezium, TheRowIsWhatIsAfterTheChange) {
  const auto batch =
      rows_of({R"({"before":null,"after":{"x":1,"y":2},"op":"c","ts_ms":7})",
               R"({"op":"u","before":{"x":1,"y":2},"after":{"y":4,"x":3}})",
               R"({"schema":{"type":"struct"},"payload":{"before":null,"after":{"x":5,"y":6},"op":"r"}})"},
              columns({"x"}, "y"), debezium);
  EXPECT_EQ(batch.x, (Values{1, 3, 5}));
  EXPECT_EQ(batch.y, (Values{2, 4, 6}));
  EXPECT_TRUE(batch.rejects.empty());
}

// Each of these takes its step, with a zero gradient and a reason of its own.
TEST(Debezium, DeletesAndTheirTombstonesAreNamed) {
  const auto batch = rows_of({R"({"before":{"x":1,"y":2},"after":null,"op":"d"})", std::nullopt,
                              R"({"schema":{},"payload":{"before":{"x":1},"after":null,"op":"d"}})",
                              R"({"x":1,"y":2})", R"({"op":"t"})", R"({"schema":{},"payload":null})"},
                             columns({"x"}, "y"), debezium);
  ASSERT_EQ(batch.count(), 6U);
  EXPECT_EQ(batch.x, Values(6, 0.0));
  std::vector<std::string> reasons;
  for (const auto& reject : batch.rejects) reasons.push_back(reject.reason);
  EXPECT_EQ(reasons, (std::vector<std::string>{deleted, "the record has no value (a tombstone)", deleted,
                                               "no envelope: it has no member after (stream.envelope)",
                                               "no envelope: it has no member after (stream.envelope)",
                                               "no envelope: it has no member after (stream.envelope)"}));
}

// A file holds what a program printed for a message without a value; MongoDB's connector writes a row as a string.
TEST(Debezium, WhatStandsInTheRowsPlaceIsNamed) {
  const auto told = [](const char* line) { return reason(line, columns({"x"}, "y"), debezium); };
  constexpr const char* text =
      "the envelope's after is a string, as MongoDB's connector writes it, and not an object: have the connector "
      "unwrap its records (ExtractNewDocumentState), and leave stream.envelope out";
  constexpr const char* other = "the envelope's after is neither an object nor null (stream.envelope)";
  EXPECT_EQ(told(R"({"after":"{\"x\":1,\"y\":2}","op":"c"})"), text);
  EXPECT_EQ(told(R"({"payload":{"after":"{}","op":"c"}})"), text);
  for (const char* line : {R"({"after":[1,2],"op":"c"})", R"({"after":7})", R"({"after":true})"}) {
    EXPECT_EQ(told(line), other) << line;
  }
  EXPECT_EQ(told("null"), tombstone);
  EXPECT_EQ(told(" null\r"), tombstone);
  EXPECT_EQ(told("nullx"), "not a JSON object");
  EXPECT_EQ(told(R"({"after":"{}","payload":{"after":{"x":3,"y":4}}})"), "the key 'after' is there twice");
}

TEST(Debezium, TwoRowsInOneEnvelopeAreNone) {
  EXPECT_EQ(reason(R"({"after":{"x":1,"y":2},"payload":{"after":{"x":3,"y":4}}})", columns({"x"}, "y"), debezium),
            "the key 'after' is there twice");
  EXPECT_EQ(reason(R"({"after":null,"payload":{"after":{"x":3,"y":4}}})", columns({"x"}, "y"), debezium),
            "the key 'after' is there twice");
}

TEST(Debezium, APointerBeginsAtTheTop) {
  const auto schema = columns({"x"}, "/source/lsn");
  const auto batch = rows_of({R"({"after":{"x":1},"source":{"lsn":9}})"}, schema, debezium);
  EXPECT_EQ(batch.x, Values{1});
  EXPECT_EQ(batch.y, Values{9});
}

}  // namespace
}  // namespace nustream::decode
