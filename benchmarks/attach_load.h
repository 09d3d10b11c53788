// Sends records at a pace, and tells whether a size that is watched meanwhile stays the same.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "bare_kafka.h"
#include "harness.h"
#include "kafka_client.h"

namespace nustream::benchmarks {

/// Sends 1,000 records a second, one at a time, by the clock: it makes up for a pause of the machine.
class Trickle {
 public:
  Trickle(const std::string& brokers, const std::string& topic)
      : topic_(topic),
        client_(RD_KAFKA_PRODUCER, {{"bootstrap.servers", brokers}, {"socket.nagle.disable", "true"}}) {}

  void run(const std::vector<std::string>& values, std::chrono::seconds time) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    for (; Clock::now() - start < time; ++sent_) {
      send(client_.get(), topic_, values[sent_ % values.size()]);
      rd_kafka_poll(client_.get(), 0);
      std::this_thread::sleep_until(start + static_cast<std::int64_t>(sent_) * std::chrono::milliseconds(1));
    }
    rd_kafka_flush(client_.get(), 10'000);
  }
  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }

 private:
  std::string topic_;
  tests::TestClient client_;
  std::uint64_t sent_ = 0;
};

/// A size at a moment of the work, which is given in records done or in seconds.
struct Sample {
  double size;
  double done;
};

/// The largest size in a quarter (0 to 3) of what was done.
inline double quarter_max(const std::vector<Sample>& samples, int quarter) {
  const double end = samples.back().done;
  double largest = 0;
  for (const Sample& sample : samples) {
    const bool inside = sample.done >= end * quarter / 4 && sample.done <= end * (quarter + 1) / 4;
    if (inside) largest = std::max(largest, sample.size);
  }
  return largest;
}

/// Adds the largest sizes of the second and of the last quarter, and the growth between them. Returns whether that is
/// at most 2%.
inline bool add_growth(Report& report, const std::string& what, const std::string& unit,
                       const std::vector<Sample>& samples) {
  constexpr double growth_max = 0.02;
  const double second = quarter_max(samples, 1);
  const double last = quarter_max(samples, 3);
  report.add_figure(what + ", second quarter", second, unit);
  report.add_figure(what + ", last quarter", last, unit);
  report.add_figure(what + ", growth from the second quarter to the last", last / second - 1, "share", "at most .02");
  return last <= (1 + growth_max) * second;
}

}  // namespace nustream::benchmarks
