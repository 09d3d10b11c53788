// A report as a line, lines that are no reports, and the ids that were counted.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "local/id_set.h"
#include "local/report.h"
#include "local_world.h"

namespace nustream::tests {
namespace {

using local::Reject;

class LocalReport : public ::testing::Test {
 protected:
  const LocalWorld world{1};
  const local::Settings settings = local::read_settings(world.config(), {});
  const inference::LocalMechanism mechanism = local::make_mechanism(settings);
  const local::ReportFormat format{settings, mechanism};
  local::ReportReader reader{format};
  const std::vector<std::int64_t> numbers{1, -2, 3, 40'000'000'000, -5};
  const local::ReportId id{1, 2, 3, 0xff};

  [[nodiscard]] std::string line() const { return format.encode(id, numbers); }
  /// The line in which the first `from` is replaced by `to`.
  [[nodiscard]] std::string with(const std::string& from, const std::string& to) const {
    std::string text = line();
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }
};

TEST_F(LocalReport, IsALineOfJson) {
  EXPECT_EQ(line(), fmt::format("{{\"format\":1,\"stream\":\"survey\",\"mechanism\":\"{}\","
                                "\"id\":\"010203ff000000000000000000000000\","
                                "\"spacing\":[2.3283064365386963e-10,1.1641532182693481e-10],"
                                "\"xx\":[1,-2,3],\"xy\":[40000000000,-5]}}",
                                local::mechanism_digest(settings)));
  EXPECT_LT(line().size(), format.line_bytes_max());
}

TEST_F(LocalReport, ComesBackAsItWas) {
  ASSERT_EQ(reader.read(line()), Reject::none);
  EXPECT_EQ(reader.id(), id);
  EXPECT_EQ((std::vector<std::int64_t>(reader.numbers().begin(), reader.numbers().end())), numbers);
  // A line may end with a newline, have its members in another order, and hold white space.
  EXPECT_EQ(reader.read(line() + "\r\n"), Reject::none);
  const std::string moved = " {\"format\" : 1, " + line().substr(line().find("\"mechanism\""));
  EXPECT_EQ(reader.read(moved.substr(0, moved.size() - 1) + ",\"stream\":\"survey\"}"), Reject::none);
}

TEST_F(LocalReport, AnythingElseIsRejectedWithItsReason) {
  const std::vector<std::pair<std::string, Reject>> lines{
      {"", Reject::not_json},
      {"\n", Reject::not_json},
      {"[1,2]", Reject::not_json},
      {"5", Reject::not_json},
      {line() + "x", Reject::not_json},
      {line().substr(0, line().size() - 1), Reject::not_json},
      {with("1,-2,3", "1,-2,NaN"), Reject::not_json},
      {with("1,-2,3", "1,-2,Infinity"), Reject::not_json},
      {with("1,-2,3", "1,-2,1e999"), Reject::not_json},
      {with("1,-2,3", "1,-2,99999999999999999999999999"), Reject::not_json},
      {std::string("\xff\xfe\x00", 3), Reject::not_json},
      {std::string(format.line_bytes_max() + 1, ' '), Reject::too_long},
      {"{}", Reject::members},
      {with("\"format\":1,", ""), Reject::members},
      {with("\"format\":1,", "\"format\":1,\"format\":1,"), Reject::members},
      {with("\"format\":1,", "\"format\":1,\"extra\":1,"), Reject::members},
      {with("\"format\":1", "\"format\":\"1\""), Reject::members},
      {with("\"format\":1", "\"format\":2"), Reject::other_format},
      {with("survey", "surveys"), Reject::other_stream},
      {with("\"mechanism\":\"", "\"mechanism\":\"0"), Reject::other_mechanism},
      {with("\"spacing\":[2.", "\"spacing\":[1."), Reject::other_mechanism},
      {with("\"spacing\":[", "\"spacing\":[1.0,"), Reject::other_mechanism},
      {with("010203ff", "010203fg"), Reject::members},
      {with("010203ff", "010203FF"), Reject::members},
      {with("010203ff", "010203f"), Reject::members},
      {with("1,-2,3", "1,-2"), Reject::size},
      {with("1,-2,3", "1,-2,3,4"), Reject::size},
      {with("1,-2,3", ""), Reject::size},
      {with(",-5]", "]"), Reject::size},
      {with("1,-2,3", "1,-2,\"3\""), Reject::members},
      {with("1,-2,3", "1,-2,null"), Reject::members},
      {with("1,-2,3", "1,-2,[3]"), Reject::members},
      {with("1,-2,3", "1,-2,3.5"), Reject::range},
      {with("1,-2,3", "1,-2,9223372036854775807"), Reject::range},
      {with("1,-2,3", "1,-2,-9223372036854775808"), Reject::range},
      {with("1,-2,3", "1,-2,18446744073709551615"), Reject::range},
      {with(",-5]", fmt::format(",{}]", mechanism.cross_moment_limit() + 1)), Reject::range},
      {with(",-5]", fmt::format(",{}]", -mechanism.cross_moment_limit() - 1)), Reject::range},
  };
  for (const auto& [text, reason] : lines) {
    EXPECT_STREQ(name(reader.read(text)), name(reason)) << text.substr(0, 300);
  }
  EXPECT_EQ(reader.read(with(",-5]", fmt::format(",{}]", mechanism.cross_moment_limit()))), Reject::none);
  EXPECT_EQ(reader.read(line()), Reject::none) << "none of them spoils the next";
}

TEST_F(LocalReport, DeepNestingIsNoTrouble) {
  std::string deep;
  for (int i = 0; i < 150; ++i) deep += "{\"a\":[";
  EXPECT_EQ(reader.read(deep), Reject::not_json);
  EXPECT_EQ(reader.read(std::string(1000, '[')), Reject::not_json);
}

// Random damage never crashes the reader, and whatever is accepted has the right shape.
TEST_F(LocalReport, SurvivesRandomDamage) {
  std::mt19937_64 random(5);
  int taken = 0;
  for (int trial = 0; trial < 20'000; ++trial) {
    std::string text = line();
    for (auto left = 1 + random() % 3; left > 0; --left) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, 1 + random() % 5);
          break;
        default:
          text.insert(at, 1, "0123456789,-[]{}\":.eE"[random() % 21]);
      }
    }
    if (reader.read(text) != Reject::none) continue;
    ++taken;
    ASSERT_EQ(reader.numbers().size(), 5u);
    for (std::size_t i = 0; i < 5; ++i) {
      const std::int64_t limit = i < 3 ? mechanism.second_moment_limit() : mechanism.cross_moment_limit();
      ASSERT_LE(std::abs(reader.numbers()[i]), limit);
    }
  }
  EXPECT_GT(taken, 100) << "digits changed into digits";
}

TEST(IdSet, IsASet) {
  local::IdSet ids;
  std::set<local::IdSet::Id> expected;
  std::mt19937_64 random(6);
  EXPECT_TRUE(ids.insert({}));
  EXPECT_FALSE(ids.insert({}));
  expected.insert(local::IdSet::Id{});
  for (int i = 0; i < 50'000; ++i) {
    local::IdSet::Id id{};
    id[random() % 16] = static_cast<std::uint8_t>(random());
    id[random() % 16] = static_cast<std::uint8_t>(random());
    if (i % 2 == 0) {
      for (std::uint8_t& byte : id) byte = static_cast<std::uint8_t>(random());
    }
    ASSERT_EQ(ids.insert(id), expected.insert(id).second) << i;
  }
  EXPECT_EQ(ids.size(), expected.size());
  for (const auto& id : expected) ASSERT_FALSE(ids.insert(id));
}

}  // namespace
}  // namespace nustream::tests
