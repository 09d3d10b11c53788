// Measures how long a record waits until a reader of committed records has the release of its step. It compares
// `nustream attach` with bare transactional echoes (consume, produce, commit), each at 1,000 records a second and
// with a release for every record.
//
// Batches close 20 ms after their first record, which is longer than two transactions take, and 5 ms after it, which
// is shorter than one. In the latter case the next batch is closed whenever a commit returns, and its releases wait
// for that batch's transaction. One echo writes releases alone; the other writes what attach writes in a transaction:
// state, ledger line and releases.
//
// Usage: benchmark_attach_latency [JSON file]; ROUNDS in the environment (default 5). A latency goes from the call
// that sends the record to the poll that gives its release, by one clock.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <vector>

#include "attach_process.h"
#include "attach_topic.h"
#include "bare_kafka.h"
#include "harness.h"

namespace {

using namespace nustream;
using namespace nustream::benchmarks;
using Clock = std::chrono::steady_clock;

constexpr std::size_t warm_up_records = 2'000;
constexpr std::size_t records = 12'000;
constexpr std::chrono::microseconds between_records{1'000};
constexpr double batch_times[] = {0.02, 0.005};
constexpr std::chrono::seconds patience{30};

/// Notes when each record was sent and when its release came. Record i is the one at offset i.
class Stopwatch {
 public:
  Stopwatch(const std::string& brokers, const std::string& input, const std::string& name)
      : input_(input),
        releases_(brokers, name + ".releases"),
        producer_(RD_KAFKA_PRODUCER,
                  {{"bootstrap.servers", brokers}, {"linger.ms", "0"}, {"socket.nagle.disable", "true"}}),
        sent_(records),
        came_(records),
        reader_([this] { read(); }) {}
  ~Stopwatch() {
    over_ = true;
    reader_.join();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  /// Sends the records at their pace, once the first one has come back. Returns the milliseconds of all after the
  /// warm-up.
  std::vector<double> run(const std::vector<std::string>& values) {
    send_record(0, values[0]);
    wait_for(1);
    const Clock::time_point start = Clock::now();
    for (std::size_t i = 1; i < records; ++i) {
      std::this_thread::sleep_until(start + i * between_records);
      send_record(i, values[i]);
    }
    wait_for(records);
    std::vector<double> milliseconds;
    for (std::size_t i = warm_up_records; i < records; ++i) {
      milliseconds.push_back(std::chrono::duration<double, std::milli>(came_[i] - sent_[i]).count());
    }
    return milliseconds;
  }

 private:
  void send_record(std::size_t i, const std::string& value) {
    sent_[i] = Clock::now();
    send(producer_.get(), input_, value);
    rd_kafka_poll(producer_.get(), 0);
  }

  void wait_for(std::size_t releases) const {
    const Clock::time_point deadline = Clock::now() + patience;
    while (count_ < releases) {
      if (Clock::now() > deadline) throw std::runtime_error("releases do not come");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  void read() {
    while (!over_) {
      rd_kafka_message_t* message = releases_.poll(50);
      if (message == nullptr) continue;
      if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        const Clock::time_point now = Clock::now();
        const std::uint64_t position =
            number_in({static_cast<const char*>(message->payload), message->len}, "position");
        if (position >= 1 && position <= records) came_[position - 1] = now;
        ++count_;
      }
      rd_kafka_message_destroy(message);
    }
  }

  std::string input_;
  BareConsumer releases_;
  tests::TestClient producer_;
  std::vector<Clock::time_point> sent_;
  std::vector<Clock::time_point> came_;
  std::atomic<std::size_t> count_ = 0;
  std::atomic<bool> over_ = false;
  std::thread reader_;  // the last member: its thread begins when the rest exists
};

/// A quantile of the milliseconds of one round.
double quantile(std::vector<double> values, double share) {
  const auto index = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + index, values.end());
  return values[static_cast<std::size_t>(index)];
}

/// Figures of one round, in milliseconds.
struct Round {
  double p50;
  double p99;
  double commit;  ///< mean time of a transaction
};

double median(const std::vector<Round>& rounds, double Round::*figure) {
  std::vector<double> values;
  for (const Round& round : rounds) values.push_back(round.*figure);
  return quantile(values, 0.5);
}

class Bench {
 public:
  explicit Bench(double batch_seconds) : batch_seconds_(batch_seconds) {}

  Round attach() {
    const std::string name = fresh("attach");
    const std::string config = write_settings(folder_, cluster_.bootstrap(), name, name, records, "");
    Stopwatch watch(cluster_.bootstrap(), name, name);
    AttachedService service(
        config,
        {"--set", fmt::format("state.key_file=\"{}\"", key_), "--set", "release.every=1", "--set",
         "release.linger_seconds=0", "--set", fmt::format("state.commit_seconds={}", batch_seconds_)},
        true);
    const std::vector<double> latencies = watch.run(values_);
    const double commits = service.metric("nustream_commit_seconds_count");
    const double seconds = service.metric("nustream_commit_seconds_sum");
    service.stop();
    size_ = size_written(cluster_.direct(), name);
    return {quantile(latencies, 0.5), quantile(latencies, 0.99), 1e3 * seconds / commits};
  }

  /// Must be called after attach(), whose sizes it uses.
  Round echo(bool with_state) {
    const std::string name = fresh("echo");
    TransactionSize size = size_;
    if (!with_state) size.state_bytes = size.ledger_bytes = 0;
    Stopwatch watch(cluster_.bootstrap(), name, name);
    std::atomic<bool> told_to_stop = false;
    std::vector<double> seconds;
    std::thread echoing([&] {
      seconds = benchmarks::echo(cluster_.bootstrap(), name, name, 1e3 * batch_seconds_, size, told_to_stop);
    });
    const std::vector<double> latencies = watch.run(values_);
    told_to_stop = true;
    echoing.join();
    const double sum = std::accumulate(seconds.begin(), seconds.end(), 0.0);
    return {quantile(latencies, 0.5), quantile(latencies, 0.99), 1e3 * sum / static_cast<double>(seconds.size())};
  }

 private:
  std::string fresh(const char* what) {
    const std::string name = fmt::format("{}-{}", what, ++runs_);
    tests::create_topic(cluster_.direct(), name, 1);
    make_topics(cluster_.direct(), name);
    return name;
  }

  double batch_seconds_;
  tests::KafkaCluster cluster_;
  tests::TemporaryFolder folder_;
  std::string key_ = make_key(folder_);
  std::vector<std::string> values_ = csv_values(records);
  TransactionSize size_{};
  int runs_ = 0;
};

// Runs rounds of the three in turn, and shows how much more attach takes, in units of its transactions.
void compare(double batch_seconds, std::size_t rounds, Report& report) {
  std::vector<Round> attach;
  std::vector<Round> echo;
  std::vector<Round> full_echo;
  Bench bench(batch_seconds);
  static_cast<void>(bench.attach());  // warms up
  for (std::size_t round = 0; round < rounds; ++round) {
    echo.push_back(bench.echo(false));
    full_echo.push_back(bench.echo(true));
    attach.push_back(bench.attach());
    for (const auto& [who, of] : {std::pair("echo", echo.back()), std::pair("full echo", full_echo.back()),
                                  std::pair("attach", attach.back())}) {
      fmt::print(stderr, "batches of {} ms, round {}, {}: p50 {:.1f}, p99 {:.1f}, transaction {:.1f} ms\n",
                 1e3 * batch_seconds, round, who, of.p50, of.p99, of.commit);
    }
  }
  const std::string suffix = fmt::format(", batches of {:g} ms", 1e3 * batch_seconds);
  const auto add = [&](const std::string& who, const std::vector<Round>& of) {
    report.add_figure(who + suffix + ", p50", median(of, &Round::p50), "ms");
    report.add_figure(who + suffix + ", p99", median(of, &Round::p99), "ms");
    report.add_figure(who + suffix + ", mean transaction", median(of, &Round::commit), "ms");
  };
  add("echo of releases alone", echo);
  add("echo of as many bytes as attach", full_echo);
  add("attach", attach);
  const auto excess = [&](const std::string& with, const std::vector<Round>& of) {
    for (const auto& [name, figure] : {std::pair("p50", &Round::p50), std::pair("p99", &Round::p99)}) {
      const double more = median(attach, figure) - median(of, figure);
      report.add_figure(fmt::format("attach less {}{}, {}", with, suffix, name),
                        more / median(attach, &Round::commit), "transactions of attach",
                        "at most 1: one more commit, the linger being 0");
    }
  };
  excess("echo of releases alone", echo);
  excess("echo of as many bytes as attach", full_echo);
}

}  // namespace

int main(int argc, char** argv) {
  const char* asked = std::getenv("ROUNDS");
  const std::size_t rounds = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 5;
  Report report("attach_latency", Pinning::none);
  for (const double seconds : batch_times) compare(seconds, rounds, report);
  return report.write(argc, argv);
}
