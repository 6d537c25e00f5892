/* Weak stand-ins, so that a build without libFuzzer links; with it, the real ones are taken. */
#include "CFuzzer.h"

#include <stdio.h>

__attribute__((weak)) int LLVMFuzzerRunDriver(
    int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size))
{
    (void)argc, (void)argv, (void)callback;
    fputs("fuzz: built without libFuzzer; use Tools/fuzz\n", stderr);
    return 3;
}

/* libFuzzer's own main refers to it; the driver above is given the function instead. */
__attribute__((weak)) int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)data, (void)size;
    return 0;
}
