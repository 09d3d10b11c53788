#include "harness.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace nustream::benchmarks {
namespace {

double nanoseconds_of(const std::function<void()>& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  const auto end = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::nano>(end - begin).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::string cpu_name() {
  std::ifstream information("/proc/cpuinfo");
  for (std::string line; std::getline(information, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

}  // namespace

std::size_t asked(const char* variable, std::size_t otherwise) {
  const char* const found = std::getenv(variable);
  if (found == nullptr) return otherwise;
  const std::string_view text(found);
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value == 0) {
    throw std::invalid_argument(fmt::format("{}={}: a positive whole number is needed", variable, text));
  }
  return value;
}

int pin_to_one_core() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return -1;
  int core = CPU_SETSIZE - 1;
  while (core >= 0 && !CPU_ISSET(static_cast<std::size_t>(core), &allowed)) --core;
  if (core < 0) return -1;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(core), &one);
  return sched_setaffinity(0, sizeof one, &one) == 0 ? core : -1;
}

Timing timing_of(std::string name, std::vector<double> nanoseconds) {
  const double smallest = *std::min_element(nanoseconds.begin(), nanoseconds.end());
  return {std::move(name), smallest, median(std::move(nanoseconds))};
}

std::vector<Timing> measure(const std::vector<Case>& cases, std::size_t rounds) {
  std::vector<std::vector<double>> samples(cases.size());
  for (const auto& warm_up : cases) warm_up.run();
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      samples[i].push_back(nanoseconds_of(cases[i].run) / cases[i].items);
    }
  }
  std::vector<Timing> timings;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    timings.push_back(timing_of(cases[i].name, std::move(samples[i])));
  }
  return timings;
}

Report::Report(std::string benchmark, Pinning pinning)
    : benchmark_(std::move(benchmark)), core_(pinning == Pinning::one_core ? pin_to_one_core() : -1) {}

void Report::add(const std::vector<Timing>& timings, const std::string& unit) {
  for (const auto& timing : timings) rows_.push_back({timing, unit});
}

const Timing& Report::find(const std::string& name) const {
  for (const auto& row : rows_) {
    if (row.timing.name == name) return row.timing;
  }
  throw std::invalid_argument("no timing named " + name);
}

void Report::add_ratio(const std::string& name, const std::string& numerator, const std::string& denominator,
                       const std::string& bar) {
  const auto& above = find(numerator);
  const auto& below = find(denominator);
  ratios_.push_back({name, above.nanoseconds_min / below.nanoseconds_min,
                     above.nanoseconds_median / below.nanoseconds_median, bar});
}

void Report::add_figure(const std::string& name, double value, const std::string& unit, const std::string& bar) {
  figures_.push_back({name, value, unit, bar});
}

void Report::add_judged(const std::string& name, double value, const std::string& unit, const Bar& bar) {
  figures_.push_back({name, value, unit, bar.text, bar.is_met(value)});
}

bool Report::meets_bars() const {
  bool all = true;
  for (const auto& figure : figures_) {
    if (figure.is_met.value_or(true)) continue;
    all = false;
    fmt::print(stderr, "{}: {} is {:.4g} {}, and not {}\n", benchmark_, figure.name, figure.value, figure.unit,
               figure.bar);
  }
  return all;
}

int Report::write(int argc, char** argv) const {
  std::string text = fmt::format(
      "{{\n  \"benchmark\": {},\n  \"machine\": {{\"cpu\": {}, \"compiler\": {}, \"core\": {}}},\n  \"timings\": [",
      quoted(benchmark_), quoted(cpu_name()), quoted(__VERSION__), core_);
  const char* separator = "\n";
  for (const auto& row : rows_) {
    text += fmt::format(
        "{}    {{\"name\": {}, \"unit\": {}, \"nanoseconds_min\": {:.4g}, \"nanoseconds_median\": {:.4g}}}",
        separator, quoted(row.timing.name), quoted(row.unit), row.timing.nanoseconds_min,
        row.timing.nanoseconds_median);
    separator = ",\n";
  }
  text += "\n  ],\n  \"ratios\": [";
  separator = "\n";
  for (const auto& ratio : ratios_) {
    text += fmt::format("{}    {{\"name\": {}, \"min\": {:.4g}, \"median\": {:.4g}, \"bar\": {}}}", separator,
                        quoted(ratio.name), ratio.min, ratio.median, quoted(ratio.bar));
    separator = ",\n";
  }
  text += "\n  ]";
  separator = ",\n  \"figures\": [\n";
  for (const auto& figure : figures_) {
    const char* const met = !figure.is_met ? "" : *figure.is_met ? ", \"met\": true" : ", \"met\": false";
    text += fmt::format("{}    {{\"name\": {}, \"unit\": {}, \"value\": {:.4g}, \"bar\": {}{}}}", separator,
                        quoted(figure.name), quoted(figure.unit), figure.value, quoted(figure.bar), met);
    separator = ",\n";
  }
  text += figures_.empty() ? "\n}\n" : "\n  ]\n}\n";
  const bool all_met = meets_bars();
  if (argc < 2) return std::fputs(text.c_str(), stdout) < 0 || !all_met ? 1 : 0;
  std::ofstream file(argv[1]);
  file << text;
  return file.flush() && all_met ? 0 : 1;
}

}  // namespace nustream::benchmarks
