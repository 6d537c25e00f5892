/* libFuzzer's way in for programs with a main function of their own. */
#ifndef CFUZZER_H
#define CFUZZER_H

#include <stddef.h>
#include <stdint.h>

/* Runs `callback` with inputs until the options say so; returns the exit code. */
int LLVMFuzzerRunDriver(
    int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));

#endif
