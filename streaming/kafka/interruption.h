// Exceptions for the ways in which a lane's transaction ends without a commit.
#pragma once

#include <exception>
#include <utility>

#include "kafka/client_error.h"

namespace nustream::kafka {

/// The transaction was aborted: nothing of it will ever be read as committed, and the very same batch may be
/// committed again.
class TransactionAborted : public std::exception {
 public:
  explicit TransactionAborted(Error error) : error_(std::move(error)) {}
  [[nodiscard]] const Error& error() const noexcept { return error_; }
  [[nodiscard]] const char* what() const noexcept override { return error_.text.c_str(); }

 private:
  Error error_;
};

/// Nobody knows how the transaction ended, or another producer has the lane. To find out which, make a new producer
/// and read the state again.
class LaneInterrupted : public std::exception {
 public:
  explicit LaneInterrupted(Error error) : error_(std::move(error)) {}
  [[nodiscard]] const Error& error() const noexcept { return error_; }
  [[nodiscard]] const char* what() const noexcept override { return error_.text.c_str(); }

 private:
  Error error_;
};

/// The result is not wanted any more: the lane was taken away, or the process ends.
class Cancelled : public std::exception {};

}  // namespace nustream::kafka
