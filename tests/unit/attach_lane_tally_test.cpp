// What a lane's log says of its records, and when it says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "attach/lane_tally.h"

namespace nustream::attach {
namespace {

const check::Clip two{"gradients", "descent.clip_norm", 2};

using std::chrono::minutes;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string look_command = "nustream check a.toml --data";

std::string said_by(const std::function<void()>& work) {
  ::testing::internal::CaptureStderr();
  work();
  return ::testing::internal::GetCapturedStderr();
}

record::RowBatch rows_of(std::size_t count, std::size_t unusable) {
  record::RowBatch rows;
  rows.dimension = 1;
  for (std::size_t i = 0; i < count; ++i) {
    rows.x.push_back(0);
    rows.y.push_back(0);
    rows.next.push_back(i + 1);
    if (i < unusable) rows.rejects.push_back({Position{i}, "column 'x': missing"});
  }
  return rows;
}

check::Tally batch_of(std::uint64_t records, std::uint64_t unusable, std::uint64_t clipped) {
  check::Tally batch;
  batch.records = records;
  batch.gradients = records - unusable;
  batch.clipped = clipped;
  const record::RowBatch rows = rows_of(unusable, unusable);
  batch.add(rows.rejects);
  return batch;
}

TEST(LaneTally, SaysAtOnceAndOnceThatTheFirstRecordsCannotBeUsed) {
  LaneTally tally(LaneId{3}, look_command);
  EXPECT_THAT(said_by([&] { tally.read(rows_of(0, 0), 0, two, {}); }), IsEmpty());
  EXPECT_THAT(
      said_by([&] { tally.read(rows_of(10, 9), 0, two, {}); }),
      AllOf(HasSubstr("nustream: warning: lane 3: operator only, not private: of the first 10 records 9 (90%)"),
            HasSubstr("column 'x': missing (record 0)")));
  EXPECT_THAT(said_by([&] { tally.read(rows_of(10, 10), 0, two, {}); }), IsEmpty());
}

TEST(LaneTally, LooksAtTheFirstHundredRecordsOncePerRecord) {
  LaneTally tally(LaneId{0}, look_command);
  record::RowBatch rows = rows_of(60, 0);
  EXPECT_THAT(said_by([&] { tally.read(rows, 0, two, {}); }), IsEmpty());
  // Twenty more records, the first five of them unusable: 5 of 80 is less than a tenth, and 11 of 90 is more.
  const auto add = [&](std::size_t count, std::size_t unusable) {
    for (std::size_t i = 0; i < count; ++i) {
      rows.x.push_back(0);
      rows.y.push_back(0);
      rows.next.push_back(rows.next.back() + 1);
      if (i < unusable) rows.rejects.push_back({Position{rows.next.back() - 1}, "column 'x': missing"});
    }
  };
  add(20, 5);
  EXPECT_THAT(said_by([&] { tally.read(rows, 60, two, {}); }), IsEmpty());
  add(10, 6);
  EXPECT_THAT(said_by([&] { tally.read(rows, 80, two, {}); }), HasSubstr("of the first 90 records 11 (12.2%)"));
  LaneTally quiet(LaneId{0}, look_command);
  const record::RowBatch good = rows_of(100, 0);
  EXPECT_THAT(said_by([&] {
                quiet.read(good, 0, two, {});
                quiet.read(rows_of(50, 50), 0, two, {});
              }),
              IsEmpty())
      << "a hundred were looked at";
}

TEST(LaneTally, SaysAtOnceAndOnceThatNearlyAllOfTheFirstGradientsAreClipped) {
  LaneTally tally(LaneId{0}, look_command);
  const auto all = [](const record::RowSlice& rows, std::size_t usable) {
    return check::ClipCount{usable, rows.count};
  };
  EXPECT_THAT(said_by([&] { tally.read(rows_of(4, 0), 0, two, all); }), IsEmpty()) << "too few to tell";
  EXPECT_THAT(said_by([&] { tally.read(rows_of(8, 0), 0, two, all); }),
              HasSubstr("lane 0: operator only, not private: of the first 12 gradients 12 (100%) are longer than "
                        "descent.clip_norm = 2 where the run begins"));
  EXPECT_THAT(said_by([&] { tally.read(rows_of(8, 0), 0, two, all); }), IsEmpty());
  LaneTally other(LaneId{0}, look_command);
  EXPECT_THAT(said_by([&] { other.read(rows_of(20, 0), 0, two, {}); }), IsEmpty()) << "it goes on";
}

record::RowBatch rows_of(const std::vector<double>& x) {
  record::RowBatch rows = rows_of(x.size(), 0);
  rows.x = x;
  return rows;
}

record::Schema schema_of_x() {
  record::Schema schema;
  schema.features.push_back({.name = "x", .first = {"x", record::Transform::identity, {}}, .second = {}});
  return schema;
}

TEST(LaneTally, SaysOnceWhatIsTheSameInTheFirstRecords) {
  const record::Schema schema = schema_of_x();
  LaneTally tally(LaneId{3}, look_command);
  const record::RowBatch rows = rows_of(std::vector<double>(99, 0.0));
  EXPECT_THAT(said_by([&] { tally.compare(rows, 0, schema); }), IsEmpty()) << "too few to tell";
  const std::string said =
      "nustream: warning: lane 3: operator only, not private: the first 100 usable records all "
      "have the same 'x': ";
  EXPECT_THAT(said_by([&] { tally.compare(rows, 98, schema); }), HasSubstr(said));
  EXPECT_THAT(said_by([&] { tally.compare(rows, 0, schema); }), IsEmpty());
  EXPECT_THAT(said_by([&] { tally.end(); }), IsEmpty());
  LaneTally ends(LaneId{0}, look_command);
  EXPECT_THAT(said_by([&] { ends.compare(rows, 60, schema); }), IsEmpty());
  EXPECT_THAT(said_by([&] { ends.end(); }), HasSubstr("the first 39 usable records all have the same 'x'"));
  std::vector<double> x(99, 0.0);
  x[70] = 1;
  LaneTally differ(LaneId{0}, look_command);
  EXPECT_THAT(said_by([&] {
                differ.compare(rows_of(x), 0, schema);
                differ.end();
              }),
              IsEmpty());
}

TEST(LaneTally, SaysHowManyRecordsWereBeyondTheLimitsOfTheirUsers) {
  LaneTally tally(LaneId{0}, look_command);
  check::Tally batch = batch_of(400, 0, 0);
  batch.gradients = 2;
  batch.of_users = true;
  batch.used_up = 398;
  tally.committed(batch);
  EXPECT_THAT(said_by([&] { tally.end(); }),
              HasSubstr("warning: lane 0: operator only, not private: 398 of 400 usable records (99.5%) counted for "
                        "nothing: the limits of their users were used up"));
}

TEST(LaneTally, SaysAtIntervalsWhatCameSinceTheLastLine) {
  LaneTally tally(LaneId{0}, look_command);
  const auto now = std::chrono::steady_clock::now();
  tally.committed(batch_of(100, 20, 10));
  EXPECT_THAT(said_by([&] { tally.tick(now + minutes(9)); }), IsEmpty());
  EXPECT_THAT(said_by([&] { tally.tick(now + minutes(11)); }),
              AllOf(HasSubstr("20 of 100 records (20%)"), HasSubstr("10 of 80 gradients (12.5%) were clipped")));
  EXPECT_THAT(said_by([&] { tally.tick(now + minutes(22)); }), IsEmpty()) << "nothing came since";
  tally.committed(batch_of(50, 0, 30));
  EXPECT_THAT(said_by([&] { tally.tick(now + minutes(33)); }),
              AllOf(HasSubstr("30 of 50 gradients (60%)"), Not(HasSubstr("could not be used"))));
}

TEST(LaneTally, SaysAtItsEndAndOnceWhatWasCountedInAll) {
  LaneTally tally(LaneId{0}, look_command);
  tally.committed(batch_of(100, 20, 10));
  tally.committed(batch_of(100, 0, 10));
  EXPECT_THAT(said_by([&] { tally.end(); }),
              AllOf(HasSubstr("warning: lane 0: operator only, not private: 20 of 200 records (10%)"),
                    HasSubstr(": nustream check a.toml --data shows more\n"),
                    HasSubstr("nustream: lane 0: operator only, not private: 20 of 180 gradients (11.1%)")));
  EXPECT_THAT(said_by([&] { tally.end(); }), IsEmpty());
}

TEST(LaneTally, HasNothingToSayWhereAllIsUsedAndNothingClipped) {
  LaneTally tally(LaneId{0}, look_command);
  tally.committed(batch_of(100, 0, 0));
  EXPECT_THAT(said_by([&] {
                tally.read(rows_of(10, 0), 0, two, [](const record::RowSlice&, std::size_t usable) {
                  return check::ClipCount{usable, 9};
                });
                tally.tick(std::chrono::steady_clock::now() + minutes(11));
                tally.end();
              }),
              IsEmpty());
}

}  // namespace
}  // namespace nustream::attach
