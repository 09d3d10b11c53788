// Makes one function out of several lambdas, for std::visit over the families of a correlation.
#pragma once

namespace nustream::noise {

template <class... Functions>
struct Overload : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overload(Functions...) -> Overload<Functions...>;

}  // namespace nustream::noise
