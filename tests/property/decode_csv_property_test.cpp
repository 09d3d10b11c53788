// The CSV reader over random files against a slow twin, which reads them character by character and converts with
// strtod.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "decode/reader.h"
#include "decode_rows.h"
#include "temporary_folder.h"

namespace nustream::decode {
namespace {

using tests::columns;
using tests::read_all;

// --- the twin --------------------------------------------------------------------------------------------------

// The fields of one record, read by a state machine over RFC 4180; empty where the line is no record.
std::vector<std::string> twin_fields(std::string line) {
  if (!line.empty() && line.back() == '\r') line.pop_back();
  if (line.empty() || line.find('\0') != std::string::npos) return {};
  enum { start, plain, quoted, closed } state = start;
  std::vector<std::string> fields(1);
  for (const char c : line) {
    if (state == quoted) {
      if (c == '"') {
        state = closed;
      } else {
        fields.back() += c;
      }
    } else if (state == closed && c == '"') {
      fields.back() += '"';
      state = quoted;
    } else if (c == ',') {
      fields.emplace_back();
      state = start;
    } else if (state == closed) {
      return {};
    } else if (state == start && c == '"') {
      state = quoted;
    } else {
      fields.back() += c;
      state = plain;
    }
  }
  if (state == quoted) return {};
  return fields;
}

bool twin_number(const std::string& field, double& value) {
  const std::size_t first = field.find_first_not_of(" \t");
  const std::size_t last = field.find_last_not_of(" \t");
  if (first == std::string::npos) return false;
  const std::string text = field.substr(first, last - first + 1);
  if (text.find_first_not_of("0123456789+-.eE") != std::string::npos) return false;
  char* end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return end == text.c_str() + text.size() && std::abs(value) < 1e308;
}

struct Twin {
  std::vector<double> x, y;
  std::vector<std::uint64_t> rejected;
};
// The rows (f1, f0 | f3) of `text`, whose header is f0 … f(width−1).
Twin twin_rows(const std::string& text, std::size_t width, std::size_t longest) {
  Twin twin;
  std::size_t at = text.find('\n') + 1;
  while (at < text.size()) {
    const std::size_t newline = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, newline - at);
    at = newline + 1;
    const std::vector<std::string> fields = twin_fields(line);
    double a = 0, b = 0, c = 0;
    const bool usable = line.size() <= longest && fields.size() == width && twin_number(fields[1], a) &&
                        twin_number(fields[0], b) && twin_number(fields[3], c);
    if (!usable) {
      twin.rejected.push_back(twin.y.size());
      a = b = c = 0;
    }
    twin.x.insert(twin.x.end(), {a, b});
    twin.y.push_back(c);
  }
  return twin;
}

// --- random files ----------------------------------------------------------------------------------------------

using Random = std::mt19937_64;

std::string random_field(Random& random) {
  const char digit = static_cast<char>('0' + random() % 10);
  switch (random() % 14) {
    case 0:
      return std::string(1, '"').append(std::to_string(random() % 1000)).append(1, '"');
    case 1:
      return "\"a \"\"b\"\", c\"";
    case 2:
      return std::string(1, 'x').append(random() % 40, '"');
    case 3:
      return std::to_string(random());
    case 4:
      return std::string(1 + random() % 3, '"').append(1, '1');
    case 5:
      return std::string(1, ' ').append(std::to_string(random() % 100)).append("e-").append(1, digit).append(1, '\t');
    default:
      return std::to_string(static_cast<double>(static_cast<std::int64_t>(random() % 2'000'000) - 1'000'000) / 1024);
  }
}

std::string random_csv(Random& random, std::size_t width) {
  std::string text = "f0";
  for (std::size_t c = 1; c < width; ++c) text += ",f" + std::to_string(c);
  text += "\n";
  const bool tidy = random() % 2 == 0;  // mostly plain numbers, as in the common case
  const std::string line_end = random() % 2 == 0 ? "\n" : "\r\n";
  const std::size_t rows = random() % 400;
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t fields = random() % 30 == 0 ? random() % (2 * width) : width;
    for (std::size_t c = 0; c < fields; ++c) {
      if (c > 0) text += ',';
      text += tidy && random() % 50 != 0 ? std::to_string(random() % 100'000) + "." + std::to_string(random() % 1000)
                                         : random_field(random);
    }
    if (random() % 100 == 0) text += std::string(1, '\0');
    if (random() % 200 == 0) text += std::string(random() % 40'000, 'z');
    if (r + 1 < rows || random() % 2 == 0) text += line_end;
  }
  return text;
}

void expect_like_twin(const record::RowBatch& batch, const Twin& twin) {
  ASSERT_EQ(batch.y, twin.y);
  ASSERT_EQ(batch.x, twin.x);
  std::vector<std::uint64_t> rejected;
  for (const record::Reject& reject : batch.rejects) rejected.push_back(reject.position.value());
  ASSERT_EQ(rejected, twin.rejected);
  for (std::size_t i = 0; i < batch.count(); ++i) ASSERT_EQ(batch.next[i], i + 1);
}

TEST(CsvProperty, RowsAreThoseOfTheTwinPlainOrCompressedInAnyBatches) {
  Random random(31);
  const tests::TemporaryFolder folder;
  const record::Schema schema = columns({"f1", "f0"}, "f3");
  for (int i = 0; i < 150; ++i) {
    const std::size_t width = 4 + random() % 9;
    const std::string text = random_csv(random, width);
    InputSettings settings;
    settings.record_bytes_max = random() % 4 == 0 ? 20 + random() % 100 : 1 << 20;
    const Twin twin = twin_rows(text, width, settings.record_bytes_max);
    for (const std::string& stored : {text, tests::gzip(text), tests::zstd(text)}) {
      settings.files = {folder.write("random", stored)};
      expect_like_twin(read_all(settings, schema, 1 + random() % 300), twin);
    }
  }
}

TEST(CsvProperty, FromAnyOrdinalTheRestIsTheSame) {
  Random random(32);
  const tests::TemporaryFolder folder;
  const record::Schema schema = columns({"f1", "f0"}, "f3");
  for (int i = 0; i < 60; ++i) {
    InputSettings settings{.files = {folder.write("random", random_csv(random, 5))}};
    const record::RowBatch whole = read_all(settings, schema);
    settings.from = random() % (whole.count() + 2);
    const record::RowBatch rest = read_all(settings, schema);
    const auto skipped = static_cast<std::ptrdiff_t>(std::min<std::size_t>(settings.from, whole.count()));
    EXPECT_EQ(rest.next, std::vector<std::uint64_t>(whole.next.begin() + skipped, whole.next.end()));
    EXPECT_EQ(rest.y, std::vector<double>(whole.y.begin() + skipped, whole.y.end()));
    EXPECT_EQ(count_records(settings), whole.count());
  }
}

// A pipe may give its bytes in pieces of any size, down to one byte at a time; the rows must not depend on it.
TEST(CsvProperty, APipeInAnyPiecesGivesTheSameRows) {
  Random random(33);
  const tests::TemporaryFolder folder;
  const record::Schema schema = columns({"f1", "f0"}, "f3");
  const std::string pipe = (folder.path() / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (int i = 0; i < 12; ++i) {
    const std::string text = random_csv(random, 5);
    const std::string stored = i % 3 == 0 ? text : i % 3 == 1 ? tests::gzip(text) : tests::zstd(text);
    const std::size_t largest = i % 4 == 0 ? 1 : 1 + random() % 5000;
    std::thread writer([&, seed = random()] {
      Random sizes(seed);
      const int descriptor = open(pipe.c_str(), O_WRONLY);
      for (std::size_t at = 0; at < stored.size();) {
        const std::size_t bytes = std::min(stored.size() - at, 1 + sizes() % largest);
        const ssize_t written = write(descriptor, stored.data() + at, bytes);
        if (written <= 0) break;
        at += static_cast<std::size_t>(written);
      }
      close(descriptor);
    });
    const auto reader = open_reader({.files = {pipe}}, schema);
    EXPECT_FALSE(reader->bytes_total().has_value());
    expect_like_twin(read_all(*reader, 1 + random() % 300), twin_rows(text, 5, 1 << 20));
    writer.join();
  }
}

// JSON lines that hold the same numbers as the CSV file give the same rows.
TEST(JsonProperty, ObjectsWithTheFieldsOfARowGiveThatRow) {
  Random random(34);
  const tests::TemporaryFolder folder;
  std::string csv = "a,b,c\n", json;
  for (int i = 0; i < 2000; ++i) {
    const std::string a = std::to_string(random() % 1000) + "." + std::to_string(random());
    const std::string b = std::to_string(random());
    const std::string c = std::to_string(-1 - static_cast<int>(random() % 9)) + "e-" + std::to_string(random() % 30);
    csv += a + "," + b + "," + c + "\n";
    const std::string members[] = {"\"a\":" + a, "\"b\": \"" + b + "\"", " \"c\" :" + c};
    const std::size_t first = random() % 3;
    json +=
        "{" + members[first] + "," + members[(first + 1) % 3] + ",\"more\":[{}]," + members[(first + 2) % 3] + "}\n";
  }
  const record::Schema schema = columns({"a", "b"}, "c");
  const auto expected = read_all({.files = {folder.write("a.csv", csv)}}, schema);
  const auto actual = read_all({.files = {folder.write("a.json", json)}, .format = Format::json_lines}, schema);
  EXPECT_TRUE(expected.rejects.empty());
  EXPECT_TRUE(actual.rejects.empty());
  EXPECT_EQ(actual.x, expected.x);
  EXPECT_EQ(actual.y, expected.y);
}

}  // namespace
}  // namespace nustream::decode
