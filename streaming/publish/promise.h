// What a spend is about, as every public record that shows one says it.
#pragma once

#include <string>

namespace nustream::publish {

struct Promise {
  bool is_private = true;
  bool target_only = false;            ///< features are declared public: the promise is about a record's target alone
  std::string adjacency = "zero-out";  ///< privacy::name(); empty where an older record does not say it

  friend bool operator==(const Promise&, const Promise&) = default;
};

/// `,"adjacency":"zero-out","protects":"target"`: "protects" is left out for whole records.
void append_neighbours(const Promise& promise, std::string& out);
/// The same with `,"private":true` behind it.
void append_promise(const Promise& promise, std::string& out);

}  // namespace nustream::publish
