/* Kernel interfaces that the Glibc module leaves out. Without _GNU_SOURCE, as the Glibc module: the
 * same type must look the same in every module. */
#ifndef PERIPHERAL_EMU_CLINUX_H
#define PERIPHERAL_EMU_CLINUX_H
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <sys/signalfd.h>
#include <getopt.h>
#include <signal.h>

/* Macros with casts or sizes do not reach Swift; these do. */
static const unsigned long peripheral_emu_tiocgptn = TIOCGPTN;
static const unsigned long peripheral_emu_tiocsptlck = TIOCSPTLCK;
#endif
