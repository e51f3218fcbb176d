"""Text files in a packed one: .gz, .bz2, .xz and .zst hold one file, .zip may hold several, of which one is a table.

What is inside goes to memory, beyond HELD bytes to a temporary file, so that it can be read from its beginning again.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any

from optbn.base.errors import DataError
from optbn.base.memory import readable

HELD = 1 << 26
SHOWN = 4  # tables that a message names
AT_A_TIME = 1 << 20
PACKED = 200  # times its size is more than a table of texts unpacks to, but for what holds next to nothing
SMALL = 1 << 26  # bytes that any file may unpack to


def _zstd(path: Path) -> Any:
    import pyarrow as pa

    return pa.input_stream(str(path), compression="zstd")


OPENERS: dict[str, Callable[[Path], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zst": _zstd}
ENDINGS = (*OPENERS, ".zip")
KINDS = {"gzip": ".gz", "bzip2": ".bz2", "zstd": ".zst"}


def unpacked(path: Path, endings: Collection[str]) -> tuple[IO[bytes], str]:
    """What a packed file holds, and the ending of its name; of a zip, the one file with one of `endings`."""
    ending = path.suffix.lower()
    copy: IO[bytes] = tempfile.SpooledTemporaryFile(HELD)  # noqa: SIM115  lives as long as its rows are read
    with _refusing(path):
        if ending != ".zip":
            with OPENERS[ending](path) as stream:
                _copy(path, stream, copy)
            return copy, path.with_suffix("").suffix.lower()
        with zipfile.ZipFile(path) as archive:
            member = _table_of(path, archive, endings)
            with archive.open(member) as stream:
                _copy(path, stream, copy)
            return copy, PurePosixPath(member).suffix.lower()


def _table_of(path: Path, archive: zipfile.ZipFile, endings: Collection[str]) -> str:
    names = [name for name in archive.namelist() if not name.startswith("__MACOSX/")]
    tables = [name for name in names if PurePosixPath(name).suffix.lower() in endings]
    if len(tables) == 1:
        return tables[0]
    if not tables:
        raise DataError(f"{path}: none of its files is a table in a text format ({', '.join(endings)})")
    shown = ", ".join(tables[:SHOWN]) + (", .." if len(tables) > SHOWN else "")
    raise DataError(f"{path}: {len(tables):,} tables are in it ({shown}); unpack the one to read")


def _copy(path: Path, stream: Any, copy: IO[bytes]) -> None:
    most, done = max(SMALL, PACKED * path.stat().st_size), 0
    while part := stream.read(AT_A_TIME):
        done += len(part)
        if done > most:
            raise DataError(f"{path}: unpacks to more than {readable(most)}, {PACKED} times its size; unpack it first")
        copy.write(part)
    copy.seek(0)


@contextlib.contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """What the unpackers raise about damaged bytes, as a DataError."""
    try:
        yield
    except (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: a damaged {path.suffix} file ({error})") from None
    except (NotImplementedError, RuntimeError) as error:  # a password, or a way of packing that Python does not know
        raise DataError(f"{path}: this {path.suffix} file cannot be unpacked ({error}); unpack it first") from None
    except OSError as error:
        if error.errno is not None:  # of the file system
            raise
        raise DataError(f"{path}: a damaged {path.suffix} file ({error})") from None
