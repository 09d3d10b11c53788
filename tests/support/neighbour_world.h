// Two topics that differ in one record, and the service over each of them. It keeps everything that anybody sees of a
// run, so that a test can compare two runs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "attach_promise.h"
#include "free_port.h"
#include "serve_client.h"

namespace nustream::tests {

/// How the service steps, and what it shows in which order.
struct Stepping {
  std::string settings;     ///< stand in place of [descent]
  std::size_t records = 1;  ///< records of a step
  std::size_t commit_records = 50;
  std::size_t release_every = 20;
  std::size_t unpublished = 60;  ///< records after the last release that is published before the service ends
};
inline constexpr std::size_t records = 1000;
inline constexpr std::size_t piece = 100;  ///< how many records are written at once
inline constexpr std::uint64_t neighbour_seed = 7;

/// All that anybody sees of one run.
struct Shown {
  std::vector<std::string> releases;
  /// Offset, key and value of everything in the release topic, aborted transactions included.
  std::vector<std::string> log;
  std::string model;  ///< the combined model of the last release
  /// The answers of the public listener after each piece of records and after a restart, with what it tells a client
  /// that follows its events. Then the answers in between that were seen, each by how far the stream had come.
  std::vector<std::string> answers;
  std::map<std::string, std::string> in_between;
};

inline std::string fetch(std::uint16_t port, const std::string& path) {
  const std::string command = "curl -s -m 60 http://" + loopback(port) + path + " -o - -D - | grep -vi '^date:'";
  std::string page;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> buffer{};
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
    page.append(buffer.data(), count);
  ::pclose(pipe);
  return page;
}

inline std::string config_text(const AttachWorld& world, std::uint16_t port, const Stepping& stepping) {
  std::string text = read_file(world.config());
  const auto replace = [&](const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  };
  replace("name = \"" + world.name() + "\"", "name = \"neighbours\"");
  replace("[kafka]", "[kafka]\ngroup = \"" + world.name() + "\"\nrelease_topic = \"" + world.name() +
                         ".releases\"\nmodel_seconds = 0.2\nmodel_topic = \"" + world.name() +
                         ".model\"\nstate_topic = \"" + world.name() + ".state\"\nledger_topic = \"" + world.name() +
                         ".ledger\"");
  // Batches close by their count alone and the last outbox waits for the end, so that no time of this machine shows.
  replace("commit_records = 250",
          "commit_records = " + std::to_string(stepping.commit_records) + "\ncommit_seconds = 3600");
  replace("every = 100", "every = " + std::to_string(stepping.release_every) + "\nlinger_seconds = 3600");
  replace("[privacy]", stepping.settings + "[privacy]");
  replace("public_address = \"\"", "public_address = \"" + loopback(port) + "\"");
  return text;
}

/// The last combined model. It is published by a public clock of its own, so how often depends on time alone.
inline std::string last_model(const AttachWorld& world) {
  const auto models = world.committed(world.name() + ".model");
  return models.empty() ? "" : models.back().key.value_or("") + " " + models.back().value.value_or("");
}

inline std::vector<std::string> log_of_releases(const AttachWorld& world) {
  std::vector<std::string> log;
  for (const StoredRecord& record : read_uncommitted_records(AttachWorld::direct(), world.name() + ".releases")) {
    log.push_back(std::to_string(record.offset) + " " + record.key.value_or("") + " " + record.value.value_or(""));
  }
  return log;
}

/// What the public listener tells a client that follows its events, up to the end of the first message. `last` is the
/// event that the client says it has seen; empty means none. The listener notices a little late that earlier clients
/// have gone, and lets only some follow from one address.
inline std::string first_event(std::uint16_t port, const std::string& last) {
  HttpClient client(port);
  client.send(http_request("/api/v1/events", last.empty() ? "" : "Last-Event-ID: " + last + "\r\n"));
  std::string head = client.read_until("\r\n\r\n");
  if (head.starts_with("HTTP/1.1 429 ")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    return first_event(port, last);
  }
  const std::size_t date = head.find("Date:");
  head.erase(date, head.find('\n', date) + 1 - date);
  const std::string until_data = client.read_until("\ndata: ");
  return head + until_data + client.read_until("\n\n");
}

/// What the public listener answers to every question. State and metrics are taken without the combined model, which
/// has a public clock of its own and is compared at the end, and without the time of day at which a release was
/// published.
inline std::string answers(std::uint16_t port) {
  std::string all;
  for (const char* const path :
       {"/readyz", "/healthz", "/livez", "/version", "/metrics", "/api/v1/state", "/api/v1/history",
        "/api/v1/history/0", "/", "/lanes/0", "/lanes/0/from/0", "/assets/page.js", "/other"}) {
    std::string page = fetch(port, path);
    if (const std::size_t model = page.find(",\"model\":"); model != std::string::npos) page.erase(model);
    for (const char* const metric : {"\nnustream_model_", "\n# HELP nustream_model_", "\n# TYPE nustream_model_",
                                     "\nnustream_last_release_timestamp_seconds{"}) {
      for (std::size_t at; (at = page.find(metric)) != std::string::npos;) {
        page.erase(at, page.find('\n', at + 1) - at);
      }
    }
    // The length goes with what was taken out.
    const std::size_t length = page.find("Content-Length:");
    if (length != std::string::npos) page.erase(length, page.find('\n', length) - length);
    all += std::string(path) + '\n' + page + '\n';
  }
  return all;
}

/// The whole number right behind `name`, or behind the labels of a series; "none" where there is none.
inline std::string number_behind(const std::string& name, const std::string& text) {
  std::size_t at = text.find(name);
  if (at == std::string::npos) return "none";
  at += name.size();
  if (name.back() == '{') at = text.find("} ", at) + 2;
  const std::string digits = text.substr(at, text.find_first_not_of("0123456789", at) - at);
  return digits.empty() ? "none" : digits;
}

/// How far the stream has come by its own pages, and how much of its past is there. Empty where the pages are of
/// different moments, or the lane is not open yet.
inline std::string progress_in(const std::string& all) {
  const std::string steps = number_behind("\nnustream_steps_total{", all);
  if (steps == "none" || steps != number_behind("\"steps_committed\":", all)) return {};
  return steps + " steps, " + number_behind("\nnustream_releases_total{", all) + " releases, the last of step " +
         number_behind("\"step\":", all) + ", " + number_behind("\"points\":", all) + " points";
}

/// Asks again and again, while records arrive. A round starts some dozens of programs. So there is a pause between
/// two rounds: without it the service itself would starve on a busy machine.
class Asking {
 public:
  explicit Asking(std::uint16_t port)
      : thread_([this, port](const std::stop_token& stop) {
          for (; !stop.stop_requested(); std::this_thread::sleep_for(between_rounds)) {
            const std::string before = progress_in(answers(port));
            const std::string all = answers(port);
            const std::string after = progress_in(answers(port));
            // If progress was the same before and after, it was the same in between.
            if (before.empty() || before != after) continue;
            const auto [known, is_new] = seen_.emplace(before, all);
            if (!is_new && known->second != all) seen_[before + ", and once more"] = all;
          }
        }) {}
  std::map<std::string, std::string> stop() {
    thread_.request_stop();
    thread_.join();
    return seen_;
  }

