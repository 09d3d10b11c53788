// The open batch, with rows, time, dead letters and noise from a script: when it closes, and what it then holds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "attach/backoff.h"
#include "attach/open_batch.h"
#include "config_reading.h"
#include "engine/release_encoder.h"

namespace nustream::attach {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A supply of noise that is zero, for as many steps as a test made ready.
class ScriptedNoise final : public engine::NoiseSupply {
 public:
  explicit ScriptedNoise(std::size_t dimension) : dimension_(dimension) {}
  std::span<const noise::GridNoise> take(std::size_t steps_max) override {
    const std::size_t steps = std::min(steps_max, ready);
    ready -= steps;
    units_.assign(steps * dimension_, 0);
    slice_ = {StepIndex{next_}, dimension_, units_};
    next_ += steps;
    return {&slice_, 1};
  }
  [[nodiscard]] journal::NoiseCheckpoints checkpoints() const override {
    return journal::NoiseCheckpoints(noise::Checkpoint{{{StepIndex{0}, {}}}, {static_cast<double>(next_)}});
  }

  std::size_t ready = std::numeric_limits<std::size_t>::max();

 private:
  std::size_t dimension_;
  std::uint64_t next_ = 0;
  std::vector<std::int64_t> units_;
  noise::GridNoise slice_{StepIndex{0}, 0, {}};
};

class OpenBatchOf : public ::testing::Test {
 protected:
  static constexpr std::uint64_t minibatch = 2;

  /// Opens a batch of `records_max` records at most, which releases after every step.
  void open(std::uint64_t records_max, std::optional<StepCount> limit = {}, std::size_t outbox_bytes_max = 1 << 20,
            bool writes_letters = true) {
    auto noise = std::make_unique<ScriptedNoise>(config_.descent.dimension);
    noise_ = noise.get();
    batch_ = std::make_unique<OpenBatch>(
        BatchLimits{records_max, outbox_bytes_max, 1'000, config_.descent.release_every, minibatch,
                    std::chrono::duration<double>(2.0), writes_letters, false, interval_},
        lane_, std::move(noise),
        engine::release_encoder(config_, mechanism_, {LaneId{0}, EpochId{0}, std::string(64, 'a'), false}), limit,
        StepCount{0}, now_);
  }
  /// Lets records arrive; the records whose numbers are in `unusable` cannot be used.
  void arrive(std::size_t count, const std::vector<std::size_t>& unusable = {}) {
    rows_.dimension = config_.descent.dimension;
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_bad = std::find(unusable.begin(), unusable.end(), i) != unusable.end();
      if (is_bad) rows_.rejects.push_back({Position{arrived_}, "column 'x' is missing"});
      rows_.x.insert(rows_.x.end(), rows_.dimension, is_bad ? 0.0 : 0.1);
      rows_.y.push_back(is_bad ? 0.0 : 1.0);
      rows_.next.push_back(++arrived_);
    }
  }
  void step() {
    batch_->step(
        rows_,
        [this](std::size_t rejects) {
          asked_letters_ += rejects;
          rejects -= std::min(rejects, std::exchange(without_letter_, 0));
          const journal::DeadLetter letter{Position{0}, "column 'x' is missing", {}, {}, {}};
          return std::vector(rejects, letter);
        },
        now_);
  }
  [[nodiscard]] static std::ptrdiff_t lines(const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  }

  config::Config config_ = config::read({"descent.minibatch=2", "release.every=1"});
  config::Mechanism mechanism_ = config::make_mechanism(config_, privacy::Participation::once());
  engine::Estimator lane_ = engine::first_estimator(config_, mechanism_, Position{0});
  OpenBatch::Time now_{std::chrono::hours(1)};
  record::RowBatch rows_;
  std::uint64_t arrived_ = 0;
  std::size_t asked_letters_ = 0;
  std::size_t without_letter_ = 0;
  std::chrono::duration<double> interval_{0};
  ScriptedNoise* noise_ = nullptr;
  std::unique_ptr<OpenBatch> batch_;
};

