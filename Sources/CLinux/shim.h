/* Kernel interfaces that the Glibc module leaves out. */
#ifndef PERIPHERAL_EMU_CLINUX_H
#define PERIPHERAL_EMU_CLINUX_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <sys/signalfd.h>
#include <getopt.h>
#include <signal.h>
#endif
