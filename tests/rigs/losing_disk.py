"""A disk that loses unflushed data when its power is cut: any part of the data, in any order.

It is a server of the NBD protocol (the fixed newstyle handshake; read, write, flush, disconnect) on a unix socket. An
emulated computer uses it as a block device directly, and this kernel through FUSE and a loop device. Flushed data
stays. Of unflushed data, each sector of 512 bytes survives by chance, and the surviving sectors are written in random
order: writes are lost, torn and reordered. A disk that ``ignores_flushes`` reports each flush as done without doing
it.
"""

import contextlib
import random
import socket
import struct
import threading
from pathlib import Path

_BLOCK = 4096
_SECTOR = 512
_MAGIC = 0x4E42444D41474943
_OPTION = 0x49484156454F5054
_REPLY_MAGIC = 0x0003E889045565A9
_GO, _EXPORT_NAME, _ABORT = 7, 1, 2
_ACK, _INFO, _UNSUPPORTED = 1, 3, 0x80000001
_HAS_FLAGS, _SEND_FLUSH = 1, 4
_READ, _WRITE, _DISCONNECT, _FLUSH = 0, 1, 2, 3
_EIO, _EINVAL = 5, 22


class LosingDisk:
    """Serves a disk with the size and content of ``base``, until :meth:`close`."""

    def __init__(
        self, path: Path, base: Path, generator: random.Random, *, ignores_flushes: bool = False
    ) -> None:
        self.path, self.ignores_flushes, self.flushes = path, ignores_flushes, 0
        self._base = base.open("rb")
        self.size = base.stat().st_size
        self._chance = generator
        self._kept: dict[int, bytes] = {}  # flushed data by block
        self._seen: dict[int, bytes] = {}  # data returned to readers, by block
        self._waiting: list[tuple[int, bytes]] = []  # offset and bytes of writes that were not flushed
        self._lock = threading.Lock()
        self._power = threading.Event()  # while it is cleared, no request is answered
        self._power.set()
        self._dead = False  # requests from before a power cut fail after it
        #: Offsets that can be neither read nor written, as on a failing disk.
        self.bad_bytes = range(0)
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(path))
        self._server.listen()
        threading.Thread(target=self._listen, daemon=True).start()

    # ------------------------------------------------------------ the power
    def cut_power(self) -> None:
        """Cut the power: from now on no data is written and no request is answered."""
        with self._lock:
            self._power.clear()

    def fail_waiting_requests(self) -> None:
        """Fail all requests that are still waiting, as if the disk had been removed."""
        self._dead = True
        self._power.set()

    def restore_power(self, survival: float | None = None) -> int:
        """Restore the power; return how many sectors were lost. ``survival``: the chance of each unflushed sector."""
        share = self._chance.choice((0.0, 0.1, 0.5, 0.9, 1.0)) if survival is None else survival
        with self._lock:
            pieces = [
                (offset + i, data[i : i + _SECTOR])
                for offset, data in self._waiting
                for i in range(0, len(data), _SECTOR)
            ]
            survivors = [piece for piece in pieces if self._chance.random() < share]
            self._chance.shuffle(survivors)
            for offset, data in survivors:
                self._put(self._kept, offset, data)
            self._waiting.clear()
            self._seen = dict(self._kept)
            self._dead = False
            self._power.set()
            return len(pieces) - len(survivors)

    def take_snapshot(self) -> tuple[dict[int, bytes], list[tuple[int, bytes]]]:
        """Return the flushed and the unflushed data at this moment."""
        with self._lock:
            return dict(self._kept), list(self._waiting)

    def restore_snapshot(self, snapshot: tuple[dict[int, bytes], list[tuple[int, bytes]]]) -> None:
        """Return the disk to a snapshot, so that the power can be cut again at that moment (:meth:`restore_power`)."""
        with self._lock:
            self._kept, self._waiting = dict(snapshot[0]), list(snapshot[1])

    def close(self) -> None:
        """Stop serving."""
        self.fail_waiting_requests()
        self._server.close()
        self._base.close()
        self.path.unlink(missing_ok=True)

    def copy_to(self, file: Path, begin: int = 0) -> None:
        """Write the disk's current data over an existing file; blocks that were never written are unchanged.

        ``begin`` is the first byte of the disk to be copied; it is at the beginning of a block.
        """
        length = file.stat().st_size
        with file.open("r+b") as stream, self._lock:
            for block, data in self._seen.items():
                if 0 <= (file_offset := block * _BLOCK - begin) < length:
                    stream.seek(file_offset)
                    stream.write(data)

    def copy_from(self, file: Path, begin: int = 0) -> None:
        """Write a file to the disk from its byte ``begin`` on, and flush it; see :meth:`copy_to`."""
        with file.open("rb") as stream, self._lock:
            for block in range(begin // _BLOCK, (begin + file.stat().st_size) // _BLOCK):
                if (data := stream.read(_BLOCK)) != self._block(self._kept, block):
                    self._kept[block] = data
            self._seen = dict(self._kept)

    # ------------------------------------------------------------ the medium
    def _block(self, blocks: dict[int, bytes], number: int) -> bytes:
        known = blocks.get(number)
        if known is None:
            self._base.seek(number * _BLOCK)
            known = self._base.read(_BLOCK).ljust(_BLOCK, b"\0")
        return known

    def _put(self, blocks: dict[int, bytes], offset: int, data: bytes) -> None:
        while data:
            number, within = divmod(offset, _BLOCK)
            piece = data[: _BLOCK - within]
            old = b"" if len(piece) == _BLOCK else self._block(blocks, number)
            blocks[number] = old[:within] + piece + old[within + len(piece) :]
            offset, data = offset + len(piece), data[len(piece) :]

    def _read(self, offset: int, length: int) -> bytes:
        with self._lock:
            first, last = offset // _BLOCK, (offset + length - 1) // _BLOCK
            if self._seen.keys().isdisjoint(range(first, last + 1)):
                self._base.seek(offset)
                return self._base.read(length).ljust(length, b"\0")
            blocks = b"".join(self._block(self._seen, number) for number in range(first, last + 1))
            return blocks[offset - first * _BLOCK :][:length]

    def _write(self, offset: int, data: bytes) -> None:
        with self._lock:
            if self._power.is_set() and not self._dead:
                self._waiting.append((offset, data))
                self._put(self._seen, offset, data)

    def _flush(self) -> None:
        with self._lock:
            if self._power.is_set() and not self._dead:
                self.flushes += 1
                if not self.ignores_flushes:
                    for offset, data in self._waiting:
                        self._put(self._kept, offset, data)
                    self._waiting.clear()

    # ------------------------------------------------------------ the protocol
    def _listen(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                line, _ = self._server.accept()
                threading.Thread(target=self._serve, args=(line,), daemon=True).start()

    def _serve(self, line: socket.socket) -> None:
        with contextlib.suppress(OSError, EOFError), line:
            if self._greet(line):
                while self._serve_request(line):
                    pass

    def _greet(self, line: socket.socket) -> bool:
        line.sendall(struct.pack(">QQH", _MAGIC, _OPTION, 3))
        _take(line, 4)
        while True:
            _, option, length = struct.unpack(">QII", _take(line, 16))
            _take(line, length)
            flags = _HAS_FLAGS | _SEND_FLUSH
            if option == _EXPORT_NAME:
                line.sendall(struct.pack(">QH", self.size, flags))
                return True
            if option == _GO:
                info = struct.pack(">HQH", 0, self.size, flags)
                line.sendall(struct.pack(">QIII", _REPLY_MAGIC, option, _INFO, len(info)) + info)
                line.sendall(struct.pack(">QIII", _REPLY_MAGIC, option, _ACK, 0))
                return True
            answer = _ACK if option == _ABORT else _UNSUPPORTED
            line.sendall(struct.pack(">QIII", _REPLY_MAGIC, option, answer, 0))
            if option == _ABORT:
                return False

    def _serve_request(self, line: socket.socket) -> bool:
        _, _, command, handle, offset, length = struct.unpack(">IHHQQI", _take(line, 28))
        data = _take(line, length) if command == _WRITE else b""
        answer, error = b"", 0
        if command == _DISCONNECT:
            return False
        if command in {_READ, _WRITE} and range(
            max(offset, self.bad_bytes.start), min(offset + length, self.bad_bytes.stop)
        ):
            error = _EIO
        elif command == _WRITE:
            self._write(offset, data)
        elif command == _FLUSH:
            self._flush()
        elif command == _READ:
            answer = self._read(offset, length)
        else:
            error = _EINVAL
        self._power.wait()
        if self._dead:
            answer, error = b"", _EIO
        line.sendall(struct.pack(">IIQ", 0x67446698, error, handle) + answer)
        return True


def _take(line: socket.socket, length: int) -> bytes:
    taken = bytearray()
    while len(taken) < length:
        piece = line.recv(length - len(taken))
        if not piece:
            raise EOFError
        taken += piece
    return bytes(taken)
