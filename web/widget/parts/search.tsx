import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { Icon } from "#web/kit/icon.tsx";
import { StatusSign } from "#web/widget/parts/status-sign.tsx";
import { loadParts } from "#web/widget/parts/later.tsx";
import type { Found, search } from "#web/widget/search.ts";
import { keepCity } from "#web/widget/kept-view.ts";
import { goTo } from "#web/widget/start.ts";
import { openNearest } from "#web/widget/nearest.ts";
import { openCard, panel } from "#web/widget/panels.ts";
import { keepPlace } from "#web/widget/place.ts";
import { words } from "#web/widget/words.ts";

const restMs = 250;
const stationZoom = 15;

const find: typeof search = async (text, stop) => (await loadParts()).search(text, stop);

/** Finds cities and stations while the viewer types; arrow keys choose, Enter goes there. */
export const Search = () => {
  const text = useSignal("");
  const found = useSignal<Found[] | null>(null);
  const chosen = useSignal(0);
  const open = useSignal(false);
  const input = useRef<HTMLInputElement>(null);
  const list = useId();

  useEffect(() => {
    const asked = text.value.trim();
    found.value = null;
    if (asked.length < 2) return undefined;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      void find(asked, stop.signal).then((results) => {
        if (stop.signal.aborted) return;
        found.value = results;
        chosen.value = 0;
      });
    }, restMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text.value]);

  const go = (result: Found): void => {
    open.value = false;
    if (result.kind === "city") {
      const { lat, lon, zoom, name } = result.city;
      input.current?.blur();
      keepCity(name);
      keepPlace({ lat, lon, city: name });
      // An open search for the nearest stations goes on around the city.
      if (panel.value === "nearest") void openNearest({ lat, lon, city: name });
      else goTo({ lat, lon, zoom });
    } else {
      const { lat, lon } = result.station;
      goTo({ lat, lon, zoom: stationZoom });
      openCard(result.station);
    }
  };
  const onKey = (event: KeyboardEvent): void => {
    const results = found.value ?? [];
    if (event.key === "Escape") {
      if (!open.value) return;
      open.value = false;
      event.stopPropagation();
      return;
    }
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && results.length > 0) {
      event.preventDefault();
      open.value = true;
      chosen.value = (chosen.value + step + results.length) % results.length;
    }
    const at = results[chosen.value];
    if (event.key === "Enter" && at !== undefined) {
      event.preventDefault();
      go(at);
    }
  };
  const results = found.value;
  const listed = open.value && results !== null;
  return (
    <div
      class="search"
      role="search"
      onFocusOut={({ relatedTarget, currentTarget }) => {
        if (!currentTarget.contains(relatedTarget as Node | null)) open.value = false;
      }}
    >
      <Icon name="search" />
      <input
        ref={input}
        type="text"
        inputMode="search"
        enterkeyhint="search"
        role="combobox"
        aria-label={words.search}
        aria-autocomplete="list"
        aria-expanded={listed && results.length > 0}
        aria-controls={list}
        aria-activedescendant={listed && results.length > 0 ? `${list}-${chosen.value}` : undefined}
        placeholder={words.searchHint}
        autocomplete="off"
        spellcheck={false}
        maxLength={100}
        value={text.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
          open.value = true;
        }}
        onFocus={() => (open.value = true)}
        onKeyDown={onKey}
      />
      {text.value === "" ? null : (
        <button
          type="button"
          class="round small"
          aria-label={words.clear}
          onClick={() => {
            text.value = "";
            input.current?.focus();
          }}
        >
          <Icon name="close" size={16} />
        </button>
      )}
      <ul
        id={list}
        class="found"
        role="listbox"
        aria-label={words.search}
        hidden={!listed || results.length === 0}
      >
        {(listed ? results : []).map((result, at) => (
          <li
            key={result.id}
            id={`${list}-${at}`}
            role="option"
            aria-selected={at === chosen.value}
            // Before the input loses the focus, which would close the list.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => go(result)}
          >
            {result.kind === "city" ? (
              <Icon name="pin" size={22} />
            ) : (
              <StatusSign status={result.station.fuel.status} size={22} />
            )}
            <span class="lines">
              <span>{result.title}</span>
              <small>{result.under}</small>
            </span>
          </li>
        ))}
      </ul>
      <p class="found none" role="status" hidden={!listed || results.length > 0}>
        {listed && results.length === 0 ? words.nothingFound(text.value.trim()) : ""}
      </p>
    </div>
  );
};