TEST_F(OpenBatchOf, WholeMinibatchesAloneAreStepped) {
  open(100);
  EXPECT_TRUE(batch_->is_empty());
  arrive(5);
  step();
  EXPECT_EQ(rows_.count(), 1U);
  EXPECT_EQ(lane_.steps(), StepCount{2});
  EXPECT_FALSE(batch_->is_empty());
  const ClosedBatch closed = batch_->close(now_);
  EXPECT_EQ(closed.figures.records, 4U);
  EXPECT_EQ(lines(closed.content.outbox), 2);
  EXPECT_EQ(closed.content.released, StepCount{2});
  EXPECT_TRUE(batch_->is_empty());
}

TEST_F(OpenBatchOf, ClosesByItsNumberOfRecordsAtAWholeMinibatch) {
  open(5);  // room for two minibatches
  EXPECT_EQ(batch_->room(), 4U);
  arrive(9);
  step();
  EXPECT_EQ(batch_->room(), 0U);
  EXPECT_EQ(rows_.count(), 5U);
  EXPECT_TRUE(batch_->is_due(now_));
  static_cast<void>(batch_->close(now_));
  EXPECT_EQ(batch_->room(), 4U);
  EXPECT_FALSE(batch_->is_due(now_ + seconds(100))) << "an empty batch is never due";
}

