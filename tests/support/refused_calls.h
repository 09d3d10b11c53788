// A child process in which the system refuses a call.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "error.h"

namespace nustream::tests {

/// The exit code of the Failure that a call ends with in this (child) process, or 0.
template <class Call>
[[noreturn]] void exit_with_code_of(Call call) {
  try {
    call();
    ::_exit(0);
  } catch (const Failure& failure) {
    ::_exit(static_cast<int>(failure.code()));
  }
}

/// Makes getrandom() fail in this process from now on.
inline void forbid_getrandom() {
  std::array<sock_filter, 4> program{
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom, 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{program.size(), program.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    throw Failure(Exit::internal, "no filter");
  }
}

}  // namespace nustream::tests
