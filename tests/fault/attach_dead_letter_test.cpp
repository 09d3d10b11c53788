// Records that cannot be used, and dead letters that cannot be written: no step is skipped, and no lane stops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "attach_promise.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

std::map<std::string, std::string> headers_of(const StoredRecord& record) {
  std::map<std::string, std::string> headers;
  for (const auto& [name, value] : record.headers) headers[name] = value.value_or("(null)");
  return headers;
}

std::vector<StoredRecord> bad_records() {
  std::vector<StoredRecord> records;
  for (const char* value : {"", "1", "1,2,3", "\"1,2", "abc,1", "1,nan", "1e999,1", "0x10,1", "1,2\n3,4"}) {
    records.push_back({.key = "k", .value = value, .headers = {{"source", "test"}}});
  }
  records.push_back({.key = "k", .value = std::string("1,\0002", 4)});
  records.push_back({.key = "tombstone"});
  records.push_back({.value = std::string(2'000'000 / 4, 'x')});  // longer than record_bytes_max below
  return records;
}

TEST(DeadLetters, HoldEachUnusableRecordWithItsReasonAndPlace) {
  const AttachWorld world;
  const std::vector<StoredRecord> bad = bad_records();
  write_records(world.direct(), world.name(), 0, bad);
  world.write(AttachWorld::values(90));
  const CommandResult result = world.run({"--until-end", "--set", "stream.record_bytes_max=100000"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(ledger_end(world).steps, bad.size() + 90) << "every record took its step";
  const auto letters = world.committed(world.name() + ".dead");
  ASSERT_EQ(letters.size(), bad.size());
  for (std::size_t i = 0; i < bad.size(); ++i) {
    const auto headers = headers_of(letters[i]);
    EXPECT_EQ(letters[i].key, bad[i].key) << i;
    EXPECT_EQ(headers.at("nustream.topic"), world.name());
    EXPECT_EQ(headers.at("nustream.partition"), "0");
    EXPECT_EQ(headers.at("nustream.offset"), std::to_string(i));
    EXPECT_FALSE(headers.at("nustream.reason").empty());
    EXPECT_GT(std::stoll(headers.at("nustream.time")), 1'600'000'000'000);
    if (!bad[i].headers.empty()) {
      EXPECT_EQ(headers.at("source"), "test");
    }
    if (bad[i].value && bad[i].value->size() < 1000) {
      EXPECT_EQ(letters[i].value, bad[i].value) << i;
    }
  }
  EXPECT_EQ(letters.back().value->size(), 65'536U) << "cut";
  EXPECT_FALSE(letters[bad.size() - 2].value.has_value()) << "a tombstone stays one";
}

// The topic takes nothing of that size: the letter keeps its reason and loses its bytes.
TEST(DeadLetters, ThatAreTooLargeForTheirTopicLoseTheirBytesAndNoStepIsLost) {
  const AttachWorld world;
  create_topic(world.direct(), world.name() + ".small", 1, {{"max.message.bytes", "2000"}});
  write_records(world.direct(), world.name(), 0, {{.value = std::string(30'000, 'x')}});
  const std::vector<std::string> values = AttachWorld::values(95);
  world.write(values);
  const std::vector<std::string> arguments{"--until-end", "--insecure-seed", "7", "--set",
                                           "kafka.dead_letter_topic=\"" + world.name() + ".small\""};
  const CommandResult result = world.run(arguments);
  ASSERT_EQ(result.code, 0) << result.err;
  const auto letters = world.committed(world.name() + ".small");
  ASSERT_EQ(letters.size(), 1U);
  EXPECT_FALSE(letters[0].value.has_value());
  EXPECT_THAT(headers_of(letters[0]).at("nustream.reason"), HasSubstr(""));
  EXPECT_EQ(ledger_end(world).steps, 96U) << result.err;
  std::vector<std::string> all{"unusable"};
  all.insert(all.end(), values.begin(), values.end());
  EXPECT_TRUE(joined(world.releases()) == replayed(world, all, 7)) << "the releases do not show it";
  expect_one_value_a_step(world.releases_uncommitted());
}

// Not even the reason fits (a transaction marker, of 78 bytes, just does): the letter is given up, the release is
// not.
TEST(DeadLetters, ThatCannotBeWrittenAtAllAreGivenUp) {
  const AttachWorld world;
  create_topic(world.direct(), world.name() + ".tiny", 1, {{"max.message.bytes", "150"}});
  world.write({"unusable"});
  world.write(AttachWorld::values(95));
  const CommandResult result =
      world.run({"--until-end", "--set", "kafka.dead_letter_topic=\"" + world.name() + ".tiny\"", "--set",
                 "release.outbox_bytes=100000"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(world.committed(world.name() + ".tiny").empty());
  EXPECT_EQ(ledger_end(world).steps, 96U) << result.err;
}

}  // namespace
}  // namespace nustream::tests
