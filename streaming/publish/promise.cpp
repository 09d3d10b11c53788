#include "publish/promise.h"

namespace nustream::publish {

void append_neighbours(const Promise& promise, std::string& out) {
  if (!promise.adjacency.empty()) ((out += ",\"adjacency\":\"") += promise.adjacency) += '"';
  if (promise.target_only) out += ",\"protects\":\"target\"";
}

void append_promise(const Promise& promise, std::string& out) {
  append_neighbours(promise, out);
  out += promise.is_private ? ",\"private\":true" : ",\"private\":false";
}

}  // namespace nustream::publish
