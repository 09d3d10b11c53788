// Holds what Asio and Beast would otherwise compile into every file that includes them.
// Both libraries are built with separate compilation; these two headers hold the definitions.
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
