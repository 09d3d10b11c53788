// What earlier versions left in topics is continued: the records of tests/golden/topics, as each version wrote them,
// are put back into a real broker at their offsets.
//
// The version that is to be kept makes its own file once: NUSTREAM_KEEP_TOPICS=FILE names the file, and
// NUSTREAM_KEEP_TOPICS_BY the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "attach_promise.h"
#include "journal/state_record.h"
#include "release_text.h"
#include "secrets/fields.h"
#include "secrets/hex.h"
#include "secrets/seal.h"

namespace nustream::tests {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t read_then = 600;
constexpr std::size_t read_later = 1000;
const std::vector<std::string> outputs{"state", "ledger", "releases"};

std::string hex_of(const std::optional<std::string>& text) {
  if (!text) return "-";
  return 'x' + secrets::to_hex({reinterpret_cast<const std::uint8_t*>(text->data()), text->size()});
}

std::optional<std::string> text_of(const std::string& hex) {
  if (hex == "-") return std::nullopt;
  std::string text((hex.size() - 1) / 2, '\0');
  if (!secrets::from_hex(std::string_view(hex).substr(1),
                         {reinterpret_cast<std::uint8_t*>(text.data()), text.size()})) {
    throw std::runtime_error("no hexadecimal digits: " + hex);
  }
  return text;
}

/// A stream with one name, whatever its topics are called, and records of equal bytes and times.
class GoldenWorld : public AttachWorld {
 public:
  GoldenWorld() {
    change_config({{"name = \"" + name() + "\"", "name = \"golden\""},
                   {"topic = \"" + name() + "\"", "topic = \"" + name() + "\"\nstate_topic = \"" + name() +
                                                      ".state\"\nledger_topic = \"" + name() +
                                                      ".ledger\"\nrelease_topic = \"" + name() + ".releases\""}});
  }
  void write_part(std::size_t begin, std::size_t end) const {
    const std::vector<std::string> all = values(read_later);
    std::vector<StoredRecord> records;
    for (std::size_t i = begin; i < end; ++i) {
      records.push_back({.value = all[i], .milliseconds = 1'700'000'000'000 + static_cast<std::int64_t>(i)});
    }
    write_records(direct(), name(), 0, records);
  }
};

void keep(const std::string& file, const std::string& program) {
  const GoldenWorld world;
  world.write_part(0, read_then);
  const CommandResult result = run_command(program, world.attach({"--until-end", "--insecure-seed", "7"}));
  ASSERT_EQ(result.code, 0) << result.err;
  std::ofstream out(file);
  for (const std::string& topic : outputs) {
    for (const StoredRecord& record : world.committed(world.name() + '.' + topic)) {
      out << topic << ' ' << record.offset << ' ' << hex_of(record.key) << ' ' << hex_of(record.value) << '\n';
    }
  }
}

/// Puts records back. Those that follow each other were one transaction's, whose end took the offset behind them.
void put_back(const GoldenWorld& world, const std::string& topic, const std::vector<StoredRecord>& records) {
  const std::string name = world.name() + '.' + topic;
  const auto producer = ready_producer(world.direct(), name, {name});
  std::int64_t next = 0;
  begin(*producer);
  for (const StoredRecord& record : records) {
    for (; next < record.offset; ++next) {
      commit(*producer);
      begin(*producer);
    }
    ASSERT_EQ(next, record.offset) << name;
    kafka::OutgoingRecord outgoing{.topic = name};
    if (record.key) outgoing.key = *record.key;
    if (record.value) outgoing.value = *record.value;
    const auto error = producer->produce(outgoing);
    ASSERT_FALSE(error) << error->text;
    ++next;
  }
  commit(*producer);
}

std::map<std::string, std::vector<StoredRecord>> records_in(const fs::path& file) {
  std::map<std::string, std::vector<StoredRecord>> records;
  std::ifstream in(file);
  std::string topic;
  std::string key;
  std::string value;
  for (std::int64_t offset = 0; in >> topic >> offset >> key >> value;) {
    records[topic].push_back({.key = text_of(key), .value = text_of(value), .offset = offset});
  }
  return records;
}

std::vector<fs::path> kept_files() {
  std::vector<fs::path> files;
  for (const auto& file : fs::directory_iterator(fs::path(NUSTREAM_TESTS_DIR) / "golden/topics")) {
    files.push_back(file.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class GoldenTopics : public ::testing::TestWithParam<fs::path> {
 protected:
  GoldenTopics() {
    world_.write_part(0, read_then);
    const auto records = records_in(GetParam());
    for (const std::string& topic : outputs) put_back(world_, topic, records.at(topic));
    reset_group_offset(world_.direct(), "nustream-golden", world_.name(), 0, read_then);
    before_ = world_.releases();
  }

  GoldenWorld world_;
  std::vector<std::string> before_;
};

TEST_P(GoldenTopics, AreGoneOnWith) {
  ASSERT_FALSE(before_.empty());
  world_.write_part(read_then, read_later);
  const CommandResult result = world_.run({"--until-end", "--insecure-seed", "7"});
  ASSERT_EQ(result.code, 0) << result.err;
  const std::vector<std::string> after = world_.releases();
  ASSERT_GT(after.size(), before_.size());
  EXPECT_TRUE(std::equal(before_.begin(), before_.end(), after.begin())) << "what was published stays";
  EXPECT_EQ(estimates_in(joined(after)), estimates_in(replayed(world_, AttachWorld::values(read_later), 7)))
      << "as if one version had done it all";
  EXPECT_EQ(ledger_end(world_).steps, read_later);
}

TEST_P(GoldenTopics, AreInspectedAndBeginANewEpoch) {
  const CommandResult inspected =
      run_command(NUSTREAM_COMMAND, {"inspect", world_.config(), "--insecure-seed", "7", "--json"});
  ASSERT_EQ(inspected.code, 0) << inspected.err;
  EXPECT_THAT(inspected.out, ::testing::HasSubstr("\"steps\":" + std::to_string(read_then)));
  world_.write_part(read_then, read_later);
  // The settings are others, for which that version's state is not one to go on from.
  const CommandResult renewed =
      world_.run({"--until-end", "--insecure-seed", "7", "--new-epoch", "--set", "descent.clip_norm=2"});
  ASSERT_EQ(renewed.code, 0) << renewed.err;
  EXPECT_THAT(world_.releases().back(), ::testing::HasSubstr("\"epoch\":1"));
}

INSTANTIATE_TEST_SUITE_P(All, GoldenTopics, ::testing::ValuesIn(kept_files()),
                         [](const ::testing::TestParamInfo<fs::path>& test) {
                           std::string name = test.param.stem().string();
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

/// The format of a state's record, which is its first field.
std::uint32_t format_of(const std::string& record) {
  return secrets::FieldReader(record, "no record").integer<std::uint32_t>();
}

TEST(NewestTopics, HaveTheFormatThatIsWrittenNow) {
  std::uint32_t newest = 0;
  for (const fs::path& file : kept_files()) {
    const auto records = records_in(file);
    const std::string sealed = records.at("state").back().value.value();
    newest = std::max(newest, format_of(secrets::open(secrets::Keyring::insecure(7), sealed).plain));
  }
  EXPECT_EQ(newest, format_of(journal::encode_record({})));
}

TEST(KeepTopics, OfAVersion) {
  const char* file = std::getenv("NUSTREAM_KEEP_TOPICS");
  const char* program = std::getenv("NUSTREAM_KEEP_TOPICS_BY");
  if (file == nullptr || program == nullptr) GTEST_SKIP() << "nothing is to be kept";
  keep(file, program);
}

}  // namespace
}  // namespace nustream::tests
