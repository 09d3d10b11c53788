// A stream whose records have times and whose users count anew every day. Beside it is the same stream without
// windows, in which a user of two days is two users.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "users_world.h"

namespace nustream::tests {

class UsersWindowsWorld : public UsersWorld {
 public:
  static constexpr std::size_t minibatch = 20;
  static constexpr double day = 86'400;

  explicit UsersWindowsWorld(const std::string& limits = "") : UsersWorld(2000, 40, limits) {
    write("rows.csv", text(false));
    write("renamed.csv", text(true));
  }

  /// Settings by which limits hold within a day.
  [[nodiscard]] static std::vector<std::string> within_a_day() {
    return {"--set", "stream.time=\"when\"", "--set", "users.period=\"P1D\"", "--set", "users.times=\"trusted\""};
  }
  /// Settings of the twin: limits hold for ever, and nobody comes on two days.
  [[nodiscard]] std::vector<std::string> renamed() const {
    return {"--set", "stream.input=\"" + path("renamed.csv") + "\""};
  }
  /// The number of days on which a step was taken.
  [[nodiscard]] static std::size_t days() {
    std::vector<long> all;
    const std::vector<double> times = times_of_records();
    for (std::size_t i = 0; i < times.size(); i += minibatch) all.push_back(day_of_step(times, i / minibatch));
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all.size();
  }

 private:
  /// Times some ten minutes apart. Some records come late, and some times are not known (0).
  static std::vector<double> times_of_records() {
    std::mt19937_64 bits(5);
    std::vector<double> times;
    double now = 1.7e9;
    for (std::size_t i = 0; i < 2000; ++i) {
      now += static_cast<double>(bits() % 1200);
      const double late = bits() % 9 == 0 ? static_cast<double>(bits() % 200'000) : 0;
      times.push_back(i > 0 && bits() % 11 == 0 ? 0 : now - late);
    }
    return times;
  }
  /// The day of the greatest time among the step's first record and all before.
  static long day_of_step(const std::vector<double>& times, std::size_t step) {
    const auto end = times.begin() + static_cast<std::ptrdiff_t>(step * minibatch + 1);
    return static_cast<long>(std::floor(*std::max_element(times.begin(), end) / day));
  }
  static long day_of_record(const std::vector<double>& times, std::size_t record) {
    const auto end = times.begin() + static_cast<std::ptrdiff_t>(record + 1);
    return static_cast<long>(std::floor(*std::max_element(times.begin(), end) / day));
  }
  static std::string text(bool renamed) {
    const std::vector<double> times = times_of_records();
    std::istringstream lines(csv(2000, 40));
    std::string line;
    std::getline(lines, line);
    std::string all = "when," + line + '\n';
    for (std::size_t i = 0; std::getline(lines, line); ++i) {
      if (renamed) {
        const std::size_t who = line.find(',') + 1;
        const std::size_t end = line.find(',', who);
        if (day_of_record(times, i) != day_of_step(times, i / minibatch)) {
          line.replace(who, end - who, "0");  // it came after the border of its step
        } else if (line.substr(who, end - who) != "0") {
          line.insert(end, fmt::format("/{}", day_of_step(times, i / minibatch)));
        }
      }
      all += (times[i] == 0 ? std::string("unknown") : fmt::format("{:.0f}", times[i])) + ',' + line + '\n';
    }
    return all;
  }
};

}  // namespace nustream::tests
