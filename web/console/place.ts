import { signal } from "@preact/signals";

/** The viewer's place in the console: `#/rollback?key=3` is path `/rollback` with `key` 3. */
export interface Place {
  path: string;
  query: URLSearchParams;
}

export const place = signal<Place>(read());

window.addEventListener("hashchange", () => {
  place.value = read();
});

export const goTo = (path: string): void => {
  location.hash = path;
};

function read(): Place {
  const [path = "", query = ""] = location.hash.replace(/^#/, "").split("?");
  return { path: path === "" ? "/" : path, query: new URLSearchParams(query) };
}
