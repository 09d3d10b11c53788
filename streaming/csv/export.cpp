// Reads the input twice: first for the names of all columns, then for the rows. Releases of one file may have
// different members, for example an average from some step on, and a table needs all columns in its first line.
#include "csv/export.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "numbered_lines.h"

namespace nustream::csv {
namespace {

namespace fs = std::filesystem;

/// Gives the lines of a file, of a folder's releases or of standard input, as often as they are asked for.
class Lines {
 public:
  explicit Lines(const std::string& place) : name_(place) {
    std::error_code unknown;
    if (place == "-") {
      name_ = "standard input";
      // Standard input cannot be read twice.
      kept_ << std::cin.rdbuf();
      is_kept_ = true;
    } else if (fs::is_directory(place, unknown)) {
      name_ = (fs::path(place) / "releases.jsonl").string();
    }
  }

  /// Calls visit(line) for each line; what visit throws is reported with the line's number.
  template <class Visit>
  void for_each(Visit visit) {
    if (is_kept_) {
      std::istringstream lines(kept_.str());
      return for_each_numbered_line(lines, name_, visit);
    }
    std::ifstream lines(name_, std::ios::binary);
    std::error_code unknown;
    // A stream can be opened on a folder, and fails only at its first read.
    if (!lines || fs::is_directory(name_, unknown)) {
      throw system_failure(Exit::io, "read", name_, errno, "name a file of releases, a state folder or -");
    }
    for_each_numbered_line(lines, name_, visit);
  }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  std::string name_;
  bool is_kept_ = false;
  std::stringstream kept_;
};

/// The names of the columns, and at which place each stands.
struct Columns {
  std::vector<std::string> names;
  std::unordered_map<std::string, std::size_t> places;

  /// Adds the names that are not there yet, in the order of the release.
  void add(const Cells& cells) {
    for (const auto& [name, text] : cells) {
      if (places.emplace(name, names.size()).second) names.push_back(name);
    }
  }
};

}  // namespace

Exit run(const Options& options) {
  Lines lines(options.place);
  Columns columns;
  lines.for_each([&](std::string_view line) { columns.add(cells_of(line)); });
  // Nothing was printed yet, so that a program which reads the table meets no header without rows.
  if (columns.names.empty()) throw Failure(Exit::data, lines.name() + ": holds no release");
  fmt::print("{}", line_of(columns.names));
  lines.for_each([&](std::string_view line) {
    std::vector<std::string> row(columns.names.size());
    for (auto& [name, text] : cells_of(line)) {
      // A file that grows while it is read may have a new column after the place where the first look ended. The cell
      // is left out; the next export has the column.
      const auto found = columns.places.find(name);
      if (found != columns.places.end()) row[found->second] = std::move(text);
    }
    fmt::print("{}", line_of(row));
  });
  return Exit::done;
}

}  // namespace nustream::csv
