"""A local copy of all stations of a Fuelmark service, kept up to date. Python 3.9 or later, nothing else.

    from fuelmark_mirror import Mirror

    mirror = Mirror("https://fuel.example", key, path="/var/lib/my-app/stations.json")
    for changes in mirror.follow(poll_s=60):       # runs for ever; stop with break
        for before, after in changes:              # after is None: taken out of service
            ...
    # or, from a timer of your own:
    mirror.refresh()
    mirror.stations["n123"]["fuel"]["status"]

What it promises:

- The whole country is read once, then only what has changed. No change is missed, also behind a load balancer: each
  delta begins at the as_of of the answer before, even if that is older than the one before it.
- With a path, the copy goes on after a restart or a crash where it was; the file is always whole.
- refresh() returns changes after the copy shows them. What an answer only repeats is left out. With a path, the file is
  written when the changes have been handed on: after a crash in between they come again.
- At its first refresh and then every half hour it compares a digest of the copy with the service's own, and takes the
  country anew where they differ: after a backup of the service was restored, or when the file was damaged.
- After 429, 503 and lost connections it waits and tries again, and tells on_wait, if you give one, before each wait:
  on_wait(error, since, wait_s) gets the exception, the Unix time since when nothing has come, and the seconds until it
  tries again. Refusals of the key and other errors are raised.
- What no waiting mends is raised: a key or an address that cannot be one (ValueError), and, as long as the service has
  never answered, an unknown host, another protocol behind the port, a certificate not to be trusted (OSError).
"""

import decimal
import gzip
import hashlib
import http.client
import json
import os
import re
import socket
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib

__all__ = ["ApiError", "Mirror", "digest_of"]

DUMP = "/stations/all?limit=30000"
FIRST_PAUSE_S = 1
LONGEST_PAUSE_S = 60
COMPARE_S = 1800
# After so long another process, if it answers the next request, has what the last one has said.
SETTLE_S = 5


class ApiError(Exception):
    """A refusal of the service. `code` is the last part of the problem's type."""

    def __init__(self, status, problem):
        self.status = status
        self.problem = problem
        self.code = str(problem.get("type", "")).rsplit("/", 1)[-1]
        super().__init__(f"{status} {self.code}: {problem.get('detail', '')}")


