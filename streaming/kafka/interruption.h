// How a lane's transaction ends that did not commit.
#pragma once

#include <exception>
#include <utility>

#include "kafka/client_error.h"

namespace nustream::kafka {

/// Aborted: nothing of it will ever be read as committed, and the very same batch may be committed again.
class TransactionAborted : public std::exception {
 public:
  explicit TransactionAborted(Error error) : error_(std::move(error)) {}
  [[nodiscard]] const Error& error() const noexcept { return error_; }
  [[nodiscard]] const char* what() const noexcept override { return error_.text.c_str(); }

 private:
  Error error_;
};

/// Its end is unknown, or another has the lane: a new producer, and the state read again, tell.
class LaneInterrupted : public std::exception {
 public:
  explicit LaneInterrupted(Error error) : error_(std::move(error)) {}
  [[nodiscard]] const Error& error() const noexcept { return error_; }
  [[nodiscard]] const char* what() const noexcept override { return error_.text.c_str(); }

 private:
  Error error_;
};

/// Nobody wants the result any more: the lane was taken away, or the process ends.
class Cancelled : public std::exception {};

}  // namespace nustream::kafka
