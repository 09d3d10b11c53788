// Runs an attached service for an hour at 1,000 records a second and watches its memory, its descriptors and the size
// of its state, which must not grow. Usage: benchmark_attach_hours [JSON file]; SECONDS in the environment (default
// 3600). It makes a release every 1,000 records and a commit every second, and only the operator's listener is open.
// Exits with 1 where the largest size in the last quarter exceeds that in the second quarter by more than 2%.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "attach_load.h"
#include "attach_process.h"
#include "attach_topic.h"
#include "harness.h"

namespace {

using namespace nustream;
using namespace nustream::benchmarks;
using Clock = std::chrono::steady_clock;

constexpr std::size_t block = 100'000;
constexpr std::chrono::seconds between_samples{5};

struct Watched {
  std::vector<Sample> resident;
  std::vector<Sample> descriptors;
  std::vector<Sample> state;
  double lag_max = 0;
};

void look(const AttachedService& service, const std::string& brokers, double seconds, Watched& watched) {
  const Usage usage = usage_of(service.pid());
  watched.resident.push_back({usage.resident_mib, seconds});
  watched.descriptors.push_back({static_cast<double>(usage.descriptors), seconds});
  // A compacted topic keeps every key's last record; the last record of all is the state.
  const auto states = tests::read_committed_records(brokers, "hours.state");
  if (!states.empty()) watched.state.push_back({static_cast<double>(states.back().value->size()), seconds});
  watched.lag_max = std::max(watched.lag_max, service.metric("nustream_consumer_lag_records"));
}

}  // namespace

int main(int argc, char** argv) {
  const char* asked = std::getenv("SECONDS");
  const std::chrono::seconds time(asked != nullptr ? std::strtoll(asked, nullptr, 10) : 3600);
  Report report("attach_hours", Pinning::none);
  tests::KafkaCluster cluster;
  const tests::TemporaryFolder folder;
  const std::vector<std::string> values = csv_values(block);
  tests::create_topic(cluster.direct(), "input", 1);
  make_topics(cluster.direct(), "hours");
  const std::string config = write_settings(folder, cluster.bootstrap(), "input", "hours", 1 << 18, "");
  AttachedService service(config,
                          {"--set", fmt::format("state.key_file=\"{}\"", make_key(folder)), "--set",
                           "state.commit_seconds=1.0", "--set", "release.linger_seconds=0"},
                          true);
  Trickle trickle(cluster.direct(), "input");
  const Usage before = usage_of(service.pid());
  std::atomic<bool> over = false;
  std::thread producer([&] {
    trickle.run(values, time);
    over = true;
  });
  Watched watched;
  const Clock::time_point start = Clock::now();
  while (!over) {
    std::this_thread::sleep_for(between_samples);
    look(service, cluster.direct(), std::chrono::duration<double>(Clock::now() - start).count(), watched);
  }
  producer.join();
  const double cpu = usage_of(service.pid()).cpu_seconds - before.cpu_seconds;
  const Clock::time_point deadline = Clock::now() + std::chrono::minutes(5);
  while (service.metric("nustream_records_total") < static_cast<double>(trickle.sent())) {
    if (Clock::now() > deadline) throw std::runtime_error("the service took no further records for five minutes");
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  report.add_figure("records", static_cast<double>(trickle.sent()), "records");
  report.add_figure("time", static_cast<double>(time.count()), "s");
  report.add_figure("processor", cpu / static_cast<double>(time.count()), "cores");
  report.add_figure("lag, largest of the samples", watched.lag_max, "records");
  bool flat = add_growth(report, "resident", "MiB", watched.resident);
  flat = add_growth(report, "descriptors", "", watched.descriptors) && flat;
  flat = add_growth(report, "state", "bytes", watched.state) && flat;
  service.stop();
  const int written = report.write(argc, argv);
  return flat ? written : 1;
}
