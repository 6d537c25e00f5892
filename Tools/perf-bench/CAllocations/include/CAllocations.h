/* How often this process has asked for memory, and how long it has computed. */
#ifndef CALLOCATIONS_H
#define CALLOCATIONS_H

#include <stdint.h>

/* Calls of malloc and its like so far, by whatever part of the process. */
uint64_t allocations(void);

/* CPU time of this thread. */
uint64_t cpu_nanoseconds(void);

#endif
