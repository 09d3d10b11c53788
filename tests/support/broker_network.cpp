#include "broker_network.h"

#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

namespace nustream::tests {
namespace {

bool runs(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

void run(const std::string& command) {
  if (!runs(command)) throw std::runtime_error("failed: " + command);
}

}  // namespace

bool BrokerNetwork::is_possible() {
  const std::string name = "nustream-probe-" + std::to_string(::getpid());
  if (!runs("command -v iptables")) return false;
  if (!runs("ip netns add " + name)) return false;
  return runs("ip netns del " + name);
}

// Names of links have at most 15 characters. A process has one network at a time.
BrokerNetwork::BrokerNetwork(std::size_t hosts)
    : hosts_(hosts), name_("nu" + std::to_string(::getpid())), net_("10.213." + std::to_string(::getpid() % 250)) {
  run("ip link add " + name_ + " type bridge");
  run("ip addr add " + net_ + ".254/24 dev " + name_);
  run("ip link set " + name_ + " up");
  for (std::size_t host = 0; host < hosts_; ++host) {
    const std::string inside = "ip -n " + space(host) + " ";
    run("ip netns add " + space(host));
    run("ip link add " + link(host) + " type veth peer name eth0 netns " + space(host));
    run("ip link set " + link(host) + " master " + name_ + " up");
    run(inside + "addr add " + address(host) + "/24 dev eth0");
    run(inside + "link set lo up");
    run(inside + "link set eth0 up");
    run("ip netns exec " + space(host) + " iptables -N cuts");
    run("ip netns exec " + space(host) + " iptables -A INPUT -j cuts");
  }
}

BrokerNetwork::~BrokerNetwork() {
  for (std::size_t host = 0; host < hosts_; ++host) runs("ip netns del " + space(host));
  runs("ip link del " + name_);
}

std::string BrokerNetwork::space(std::size_t host) const {
  return name_ + "-" + std::to_string(host);
}

std::string BrokerNetwork::link(std::size_t host) const {
  return name_ + "v" + std::to_string(host);
}

std::string BrokerNetwork::address(std::size_t host) const {
  return net_ + "." + std::to_string(host + 1);
}

std::vector<std::string> BrokerNetwork::on(std::size_t host) const {
  return {"ip", "netns", "exec", space(host)};
}

void BrokerNetwork::isolate(std::size_t host) {
  run("ip link set " + link(host) + " down");
}

void BrokerNetwork::drop(std::size_t host, const std::string& from) const {
  run("ip netns exec " + space(host) + " iptables -A cuts -s " + from + " -j DROP");
}

void BrokerNetwork::cut(std::size_t one, std::size_t other) {
  drop(one, address(other));
  drop(other, address(one));
}

void BrokerNetwork::deafen(std::size_t host) {
  drop(host, net_ + ".254");
}

void BrokerNetwork::mend() {
  for (std::size_t host = 0; host < hosts_; ++host) {
    run("ip link set " + link(host) + " up");
    run("ip netns exec " + space(host) + " iptables -F cuts");
  }
}

}  // namespace nustream::tests
