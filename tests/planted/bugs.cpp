#include "bugs.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <tuple>
#include <vector>

namespace nustream::tests {
namespace {

struct Table {
  std::vector<PlantedBug> bugs;
  std::vector<PlantedBug> further;
};

std::string next_word(std::string& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  std::string word = text.substr(0, end);
  text.erase(0, end + 1);
  return word;
}

Catch catch_of(const std::string& word) {
  static const std::map<std::string, Catch, std::less<>> known{{"test", Catch::by_test},
                                                               {"contract", Catch::by_contract},
                                                               {"audit", Catch::by_audit},
                                                               {"broker", Catch::on_a_broker}};
  const auto found = known.find(word);
  if (found == known.end())
    throw std::invalid_argument("Caught-by: " + word + ": say test, contract, audit or broker");
  return found->second;
}

/// Reads the head of a patch: a sentence that says what the bug is, an empty line, and a line for each catcher.
void read_patch(const std::filesystem::path& path, Table& table) {
  constexpr std::string_view caught_by = "Caught-by: ";
  constexpr std::string_view file_mark = "+++ b/";
  PlantedBug bug{path.stem().string(), {}, {}, Catch::by_test, {}, {}};
  std::vector<PlantedBug> all;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(file_mark)) {
      bug.where = line.substr(file_mark.size());
      break;
    }
    if (line.starts_with(caught_by)) {
      line.erase(0, caught_by.size());
      bug.caught = catch_of(next_word(line));
      bug.program = next_word(line);
      bug.by = line;
      all.push_back(bug);
    } else if (all.empty() && !line.empty()) {
      bug.is += (bug.is.empty() ? "" : " ") + line;
    }
  }
  if (all.empty()) throw std::invalid_argument(path.string() + ": no line says what catches it");
  for (PlantedBug& each : all) each.where = bug.where;
  table.bugs.push_back(all.front());
  table.further.insert(table.further.end(), all.begin() + 1, all.end());
}

const Table& read_table() {
  static const Table table = [] {
    Table read;
    for (const auto& entry : std::filesystem::directory_iterator(NUSTREAM_ROOT_DIR "/tests/planted")) {
      if (entry.path().extension() == ".patch") read_patch(entry.path(), read);
    }
    const auto by_place = [](const PlantedBug& a, const PlantedBug& b) {
      return std::tie(a.where, a.name) < std::tie(b.where, b.name);
    };
    std::ranges::stable_sort(read.bugs, by_place);
    std::ranges::stable_sort(read.further, by_place);
    return read;
  }();
  return table;
}

std::string model_of_audit(const std::string& model) {
  if (model == "mean") return "";
  if (model == "runs") return ", of a table with intervals by runs";
  if (model == "moments") return ", of a model that is solved from running sums";
  return ", of a model with " + model + (model == "sandwich" ? " intervals" : "");
}

std::string catcher(const PlantedBug& bug) {
  const std::string test = "`" + bug.program + "` `" + bug.by + "`";
  switch (bug.caught) {
    case Catch::by_audit:
      return "`nustream audit`, exit code 70, with `" + bug.by + '`' + model_of_audit(bug.program);
    case Catch::by_contract:
      return "the program itself, which ends by a contract, in " + test;
    case Catch::on_a_broker:
      return test + ", on a broker";
    case Catch::by_test:
      break;
  }
  return test;
}

}  // namespace

std::span<const PlantedBug> planted_bugs() {
  return read_table().bugs;
}

std::span<const PlantedBug> further_catchers() {
  return read_table().further;
}

std::string table_of_bugs() {
  std::string table = "| bug | where | what the program would do | caught by |\n|---|---|---|---|\n";
  for (const PlantedBug& bug : planted_bugs()) {
    table.append("| `").append(bug.name).append("` | `").append(bug.where).append("` | ").append(bug.is);
    table.append(" | ").append(catcher(bug));
    for (const PlantedBug& another : further_catchers()) {
      if (another.name == bug.name) table.append("; ").append(catcher(another));
    }
    table.append(" |\n");
  }
  return table;
}

}  // namespace nustream::tests
