"""A disk in memory that loses, tears and reorders unsynced data when its power is cut.

Model: a file's content is durable as of its last sync. Writes and truncations after it are a queue; at a
power cut any subset of the queue may have reached the medium (writes are reordered), and the newest write
that did may be torn at any byte. Names (create, rename, remove) are durable as of the last sync of their
folder; of those after it any prefix survives. Every operation is counted and the power can be cut at each.
"""

from dataclasses import dataclass, field
from pathlib import Path


class PowerCut(BaseException):
    """The power has been cut: every further operation raises this."""


class DiskFull(Exception):
    """The medium has no room left, or is read-only."""


@dataclass
class Inode:
    """A file: its durable content, the queue of what is not synced, and the content programs see."""

    durable: bytearray = field(default_factory=bytearray)
    queue: list = field(default_factory=list)
    seen: bytearray = field(default_factory=bytearray)

    def change(self, operation):
        self.queue.append(operation)
        apply(self.seen, operation)

    def sync(self):
        self.durable = bytearray(self.seen)
        self.queue.clear()

    def crash(self, rng, survival):
        """Return what the medium holds after the cut."""
        surviving = [op for op in self.queue if rng.random() < survival]
        content = bytearray(self.durable)
        for n, (kind, offset, data) in enumerate(surviving):
            torn = data
            if kind == "write" and n == len(surviving) - 1 and rng.random() < 0.5:
                torn = data[: rng.randrange(len(data) + 1)]
            apply(content, (kind, offset, torn))
        return content


def apply(content, operation):
    kind, offset, data = operation
    if kind == "truncate":
        del content[offset:]
        content.extend(bytes(offset - len(content)))
        return
    content.extend(bytes(max(0, offset - len(content))))
    content[offset : offset + len(data)] = data


class Disk:
    """Files by path, with a power switch."""

    def __init__(self):
        self.names: dict[Path, Inode] = {}
        self.durable_names: dict[Path, Inode] = {}
        self.name_queue: list = []
        self.operations = 0
        self.cut_at: int | None = None
        self.dead = False
        self.room: int | None = None
        self.stuck: tuple[tuple[str, int], ...] = ()
        """Bits that do not hold: (end of a file's name, offset) of bytes that come out wrong when written."""

    # ------------------------------------------------------------------ power
    def operation(self, kind):
        """Count one operation; raise PowerCut if it is the chosen one."""
        if self.dead:
            raise PowerCut
        self.operations += 1
        if self.cut_at is not None and self.operations >= self.cut_at:
            self.dead = True
            raise PowerCut

    def reboot(self, rng, survival):
        """Return the disk as found after the cut; ``survival`` is the chance of each unsynced operation."""
        names = dict(self.durable_names)
        for operation in self.name_queue:
            if rng.random() >= survival:
                break
            rename(names, operation)
        found = Disk()
        found.stuck = self.stuck
        for path, inode in names.items():
            content = inode.crash(rng, survival)
            found.names[path] = Inode(bytearray(content), [], bytearray(content))
        found.durable_names = dict(found.names)
        return found

    # ------------------------------------------------------------------ names
    def _name(self, operation):
        self.name_queue.append(operation)
        rename(self.names, operation)

    def create(self, path):
        self.operation(f"create {path.name}")
        self._check_room(0)
        self._name((None, path, Inode()))

    def move(self, old, new):
        self.operation(f"rename {old.name} {new.name}")
        self._check_room(0)
        self._name((old, new, self.names[old]))

    def unlink(self, path):
        self.operation(f"remove {path.name}")
        self._check_room(0)
        self._name((path, None, self.names[path]))

    def sync_folder(self, folder):
        self.operation(f"sync {folder.name}/")
        unsynced = []
        for operation in self.name_queue:
            if folder in {p.parent for p in operation[:2] if p}:
                rename(self.durable_names, operation)
            else:
                unsynced.append(operation)
        self.name_queue = unsynced

    # ------------------------------------------------------------------ content
    def write(self, path, inode, write_offset, data):
        self._check_room(max(0, write_offset + len(data) - len(inode.seen)))
        dead = self.dead
        try:
            self.operation(f"write {path.name} {write_offset} {len(data)}")
        except PowerCut:
            # The write under way when the power goes is in the queue too: it may be lost, torn or whole.
            if not dead:
                inode.queue.append(("write", write_offset, bytes(data)))
            raise
        inode.change(("write", write_offset, bytes(data)))
        for name, offset in self.stuck:
            if path.name.endswith(name) and write_offset <= offset < write_offset + len(data):
                inode.seen[offset] ^= 1

    def truncate(self, path, inode, size):
        self._check_room(max(0, size - len(inode.seen)))
        self.operation(f"truncate {path.name} {size}")
        inode.change(("truncate", size, b""))

    def sync(self, path, inode):
        self.operation(f"sync {path.name}")
        inode.sync()

    def count_free_bytes(self):
        return 1 << 40 if self.room is None else self.room - sum(len(i.seen) for i in self.names.values())

    def _check_room(self, byte_count):
        if self.room is not None and (0 < byte_count > self.count_free_bytes() or self.room == 0):
            raise DiskFull


def rename(names, operation):
    old, new, inode = operation
    if old is not None:
        names.pop(old, None)
    if new is not None:
        names[new] = inode
