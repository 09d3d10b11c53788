// Measures a whole replay whose unit is the user, from a generated pipe with many users, each of whom comes again and
// again. It also measures how long a process that reads the store afterwards takes to rebuild the table. Usage:
// users_replay NUSTREAM [JSON file]. In the environment: USERS (10,000,000), RECORDS (100,000,000), and TMPDIR for
// the folder with the state. Beside the rate stands the processor time of the command, which other work on the
// machine does not change. The size of the process is given halfway, when nearly all users have come, and at the end;
// the two show that further records add nothing. Exits with 1 where a bar is missed. Of more than 10,000,000 users
// nothing is promised, and of fewer than 100,000,000 records no rate and no flatness, as the process starts anew.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "harness.h"

namespace {

using nustream::benchmarks::asked;
namespace fs = std::filesystem;

constexpr std::size_t block_bytes = std::size_t{1} << 20;

/// SplitMix64, with which a record of any number costs the generator next to nothing.
std::uint64_t mixed(std::uint64_t number) {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

void write_all(int file, const std::string& bytes) {
  for (std::size_t written = 0; written < bytes.size();) {
    const ssize_t count = ::write(file, bytes.data() + written, bytes.size() - written);
    if (count < 0) throw std::runtime_error("the reader is gone");
    written += static_cast<std::size_t>(count);
  }
}

/// Writes lines who,x,y: the user is drawn at random, and x and y have two digits.
void generate(int file, std::uint64_t users, std::uint64_t records) {
  std::string block = "who,x,y\n";
  char digits[24];
  for (std::uint64_t i = 0; i < records; ++i) {
    const std::uint64_t bits = mixed(i);
    block.append(digits, std::to_chars(digits, digits + sizeof digits, bits % users).ptr);
    const auto number = [&](std::uint64_t from) {
      block += ",0.";
      block += static_cast<char>('0' + from % 10);
      block += static_cast<char>('0' + from / 10 % 10);
    };
    number(bits >> 40);
    number(bits >> 50);
    block += '\n';
    if (block.size() < block_bytes) continue;
    write_all(file, block);
    block.clear();
  }
  write_all(file, block);
}

struct Measured {
  int code;
  double seconds;
  double processor_seconds;  ///< user and system
  double mebibytes;          ///< the largest resident size
  double halfway_mebibytes;  ///< the largest resident size in the tenth of its time before the middle
  double last_mebibytes;     ///< the largest in the last tenth; the very last sizes are without the table
};

/// The resident size; 0 for a process that has ended.
double resident(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
  }
  return 0;
}

/// Reads the resident size ten times a second until the process ends. The caller still has to wait for the process.
std::vector<double> sizes_of(pid_t process) {
  std::vector<double> sizes;
  siginfo_t ended{};
  while (::waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == 0) {
    if (const double size = resident(process); size > 0) sizes.push_back(size);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  if (sizes.empty()) sizes.push_back(0);
  return sizes;
}

/// The largest of a tenth of the sizes, which ends at `end`.
double largest_before(const std::vector<double>& sizes, std::size_t end) {
  const std::size_t begin = end - std::min(end, sizes.size() / 10 + 1);
  return *std::max_element(sizes.begin() + static_cast<std::ptrdiff_t>(begin),
                           sizes.begin() + static_cast<std::ptrdiff_t>(end));
}

/// `input` becomes standard input; -1 stands for none.
Measured run(const std::vector<std::string>& arguments, int input) {
  const auto begun = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) {
    const int none = ::open("/dev/null", O_RDWR);
    ::dup2(input < 0 ? none : input, STDIN_FILENO);
    ::dup2(none, STDOUT_FILENO);
    std::vector<char*> argv;
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  if (input >= 0) ::close(input);
  const std::vector<double> sizes = sizes_of(child);
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128,     taken.count(),
          seconds(usage.ru_utime) + seconds(usage.ru_stime), static_cast<double>(usage.ru_maxrss) / 1024,
          largest_before(sizes, sizes.size() / 2 + 1),       largest_before(sizes, sizes.size())};
}

Measured replay_from_a_pipe(const std::vector<std::string>& arguments, std::uint64_t users, std::uint64_t records) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  ::fcntl(ends[1], F_SETPIPE_SZ, static_cast<int>(block_bytes));
  const pid_t generator = ::fork();
  if (generator < 0) throw std::runtime_error("cannot fork");
  if (generator == 0) {
    ::close(ends[0]);
    generate(ends[1], users, records);
    ::_exit(0);
  }
  ::close(ends[1]);
  const Measured measured = run(arguments, ends[0]);
  ::waitpid(generator, nullptr, 0);
  return measured;
}

/// A figure, and the least or the most that is promised of it.
struct Promise {
  std::string name;
  double value;
  double bar;
  bool is_least = false;  ///< a larger value is better

