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
- After 429, 503 and lost connections it waits and tries again; refusals of the key and other errors are raised.
"""

import gzip
import http.client
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request

__all__ = ["ApiError", "Mirror"]

DUMP = "/stations/all?limit=30000"
FIRST_PAUSE_S = 1
LONGEST_PAUSE_S = 60


class ApiError(Exception):
    """A refusal of the service. `code` is the last part of the problem's type."""

    def __init__(self, status, problem):
        self.status = status
        self.problem = problem
        self.code = str(problem.get("type", "")).rsplit("/", 1)[-1]
        super().__init__(f"{status} {self.code}: {problem.get('detail', '')}")


class Mirror:
    """`stations`: the records by id. `as_of`: the cursor of the next delta, None before the first answer."""

    def __init__(self, base_url, key, path=None, timeout_s=60, sleep=time.sleep):
        self.stations = {}
        self.as_of = None
        self._base = base_url.rstrip("/") + "/api/v1/partner"
        self._key = key
        self._path = path
        self._timeout_s = timeout_s
        self._sleep = sleep
        if path is not None and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                stored = json.load(file)
            self.stations = {station["id"]: station for station in stored["stations"]}
            self.as_of = stored["as_of"]

    def refresh(self):
        """Brings the copy up to date, and returns [(before, after), …]: None for before is new, for after is gone."""
        changes = self._read()
        self._save()
        return changes

    def follow(self, poll_s=60):
        """Yields the changes of each refresh, empty lists included, every `poll_s` seconds."""
        while True:
            yield self._read()
            # Only now: whoever stops in the loop's body gets these changes again after a restart.
            self._save()
            self._sleep(poll_s)

    def _read(self):
        if self.as_of is None:
            return self._whole()
        query = urllib.parse.urlencode({"updated_since": self.as_of})
        try:
            delta = self._get("/stations/delta?" + query)
        except ApiError as error:
            if error.code != "window-too-old":
                raise
            return self._whole()
        after = {station["id"]: station for station in delta["stations"]}
        after.update({gone: None for gone in delta["removed"]})
        return self._take(after, delta["as_of"])

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
        # The first page's: what changed between the pages comes with the next delta.
        return self._take(after, page["as_of"])

    def _take(self, after, as_of):
        changes = []
        for station_id, station in after.items():
            before = self.stations.get(station_id)
            if station == before:
                continue
            changes.append((before, station))
            if station is None:
                del self.stations[station_id]
            else:
                self.stations[station_id] = station
        self.as_of = as_of
        return changes

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
                return self._ask(path)
            except ApiError as error:
                if error.status not in (429, 502, 503, 504):
                    raise
                wait_s = error.problem.get("_retry_after_s") or pause_s
            except (OSError, http.client.HTTPException, EOFError, ValueError):
                # Also an answer that was cut off.
                wait_s = pause_s
            self._sleep(wait_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

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
                    # Something before the service has answered.
                    problem = {"detail": error.reason}
                retry_after = error.headers.get("Retry-After", "")
                if retry_after.isdigit():
                    problem["_retry_after_s"] = int(retry_after)
                raise ApiError(error.code, problem) from None


def _plain(headers, body):
    return gzip.decompress(body) if headers.get("Content-Encoding") == "gzip" else body
