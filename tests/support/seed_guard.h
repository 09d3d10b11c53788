// Says which seed a test was at when its program ends without a word: by a contract, by a signal, or because it
// hangs.
//
//     for (std::uint64_t seed = …) {
//       const SeedGuard guard("NUSTREAM_…_SEED", seed);
//
// There may be one guard at a time. Standard error gets a line when the program is about to end.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace nustream::tests {

class SeedGuard {
 public:
  static constexpr unsigned seconds_allowed = 120;  ///< of real time, since the machine may be busy

  /// `variable` is the one that plays the seed again.
  SeedGuard(const char* variable, std::uint64_t seed, unsigned seconds = seconds_allowed) {
    static const bool installed = install();
    static_cast<void>(installed);
    const int length = std::snprintf(line_.data(), line_.size(), "\nunder way: %s=%llu\n", variable,
                                     static_cast<unsigned long long>(seed));
    length_ = static_cast<sig_atomic_t>(length);
    ::alarm(seconds);
  }
  ~SeedGuard() {
    ::alarm(0);
    length_ = 0;
  }
  SeedGuard(const SeedGuard&) = delete;
  SeedGuard& operator=(const SeedGuard&) = delete;

 private:
  static constexpr std::array signals{SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM};

  static void write_all(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
      if (written <= 0) return;
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  // Runs in a signal handler, and so calls only what may be called at any moment. All text was formatted before.
  static void say(int number, siginfo_t* info, void* /*context*/) {
    if (number == SIGALRM && length_ > 0) write_all("\nit takes too long");
    write_all({line_.data(), static_cast<std::size_t>(length_)});
    length_ = 0;
    if (number == SIGALRM) ::abort();
    // Afterwards the signal acts as without this handler: a fault happens again on return, and what was sent is sent
    // again.
    for (std::size_t i = 0; i < signals.size(); ++i) {
      if (signals[i] == number) ::sigaction(number, &earlier_[i], nullptr);
    }
    if (info->si_code <= 0) ::raise(number);
  }

  static bool install() {
    // A stack that overflowed leaves no room for a handler, which needs a spare one. Sanitizers bring their own.
    stack_t spare{};
    if (::sigaltstack(nullptr, &spare) == 0 && (spare.ss_flags & SS_DISABLE) != 0) {
      spare = {spare_stack_.data(), 0, spare_stack_.size()};
      ::sigaltstack(&spare, nullptr);
    }
    struct sigaction action {};
    action.sa_sigaction = &SeedGuard::say;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &action, &earlier_[i]);
    return true;
  }

  static inline std::array<char, 200> line_{};
  static inline volatile sig_atomic_t length_ = 0;
  static inline std::array<struct sigaction, signals.size()> earlier_{};
  static inline std::array<char, 65536> spare_stack_{};
};

}  // namespace nustream::tests
