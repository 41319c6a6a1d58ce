"""What a reading process may not do, whatever a file makes it do: no network, no file of ours, no more rights.

Linux offers this to every process, without rights of its own and in most containers: limits of resources
(setrlimit(2)), a filter of system calls (seccomp(2)) and a list of folders (landlock(7)). What the system lacks is
reported by `Confinement`, never passed over. Elsewhere only the limits hold that the system has.
"""

import ctypes
import os
import platform
import struct
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Confinement", "confine", "own_environment"]

_FILE_BYTES = 4_000_000_000  # the largest file a reader may write; archives may unpack to as much
_OPEN_FILES = 512


@dataclass(frozen=True, slots=True)
class Confinement:
    """What holds in a reading process. memory: the limit of memory and of written files; rights: it can gain none;
    network: it has none; files: it reads only programs and libraries, and writes only temporary files."""

    memory: bool
    rights: bool
    network: bool
    files: bool


def confine(megabytes: int, program: Path) -> Confinement:
    """Confine this process and all that it starts, for good; called before its first file and its first thread.

    megabytes: of memory. program: the folder of the packages `core` and `adapters`.
    """
    memory = _limit_resources(megabytes)
    if sys.platform != "linux":
        return Confinement(memory, rights=False, network=False, files=False)
    system = ctypes.CDLL(None, use_errno=True)
    rights = system.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    files = rights and _restrict_files(system, program)
    network = rights and _filter_calls(system)
    return Confinement(memory, rights, network, files)


_PASSED_ON = ("PATH", "HOME", "LANG", "TMPDIR", "TEMP", "TMP", "TZ", "TESSDATA_PREFIX", "SYSTEMROOT", "LD_LIBRARY_PATH")
_PASSED_ON_BEGINNINGS = ("LC_", "OMP_", "OPENBLAS_", "PYTHON", "VIRTUAL_ENV")


def own_environment() -> dict[str, str]:
    """The environment of a reading process: without addresses and passwords of databases and services."""
    passed = {
        name: value
        for name, value in os.environ.items()
        if name in _PASSED_ON or name.startswith(_PASSED_ON_BEGINNINGS)
    }
    return passed | {"TMPDIR": tempfile.gettempdir()}


def _limit_resources(megabytes: int) -> bool:
    """Limits of memory, of files and of core dumps, where the system has them (not on Windows)."""
    if sys.platform == "win32":
        return False
    import resource

    limits = {
        resource.RLIMIT_AS: megabytes * 1024 * 1024,
        resource.RLIMIT_FSIZE: _FILE_BYTES,
        resource.RLIMIT_NOFILE: _OPEN_FILES,
        resource.RLIMIT_CORE: 0,
    }
    for limit, most in limits.items():
        _, hard = resource.getrlimit(limit)
        resource.setrlimit(limit, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    return True


_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | 13  # SECCOMP_RET_ERRNO with EACCES
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # operations of the filter (BPF)
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4  # in struct seccomp_data
_X32 = 0x40000000  # second set of numbers on x86-64

# Sockets, and io_uring which opens them too; other processes; other namespaces; the kernel. By architecture.
_REFUSED_CALLS = {
    "x86_64": (
        0xC000003E,
        *(41, 42, 425, 426, 427, 101, 310, 311, 438, 161, 155, 165, 166, 272, 308, 304),
        *(321, 298, 323, 248, 249, 250, 175, 313, 176, 246, 320, 167, 168, 169, 164, 227),
    ),
    "aarch64": (
        0xC00000B7,
        *(198, 203, 425, 426, 427, 117, 270, 271, 438, 51, 41, 40, 39, 97, 268, 265),
        *(280, 241, 282, 217, 218, 219, 105, 273, 106, 104, 294, 224, 225, 142, 170, 112),
    ),
}
"""Machine → its audit number, then the numbers of socket, connect, io_uring_setup, _enter and _register, ptrace,
process_vm_readv, _writev and pidfd_getfd, chroot, pivot_root, mount, umount2, unshare, setns and open_by_handle_at,
bpf, perf_event_open and userfaultfd, add_key, request_key and keyctl, init_module, finit_module and delete_module,
kexec_load and kexec_file_load, swapon, swapoff, reboot, settimeofday and clock_settime."""


def _filter_calls(system: ctypes.CDLL) -> bool:
    """Refuse system calls that reading needs none of; whether it holds."""
    known = _REFUSED_CALLS.get(platform.machine())
    if known is None:
        return False
    program = b"".join(_program(*known))
    code = ctypes.create_string_buffer(program, len(program))

    class Filter(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))

    given = Filter(len(program) // 8, ctypes.addressof(code))
    return bool(system.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(given), 0, 0) == 0)


