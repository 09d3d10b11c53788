// A topic of 10-feature CSV values on a broker of the benchmark's own, and the settings to attach to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "config/config.h"
#include "kafka_broker.h"
#include "kafka_records.h"
#include "kafka_topics.h"
#include "temporary_folder.h"

namespace nustream::benchmarks {

inline constexpr std::size_t features = 10;

/// Values such as "0.12345,…", of about 92 bytes.
inline std::vector<std::string> csv_values(std::size_t count) {
  std::mt19937_64 bits(1);
  std::normal_distribution<double> normal;
  std::vector<std::string> values;
  for (std::size_t i = 0; i < count; ++i) {
    std::string value;
    double y = 0.3 * normal(bits);
    for (std::size_t j = 0; j < features; ++j) {
      const double x = normal(bits);
      y += x * (j % 2 == 0 ? 0.2 : -0.1);
      value += fmt::format("{:.5f},", x);
    }
    values.push_back(value + fmt::format("{:.5f}", y));
  }
  return values;
}

/// Makes the topics `name`, `name`.releases, .state and .ledger, whose records carry the broker's time.
inline void make_topics(const std::string& broker, const std::string& name) {
  const tests::TopicSettings timed{{"message.timestamp.type", "LogAppendTime"}};
  tests::create_topic(broker, name + ".releases", 1, timed);
  tests::create_topic(broker, name + ".state", 1, {{"cleanup.policy", "compact"}});
  tests::create_topic(broker, name + ".ledger", 1,
                      {{"retention.ms", "-1"}, {"message.timestamp.type", "LogAppendTime"}});
}

/// Writes settings for stream `name` over the topic `input`, with more lines of TOML at the end of [kafka]. Returns
/// the file's path.
inline std::string write_settings(const tests::TemporaryFolder& folder, const std::string& broker,
                                  const std::string& input, const std::string& name, std::size_t batch,
                                  const std::string& more) {
  std::string text = fmt::format("[stream]\nname = \"{}\"\nheader = false\ncolumns = [", name);
  for (std::size_t j = 0; j < features; ++j) text += fmt::format("\"x{}\", ", j);
  text += "\"y\"]\n[target]\ncolumn = \"y\"\n";
  for (std::size_t j = 0; j < features; ++j) text += fmt::format("[[features]]\ncolumn = \"x{}\"\n", j);
  text += fmt::format(
      "[model]\nintercept = false\n[descent]\nstep_size = 0.001\nclip_norm = 3.0\n[privacy]\nrho = 0.5\ndelta = "
      "1e-6\n"
      "[noise]\nnu = 0.0001\n[release]\nevery = 1000\nlinger_seconds = 3600\n[state]\ncommit_records = {}\n"
      "commit_seconds = 3600\n[serve]\npublic_address = \"\"\noperator_address = \"\"\noperator_token_file = "
      "\"none\"\n"
      "[kafka]\nbrokers = \"{}\"\ntopic = \"{}\"\n{}\n",
      batch, broker, input, more);
  return folder.write(name + ".toml", text);
}

/// Writes the same settings and reads them.
inline config::Config settings(const tests::TemporaryFolder& folder, const std::string& broker,
                               const std::string& input, const std::string& name, std::size_t batch,
                               const std::string& more) {
  return config::read_config(write_settings(folder, broker, input, name, batch, more), {});
}

}  // namespace nustream::benchmarks
