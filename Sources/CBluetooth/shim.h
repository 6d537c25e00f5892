/* Structures and constants of the kernel's Bluetooth sockets, from the headers of libbluetooth-dev.
 * The library itself is not linked. */
#ifndef PERIPHERAL_EMU_CBLUETOOTH_H
#define PERIPHERAL_EMU_CBLUETOOTH_H
#include <sys/socket.h>
#include <sys/ioctl.h>
#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>

/* Macros with casts do not reach Swift; these do. */
static const int peripheral_emu_af_bluetooth = AF_BLUETOOTH;
static const int peripheral_emu_btproto_hci = BTPROTO_HCI;
static const unsigned long peripheral_emu_hcidevup = HCIDEVUP;
static const unsigned long peripheral_emu_hcidevdown = HCIDEVDOWN;
static const unsigned long peripheral_emu_hcigetauthinfo = HCIGETAUTHINFO;
static const unsigned long peripheral_emu_hcigetdevinfo = HCIGETDEVINFO;
#endif