TEST_F(OpenBatchOf, ClosesByTheBytesThatItsReleasesMayTake) {
  open(100, std::nullopt, 3'500);  // room for three releases of at most 1000 bytes
  EXPECT_EQ(batch_->room(), 6U);
  arrive(100);
  step();
  EXPECT_EQ(batch_->room(), 0U);
  const ClosedBatch closed = batch_->close(now_);
  EXPECT_LE(closed.content.outbox.size(), 3'500U);
  EXPECT_GE(lines(closed.content.outbox), 3);
}

TEST_F(OpenBatchOf, ClosesByTimeFromItsFirstRecordOn) {
  open(100);
  now_ += seconds(50);
  EXPECT_EQ(batch_->closes_at(), std::nullopt);
  arrive(2);
  step();
  EXPECT_EQ(batch_->closes_at(), now_ + seconds(2));
  now_ += milliseconds(1'999);
  arrive(2);
  step();  // another step does not put the time off
  EXPECT_FALSE(batch_->is_due(now_));
  now_ += milliseconds(1);
  EXPECT_TRUE(batch_->is_due(now_));
  const ClosedBatch closed = batch_->close(now_);
  EXPECT_EQ(closed.figures.seconds, 2.0);
  EXPECT_EQ(closed.closed, now_);
  EXPECT_EQ(batch_->closes_at(), std::nullopt);
}

TEST_F(OpenBatchOf, WaitsForItsNoiseAndLosesNoRecord) {
  open(100);
  noise_->ready = 1;
  arrive(6);
  step();
  EXPECT_EQ(lane_.steps(), StepCount{1});
  EXPECT_EQ(rows_.count(), 4U);
  noise_->ready = 10;
  step();
  EXPECT_EQ(lane_.steps(), StepCount{3});
  EXPECT_EQ(batch_->close(now_).content.noise.stages.at(0).memory.at(0), 3.0);
}

TEST_F(OpenBatchOf, StopsBeforeTheLimitIsCrossed) {
  open(100, StepCount{2});
  arrive(10);
  step();
  EXPECT_EQ(lane_.steps(), StepCount{2});
  EXPECT_TRUE(batch_->limit_reached());
  EXPECT_TRUE(batch_->is_due(now_));
  EXPECT_EQ(rows_.count(), 6U);
  step();
  EXPECT_EQ(lane_.steps(), StepCount{2});
}

TEST_F(OpenBatchOf, HoldsTheLettersAndFiguresOfItsOwnRejectsAlone) {
  open(4);
  arrive(8, {1, 2, 7});
  without_letter_ = 1;  // nothing of the first record fits into a dead letter
  step();
  const ClosedBatch first = batch_->close(now_);
  EXPECT_EQ(first.rejects, 2U);
  EXPECT_EQ(first.content.dead_letters.size(), 1U);
  EXPECT_EQ(first.figures.letters_lost, 1U);
  EXPECT_EQ(first.figures.rejected[static_cast<std::size_t>(serve::RejectReason::unusable_field)], 2U);
  step();
  const ClosedBatch second = batch_->close(now_);
  EXPECT_EQ(second.rejects, 1U);
  EXPECT_EQ(second.content.dead_letters.size(), 1U);
  EXPECT_EQ(second.figures.letters_lost, 0U);
  EXPECT_EQ(first.figures.tally.records, 4U);
  EXPECT_EQ(first.figures.tally.gradients, 2U) << "of usable records";
  EXPECT_EQ(first.figures.tally.reasons.at("column 'x' is missing").count, 2U);
  EXPECT_EQ(first.figures.tally.reasons.at("column 'x' is missing").first, Position{1});
  EXPECT_EQ(second.figures.tally.rejected, 1U);
  EXPECT_EQ(second.figures.tally.reasons.at("column 'x' is missing").first, Position{7});
  EXPECT_EQ(asked_letters_, 3U);
  EXPECT_EQ(lane_.steps(), StepCount{4}) << "an unusable record takes its step";
}

TEST_F(OpenBatchOf, AsksForNoLettersWithoutATopicForThem) {
  open(4, std::nullopt, 1 << 20, false);
  arrive(4, {0});
  step();
  const ClosedBatch closed = batch_->close(now_);
  EXPECT_EQ(closed.rejects, 1U);
  EXPECT_EQ(closed.figures.letters_lost, 0U);
  EXPECT_EQ(asked_letters_, 0U);
}

TEST_F(OpenBatchOf, EmptyOneKeepsWhatTheLaneHas) {
  open(4);
  arrive(4);
  step();
  static_cast<void>(batch_->close(now_));
  const ClosedBatch empty = batch_->close(now_ + seconds(9));
  EXPECT_EQ(empty.content.outbox, "");
  EXPECT_EQ(empty.content.released, StepCount{2});
  EXPECT_EQ(empty.figures.records, 0U);
  EXPECT_EQ(empty.figures.seconds, std::nullopt);
  EXPECT_EQ(empty.figures.clipped_ratio, std::nullopt);
}

TEST_F(OpenBatchOf, ExtraReleaseIsOfTheBatchAndNotARepetition) {
  open(100);
  arrive(2);
  step();
  batch_->release_now("shutdown");  // the last step was released already
  EXPECT_EQ(lines(batch_->close(now_).content.outbox), 1);
}

/// The step of each release in the text, and whether the clock brought the release.
std::vector<std::pair<std::string, bool>> releases_of(const std::string& text) {
  std::vector<std::pair<std::string, bool>> all;
  for (std::size_t at = text.find("\"step\":"); at != std::string::npos; at = text.find("\"step\":", at + 1)) {
    const std::string rest = text.substr(at + 7, text.find('\n', at) - at);
    all.emplace_back(rest.substr(0, rest.find(',')), rest.find("\"tag\":\"clock\"") != std::string::npos);
  }
  return all;
}

class ClockOf : public OpenBatchOf {
 protected:
  void open_with_clock(std::uint64_t every) {
    config_.descent.release_every = every;
    lane_ = engine::first_estimator(config_, mechanism_, Position{0});
    interval_ = seconds(10);
    open(100);
  }
};

TEST_F(ClockOf, BringsAReleaseWithTheFirstBatchThatClosesBehindIt) {
  open_with_clock(1'000);
  arrive(6);
  step();
  now_ += seconds(2);
  EXPECT_THAT(releases_of(batch_->close(now_).content.outbox), ::testing::IsEmpty());
  now_ += seconds(7);
  arrive(2);
  step();
  EXPECT_EQ(batch_->closes_at(), now_ + seconds(1)) << "the clock comes before the batch's age";
  EXPECT_FALSE(batch_->is_due(now_));
  now_ += seconds(1);
  EXPECT_TRUE(batch_->is_due(now_));
  const ClosedBatch closed = batch_->close(now_);
  EXPECT_THAT(releases_of(closed.content.outbox), ::testing::ElementsAre(std::pair(std::string("4"), true)));
  EXPECT_EQ(closed.content.released, StepCount{4}) << "of the state in front of which it is";
}

// Records that were stepped and committed long ago are shown, although no other record comes.
TEST_F(ClockOf, BringsAReleaseOfAnEmptyBatchAndDoesNotRepeatIt) {
  open_with_clock(1'000);
  EXPECT_FALSE(batch_->is_due(now_ + seconds(100))) << "without a step there is nothing to show";
  arrive(4);
  step();
  static_cast<void>(batch_->close(now_));
  EXPECT_TRUE(batch_->is_empty());
  EXPECT_EQ(batch_->closes_at(), now_ + seconds(10));
  now_ += seconds(10);
  ASSERT_TRUE(batch_->is_due(now_));
  EXPECT_THAT(releases_of(batch_->close(now_).content.outbox), ::testing::SizeIs(1));
  EXPECT_EQ(batch_->closes_at(), std::nullopt);
  EXPECT_FALSE(batch_->is_due(now_ + seconds(100)));
  EXPECT_THAT(releases_of(batch_->close(now_ + seconds(100)).content.outbox), ::testing::IsEmpty());
}

TEST_F(ClockOf, CountsFromTheLastReleaseByCadence) {
  open_with_clock(2);
  now_ += seconds(9);
  arrive(6);
  step();
  const auto by_cadence = releases_of(batch_->close(now_).content.outbox);
  EXPECT_THAT(by_cadence, ::testing::ElementsAre(std::pair(std::string("2"), false)));
  now_ += seconds(9);
  arrive(2);  // step 4 brings its own release by cadence
  step();
  EXPECT_THAT(releases_of(batch_->close(now_).content.outbox),
              ::testing::ElementsAre(std::pair(std::string("4"), false)));
}

// The time of a release depends on steps and on the clock alone: records that cannot be used are steps like any
// other.
TEST_F(ClockOf, DoesNotLookAtWhatRecordsHold) {
  for (const bool unusable : {false, true}) {
    open_with_clock(1'000);
    rows_.clear();
    arrived_ = 0;
    arrive(4, unusable ? std::vector<std::size_t>{0, 1, 2, 3} : std::vector<std::size_t>{});
    step();
    EXPECT_EQ(batch_->closes_at(), now_ + seconds(2));
    EXPECT_THAT(releases_of(batch_->close(now_ + seconds(10)).content.outbox),
                ::testing::ElementsAre(std::pair(std::string("2"), true)));
  }
}

TEST(BackoffOf, PausesGrowAndStartAnewAfterASuccess) {
  std::minstd_rand random(1);
  Backoff backoff;
  milliseconds most{50};
  for (int attempt = 0; attempt < 20; ++attempt) {
    const milliseconds pause = backoff.next_pause(random);
    EXPECT_GE(pause, most / 2);
    EXPECT_LE(pause, most);
    most = std::min(2 * most, milliseconds(5'000));
  }
  backoff.succeeded();
  EXPECT_LE(backoff.next_pause(random), milliseconds(50));
}

TEST(BackoffOf, GivesUpOnTroubleThatLastsAndNotOnTimeWithoutTrouble) {
  const Backoff::Time start{std::chrono::hours(1)};
  Backoff backoff;
  EXPECT_FALSE(backoff.gave_up(start, seconds(10)));
  EXPECT_FALSE(backoff.gave_up(start + seconds(10), seconds(10)));
  EXPECT_TRUE(backoff.gave_up(start + milliseconds(10'001), seconds(10)));
  backoff.succeeded();
  EXPECT_FALSE(backoff.gave_up(start + seconds(1'000), seconds(10)));
}

}  // namespace
}  // namespace nustream::attach
