// What has to hold after every disturbance of an attached stream, as readers of its topics find it.
#pragma once

#include <gtest/gtest.h>
#include <simdjson.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "attach_world.h"
#include "secrets/seal.h"

namespace nustream::tests {

/// The releases of a partition's values, replayed from a file under the insecure seed `seed` as lane `lane`, with
/// `more` arguments.
inline std::string replayed(const AttachWorld& world, const std::vector<std::string>& values, int seed, int lane = 0,
                            const std::vector<std::string>& more = {}) {
  std::string csv;
  for (const std::string& value : values) csv += value + "\n";
  const std::string tag = std::to_string(lane) + "-" + std::to_string(seed);
  const std::string file = world.folder().write("rows-" + tag + ".csv", csv);
  const std::string state = (world.folder().path() / ("replayed-" + tag)).string();
  std::vector<std::string> arguments{"replay",
                                     world.config(),
                                     file,
                                     "--lane",
                                     std::to_string(lane),
                                     "--insecure-seed",
                                     std::to_string(seed),
                                     "--set",
                                     "state.directory=\"" + state + "\""};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const CommandResult result = run_command(NUSTREAM_COMMAND, arguments);
  EXPECT_EQ(result.code, 0) << result.err;
  return read_file(std::filesystem::path(state) / "releases.jsonl");
}

inline std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// Expects that no step of an epoch can be read with two values, aborted transactions included: those would be two
/// inputs under one noise.
inline void expect_one_value_a_step(const std::vector<std::string>& uncommitted) {
  simdjson::dom::parser parser;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> known;
  for (const std::string& line : uncommitted) {
    const simdjson::dom::element release = parser.parse(line);
    const std::pair<std::uint64_t, std::uint64_t> step{release["epoch"].get_uint64().value(),
                                                       release["step"].get_uint64().value()};
    const auto [first, is_new] = known.emplace(step, line);
    EXPECT_TRUE(is_new || first->second == line) << "epoch " << step.first << ", step " << step.second;
  }
}

/// The records that only a reader of aborted transactions finds. Those with which a start tries its right to write
/// are left out.
inline std::vector<StoredRecord> aborted(const AttachWorld& world, const std::string& topic, int partition = 0) {
  std::set<std::int64_t> committed;
  for (const StoredRecord& record : world.committed(topic, partition)) committed.insert(record.offset);
  std::vector<StoredRecord> rest;
  for (StoredRecord& record : read_uncommitted_records(AttachWorld::direct(), topic, partition)) {
    if (committed.count(record.offset) == 0 && record.key != "nustream") rest.push_back(std::move(record));
  }
  return rest;
}

/// Expects that committed releases are in the order of their steps, each once.
inline void expect_each_step_once(const std::vector<std::string>& committed) {
  simdjson::dom::parser parser;
  std::uint64_t before = 0;
  for (const std::string& line : committed) {
    const std::uint64_t step = parser.parse(line)["step"].get_uint64();
    EXPECT_GT(step, before);
    before = step;
  }
}

/// What the last commit took, and ρ of the ledger's last line. A line that a key rotation left tells neither.
struct LedgerEnd {
  std::uint64_t steps = 0;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  double rho = 0;              ///< what is charged where the state is lost
  std::uint64_t reserved = 0;  ///< steps that it pays for
  std::string disjoint;        ///< how the epoch's positions relate to those before
};
/// Fills in, for a line that reserves, how far the lane is: by its state's header, and by the group's offset of the
/// same transaction.
inline void take_state(const AttachWorld& world, int partition, LedgerEnd& end) {
  for (const StoredRecord& record : world.committed(world.name() + ".state", partition)) {
    if (record.value) end.steps = secrets::read_identity(*record.value).steps.value();
  }
  kafka::PartitionReader reader(settings_for(AttachWorld::direct()), kafka::Isolation::read_committed,
                                "nustream-" + world.name());
  const auto offset = reader.committed({world.name(), kafka::PartitionIndex{partition}}, soon());
  if (offset) end.to = static_cast<std::uint64_t>(offset->value());
}

inline LedgerEnd ledger_end(const AttachWorld& world, int partition = 0) {
  auto lines = values_of(world.committed(world.name() + ".ledger", partition));
  while (!lines.empty() && lines.back().find("\"rotated\":true") != std::string::npos) lines.pop_back();
  if (lines.empty()) return {};
  simdjson::dom::parser parser;
  const simdjson::dom::element last = parser.parse(lines.back());
  LedgerEnd end{last["steps"].get_uint64(), last["from"].get_uint64(),
                last["to"].get_uint64(),    last["rho"].get_double(),
                last["steps"].get_uint64(), std::string(last["disjoint"].get_string().value())};
  const bool reserves = last["taken"].error() == simdjson::SUCCESS;
  if (reserves) take_state(world, partition, end);
  return end;
}

}  // namespace nustream::tests
