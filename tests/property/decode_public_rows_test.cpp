// Rows whose target alone is private: whatever stands in the target's place, the row's public entries are those that
// it has with any other target. This is tested in files and in messages, for every kernel.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "decode/line_decoder.h"
#include "decode/message_decoder.h"
#include "decode_rows.h"
#include "expect_failure.h"
#include "nustream/record/row.h"
#include "stored_message.h"
#include "temporary_folder.h"

namespace nustream::decode {
namespace {

using tests::expect_failure;
using Random = std::mt19937_64;

const std::string nul(1, '\0');

/// Features z and x of the columns z, w, x, y; w holds text that an indicator reads.
record::Schema public_rows() {
  record::Schema schema = tests::columns({"z", "x"}, "y");
  record::Feature red;
  red.name = "red";
  red.first = {"w", record::Transform::indicator, "red"};
  schema.features.push_back(red);
  schema.features_public = true;
  return schema;
}

template <std::size_t n>
std::string one_of(Random& random, const std::string (&choices)[n]) {
  return choices[random() % n];
}

std::string number(Random& random) {
  return std::to_string(static_cast<double>(static_cast<std::int64_t>(random() % 2'000'000) - 1'000'000) / 1024);
}

// A field that is mostly sound; about a third of the rows hold one that is not.
std::string public_field(Random& random) {
  if (random() % 20 != 0) return number(random);
  return one_of(random, {"", "\"7.5\"", "\"7.5", "x", "\"1\" 2", "5\"", "\"a \"\"b\"\"\"", nul, "1" + nul, "\xff\xfe",
                         "\r", std::string(random() % 90, '3'), std::string(20'000, '4')});
}
std::string leading(Random& random) {
  return public_field(random) + "," + (random() % 8 == 0 ? "red" : public_field(random)) + "," + public_field(random);
}

// A target with the delimiter before it; without the delimiter where the line ends before its target.
std::string target(Random& random, bool line_breaks) {
  if (line_breaks && random() % 6 == 0) return one_of(random, {",\n", ",5\n6", ",\n\n\n", ",\"5\n\"", ",1\n2,3\n"});
  if (random() % 4 == 0) return "," + number(random);
  return one_of(random, {"",
                         ",",
                         ",12,5",
                         ",,,,",
                         ",\"",
                         ",\"5",
                         ",\"5\"",
                         ",5\"",
                         ",\"a,b\"",
                         ",\"\"\"\"",
                         ",\"\"5",
                         ",nan",
                         ",1e999",
                         "," + nul,
                         ",5" + nul,
                         ",\xff\xfe\x80",
                         ",\r",
                         ",5\r\r",
                         ", 5 ",
                         ",-",
                         ",{\"y\":1,\"y\":2}",
                         "," + std::string(random() % 200, 'y'),
                         "," + std::string(20'000, '"'),
                         "," + std::string(700'000, ',')});
}

void expect_same_bits(const std::vector<double>& actual, const std::vector<double>& expected, const char* what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint64_t>(actual[i]), std::bit_cast<std::uint64_t>(expected[i]))
        << what << " " << i / 3;
  }
}

record::RowBatch decoded(const CsvKernel& kernel, const std::string& lines, const InputSettings& settings) {
  const record::RowBuilder builder(public_rows());
  const auto decoder = make_csv_decoder(settings, builder.fields(), "y", kernel);
  decoder->begin_file("z,w,x,y\n", "rows");
  const std::string slack(LineBuffer::slack, ',');
  const std::string padded = slack + lines + slack;
  std::string_view left = std::string_view(padded).substr(slack.size(), lines.size());
  record::RowBatch rows;
  RowWriter writer(builder, false, 0, rows);
  while (!left.empty()) left.remove_prefix(decoder->decode(left, 1 + lines.size() % 50, writer).bytes);
  return rows;
}

TEST(PublicRowsProperty, NoTargetMovesThePublicEntriesInAnyKernel) {
  Random random(51);
  for (int round = 0; round < 40; ++round) {
    std::string good, hostile;
    for (int row = 0; row < 60; ++row) {
      const std::string own = leading(random);
      const char* const end = random() % 3 == 0 ? "\r\n" : "\n";
      good += own + ",1" + end;
      hostile += own + target(random, false) + end;
    }
    const InputSettings settings{.record_bytes_max = random() % 2 == 0 ? std::size_t{1} << 20 : 10 + random() % 60};
    for (const CsvKernel& kernel : csv_kernels()) {
      const record::RowBatch expected = decoded(kernel, good, settings);
      const record::RowBatch actual = decoded(kernel, hostile, settings);
      expect_same_bits(actual.x, expected.x, kernel.name);
      ASSERT_EQ(actual.next, expected.next);
    }
  }
}

// The same through the framing: lines that no buffer holds, and lines of every length around the longest that is
// allowed.
TEST(PublicRowsProperty, NoTargetMovesThePublicEntriesOfAFile) {
  Random random(52);
  const tests::TemporaryFolder folder;
  for (int round = 0; round < 12; ++round) {
    std::string good = "z,w,x,y\n", hostile = good;
    for (int row = 0; row < 60; ++row) {
      const std::string own = leading(random);
      good += own + ",1\n";
      hostile += own + target(random, false) + (random() % 3 == 0 ? "\r\n" : "\n");
    }
    InputSettings settings{.files = {folder.write("good.csv", good)}};
    if (round % 2 == 0) settings.record_bytes_max = 10 + random() % 60;
    const record::RowBatch expected = tests::read_all(settings, public_rows());
    settings.files = {folder.write("hostile.csv", round % 3 == 0 ? tests::gzip(hostile) : hostile)};
    const record::RowBatch actual = tests::read_all(settings, public_rows());
    expect_same_bits(actual.x, expected.x, "file");
    ASSERT_EQ(actual.next, expected.next);
  }
}

TEST(PublicRowsProperty, NoTargetMovesThePublicEntriesOfAMessage) {
  Random random(53);
  for (int round = 0; round < 60; ++round) {
    std::vector<std::string> good, hostile;
    for (int row = 0; row < 60; ++row) {
      std::string own = leading(random);
      if (random() % 30 == 0) own.insert(random() % own.size(), "\n");
      good.push_back(own + ",1");
      hostile.push_back(own + target(random, true) + one_of(random, {"", "\n", "\r\n"}));
    }
    InputSettings settings{.columns = {"z", "w", "x", "y"}};
    if (round % 2 == 0) settings.record_bytes_max = 10 + random() % 60;
    const auto rows_of = [&](const std::vector<std::string>& values) {
      MessageDecoder decoder(settings, public_rows());
      record::RowBatch batch;
      const auto stored = tests::values_from(0, values);
      auto views = tests::views(stored);
      decoder.decode(views.messages(), batch);
      return batch;
    };
    const record::RowBatch expected = rows_of(good), actual = rows_of(hostile);
    expect_same_bits(actual.x, expected.x, "message");
    ASSERT_EQ(actual.next, expected.next);
  }
}

// What the rows are, so that the tests above are not passed by two wrong rows that agree: public entries as they
// stand in the file, and a target of NaN where the record has none.
TEST(PublicRows, KeepTheirEntriesAndLackATarget) {
  const tests::TemporaryFolder folder;
  const std::string text = "z,w,x,y\n1,red,2,3\n4,a,5,12,5\n6,\"red\",7,\"8\"\n9,b,10,\"\n11,c,12\n13,d,14," +
                           std::string(500'000, ',') + "\n15,e,bad,16\n\"17,f\",18,19,20\n21,22\n";
  const record::RowBatch rows =
      tests::read_all({.files = {folder.write("a.csv", text)}, .record_bytes_max = 100}, public_rows());
  EXPECT_EQ(rows.x, (std::vector<double>{1, 2,  1,  4, 5, 0, 6, 7, 1, 9, 10, 0, 11, 12,
                                         0, 13, 14, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0}));
  const std::vector<double> targets{3, NAN, 8, NAN, NAN, NAN, 0, 0, 0};
  expect_same_bits(rows.y, targets, "target");
  EXPECT_EQ(rows.rejects.size(), 7U);
}

TEST(PublicRows, OfAMessageKeepTheirEntriesWithoutAValueWhereNoneIsInIt) {
  record::Schema schema = tests::columns({"@header:z", "@key"}, "y");
  schema.features_public = true;
  MessageDecoder decoder({.columns = {"y"}, .record_bytes_max = 10}, schema);
  std::vector<tests::StoredMessage> messages;
  for (const std::optional<std::string>& value :
       {std::optional<std::string>("5"), std::optional<std::string>(), std::optional<std::string>(""),
        std::optional<std::string>("1\n2"), std::optional<std::string>(std::string(50, ','))}) {
    messages.push_back({.offset = messages.size(), .key = "2", .value = value, .headers = {{"z", "1"}}});
  }
  record::RowBatch batch;
  auto views = tests::views(messages);
  decoder.decode(views.messages(), batch);
  EXPECT_EQ(batch.x, (std::vector<double>{1, 2, 1, 2, 1, 2, 1, 2, 1, 2}));
  expect_same_bits(batch.y, {5, NAN, NAN, NAN, NAN}, "target");
}

// A header is no part of the value, so the value may be of any format, as for rows that are all private.
TEST(PublicRows, WithATargetInAHeaderAreReadAsEver) {
  record::Schema schema = tests::columns({"z", "x"}, "@header:y");
  schema.features_public = true;
  MessageDecoder decoder({.format = Format::json_lines}, schema);
  std::vector<tests::StoredMessage> messages;
  for (const std::optional<std::string>& header :
       {std::optional<std::string>("5"), std::optional<std::string>(), std::optional<std::string>("\"\n,{"),
        std::optional<std::string>(std::string(50'000, 'x'))}) {
    messages.push_back({.offset = messages.size(), .value = R"({"x":2,"z":1})", .headers = {{"y", header}}});
  }
  record::RowBatch batch;
  auto views = tests::views(messages);
  decoder.decode(views.messages(), batch);
  EXPECT_EQ(batch.x, (std::vector<double>{1, 2, 1, 2, 1, 2, 1, 2}));
  expect_same_bits(batch.y, {5, NAN, NAN, NAN}, "target");
}

TEST(PublicRows, AreRefusedWhereATargetCouldMoveThem) {
  const tests::TemporaryFolder folder;
  const std::string rows = folder.write("rows.csv", "z,y,w,x\n1,2,red,3\n");
  const auto file = [&](InputSettings settings) {
    return [=] { static_cast<void>(tests::read_all(settings, public_rows())); };
  };
  expect_failure(Exit::configuration, file({.files = {rows}}), "not the last");
  expect_failure(Exit::configuration, file({.files = {rows}, .header = false, .columns = {"y", "w", "x", "z"}}),
                 "not the last");
  expect_failure(Exit::configuration, file({.files = {rows}, .format = Format::json_lines}), "JSON");
  const std::string last = folder.write("last.csv", "z,w,x,y\n1,red,3,2\n");
  expect_failure(Exit::configuration, file({.files = {last}, .time_column = "y"}), "time");
  const auto messages = [](InputSettings settings, record::Schema schema) {
    schema.features_public = true;
    return [=] { const MessageDecoder decoder(settings, schema); };
  };
  expect_failure(Exit::configuration, messages({.columns = {"x", "y", "z"}}, tests::columns({"x"}, "y")),
                 "not the last");
  expect_failure(Exit::configuration, messages({.columns = {"x"}}, tests::columns({"x"}, "@key")), "partition");
  expect_failure(Exit::configuration, messages({.format = Format::json_lines}, tests::columns({"x"}, "y")), "JSON");
  expect_failure(Exit::configuration, messages({.columns = {"x", "y"}}, tests::columns({"x", "y"}, "y")),
                 "no feature");
}

}  // namespace
}  // namespace nustream::decode
