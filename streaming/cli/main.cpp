// The program's entry. All of it is in run() (app.cpp).
#include "cli/commands.h"

int main(int argc, char** argv) {
  return nustream::cli::run(argc, argv);
}
