"""A process of many threads keeps few arenas, and little memory that it has freed."""

import platform
import subprocess
import sys

import pytest

needs_glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="Other C libraries have no arenas to limit.")

_COUNT = """
import ctypes, sys, tempfile, threading
from adapters.native_heap import limit_free_memory

if sys.argv[1] == "limited":
    assert limit_free_memory()
c = ctypes.CDLL(None)
c.malloc.restype = c.fopen.restype = ctypes.c_void_p
together = threading.Barrier(12)

def allocate():
    together.wait()
    for _ in range(2000):
        c.malloc(ctypes.c_size_t(256))
    together.wait()

threads = [threading.Thread(target=allocate) for _ in range(12)]
[each.start() for each in threads]
[each.join() for each in threads]
with tempfile.NamedTemporaryFile() as file:
    stream = c.fopen(file.name.encode(), b"w")
    c.malloc_info(0, ctypes.c_void_p(stream))
    c.fclose(ctypes.c_void_p(stream))
    print(file.read().count(b"<heap nr="))
"""


def printed(program: str, how: str) -> int:
    """The number that a program prints."""
    command = [sys.executable, "-c", program, how]
    return int(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout)


@needs_glibc
def test_twelve_threads_share_two_arenas() -> None:
    assert printed(_COUNT, "limited") <= 2 < printed(_COUNT, "as it is")


_FREED = """
import ctypes, os
from adapters.native_heap import return_free_memory

c = ctypes.CDLL(None)
c.malloc.restype = ctypes.c_void_p

def megabytes():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

blocks = [c.malloc(ctypes.c_size_t(60_000)) for _ in range(2000)]
for block in blocks:
    ctypes.memset(block, 1, 60_000)
for block in blocks[:-1]:
    c.free(ctypes.c_void_p(block))
before = megabytes()
assert return_free_memory()
print(before - megabytes())
"""


@needs_glibc
def test_free_memory_below_a_used_block_is_returned() -> None:
    ran = subprocess.run([sys.executable, "-c", _FREED], capture_output=True, text=True, check=True, timeout=60)
    assert float(ran.stdout) > 50


_ALONE = """
import ctypes, sys
from adapters.native_heap import limit_free_memory

if sys.argv[1] == "limited":
    assert limit_free_memory()
c = ctypes.CDLL(None)
c.malloc.restype = ctypes.c_void_p

def a_block_is_mapped_alone():
    block = c.malloc(ctypes.c_size_t(4_000_000))
    for line in open("/proc/self/maps"):
        start, end = (int(each, 16) for each in line.split()[0].split("-"))
        if start <= block < end:
            c.free(ctypes.c_void_p(block))
            return "[heap]" not in line

print([a_block_is_mapped_alone() for _ in range(3)])
"""


@needs_glibc
def test_large_blocks_stay_out_of_the_heap_also_after_one_was_freed() -> None:
    def mapped(how: str) -> str:
        ran = subprocess.run(
            [sys.executable, "-c", _ALONE, how], capture_output=True, text=True, check=True, timeout=60
        )
        return ran.stdout.strip()

    assert mapped("limited") == "[True, True, True]"
    assert mapped("as it is") == "[True, False, False]"


_TRAINED = """
import ctypes, resource, sys
from adapters.native_heap import keep_free_memory, limit_free_memory

assert limit_free_memory()
if sys.argv[1] == "kept":
    assert keep_free_memory()
c = ctypes.CDLL(None)
c.malloc.restype = ctypes.c_void_p

def step():
    block = c.malloc(ctypes.c_size_t(8_000_000))
    ctypes.memset(block, 1, 8_000_000)
    c.free(ctypes.c_void_p(block))

step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(50):
    step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@needs_glibc
def test_a_program_that_trains_is_given_its_own_memory_again() -> None:
    assert printed(_TRAINED, "kept") < 1000 < printed(_TRAINED, "limited")