class Mirror:
    """`stations`: the records by id. `as_of`: the cursor of the next delta, None before the first answer."""

    def __init__(
        self, base_url, key, path=None, timeout_s=60, sleep=time.sleep, on_wait=None, compare_s=COMPARE_S
    ):
        _check(base_url, key)
        self.stations = {}
        self.as_of = None
        self._on_wait = on_wait
        self._failing_since = None
        self._has_answered = False
        self._compare_s = compare_s
        self._compare_at = 0
        self._unequal = 0
        self._unsaved = []
        self._base = re.sub(r"(/api/v1/partner)?$", "/api/v1/partner", base_url.rstrip("/"), count=1)
        self._key = key
        self._path = path
        self._timeout_s = timeout_s
        self._sleep = sleep
        if path is not None and os.path.exists(path):
            self._load(path)

    def _load(self, path):
        """A file that cannot be understood counts as none: the copy begins anew."""
        try:
            with open(path, encoding="utf-8") as file:
                stored = json.load(file)
            self.stations = {station["id"]: station for station in stored["stations"]}
            self.as_of = stored["as_of"]
        except (ValueError, KeyError, TypeError):
            self.stations = {}

    def refresh(self):
        """Brings the copy up to date, and returns [(before, after), …]: None for before is new, for after is gone."""
        self._read()
        self._save()
        return self._told()

    def follow(self, poll_s=60):
        """Yields the changes of each refresh, empty lists included, every `poll_s` seconds."""
        while True:
            self._read()
            yield self._told()
            # Only now: whoever stops in the loop's body gets these changes again after a restart.
            self._save()
            self._sleep(poll_s)

    def _told(self):
        changes, self._unsaved = self._unsaved, []
        return changes

    def _read(self):
        if self.as_of is None:
            self._whole()
            return
        try:
            expected = self._changes()
        except ApiError as error:
            # window-too-old, or a cursor that the service cannot read.
            if error.status != 422:
                raise
            self._whole()
            return
        if time.monotonic() >= self._compare_at:
            self._compare(expected)

    def _changes(self):
        """The changes since as_of, and the digest that the copy should have now; None from an older server."""
        delta = self._get("/stations/delta?" + urllib.parse.urlencode({"updated_since": self.as_of}))
        after = {station["id"]: station for station in delta["stations"]}
        after.update({gone: None for gone in delta["removed"]})
        self._take(after, delta["as_of"])
        return delta.get("digest")

    def _compare(self, expected):
        """Takes the country anew where the copy has another digest.

        Before that it asks once more: the process that answered may have been behind the one before it.
        """
        is_equal = self._is_equal(expected)
        for takes_whole in (False, True):
            if is_equal:
                break
            if takes_whole:
                self._whole()
            else:
                self._sleep(SETTLE_S)
            expected = self._changes()
            is_equal = self._is_equal(expected)
        self._unequal = 0 if is_equal else self._unequal + 1
        # Soon again where that did not help: what was read may have been made before the service was restored.
        wait_s = self._compare_s if is_equal else min(self._compare_s, 60 * 4**self._unequal)
        self._compare_at = time.monotonic() + wait_s

    def _is_equal(self, expected):
        return expected is None or expected == digest_of(self.stations.values())

    def _whole(self):
        page = self._get(DUMP)
        stations = list(page["stations"])
        cursor = page.get("next_cursor")
        while cursor:
            more = self._get(DUMP + "&cursor=" + urllib.parse.quote(cursor, safe=""))
            stations += more["stations"]
            cursor = more.get("next_cursor")
        after = {station_id: None for station_id in self.stations}
        after.update({station["id"]: station for station in stations})
        self._compare_at = time.monotonic() + self._compare_s
        # The first page's: what changed between the pages comes with the next delta.
        self._take(after, page["as_of"])

    def _take(self, after, as_of):
        for station_id, station in after.items():
            before = self.stations.get(station_id)
            if station == before:
                continue
            # At once: a request that fails later on leaves them for the next refresh.
            self._unsaved.append((before, station))
            if station is None:
                del self.stations[station_id]
            else:
                self.stations[station_id] = station
        self.as_of = as_of

    def _save(self):
        if self._path is None:
            return
        whole = {"as_of": self.as_of, "stations": list(self.stations.values())}
        unfinished = f"{self._path}.{os.getpid()}.tmp"
        with open(unfinished, "w", encoding="utf-8") as file:
            json.dump(whole, file, ensure_ascii=False)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, self._path)

    def _get(self, path):
        pause_s = FIRST_PAUSE_S
        while True:
            try:
                body = self._ask(path)
                self._has_answered = True
                self._failing_since = None
                return body
            except ApiError as error:
                self._has_answered = True
                if error.status not in (429, 502, 503, 504):
                    raise
                self._wait(error, error.problem.get("_retry_after_s") or pause_s)
            except (OSError, http.client.HTTPException, EOFError, ValueError, zlib.error) as error:
                # Also an answer that was cut off.
                if not self._has_answered and _is_final(error):
                    raise
                self._wait(error, pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    def _wait(self, error, wait_s):
        if self._failing_since is None:
            self._failing_since = time.time()
        if self._on_wait is not None:
            self._on_wait(error, self._failing_since, wait_s)
        self._sleep(wait_s)

    def _ask(self, path):
        headers = {"Authorization": "Bearer " + self._key, "Accept-Encoding": "gzip"}
        request = urllib.request.Request(self._base + path, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=self._timeout_s) as answer:
                return json.loads(_plain(answer.headers, answer.read()))
        except urllib.error.HTTPError as error:
            with error:
                text = _plain(error.headers, error.read())
                try:
                    problem = json.loads(text)
                except ValueError:
                    problem = None
                if not isinstance(problem, dict):
                    # Something before the service has answered.
                    problem = {"detail": error.reason}
                retry_after = error.headers.get("Retry-After", "")
                if retry_after.isdigit():
                    problem["_retry_after_s"] = int(retry_after)
                raise ApiError(error.code, problem) from None


def _plain(headers, body):
    return gzip.decompress(body) if headers.get("Content-Encoding") == "gzip" else body


def digest_of(stations):
    """The digest of stations as /stations/delta says it (docs/partners.md, Keep a copy); their order does not matter."""
    sums = [0, 0, 0]
    for station in stations:
        digest = hashlib.sha1((_text(station) + ",").encode()).digest()
        for lane in range(3):
            sums[lane] += int.from_bytes(digest[lane * 4 : lane * 4 + 4], "big")
    return "".join("%08x" % (total % 2**32) for total in sums)


def _text(station):
    """The station's JSON as the service writes it."""
    fields = (f"{json.dumps(name)}:{_value(value)}" for name, value in station.items())
    return "{" + ",".join(fields) + "}"


def _value(value):
    if not isinstance(value, float):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # Python writes 1e-05 where JavaScript writes 0.00001, and 1e-07 for 1e-7.
    text = repr(value)
    if "e-" not in text:
        return text
    return format(decimal.Decimal(text), "f") if abs(value) >= 1e-6 else text.replace("e-0", "e-")


def _check(base_url, key):
    """Otherwise each request would fail in the same way, which looks like a server that is away."""
    parts = urllib.parse.urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname or re.search(r"[\x00-\x20\x7f]", base_url):
        raise ValueError(f"base_url is https://host or http://host, and not {base_url!r}")
    parts.port  # Raises ValueError where it is no number.
    # Often the line feed at the end of a file. The key itself belongs into no log.
    if not isinstance(key, str) or not re.fullmatch(r"[!-~]+", key):
        raise ValueError("key is empty, or holds a blank, a line feed or another foreign character")


def _is_final(error):
    """True where the same comes again however long one waits, unless a person changes something."""
    reason = getattr(error, "reason", error)
    if isinstance(reason, socket.gaierror):
        return reason.errno != socket.EAI_AGAIN
    if isinstance(reason, ssl.SSLError):
        return not isinstance(reason, (ssl.SSLEOFError, ssl.SSLZeroReturnError))
    return False
