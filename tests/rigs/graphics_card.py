"""A simulated graphics card: tests plug displays in and out and read the frames that they show."""

import ctypes
import os
import socket

import pygame

from egm.screen.displays import _MODE_STRUCT, DisplayError, DrmCard

#: Padding of each line of a frame buffer in bytes, because real cards pad lines too.
_PADDING = 64


def pack_mode(width, height, *, preferred=True):
    return _MODE_STRUCT.pack(1, width, 0, 0, 0, 0, height, 0, 0, 0, 0, 60, 0, int(preferred) << 3, b"made")


class GraphicsCard(DrmCard):
    """A card with one CRTC for each connector; any CRTC can drive any connector.

    ``connectors`` maps a connector's number to the modes of its display.
    """

    def __init__(self, connectors):
        self.descriptor = os.memfd_create("card")
        self._kernel, self._event_socket = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._event_socket.setblocking(False)
        self.connectors = dict(connectors)
        self.crtcs = [70 + i for i in range(len(self.connectors))]
        self.buffers = {}
        self.lit = {}
        self.leases = []
        self.refused = {}

    def close(self):
        super().close()
        self._kernel.close()

    def plug(self, connector, *modes):
        """Replace the display of a connector by one with these modes; without modes, unplug it."""
        self.connectors[connector] = modes
        self._kernel.send(b"add@/devices/usb1\0ACTION=add\0")
        self._kernel.send(b"change@/devices/card0\0ACTION=change\0HOTPLUG=1\0")

    def read_frame(self, connector):
        """Return the frame that a display shows."""
        (page,) = (page for page, on, _ in self.lit.values() if on == connector)
        offset, stride, width, height = self.buffers[page]
        data = os.pread(self.descriptor, stride * height, offset)
        return pygame.image.frombuffer(data, (width, height), "BGRA", stride).copy()

    def execute_ioctl(self, call, *values):
        if call in self.refused:
            raise DisplayError(self.refused[call], os.strerror(self.refused[call]), call.name)
        return getattr(self, call.name.lower())(*values)

    def getresources(self, *values):
        _copy_numbers(values[1], self.crtcs, values[5])
        _copy_numbers(values[2], self.connectors, values[6])
        return *values[:4], 0, len(self.crtcs), len(self.connectors), 0, *values[8:]

    def getconnector(self, *values):
        modes = self.connectors[values[8]]
        _copy_numbers(values[0], (values[8] + 1,), values[6])
        if values[4] == len(modes):
            ctypes.memmove(values[1], b"".join(modes), len(modes) * _MODE_STRUCT.size)
        return *values[:4], len(modes), 0, 1, *values[7:11], 1 if modes else 2, *values[12:]

    def getencoder(self, number, *_):
        return number, 0, 0, (1 << len(self.crtcs)) - 1, 0

    def create_dumb(self, height, width, bits, _, *__):
        stride = width * bits // 8 + _PADDING
        offset = os.fstat(self.descriptor).st_size
        length = -(-stride * height // 4096) * 4096
        os.truncate(self.descriptor, offset + length)
        self.buffers[len(self.buffers) + 1] = (offset, stride, width, height)
        return height, width, bits, 0, len(self.buffers), stride, length

    def map_dumb(self, handle, *_):
        return handle, 0, self.buffers[handle][0]

    def addfb(self, _, *values):
        return values[-1], *values

    def setcrtc(self, connectors, _, crtc, page, *values):
        connector = ctypes.c_uint32.from_address(connectors).value
        self.lit[crtc] = (page, connector, values[-1])
        return ()

    def page_flip(self, crtc, page, *_):
        self.lit[crtc] = (page, *self.lit[crtc][1:])
        return ()

    def create_lease(self, objects, count, *_):
        self.leases.append(tuple((ctypes.c_uint32 * count).from_address(objects)))
        return 0, 0, 0, 0, os.dup(self.descriptor)


def _copy_numbers(address, numbers, capacity):
    if capacity >= len(numbers):
        ctypes.memmove(address, (ctypes.c_uint32 * len(numbers))(*numbers), 4 * len(numbers))