def _program(architecture: int, *refused: int) -> Iterator[bytes]:
    """The filter: each step is an operation, where to go on if it is true and if not, and a number."""

    def step(operation: int, number: int, true: int = 0, false: int = 0) -> bytes:
        return struct.pack("<HBBI", operation, true, false, number)

    yield step(_LOAD, _ARCHITECTURE_AT)
    yield step(_EQUAL, architecture, true=1)
    yield step(_RETURN, _REFUSE)
    yield step(_LOAD, _NUMBER_AT)
    yield step(_AT_LEAST, _X32, true=len(refused) + 1)
    for position, number in enumerate(refused):
        yield step(_EQUAL, number, true=len(refused) - position)
    yield step(_RETURN, _ALLOW)
    yield step(_RETURN, _REFUSE)


_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the calls of Landlock, the same on every architecture
_READ = 1 << 0 | 1 << 2 | 1 << 3  # run, read a file, list a folder
_FILE_RIGHTS = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15  # those that a file can have, as a folder has them all
_RIGHTS = ((1, (1 << 13) - 1), (2, 1 << 13), (3, 1 << 14), (5, 1 << 15))  # by version of Landlock
_NETWORK, _SCOPES = (4, 0b11), (6, 0b11)
_SYSTEM_FOLDERS = ("/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc", "/opt", "/nix", "/sys/devices/system", "/sys/fs")
_PROCESS_FILES = ("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/filesystems", "/proc/sys")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")


def _restrict_files(system: ctypes.CDLL, program: Path) -> bool:
    """Allow programs and libraries to be read, and temporary files to be written; whether it holds."""
    version = system.syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    if version < 1:
        return False
    everything = sum(rights for since, rights in _RIGHTS if version >= since)
    network, scopes = (rights if version >= since else 0 for since, rights in (_NETWORK, _SCOPES))
    attributes = struct.pack("<QQQ", everything, network, scopes)[: 24 if version >= 6 else 16 if version >= 4 else 8]
    rules = system.syscall(_CREATE, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))
    if rules < 0:
        return False
    try:
        for path in _readable(program):
            _allow(system, rules, path, _READ)
        for device in _DEVICES:
            _allow(system, rules, device, everything & _FILE_RIGHTS)
        _allow(system, rules, tempfile.gettempdir(), everything)
        return bool(system.syscall(_RESTRICT, ctypes.c_int(rules), ctypes.c_uint32(0)) == 0)
    finally:
        os.close(rules)


def _readable(program: Path) -> Iterable[str]:
    """Python, its packages, our readers, and the programs of the system. Of the folder of the program only these: the
    data folder may lie in it."""
    packages = (path for path in sys.path if path and Path(path).resolve() != program.resolve())
    searched = (path for path in os.environ.get("PATH", "").split(os.pathsep) if path)
    own = (str(program / "core"), str(program / "adapters"))
    tesseract = filter(None, [os.environ.get("TESSDATA_PREFIX", "")])
    return dict.fromkeys(
        [*own, sys.prefix, sys.base_prefix, *packages, *searched, *tesseract, *_SYSTEM_FOLDERS, *_PROCESS_FILES]
    )


def _allow(system: ctypes.CDLL, rules: int, path: str, rights: int) -> None:
    with suppress(OSError):  # it is not there, so there is nothing to read
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            given = rights if Path(path).is_dir() else rights & _FILE_RIGHTS
            rule = struct.pack("<Qi", given, opened)
            system.syscall(_ADD, ctypes.c_int(rules), ctypes.c_int(1), rule, ctypes.c_uint32(0))
        finally:
            os.close(opened)
