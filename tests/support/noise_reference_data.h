// Reference series in text files. A line is a name and its numbers; # begins a comment.
#pragma once

#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace nustream::testing {

class ReferenceData {
 public:
  /// `file` is a name under tests/golden/data.
  explicit ReferenceData(const std::string& file) {
    std::ifstream stream(std::string(NUSTREAM_TESTS_DIR) + "/golden/data/" + file);
    if (!stream) throw std::runtime_error("no reference data " + file);
    for (std::string line; std::getline(stream, line);) {
      if (line.empty() || line.front() == '#') continue;
      std::istringstream words(line);
      std::string name;
      words >> name;
      std::vector<double>& values = series_[name];
      for (double value = 0; words >> value;) values.push_back(value);
    }
  }

  [[nodiscard]] const std::vector<double>& series(const std::string& name) const { return series_.at(name); }
  [[nodiscard]] double number(const std::string& name) const { return series(name).at(0); }

 private:
  std::map<std::string, std::vector<double>> series_;
};

}  // namespace nustream::testing
