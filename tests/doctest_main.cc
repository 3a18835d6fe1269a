// The one main() of every test program; compiled once because doctest's runner takes seconds.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
