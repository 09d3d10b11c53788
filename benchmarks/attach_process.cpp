#include "attach_process.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "serve_client.h"

namespace nustream::benchmarks {
namespace {

std::vector<std::string> arguments_of(const std::string& config, std::vector<std::string> more, std::uint16_t port) {
  more.insert(more.begin(), {"attach", config});
  if (port != 0) more.insert(more.end(), {"--set", fmt::format("serve.operator_address=\"127.0.0.1:{}\"", port)});
  return more;
}

void require_done(const tests::CommandResult& result) {
  if (result.code != 0) throw std::runtime_error(fmt::format("nustream ended with {}: {}", result.code, result.err));
}

}  // namespace

std::uint16_t free_port() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool bound = ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
                     ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  ::close(descriptor);
  if (!bound) throw std::runtime_error("no free port");
  return ntohs(address.sin_port);
}

AttachedService::AttachedService(const std::string& config, std::vector<std::string> more, bool listens)
    : port_(listens ? free_port() : std::uint16_t{0}),
      command_(NUSTREAM_COMMAND, arguments_of(config, std::move(more), port_)) {}

double AttachedService::metric(const std::string& name) const {
  tests::HttpClient client;
  if (!client.connect(port_)) return 0;  // the listener is not up yet
  client.send(tests::http_request("/metrics", "Connection: close\r\n"));
  const tests::HttpAnswer answer = client.read();
  // Without this a page that refuses would be taken for one that counts nothing, and its reader would wait for ever.
  if (answer.status != 200) throw std::runtime_error("the metrics page answers " + std::to_string(answer.status));
  std::istringstream lines(answer.body);
  double sum = 0;
  for (std::string line; std::getline(lines, line);) {
    const bool is_series =
        line.starts_with(name) && line.size() > name.size() && (line[name.size()] == '{' || line[name.size()] == ' ');
    if (is_series) sum += std::stod(line.substr(line.rfind(' ') + 1));
  }
  return sum;
}

void AttachedService::stop() {
  command_.signal(SIGTERM);
  wait();
}

void AttachedService::wait() {
  require_done(command_.wait());
}

Usage usage_of(pid_t process) {
  const std::string folder = "/proc/" + std::to_string(process);
  std::ifstream status(folder + "/status");
  std::size_t resident = 0;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) resident = std::stoul(line.substr(6));
  }
  // The name, in parentheses, may contain anything. The fields of the processor's time are 11 fields after it.
  const std::string stat = tests::read_file(folder + "/stat");
  const std::size_t name_end = stat.rfind(')');
  if (resident == 0 || name_end == std::string::npos) throw std::runtime_error("no process " + folder);
  std::istringstream fields(stat.substr(name_end + 1));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return {static_cast<double>(resident) / 1024, (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK)),
          static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder + "/fd"), {}))};
}

std::string make_key(const tests::TemporaryFolder& folder) {
  const std::string key = (folder.path() / "key").string();
  require_done(tests::run_command(NUSTREAM_COMMAND, {"key", "new", key}));
  return key;
}

}  // namespace nustream::benchmarks
