// Measures what the unit "user" costs an attached service, which writes one delta of the batch's users in each
// transaction. It compares the rate with that of a service without users over the same topic. It also measures how
// long a process that reads a lane's store of many users takes to rebuild the table from the topic. Usage:
// benchmark_attach_users [JSON file]. In the environment: RECORDS (8,000,000) and USERS (100,000 and then 1,000,000)
// of the rate, ROUNDS (3) of both in turns, and STORED (10,000,000) users of the store. A broker runs on the same
// machine, so nothing is pinned; the processor time of the service itself stands beside the rate. Exits with 1 where
// a bar is missed.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "attach_process.h"
#include "attach_topic.h"
#include "harness.h"

namespace {

using namespace nustream;
using namespace nustream::benchmarks;
using Clock = std::chrono::steady_clock;

constexpr std::size_t block = 100'000;
/// A transaction holds so many records, as in the fastest row of benchmark_attach_exactly_once. All counts of records
/// are multiples of it, so that the last batch is committed too.
constexpr std::size_t batch_records = 50'000;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The processor time of all children that have ended, user and system.
double processor_of_children() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Streams over topics of one broker.
class Streams {
 public:
  [[nodiscard]] const std::string& broker() const { return broker_; }

  /// Writes settings over `input`, by user or by record, with topics of their own. Returns the file's path.
  std::string add(const std::string& input, bool by_user) {
    const std::string name = "stream-" + std::to_string(++count_);
    make_topics(cluster_.direct(), name);
    tests::create_topic(cluster_.direct(), name + ".users", 1, {{"cleanup.policy", "compact"}});
    const std::string file = write_settings(folder_, cluster_.bootstrap(), input, name, batch_records, "");
    std::string text = tests::read_file(file);
    const auto change = [&](const std::string& before, const std::string& after) {
      text.replace(text.find(before), before.size(), after);
    };
    change("columns = [", "columns = [\"who\", ");
    change("[state]\n", "[state]\nkey_file = \"" + key_ + "\"\n");
    if (by_user)
      change("[privacy]\n", "[users]\nparticipations = 20\nmass = 8.0\n[privacy]\nunit = \"user\"\nuser = \"who\"\n");
    return folder_.write(name + ".toml", text);
  }

  /// Writes `count` values, each with its user in front.
  void write(const std::string& topic, std::size_t count, const std::function<std::uint64_t(std::size_t)>& user_of) {
    tests::create_topic(cluster_.direct(), topic, 1);
    const std::vector<std::string> rows = csv_values(block);
    std::vector<std::string> values(block);
    for (std::size_t written = 0; written < count; written += block) {
      for (std::size_t i = 0; i < block; ++i) values[i] = std::to_string(user_of(written + i)) + ',' + rows[i];
      tests::write_values(cluster_.direct(), topic, 0, values);
    }
  }

 private:
  tests::KafkaCluster cluster_;
  tests::TemporaryFolder folder_;
  std::string key_ = make_key(folder_);
  std::string broker_ = cluster_.bootstrap();
  int count_ = 0;
};

struct Speed {
  double rate;         ///< records a second
  double nanoseconds;  ///< of processor time a record
};

/// The speed from the first commit that is seen until `records` are committed.
Speed run_until(const AttachedService& service, double records) {
  double first = 0;
  while ((first = service.metric("nustream_records_total")) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const Clock::time_point start = Clock::now();
  const double before = usage_of(service.pid()).cpu_seconds;
  double done = first;
  while (done < records) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    done = service.metric("nustream_records_total");
  }
  return {(done - first) / seconds_since(start),
          1e9 * (usage_of(service.pid()).cpu_seconds - before) / (done - first)};
}

Speed best(const std::vector<Speed>& all) {
  Speed best = all.front();
  for (const Speed& speed : all) {
    best.rate = std::max(best.rate, speed.rate);
    best.nanoseconds = std::min(best.nanoseconds, speed.nanoseconds);
  }
  return best;
}

/// Measures both rates over a topic whose records belong to so many users, drawn at random.
void rates(Report& report, Streams& streams, std::size_t users) {
  const std::size_t records = asked("RECORDS", 8'000'000) / block * block;
  const std::string of = fmt::format("{} users: attach ", users);
  const std::string topic = fmt::format("input-{}", users);
  std::mt19937_64 random(1);
  streams.write(topic, records, [&](std::size_t) { return random() % users; });
  std::vector<Speed> by_record;
  std::vector<Speed> by_user;
  for (std::size_t round = 0; round < asked("ROUNDS", 3); ++round) {
    for (const bool is_by_user : {false, true}) {
      AttachedService service(streams.add(topic, is_by_user), {}, true);
      (is_by_user ? by_user : by_record).push_back(run_until(service, static_cast<double>(records)));
      service.stop();
    }
  }
  const Speed without = best(by_record);
  const Speed with = best(by_user);
  report.add_figure(of + "by record: rate", without.rate, "records/s");
  report.add_figure(of + "by user: rate", with.rate, "records/s");
  Bar bar{"at least .7"};
  bar.least = .7;
  report.add_judged(of + "by user over by record: rate", with.rate / without.rate, "ratio", bar);
  report.add_figure(of + "by record: processor time", without.nanoseconds, "ns/record");
  report.add_figure(of + "by user: processor time", with.nanoseconds, "ns/record");
  report.add_figure(of + "by record over by user: processor time", without.nanoseconds / with.nanoseconds, "ratio");
}

/// The most that is promised of up to ten million users. Of more users nothing is promised.
Bar at_most_for(std::size_t users, double most) {
  Bar bar{fmt::format("at most {} at 10,000,000 users", most)};
  if (users <= 10'000'000) bar.most = most;
  return bar;
}

void rebuild(Report& report, Streams& streams) {
  const std::size_t stored = asked("STORED", 10'000'000) / block * block;
  streams.write("everybody", stored, [](std::size_t i) { return i; });
  const std::string config = streams.add("everybody", true);
  {
    AttachedService service(config, {}, true);
    static_cast<void>(run_until(service, static_cast<double>(stored)));
    service.stop();
  }
  const double before = processor_of_children();
  const Clock::time_point start = Clock::now();
  const tests::CommandResult seen = tests::run_command(NUSTREAM_COMMAND, {"inspect", config, "--users", "--json"});
  if (seen.code != 0) throw std::runtime_error(seen.err);
  report.add_figure("users in the store", static_cast<double>(stored), "users");
  report.add_judged("rebuild of their table from the topic", seconds_since(start), "s", at_most_for(stored, 60));
  report.add_figure("its processor time", processor_of_children() - before, "s");
  report.add_judged("its largest memory", static_cast<double>(seen.resident_kib) / 1024, "MiB",
                    at_most_for(stored, 1536));
}

}  // namespace

int main(int argc, char** argv) {
  Report report("attach_users", Pinning::none);
  Streams streams;
  if (const std::size_t users = asked("USERS", 0); users != 0) {
    rates(report, streams, users);
  } else {
    // The table of the first fits into the processor's cache, and many of these users reach their limits. That of the
    // second does not, and every record changes it.
    for (const std::size_t some : {std::size_t{100'000}, std::size_t{1'000'000}}) rates(report, streams, some);
  }
  rebuild(report, streams);
  return report.write(argc, argv);
}
