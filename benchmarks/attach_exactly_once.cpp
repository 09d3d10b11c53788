// Measures what "exactly once" costs. It compares `nustream attach` with a bare transactional loop that consumes the
// same topic in batches of the same size and commits the same bytes. Usage: benchmark_attach_exactly_once [JSON
// file]; ROUNDS in the environment (default 5), and BATCH for the one size of batches to measure. A broker runs on
// the same machine beside both, so nothing is pinned.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "attach_process.h"
#include "attach_topic.h"
#include "bare_kafka.h"
#include "harness.h"
#include "secrets/seal.h"

namespace {

using namespace nustream;
using namespace nustream::benchmarks;

struct Load {
  std::size_t batch;
  std::size_t records;  ///< enough for a run of some seconds
  std::vector<double> attach{};
  std::vector<double> bare{};
};

/// The time per record of a run, from the commit of its first batch to that of its last by the broker's clock. It
/// leaves out starting and stopping.
double nanoseconds_a_record(const std::string& brokers, const std::string& name) {
  std::optional<std::uint64_t> first;
  std::uint64_t last = 0;
  std::int64_t first_time = 0;
  std::int64_t last_time = 0;
  for (const tests::StoredRecord& state : tests::read_committed_records(brokers, name + ".state")) {
    last = secrets::read_identity(*state.value).steps.value();  // a step takes one record
    last_time = state.milliseconds;
    if (first || last == 0) continue;  // the lane's first state is from before any step
    first = last;
    first_time = last_time;
  }
  return static_cast<double>(last_time - first_time) * 1e6 / static_cast<double>(last - first.value());
}

/// There is at least one release in each batch, and one every thousand steps.
std::size_t releases_of(const Load& load) {
  return std::max<std::size_t>(1, load.batch / 1'000);
}

class Bench {
 public:
  /// Runs attach, and returns the name of the stream.
  std::string attach(const Load& load, double linger_seconds) {
    const std::string name = fresh("attach");
    const std::string config = write_settings(folder_, cluster_.bootstrap(), "input", name, load.batch,
                                              fmt::format("stop = \"{}\"", load.records));
    AttachedService service(config,
                            {"--set", fmt::format("state.key_file=\"{}\"", key_), "--set",
                             fmt::format("release.every={}", load.batch / releases_of(load)), "--set",
                             fmt::format("release.linger_seconds={}", linger_seconds)},
                            false);
    service.wait();
    return name;
  }
  std::string bare(const Load& load, const TransactionSize& size) {
    const std::string name = fresh("bare");
    consume_produce_commit(cluster_.bootstrap(), "input", name, load.records, load.batch, size);
    return name;
  }
  void write(const std::vector<std::string>& values) {
    tests::create_topic(cluster_.direct(), "input", 1);
    tests::write_values(cluster_.direct(), "input", 0, values);
  }
  [[nodiscard]] std::string broker() const { return cluster_.direct(); }

 private:
  std::string fresh(const char* what) {
    const std::string name = fmt::format("{}-{}", what, ++runs_);
    make_topics(cluster_.direct(), name);
    return name;
  }

  tests::KafkaCluster cluster_;
  tests::TemporaryFolder folder_;
  std::string key_ = make_key(folder_);
  int runs_ = 0;
};

constexpr double never_alone = 3'600;

}  // namespace

int main(int argc, char** argv) {
  const char* asked = std::getenv("ROUNDS");
  const std::size_t rounds = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 5;
  std::vector<Load> loads{{1, 400}, {100, 40'000}, {1'000, 300'000}, {10'000, 1'500'000}, {50'000, 2'000'000}};
  if (const char* one = std::getenv("BATCH")) {
    const std::size_t batch = std::strtoull(one, nullptr, 10);
    std::erase_if(loads, [batch](const Load& load) { return load.batch != batch; });
  }
  std::vector<double> at_once;
  Report report("attach_exactly_once", Pinning::none);
  Bench bench;
  bench.write(csv_values(loads.back().records));
  for (std::size_t round = 0; round <= rounds; ++round) {
    for (Load& load : loads) {
      const std::string name = bench.attach(load, never_alone);
      TransactionSize size = size_written(bench.broker(), name);
      size.releases = releases_of(load);
      const std::string bare = bench.bare(load, size);
      if (round == 0) continue;  // the first round warms up
      load.attach.push_back(nanoseconds_a_record(bench.broker(), name));
      load.bare.push_back(nanoseconds_a_record(bench.broker(), bare));
      fmt::print(stderr, "round {}, batch {}: attach {:.0f} ns, bare {:.0f} ns a record\n", round, load.batch,
                 load.attach.back(), load.bare.back());
      if (load.batch != 10'000) continue;
      at_once.push_back(nanoseconds_a_record(bench.broker(), bench.attach(load, 0)));
    }
  }
  const std::string by_default = "attach, 10000 a batch, releases published at once";
  for (const Load& load : loads) {
    const std::string attach = fmt::format("attach, {} a batch", load.batch);
    const std::string bare = fmt::format("bare loop, {} a batch", load.batch);
    report.add({timing_of(attach, load.attach), timing_of(bare, load.bare)}, "record");
    report.add_ratio(fmt::format("attach over the bare loop, {} a batch", load.batch), attach, bare,
                     load.batch == 10'000 ? "at most 1.11 (a rate of .9)" : "");
  }
  if (!at_once.empty()) report.add({timing_of(by_default, at_once)}, "record");
  return report.write(argc, argv);
}