  [[nodiscard]] bool is_met() const { return is_least ? value >= bar : value <= bar; }
};

/// What was measured of each promise that holds for so many users and records.
std::vector<Promise> promises_of(const Measured& replayed, const Measured& looked, std::uint64_t users,
                                 std::uint64_t records) {
  constexpr double mebibytes_max = 1536;
  constexpr double growth_max = 1.05;  // halfway .7% of the users have not come yet, and sizes vary
  if (users > 10'000'000) return {};
  std::vector<Promise> promises{{"mebibytes", replayed.mebibytes, mebibytes_max},
                                {"rebuild_seconds", looked.seconds, 20},
                                {"rebuild_mebibytes", looked.mebibytes, mebibytes_max}};
  if (records < 100'000'000) return promises;
  promises.push_back({"records_per_second", static_cast<double>(records) / replayed.seconds, 1e6, true});
  promises.push_back(
      {"mebibytes_at_the_end_over_halfway", replayed.last_mebibytes / replayed.halfway_mebibytes, growth_max});
  return promises;
}

/// The promises as a member of the JSON object. Standard error names those that are not met.
std::string bars_json(const std::vector<Promise>& promises) {
  std::string bars;
  for (const Promise& promise : promises) {
    const char* const bound = promise.is_least ? "at least" : "at most";
    if (!promise.is_met()) {
      fmt::print(stderr, "users_replay: {} is {:.4g}, and not {} {:g}\n", promise.name, promise.value, bound,
                 promise.bar);
    }
    bars += fmt::format("{}{{\"name\": \"{}\", \"value\": {:.4g}, \"bar\": \"{} {:g}\", \"met\": {}}}",
                        bars.empty() ? "" : ", ", promise.name, promise.value, bound, promise.bar, promise.is_met());
  }
  return bars;
}

std::string config_text() {
  return R"([stream]
name = "users"
input = "-"
format = "csv"
[target]
column = "y"
[[features]]
column = "x"
[descent]
step_size = 0.001
clip_norm = 3.0
minibatch = 100
[privacy]
unit = "user"
user = "who"
rho = 0.5
delta = 1e-6
[users]
participations = 20
mass = 8.0
[noise]
nu = 0.0001
[release]
every = 1000
)";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 64;
  const std::uint64_t users = asked("USERS", 10'000'000);
  const std::uint64_t records = asked("RECORDS", 100'000'000);
  std::string name = (fs::temp_directory_path() / "nustream-users-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) return 74;
  const fs::path folder = name;
  std::ofstream(folder / "users.toml") << config_text();
  const std::string state = (folder / "state").string();
  const Measured replayed =
      replay_from_a_pipe({argv[1], "replay", (folder / "users.toml").string(), "--insecure-seed", "1", "--quiet",
                          "--set", "state.directory=\"" + state + "\""},
                         users, records);
  const Measured looked = run({argv[1], "inspect", state, "--users", "--insecure-seed", "1"}, -1);
  std::uintmax_t store = 0;
  for (const char* file : {"users-0.log", "users-1.log"}) {
    std::error_code missing;
    const std::uintmax_t size = fs::file_size(folder / "state" / file, missing);
    if (!missing) store += size;
  }
  const std::vector<Promise> promises = promises_of(replayed, looked, users, records);
  const auto rate = [&](double seconds) { return static_cast<double>(records) / seconds; };
  const std::string json = fmt::format(
      "{{\"figure\": \"replay by user\", \"users\": {}, \"records\": {}, \"records_per_second\": {:.4g}, "
      "\"records_per_processor_second\": {:.4g}, \"mebibytes\": {:.4g}, \"mebibytes_halfway\": {:.4g}, "
      "\"mebibytes_at_the_end\": {:.4g}, \"rebuild_seconds\": {:.3g}, \"rebuild_processor_seconds\": {:.3g}, "
      "\"rebuild_mebibytes\": {:.4g}, \"store_mebibytes\": {:.4g}, \"bars\": [{}]}}\n",
      users, records, rate(replayed.seconds), rate(replayed.processor_seconds), replayed.mebibytes,
      replayed.halfway_mebibytes, replayed.last_mebibytes, looked.seconds, looked.processor_seconds, looked.mebibytes,
      static_cast<double>(store) / 0x1p20, bars_json(promises));
  std::FILE* out = argc > 2 ? std::fopen(argv[2], "w") : stdout;
  if (out == nullptr) return 74;
  fmt::print(out, "{}", json);
  fs::remove_all(folder);
  if (const int failed = std::max(replayed.code, looked.code); failed != 0) return failed;
  return std::ranges::all_of(promises, &Promise::is_met) ? 0 : 1;
}
