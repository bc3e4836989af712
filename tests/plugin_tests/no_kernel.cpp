// A shared library without a kernel.
extern "C" int number() { return 7; }
