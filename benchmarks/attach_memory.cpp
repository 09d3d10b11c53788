// Measures what a running service costs: memory over ten million records, processor time under load, at 1,000 records
// a second and idle, and how far it is behind. It also measures the memory of `nustream record` over the same topic.
// Usage: benchmark_attach_memory [JSON file]; RECORDS in the environment (default 10,000,000). Settings are the
// defaults.
//
// Most of what a service holds is what librdkafka fetched ahead. That is as much as queued.min.messages and
// queued.max.messages.kbytes allow where records arrive faster than they are taken. Otherwise it is little, with a
// peak where the broker was faster for a moment. So memory is measured where it is largest: with a release for every
// fifth record the service is slower than the broker, and the queue is full from the first records to the last.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <stdexcept>
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
constexpr std::chrono::milliseconds between_samples{100};
constexpr std::chrono::seconds idle_time{30};
constexpr std::chrono::seconds trickle_time{20};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The resident sizes until `records` are committed.
std::vector<Sample> sizes_until(const AttachedService& service, std::size_t records) {
  std::vector<Sample> samples;
  double done = 0;
  while (done < static_cast<double>(records)) {
    std::this_thread::sleep_for(between_samples);
    done = service.metric("nustream_records_total");
    samples.push_back({usage_of(service.pid()).resident_mib, done});
  }
  return samples;
}

void with_a_full_queue(Report& report, const std::string& config, std::vector<std::string> arguments,
                       std::size_t records) {
  arguments.insert(arguments.end(), {"--set", "release.every=5"});
  AttachedService service(config, std::move(arguments), true);
  const Clock::time_point start = Clock::now();
  add_growth(report, "attach, its queue full: resident", "MiB", sizes_until(service, records));
  report.add_figure("attach, its queue full: rate", static_cast<double>(records) / seconds_since(start), "records/s");
  service.stop();
}

void load(Report& report, const AttachedService& service, std::size_t records) {
  while (service.metric("nustream_records_total") == 0) std::this_thread::sleep_for(between_samples);
  const Clock::time_point start = Clock::now();
  const Usage before = usage_of(service.pid());
  const double done_before = service.metric("nustream_records_total");
  const std::vector<Sample> samples = sizes_until(service, records);
  const double done = samples.back().done;
  const double seconds = seconds_since(start);
  const double cpu = usage_of(service.pid()).cpu_seconds - before.cpu_seconds;
  double largest = 0;
  for (const Sample& sample : samples) largest = std::max(largest, sample.size);
  report.add_figure("attach under load: resident, largest", largest, "MiB");
  report.add_figure("attach under load: rate", (done - done_before) / seconds, "records/s");
  report.add_figure("attach under load: processor", cpu / seconds, "cores");
  report.add_figure("attach under load: processor time", 1e9 * cpu / (done - done_before), "ns/record");
}

/// The processor time that the service takes while `meanwhile` runs.
double cores_during(const AttachedService& service, const std::function<void()>& meanwhile) {
  const Usage before = usage_of(service.pid());
  const Clock::time_point start = Clock::now();
  meanwhile();
  return (usage_of(service.pid()).cpu_seconds - before.cpu_seconds) / seconds_since(start);
}

/// Measures the service while nothing comes, and then while little does.
void quiet(Report& report, const AttachedService& service, const std::string& brokers,
           const std::vector<std::string>& values) {
  std::this_thread::sleep_for(std::chrono::seconds(3));  // until the echo of the last commit is over
  report.add_figure("attach, lag when it has caught up", service.metric("nustream_consumer_lag_records"), "records");
  const double idle = cores_during(service, [] { std::this_thread::sleep_for(idle_time); });
  report.add_figure("attach idle: processor", idle, "cores", "below .01");
  Trickle trickle(brokers, "input");
  double lag_max = 0;
  double resident_max = 0;
  std::atomic<bool> over = false;
  std::thread sampler([&] {
    while (!over) {
      std::this_thread::sleep_for(std::chrono::seconds(1));
      lag_max = std::max(lag_max, service.metric("nustream_consumer_lag_records"));
      resident_max = std::max(resident_max, usage_of(service.pid()).resident_mib);
    }
  });
  const double cores = cores_during(service, [&] { trickle.run(values, trickle_time); });
  over = true;
  sampler.join();
  report.add_figure("attach at 1,000 records a second: processor", cores, "cores");
  report.add_figure("attach at 1,000 records a second: lag, largest of a sample a second", lag_max, "records");
  report.add_figure("attach at 1,000 records a second: resident", resident_max, "MiB");
}

/// Runs `nustream record` from the topic's beginning to its end.
void record_all(Report& report, const std::string& config, const tests::TemporaryFolder& folder) {
  tests::Command command(NUSTREAM_COMMAND,
                         {"record", config, "--to-folder", (folder.path() / "recorded").string(), "--until-end"});
  std::vector<Sample> samples;
  const Clock::time_point start = Clock::now();
  try {
    while (true) {
      samples.push_back({usage_of(command.pid()).resident_mib, seconds_since(start)});
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  } catch (const std::runtime_error&) {
    // The process has ended: a zombie has no size.
  }
  const tests::CommandResult result = command.wait();
  if (result.code != 0) throw std::runtime_error(result.err);
  add_growth(report, "record: resident", "MiB", samples);
  report.add_figure("record: time", samples.back().done, "s");
}

}  // namespace

int main(int argc, char** argv) {
  const char* asked = std::getenv("RECORDS");
  const std::size_t records = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 10'000'000;
  Report report("attach_memory", Pinning::none);
  tests::KafkaCluster cluster;
  const tests::TemporaryFolder folder;
  const std::vector<std::string> values = csv_values(block);
  tests::create_topic(cluster.direct(), "input", 1);
  for (std::size_t written = 0; written < records; written += block) {
    tests::write_values(cluster.direct(), "input", 0, values);
  }
  const std::size_t all = records / block * block;
  const std::vector<std::string> arguments{"--set", fmt::format("state.key_file=\"{}\"", make_key(folder)),
                                           "--set", "state.commit_seconds=1.0",
                                           "--set", "release.linger_seconds=0"};
  const auto stream = [&](const std::string& name) {
    make_topics(cluster.direct(), name);
    return write_settings(folder, cluster.bootstrap(), "input", name, 1 << 18, "");
  };
  with_a_full_queue(report, stream("full"), arguments, all);
  const std::string config = stream("memory");
  AttachedService service(config, arguments, true);
  load(report, service, all);
  quiet(report, service, cluster.direct(), values);
  service.stop();
  record_all(report, config, folder);
  return report.write(argc, argv);
}
