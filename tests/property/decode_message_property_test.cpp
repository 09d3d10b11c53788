// The message decoder over random messages against a slow twin, which writes each value alone into a file, with its
// key and headers as further columns.
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "decode/message_decoder.h"
#include "decode/recorded_reader.h"
#include "decode_rows.h"
#include "stored_message.h"
#include "temporary_folder.h"

namespace nustream::decode {
namespace {

using tests::StoredMessage;
using Random = std::mt19937_64;

// --- random messages ---------------------------------------------------------------------------------------------

std::string random_text(Random& random) {
  switch (random() % 8) {
    case 0:
      return "";
    case 1:
      return "red";
    case 2:
      return "a \"quoted\", text";
    case 3:
      return std::string(random() % 60, 'z');
    default:
      return std::to_string(static_cast<double>(static_cast<std::int64_t>(random() % 2'000'000) - 1'000'000) / 512);
  }
}

std::optional<std::string> random_value(Random& random, Format format) {
  if (random() % 30 == 0) return std::nullopt;
  const std::string a = random_text(random), b = std::to_string(random() % 10'000), c = random_text(random);
  std::string value;
  if (format == Format::csv) {
    value = a + "," + b + "," + c;
    if (random() % 20 == 0) value += ",more";
  } else {
    const bool number = a.find_first_not_of("-.0123456789") == std::string::npos && !a.empty();
    value = "{\"f0\":" + (number ? a : "null") + (random() % 10 == 0 ? "\n" : "") + ",\"f1\":\"" + b +
            "\",\"@key\":3,\"f2\":" + b + "}";
  }
  for (std::uint64_t edits = random() % 8 == 0 ? 1 + random() % 3 : 0; edits > 0; --edits) {
    const std::string bytes[] = {
        "\n", "\r", "\r\n", "\"", ",", std::string(1, '\0'), std::string(random() % 40'000, 'y')};
    value.insert(random() % (value.size() + 1), bytes[random() % std::size(bytes)]);
  }
  if (random() % 30 == 0) value = std::string(random() % 3, '\n');
  if (random() % 20 == 0) value += random() % 2 == 0 ? "\n" : "\r\n";
  return value;
}

std::vector<StoredMessage> random_messages(Random& random, Format format) {
  std::vector<StoredMessage> messages(random() % 300);
  std::uint64_t offset = random() % 1000;
  for (StoredMessage& message : messages) {
    offset += random() % 10 == 0 ? 1 + random() % 50 : 1;
    message.offset = offset;
    message.value = random_value(random, format);
    if (random() % 10 != 0) message.key = random_text(random);
    for (std::uint64_t headers = random() % 5; headers > 0; --headers) {
      const std::string name(1, static_cast<char>('g' + random() % 3));
      message.headers.emplace_back(name, random() % 5 == 0 ? std::nullopt : std::optional(random_text(random)));
    }
    message.milliseconds = static_cast<std::int64_t>(random() % 1'000'000);
    message.time_kind = static_cast<TimeKind>(random() % 3);
  }
  return messages;
}

// --- the twin ----------------------------------------------------------------------------------------------------

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  return out + "\"";
}

// A line of a file in which key, header h and header g stand before the value's own fields; a missing part makes the
// line unreadable. It serves values that are lines of CSV, and texts without line breaks.
std::string twin_line(const StoredMessage& message) {
  std::string line = message.key ? quoted(*message.key) : "missing";
  for (const char* name : {"h", "g"}) {
    std::string text = "missing";
    for (const auto& [key, value] : message.headers) {
      if (key != name) continue;
      if (value) text = quoted(*value);
      break;
    }
    line += ',';
    line += text;
  }
  return line + "," + *message.value;
}

record::Feature feature(const std::string& column, const std::string& equals = {}) {
  record::Feature result;
  result.name = column + equals;
  result.first.column = column;
  if (!equals.empty()) result.first = {column, record::Transform::indicator, equals};
  return result;
}

// The x and y of one message read alone; empty where the message is unusable.
std::optional<std::pair<std::vector<double>, double>> twin_row(const StoredMessage& message,
                                                               const record::Schema& schema, bool beside,
                                                               const InputSettings& like,
                                                               const tests::TemporaryFolder& folder) {
  if (!message.value) return std::nullopt;
  std::string content = *message.value;
  if (content.ends_with('\n')) content.pop_back();
  if (content.size() > like.record_bytes_max) return std::nullopt;
  InputSettings settings = like;
  settings.header = false;
  settings.record_bytes_max = 1 << 18;
  if (like.format == Format::csv) {
    if (content.find('\n') != std::string::npos || content.empty()) return std::nullopt;
    // The value must be a record by itself: an empty value is none, though behind a key it would make a line of the
    // file.
    if (content == "\r") return std::nullopt;
    if (beside) settings.columns = {"@key", "@header:h", "@header:g", "f0", "f1", "f2"};
    content = beside ? twin_line(message) : *message.value;
  } else {
    // To JSON a line break is white space, and refused inside a string: a tab is both as well.
    std::replace(content.begin(), content.end(), '\n', '\t');
  }
  settings.files = {folder.write("one", content)};
  if (content.empty()) return std::nullopt;
  RecordedReader reader(settings, schema);  // RecordedReader does not ask what else the one record may be taken for
  const record::RowBatch batch = tests::read_all(reader);
  EXPECT_EQ(batch.count(), 1U);
  if (!batch.rejects.empty()) return std::nullopt;
  return std::pair(batch.x, batch.y[0]);
}

void expect_like_twin(const record::RowBatch& batch, const std::vector<StoredMessage>& messages,
                      const record::Schema& schema, bool beside, const InputSettings& settings,
                      const tests::TemporaryFolder& folder) {
  ASSERT_EQ(batch.count(), messages.size());
  std::vector<std::uint64_t> rejected;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto row = twin_row(messages[i], schema, beside, settings, folder);
    if (!row) rejected.push_back(messages[i].offset);
    const std::vector<double> expected = row ? row->first : std::vector<double>(batch.dimension, 0.0);
    const auto at = batch.x.begin() + static_cast<std::ptrdiff_t>(i * batch.dimension);
    ASSERT_EQ(std::vector<double>(at, at + static_cast<std::ptrdiff_t>(batch.dimension)), expected)
        << messages[i].value.value_or("(none)");
    ASSERT_EQ(batch.y[i], row ? row->second : 0);
    ASSERT_EQ(batch.next[i], messages[i].offset + 1);
  }
  std::vector<std::uint64_t> positions;
  for (const record::Reject& reject : batch.rejects) positions.push_back(reject.position.value());
  ASSERT_EQ(positions, rejected);
}

// Decodes all messages, in calls of random size.
record::RowBatch decode_in_slices(const std::vector<StoredMessage>& messages, const InputSettings& settings,
                                  const record::Schema& schema, Random& random) {
  MessageDecoder decoder(settings, schema);
  record::RowBatch batch;
  batch.dimension = decoder.dimension();
  auto views = tests::views(messages);
  for (std::span<const Message> rest = views.messages(); !rest.empty();) {
    const std::size_t some = std::min<std::size_t>(rest.size(), 1 + random() % 150);
    decoder.decode(rest.first(some), batch);
    rest = rest.subspan(some);
  }
  return batch;
}

record::Schema schema_of(bool beside) {
  record::Schema schema;
  schema.features = {feature("f1"), feature("f0")};
  if (beside) {
    schema.features.insert(schema.features.begin() + 1, feature("@header:h"));
    schema.features.push_back(feature("@key", "red"));
    schema.features.push_back(feature("@header:g"));
    schema.features.push_back(feature("@key"));
  }
  schema.target = feature(beside ? "@key" : "f1");
  return schema;
}

TEST(MessageProperty, CsvRowsAreThoseOfEachMessageAloneInAFile) {
  Random random(41);
  const tests::TemporaryFolder folder;
  for (int i = 0; i < 8; ++i) {
    const bool beside = i % 2 == 0;
    InputSettings settings;
    settings.columns = {"f0", "f1", "f2"};
    settings.record_bytes_max = random() % 3 == 0 ? 12 + random() % 100 : 1 << 20;
    const record::Schema schema = schema_of(beside);
    const std::vector<StoredMessage> messages = random_messages(random, Format::csv);
    expect_like_twin(decode_in_slices(messages, settings, schema, random), messages, schema, beside, settings,
                     folder);
    if (HasFatalFailure()) return;
  }
}

TEST(MessageProperty, JsonRowsAreThoseOfEachMessageAloneInAFile) {
  Random random(42);
  const tests::TemporaryFolder folder;
  for (int i = 0; i < 8; ++i) {
    InputSettings settings{.format = Format::json_lines};
    settings.record_bytes_max = random() % 3 == 0 ? 30 + random() % 100 : 1 << 20;
    const record::Schema schema = schema_of(false);
    const std::vector<StoredMessage> messages = random_messages(random, Format::json_lines);
    expect_like_twin(decode_in_slices(messages, settings, schema, random), messages, schema, false, settings, folder);
    if (HasFatalFailure()) return;
  }
}

// Keys and headers are read alike, whatever the format of the value beside them.
TEST(MessageProperty, KeysAndHeadersAreTheSameInBothFormats) {
  Random random(43);
  record::Schema beside = schema_of(true);
  beside.features.erase(beside.features.begin() + 2);  // f0
  beside.features.erase(beside.features.begin());      // f1
  InputSettings csv;
  csv.columns = {"f0"};
  for (int i = 0; i < 100; ++i) {
    std::vector<StoredMessage> messages = random_messages(random, Format::csv);
    for (StoredMessage& message : messages) message.value = std::string("1");
    const auto from_csv = decode_in_slices(messages, csv, beside, random);
    for (StoredMessage& message : messages) message.value = std::string(R"({"@key":1,"@header:h":"2"})");
    const auto from_json = decode_in_slices(messages, {.format = Format::json_lines}, beside, random);
    ASSERT_EQ(from_csv.x, from_json.x);
    ASSERT_EQ(from_csv.y, from_json.y);
    ASSERT_EQ(from_csv.next, from_json.next);
    ASSERT_EQ(from_csv.rejects.size(), from_json.rejects.size());
  }
}

TEST(MessageProperty, SlicesGiveTheSameRowsTimesAndReasons) {
  Random random(44);
  for (int i = 0; i < 100; ++i) {
    InputSettings settings{.format = i % 2 == 0 ? Format::csv : Format::json_lines};
    settings.columns = {"f0", "f1", "f2"};
    settings.time_column = i % 3 == 0 ? "@timestamp" : i % 3 == 1 ? "f1" : "";
    const record::Schema schema = schema_of(i % 4 < 2);
    const std::vector<StoredMessage> messages = random_messages(random, settings.format);
    const auto a = decode_in_slices(messages, settings, schema, random);
    const auto b = decode_in_slices(messages, settings, schema, random);
    ASSERT_EQ(a.x, b.x);
    ASSERT_EQ(a.next, b.next);
    ASSERT_EQ(a.times.size(), settings.time_column.empty() ? 0 : messages.size());
    ASSERT_EQ(a.times.size(), b.times.size());
    for (std::size_t t = 0; t < a.times.size(); ++t) {
      ASSERT_TRUE(a.times[t] == b.times[t] || (std::isnan(a.times[t]) && std::isnan(b.times[t])));
    }
    ASSERT_EQ(a.rejects.size(), b.rejects.size());
    for (std::size_t r = 0; r < a.rejects.size(); ++r) ASSERT_EQ(a.rejects[r].reason, b.rejects[r].reason);
  }
}

}  // namespace
}  // namespace nustream::decode
