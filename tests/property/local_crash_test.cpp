// Kept reports and running sums over a disk that loses power, kills the process, tears writes and fails syncs; each
// history follows from its seed.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "error.h"
#include "local/collector_folder.h"
#include "local/report_store.h"
#include "local_world.h"
#include "simulated_disk.h"

namespace nustream::tests {
namespace {

using journal::Disk;

Faults random_faults(std::mt19937_64& random, std::uint64_t calls) {
  const std::uint64_t at = 1 + random() % calls;
  switch (random() % 4) {
    case 0:
      return {};
    case 1:
      return {.fail_at = at};
    default:
      return {.crash_at = at};
  }
}

void end_process(std::mt19937_64& random, SimulatedDisk& disk) {
  if (random() % 2 == 0) {
    disk.lose_power();
  } else {
    disk.kill_process();
  }
}

// Every draw has bytes of its own: if the report of a record was shown and then drawn again, the record shows two
// reports.
class ReportHistory {
 public:
  explicit ReportHistory(std::uint64_t seed) : random_(seed), disk_(seed ^ 0x9e3779b97f4a7c15U) {}

  void play() {
    for (int life = 0; life < 8; ++life) {
      live(random_faults(random_, 14));
      if (::testing::Test::HasFailure()) return;
      end_process(random_, disk_);
    }
    live({});
  }

 private:
  void live(Faults faults) {
    disk_.start_process(faults);
    try {
      local::ReportStore store(disk_, "/r", "heading");
      for (auto batches = random_() % 5; batches > 0; --batches) {
        std::vector<std::uint64_t> records;
        for (auto left = random_() % 4; left > 0; --left) records.push_back(random_() % 40);
        for (const std::uint64_t record : records) {
          const local::RecordName name = local::name_of_position(record);
          if (!store.contains(name)) store.add(name, "report " + std::to_string(random_()));
        }
        store.commit();
        for (const std::uint64_t record : records) {
          const std::string report = store.report(local::name_of_position(record));
          const auto known = shown_.emplace(record, report).first;
          ASSERT_EQ(known->second, report) << "a record had two reports";
        }
      }
      for (const auto& [record, report] : shown_) {
        ASSERT_TRUE(store.contains(local::name_of_position(record))) << "a report that was shown is lost";
        ASSERT_EQ(store.report(local::name_of_position(record)), report);
      }
    } catch (const SimulatedCrash&) {
      ASSERT_NE(faults.crash_at, 0U);
    } catch (const Failure& failure) {
      ASSERT_EQ(failure.code(), Exit::io) << failure.what();
      ASSERT_NE(faults.fail_at, 0U);
    }
  }

  std::mt19937_64 random_;
  SimulatedDisk disk_;
  std::map<std::uint64_t, std::string> shown_;
};

TEST(LocalCrash, NoRecordEverHasTwoReports) {
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    SCOPED_TRACE(seed);
    ReportHistory(seed).play();
    if (HasFailure()) return;
  }
}

const local::Settings& settings_of_one_feature() {
  static const local::Settings settings = [] {
    const LocalWorld world(0);
    return local::read_settings(world.one_feature(), {});
  }();
  return settings;
}

const local::ReportFormat& format_of_one_feature() {
  static const local::ReportFormat format(settings_of_one_feature(),
                                          local::make_mechanism(settings_of_one_feature()));
  return format;
}

// Senders repeat their reports until they are counted: in the end each report has to be in the sums once.
class SumsHistory {
 public:
  explicit SumsHistory(std::uint64_t seed) : random_(seed), disk_(seed ^ 0x9e3779b97f4a7c15U) {}

  void play() {
    for (int life = 0; life < 8; ++life) {
      live(random_faults(random_, 24));
      if (::testing::Test::HasFailure()) return;
      end_process(random_, disk_);
    }
    disk_.start_process({});
    {
      local::CollectorFolder folder(disk_, "/s", settings_, format_);
      check(folder);
      for (std::uint64_t number = 0; number < all; ++number)
        static_cast<void>(folder.add(id(number), numbers(number)));
      positions_.emplace(folder.sums().sums()[0].low, folder.position("t", 0).value_or(0));
      folder.commit();
    }
    disk_.lose_power();
    disk_.start_process({});
    const local::CollectorFolder folder(disk_, "/s", settings_, format_);
    check(folder);
    ASSERT_EQ(folder.sums().reports(), all);
  }

 private:
  static constexpr std::uint64_t all = 60;

  /// A report that can be told apart in the sums: its first number is 2^number.
  static std::vector<std::int64_t> numbers(std::uint64_t number) {
    return {std::int64_t{1} << number, -static_cast<std::int64_t>(number)};
  }
  static local::ReportId id(std::uint64_t number) {
    local::ReportId id{};
    id[0] = static_cast<std::uint8_t>(number);
    return id;
  }

  void check(const local::CollectorFolder& folder) {
    const inference::LocalCollector& sums = folder.sums();
    const std::uint64_t counted =
        // The low word has a bit for each report: a report that was counted twice would show as a carry.
        sums.sums()[0].low;
    ASSERT_EQ(static_cast<std::uint64_t>(__builtin_popcountll(counted)), sums.reports());
    for (const std::uint64_t number : committed_) ASSERT_NE(counted >> number & 1, 0U) << "a counted report is lost";
    // The position belongs to the sums: it has to be one that was given to a commit of exactly these reports.
    ASSERT_TRUE(positions_.contains({counted, folder.position("t", 0).value_or(0)})) << "of another commit";
  }

  void live(Faults faults) {
    disk_.start_process(faults);
    try {
      local::CollectorFolder folder(disk_, "/s", settings_, format_);
      check(folder);
      for (auto batches = random_() % 4; batches > 0; --batches) {
        std::set<std::uint64_t> batch;
        for (auto left = random_() % 5; left > 0; --left) batch.insert(random_() % (random_() % 2 == 0 ? 6 : all));
        for (const std::uint64_t number : batch) {
          const bool known = (folder.sums().sums()[0].low >> number & 1) != 0;
          ASSERT_EQ(folder.add(id(number), numbers(number)), !known);
        }
        // Every attempt has a position of its own, in case this attempt is the one that comes through.
        if (!batch.empty() && random_() % 2 == 0) folder.set_position("t", 0, ++position_);
        positions_.emplace(folder.sums().sums()[0].low, folder.position("t", 0).value_or(0));
        folder.commit();
        committed_.insert(batch.begin(), batch.end());
      }
    } catch (const SimulatedCrash&) {
      ASSERT_NE(faults.crash_at, 0U);
    } catch (const Failure& failure) {
      ASSERT_EQ(failure.code(), Exit::io) << failure.what();
      ASSERT_NE(faults.fail_at, 0U);
    }
  }

  std::mt19937_64 random_;
  SimulatedDisk disk_;
  const local::Settings& settings_ = settings_of_one_feature();
  const local::ReportFormat& format_ = format_of_one_feature();
  std::set<std::uint64_t> committed_;  ///< the reports whose commit returned
  /// Every position, with the sums that it was committed with.
  std::set<std::pair<std::uint64_t, std::uint64_t>> positions_{{0, 0}};
  std::uint64_t position_ = 0;
};

TEST(LocalCrash, EveryReportIsCountedOnce) {
  for (std::uint64_t seed = 1; seed <= 10'000; ++seed) {
    SCOPED_TRACE(seed);
    SumsHistory(seed).play();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace nustream::tests
