// libFuzzer's entry for programs that bring a `main` of their own (compiler-rt, FuzzerInterface.h). It comes with
// `-sanitize=fuzzer`.
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*tried)(const uint8_t *bytes, size_t count));
