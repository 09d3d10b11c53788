#include "serve/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

namespace nustream::serve {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

/// Fields of /proc/self/stat from the third on (proc(5)). The second field may hold spaces, but ends at the last ')'.
struct Stat {
  double cpu_ticks;    // user and system
  double start_ticks;  // since boot
  double resident_pages;
};

std::optional<Stat> read_stat() {
  std::ifstream file("/proc/self/stat");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  std::array<std::string, 22> values;  // fields 3 to 24
  for (std::string& value : values) {
    if (!(fields >> value)) return std::nullopt;
  }
  const auto field = [&values](std::size_t number) { return std::stod(values[number - 3]); };
  return Stat{field(14) + field(15), field(22), field(24)};
}

/// When the machine started, in seconds since 1970.
std::optional<double> boot_time() {
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("btime ")) return std::stod(line.substr(6));
  }
  return std::nullopt;
}

std::optional<double> open_descriptors() {
  std::error_code error;
  const std::filesystem::directory_iterator folder("/proc/self/fd", error);
  if (error) return std::nullopt;
  // Without the descriptor that reads the folder.
  return static_cast<double>(std::distance(begin(folder), end(folder))) - 1;
}

std::optional<double> descriptors_max() {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::nullopt;
  return static_cast<double>(limit.rlim_cur);
}

/// When the process started. The boot time is kept from the first call on: the kernel's changes when the clock is
/// set, and a start time must not.
std::optional<double> start_time(const Stat& stat, double ticks) {
  static const std::optional<double> boot = boot_time();
  if (!boot) return std::nullopt;
  return *boot + stat.start_ticks / ticks;
}

}  // namespace

std::vector<MetricFamily> process_metrics() {
  std::vector<MetricFamily> families;
  const auto add = [&families](const char* name, MetricType type, const std::string& help,
                               std::optional<double> value) {
    if (!value) return;
    ClientMetric metric;
    (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = *value;
    families.push_back({name, help + " Operator only, not private.", type, {std::move(metric)}});
  };
  add("process_open_fds", MetricType::Gauge, "Open file descriptors (descriptors).", open_descriptors());
  add("process_max_fds", MetricType::Gauge, "File descriptors it may open (descriptors).", descriptors_max());
  const std::optional<Stat> stat = read_stat();
  if (!stat) return families;
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  add("process_cpu_seconds_total", MetricType::Counter, "User and system time (seconds).", stat->cpu_ticks / ticks);
  add("process_resident_memory_bytes", MetricType::Gauge, "Memory in use (bytes).",
      stat->resident_pages * static_cast<double>(::sysconf(_SC_PAGESIZE)));
  add("process_start_time_seconds", MetricType::Gauge, "When it started, since 1970-01-01 UTC (seconds).",
      start_time(*stat, ticks));
  return families;
}

}  // namespace nustream::serve