 private:
  static constexpr std::chrono::milliseconds between_rounds{100};

  std::map<std::string, std::string> seen_;
  std::jthread thread_;
};

/// Whether the stream has come to that step and has all of its past, which is read a little later after a restart.
inline bool is_whole(const std::string& progress, std::size_t steps, const Stepping& stepping) {
  if (!progress.starts_with(std::to_string(steps) + " steps, ")) return false;
  const std::string released = number_behind("the last of step ", progress);
  const std::size_t all = released == "none" ? 0 : std::stoul(released) * stepping.records / stepping.release_every;
  return progress.ends_with(", " + std::to_string(all) + " points");
}

/// Runs the service over `log`, with its noise moved by `shift` at one step. It is ended and started again half-way.
inline Shown run_neighbour(const std::vector<StoredRecord>& log, std::uint64_t step,
                           const std::vector<std::int64_t>& shift, std::uint16_t port, const Stepping& stepping) {
  const AttachWorld world;
  create_topic(AttachWorld::direct(), world.name() + ".model", 1, {{"cleanup.policy", "compact"}});
  const std::string config = world.folder().write("neighbours.toml", config_text(world, port, stepping));
  std::vector<std::string> arguments{config, std::to_string(neighbour_seed), std::to_string(step)};
  for (const std::int64_t units : shift) arguments.push_back(std::to_string(units));
  std::optional<Command> service(std::in_place, NUSTREAM_NEIGHBOUR, arguments);
  Shown shown;
  {
    Asking asking(port);
    for (std::size_t at = 0; at < records; at += piece) {
      if (at == records / 2) {
        service->signal(SIGTERM);
        EXPECT_EQ(service->wait().code, 0);
        service.emplace(NUSTREAM_NEIGHBOUR, arguments);
        wait_until([&] { return is_whole(progress_in(answers(port)), at / stepping.records, stepping); });
        shown.answers.push_back(answers(port));
      }
      write_records(AttachWorld::direct(), world.name(), 0,
                    {log.begin() + static_cast<std::ptrdiff_t>(at),
                     log.begin() + static_cast<std::ptrdiff_t>(std::min(at + piece, records))});
      wait_until([&] { return is_whole(progress_in(answers(port)), (at + piece) / stepping.records, stepping); });
      shown.answers.push_back(answers(port) + first_event(port, "") + first_event(port, "0.0.1.1"));
    }
    shown.in_between = asking.stop();
  }
  // The last outbox waits, and its releases are in no model yet.
  const std::string released = std::to_string((records - stepping.unpublished) / stepping.records);
  wait_until([&] { return last_model(world).find("\"step\":" + released) != std::string::npos; });
  shown.model = last_model(world);
  service->signal(SIGTERM);
  EXPECT_EQ(service->wait().code, 0);
  shown.releases = world.releases();
  shown.log = log_of_releases(world);
  return shown;
}

inline std::vector<StoredRecord> log_of(const std::vector<std::string>& values) {
  std::vector<StoredRecord> log;
  std::int64_t time = 1'700'000'000'000;
  for (const std::string& value : values) log.push_back({.value = value, .milliseconds = ++time});
  return log;
}

/// Expects that everybody sees the same. Answers in between are compared where both runs were seen at the same place.
inline void expect_same_to_everybody(const Shown& one, const Shown& other, const std::string& neighbour) {
  EXPECT_TRUE(one.releases == other.releases);
  EXPECT_TRUE(one.log == other.log);
  EXPECT_EQ(one.model, other.model);
  EXPECT_EQ(one.answers, other.answers);
  std::size_t compared = 0;
  for (const auto& [progress, answers] : one.in_between) {
    const auto found = other.in_between.find(progress);
    if (found == other.in_between.end()) continue;
    ++compared;
    EXPECT_EQ(answers, found->second) << progress;
  }
  // How many there are depends on this machine's speed; those after each piece are there on any machine.
  ::testing::Test::RecordProperty("answers_in_between_of_neighbour_" + neighbour, static_cast<int>(compared));
}

}  // namespace nustream::tests
