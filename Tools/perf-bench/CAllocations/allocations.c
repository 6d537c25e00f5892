/* Stands before glibc's allocator and counts: a program's own malloc takes precedence. */
#include "CAllocations.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static uint64_t calls;

uint64_t allocations(void) { return __atomic_load_n(&calls, __ATOMIC_RELAXED); }

uint64_t cpu_nanoseconds(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void count(void) { __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED); }

void *malloc(size_t size)
{
    count();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    count();
    return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size)
{
    count();
    return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    count();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    count();
    *block = __libc_memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}
