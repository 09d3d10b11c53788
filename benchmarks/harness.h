// Timing for the benchmarks. It pins the program to one core and interleaves the cases round by round, so that a
// change of clock frequency hits all of them alike. It reports minimum and median per case, as one JSON document per
// program.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nustream::benchmarks {

/// One thing to time. `run` does `items` pieces of work (samples, steps, rows) per call.
struct Case {
  std::string name;
  double items;
  std::function<void()> run;
};

/// The nanoseconds per item over the rounds of one case.
struct Timing {
  std::string name;
  double nanoseconds_min;
  double nanoseconds_median;
};

enum class Pinning { one_core, none };

/// What is promised about a figure. The program ends with 1 where the figure is not within its bar.
struct Bar {
  std::string text;  ///< as it stands in the report: "at most 20 at 10,000,000 users"
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();

  [[nodiscard]] bool is_met(double value) const noexcept { return value >= least && value <= most; }
};

/// The positive whole number that the environment gives for `variable`, or `otherwise` where it gives none. Throws
/// std::invalid_argument for anything else.
[[nodiscard]] std::size_t asked(const char* variable, std::size_t otherwise);

/// Keeps this thread on the last core that it may use. Returns its number, or −1 where the system refuses.
int pin_to_one_core();

/// Minimum and median of what the rounds of one case took, in nanoseconds per item.
[[nodiscard]] Timing timing_of(std::string name, std::vector<double> nanoseconds);

/// Runs every case once to warm up, and then all of them in turn `rounds` times.
[[nodiscard]] std::vector<Timing> measure(const std::vector<Case>& cases, std::size_t rounds = 21);

/// Makes the compiler believe that `value` is used.
template <class T>
inline void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

/// Collects timings and the ratios that are judged, and writes them:
///
///     {"benchmark": "noise", "machine": {"cpu": …, "compiler": …, "core": 1},
///      "timings": [{"name": …, "unit": "sample", "nanoseconds_min": …, "nanoseconds_median": …}, …],
///      "ratios": [{"name": …, "min": …, "median": …, "bar": …}, …],
///      "figures": [{"name": …, "unit": …, "value": …, "bar": …, "met": true}, …]}
///
/// "figures" is left out where there are none, and "met" where a bar is words alone, which somebody else judges.
class Report {
 public:
  /// A program with threads and child processes of its own runs unpinned, and says so by "core": −1.
  explicit Report(std::string benchmark, Pinning pinning = Pinning::one_core);

  /// `unit` names one item of the cases: "sample", "step", "row", "commit".
  void add(const std::vector<Timing>& timings, const std::string& unit);
  /// Adds the time of `numerator` over that of `denominator`, both of which were added before. `bar` says what is
  /// promised about the ratio, as in "at most 1.35"; it is empty where nothing is promised.
  void add_ratio(const std::string& name, const std::string& numerator, const std::string& denominator,
                 const std::string& bar = {});
  /// Adds a figure that is not a time per item: a latency, a size, a share.
  void add_figure(const std::string& name, double value, const std::string& unit, const std::string& bar = {});
  /// Adds a figure that this program judges.
  void add_judged(const std::string& name, double value, const std::string& unit, const Bar& bar);
  /// Writes to the file that the program's first argument names, or to standard output without one. Returns the exit
  /// code of main(): 0, or 1 where nothing could be written or a bar is missed, which standard error names.
  [[nodiscard]] int write(int argc, char** argv) const;

 private:
  struct Row {
    Timing timing;
    std::string unit;
  };
  struct Ratio {
    std::string name;
    double min;
    double median;
    std::string bar;
  };
  struct Figure {
    std::string name;
    double value;
    std::string unit;
    std::string bar;
    std::optional<bool> is_met{};  ///< nothing where the bar is words alone
  };

  [[nodiscard]] const Timing& find(const std::string& name) const;
  /// Whether all bars are met that are judged here. Standard error names those that are not.
  [[nodiscard]] bool meets_bars() const;

  std::string benchmark_;
  int core_;
  std::vector<Row> rows_;
  std::vector<Ratio> ratios_;
  std::vector<Figure> figures_;
};

}  // namespace nustream::benchmarks
