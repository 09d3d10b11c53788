// A table of users that fails, as one on disk may: what a batch changed stays whole, and a lane in the middle of its
// rows can be neither shown nor stepped any more, since nothing is charged for the steps that it took.
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "nustream/lane/lane.h"
#include "nustream/moments/lane.h"
#include "nustream/users/changes.h"
#include "nustream/users/table.h"
#include "support/moments_world.h"

namespace nustream::users {
namespace {

/// A table in memory whose look-ups fail once `left` of them were answered.
class FailingTable final : public Standings {
 public:
  explicit FailingTable(std::size_t left) : left_(left) {}
  void answer(std::size_t left) { left_ = left; }

  [[nodiscard]] std::size_t size() const noexcept override { return table_.size(); }
  [[nodiscard]] Standing find(const UserHash& user) const override { return entry_of(user).standing; }
  [[nodiscard]] Entry entry_of(const UserHash& user) const override {
    if (left_ == 0) throw std::runtime_error("the disk failed");
    --left_;
    return table_.entry_of(user);
  }
  void visit_part(unsigned part, const Visit& visit) const override { table_.visit_part(part, visit); }
  void take(std::span<const Change> changes, bool emptied, std::string_view mark) override {
    table_.take(changes, emptied, mark);
  }
  void put(std::span<const Entry> entries) override { table_.put(entries); }
  void clear() override { table_.clear(); }
  void change_all(const Carry& carry) override { table_.change_all(carry); }

 private:
  Table table_;
  mutable std::size_t left_;
};

UserHash hash_of(std::uint64_t user) {
  return {user * 0x9e3779b97f4a7c15, user};
}
record::RowUser row_of(std::uint64_t user) {
  return {hash_of(user).high, hash_of(user).low, 0};
}

Entry entry_of(std::uint64_t user) {
  Entry entry;
  entry.user = hash_of(user);
  entry.standing.count = 1;
  return entry;
}

TEST(ChangesOverAFailingTable, HoldNothingOfTheUserThatWasNotFound) {
  FailingTable table(0);
  Changes changes(table);
  EXPECT_THROW(changes.put(entry_of(1)), std::runtime_error);
  EXPECT_TRUE(changes.all().empty());
  table.answer(100);
  EXPECT_EQ(changes.find(hash_of(1)).count, 0U);
  changes.put(entry_of(2));
  EXPECT_EQ(changes.find(hash_of(1)).count, 0U) << "the entry of another user";
  changes.put(entry_of(1));
  ASSERT_EQ(changes.all().size(), 2U);
  EXPECT_EQ(changes.all()[0].entry.user, hash_of(2));
  changes.apply(table);
  EXPECT_EQ(table.size(), 2U);
}

/// A lane of one coefficient whose steps have two records each.
lane::Settings settings_of_steps() {
  return {.dimension = 1,
          .loss = {.kind = model::Loss::Kind::linear},
          .l2 = 0,
          .clip = ClipNorm{1},
          .schedule = descent::Schedule{descent::Constant{StepSize{.1}}},
          .projection = {},
          .averaging = {},
          .minibatch = 2,
          .release_every = 1,
          .start = {0},
          .users = Limits({}, Mass{4})};
}

TEST(LaneOverAFailingTable, EndsTheProcessRatherThanShowStepsThatAreNotCharged) {
  const std::vector<double> x(6, 1.0);
  const std::vector<double> y(6, 1.0);
  const std::vector<record::RowUser> users{row_of(1), row_of(2), row_of(3), row_of(4), row_of(5), row_of(6)};
  const std::vector<std::int64_t> noise(3);
  const noise::GridNoise of_steps{StepIndex{0}, 1, noise};
  const record::RowSlice rows{1, 6, x.data(), y.data(), nullptr, users.data()};
  lane::Lane lane(settings_of_steps(), noise::Grid{NoiseStddev{1e-4}, 1.0, ClipNorm{1}}, Position{0});
  FailingTable table(4);
  Changes changes(table);
  lane::Releases releases;
  EXPECT_NO_THROW(static_cast<void>(lane.encode()));
  EXPECT_THROW(lane.advance(rows, std::span(&of_steps, 1), releases, &changes), std::runtime_error);
  EXPECT_DEATH(static_cast<void>(lane.encode()), "ended by an exception");
  EXPECT_DEATH(lane.release_now(releases), "ended by an exception");
  EXPECT_DEATH(lane.advance(rows, std::span(&of_steps, 1), releases, &changes), "ended by an exception");
}

TEST(SumsOverAFailingTable, EndTheProcessRatherThanShowStepsThatAreNotCharged) {
  moments::Settings settings = tests::linear_settings(2, 3);
  settings.stages.resize(1);
  settings.mechanism.design.neighbours = {privacy::Adjacency::zero_out, false, true};
  settings.mechanism.users = Limits({}, Mass{4});
  tests::SumsWorld world = tests::sums_world(settings, 3, 5);
  for (std::size_t i = 0; i < world.rows.count(); ++i) world.rows.users.push_back(row_of(i + 1));
  std::vector<noise::GridNoise> noise;
  const std::vector<moments::Block> noised = moments::noised_blocks(settings.mechanism.design);
  for (std::size_t b = 0; b < noised.size(); ++b) {
    noise.push_back({StepIndex{0}, moments::entries(settings.mechanism.design, noised[b]), world.noise[b]});
  }
  moments::Lane lane(settings, Position{0});
  FailingTable table(8);
  Changes changes(table);
  moments::Releases releases;
  const auto advance = [&] { lane.advance(slice(world.rows, 0, world.rows.count()), noise, releases, &changes); };
  EXPECT_THROW(advance(), std::runtime_error);
  EXPECT_DEATH(static_cast<void>(lane.encode()), "ended by an exception");
  EXPECT_DEATH(lane.release_now(releases), "ended by an exception");
  EXPECT_DEATH(advance(), "ended by an exception");
}

}  // namespace
}  // namespace nustream::users
