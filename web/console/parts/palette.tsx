import { Button } from "#web/kit/button.tsx";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ConsoleHits } from "#src/contract/console.ts";
import { api, mayChange } from "#web/console/api.ts";
import { goTo } from "#web/console/place.ts";
import { queuesPage, type SitePage, sitePages } from "#web/console/site.ts";
import { say } from "#web/console/words.ts";

interface Option {
  /** The element's id, so that a newer answer keeps the choice. */
  id: string;
  text: string;
  detail: string;
  tag?: string;
  path: string;
}

interface Group {
  name: string;
  options: Option[];
}

const pauseMs = 120;
const none: ConsoleHits = { partners: [], keys: [], stations: [] };

/**
 * One field that finds pages, partners, keys and stations (decisions 13.19): a combobox with a list of groups. The
 * focus stays in the field; arrow keys choose, Enter opens, Escape closes and gives the focus back.
 */
export function Palette({ close }: { close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [before] = useState(() => document.activeElement);
  const [typed, setTyped] = useState("");
  const [answer, setAnswer] = useState({ q: "", hits: none });
  const [fault, setFault] = useState<string | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  /** Enter was pressed before the answer was there. */
  const [opensFirst, setOpensFirst] = useState(false);
  const q = askedOf(typed);
  const isSearching = answer.q !== q;
  const groups = groupsOf(typed, answer.hits);
  const options = groups.flatMap((group) => group.options);
  const current = options.find(({ id }) => id === chosen) ?? options[0];

  // Opened before the browser takes the next key: a key right after Ctrl-K belongs into the field.
  useLayoutEffect(() => {
    const { current: element } = dialog;
    element?.showModal();
    return () => element?.close();
  }, []);
  useEffect(() => {
    let isOver = false;
    const ask = async (): Promise<void> => {
      const found =
        q === "" ? { value: none } : await api.get<ConsoleHits>(`/find?q=${encodeURIComponent(q)}`);
      if (isOver) return;
      setFault(found.failure?.words ?? null);
      setAnswer({ q, hits: found.failure === undefined ? found.value : none });
    };
    const timer = setTimeout(() => void ask(), q === "" ? 0 : pauseMs);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [q]);
  useEffect(() => {
    if (current !== undefined)
      document.getElementById(current.id)?.scrollIntoView({ block: "nearest" });
  }, [current?.id]);

  const leave = (): void => {
    dialog.current?.close();
    close();
    if (before instanceof HTMLElement) before.focus();
  };
  const open = ({ path }: Option): void => {
    leave();
    if (path === queuesPage.path) location.assign(path);
    else goTo(path);
    document.getElementById("content")?.focus();
  };
  useEffect(() => {
    if (!opensFirst || isSearching) return;
    setOpensFirst(false);
    if (options[0] !== undefined) open(options[0]);
  }, [opensFirst, isSearching]);

  const move = (by: number): void => {
    if (current === undefined) return;
    const to = (options.indexOf(current) + by + options.length) % options.length;
    setChosen(options[to]!.id);
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else if (event.key === "Enter") {
      if (isSearching && chosen === null) setOpensFirst(true);
      else if (current !== undefined) open(current);
    } else return;
    event.preventDefault();
  };
  const isOpen = options.length > 0;
  return (
    <dialog
      ref={dialog}
      class="dialog palette"
      aria-label={say("Find")}
      onCancel={(event) => {
        event.preventDefault();
        leave();
      }}
      onClick={({ target }) => {
        if (target === dialog.current) leave();
      }}
    >
      <div class="palette-field">
        <input
          role="combobox"
          aria-label={say("Find a page, partner, key or station")}
          aria-autocomplete="list"
          aria-expanded={isOpen}
          {...(isOpen ? { "aria-controls": "palette-list" } : {})}
          {...(current === undefined ? {} : { "aria-activedescendant": current.id })}
          autoComplete="off"
          spellcheck={false}
          enterkeyhint="go"
          maxLength={120}
          placeholder={say("Page, partner, key or station")}
          value={typed}
          onInput={({ currentTarget }) => {
            setTyped(currentTarget.value);
            setChosen(null);
            setOpensFirst(false);
          }}
          onKeyDown={onKey}
        />
        <Button words={say("Close")} onClick={leave} />
      </div>
      {isOpen && (
        <div role="listbox" id="palette-list" aria-label={say("Found")}>
          {groups.map((group) => (
            <div role="group" key={group.name} aria-labelledby={`palette-${group.name}`}>
              <div class="soft" role="presentation" id={`palette-${group.name}`}>
                {group.name}
              </div>
              {group.options.map((option) => (
                <Hit
                  key={option.id}
                  option={option}
                  selected={option === current}
                  choose={() => setChosen(option.id)}
                  open={() => open(option)}
                />
              ))}
            </div>
          ))}
        </div>
      )}
      <p class="soft" role="status">
        {fault ?? wordsOf(options.length, isSearching)}
      </p>
    </dialog>
  );
}

interface HitProps {
  option: Option;
  selected: boolean;
  choose: () => void;
  open: () => void;
}

const Hit = ({ option: { id, text, detail, tag }, selected, choose, open }: HitProps) => (
  // The field has the focus and the keys.
  <div
    role="option"
    id={id}
    aria-selected={selected}
    onMouseMove={choose}
    onMouseDown={(event) => event.preventDefault()}
    onClick={open}
  >
    <span>
      {text}
      {tag !== undefined && <span class="tag bad">{tag}</span>}
    </span>
    {detail !== "" && <span class="soft">{detail}</span>}
  </div>
);

function wordsOf(count: number, isSearching: boolean): string {
  if (isSearching) return say("Searching …");
  if (count === 0) return say("Nothing found.");
  return say("{n} found. Arrow keys choose, Enter opens.", { n: String(count) });
}

/** The text to send. A pasted key is cut to the beginning by which it is found: no more of it ever leaves the page. */
const askedOf = (typed: string): string => typed.trim().replace(/(_live_\w{4})\w+/g, "$1");

/** A single letter does not search the pages' other words. */
const isOfPage = (page: SitePage, word: string): boolean =>
  page.text.toLowerCase().includes(word) ||
  (word.length > 1 && page.words.split(" ").some((other) => other.startsWith(word)));

function groupsOf(typed: string, { partners, keys, stations }: ConsoleHits): Group[] {
  const words = typed.trim().toLowerCase().split(/\s+/);
  const pages = [...sitePages, ...(mayChange() ? [queuesPage] : [])].filter((page) =>
    words.every((word) => isOfPage(page, word)),
  );
  const groups: Group[] = [
    {
      name: say("Pages"),
      options: pages.map(({ path, text }) => ({
        id: `palette-page-${text.replaceAll(" ", "-")}`,
        text,
        detail: "",
        path,
      })),
    },
    {
      name: say("Partners"),
      options: partners.map(({ id, name }) => ({
        id: `palette-partner-${id}`,
        text: name,
        detail: `#${id}`,
        path: `/partners/${id}`,
      })),
    },
    {
      name: say("Keys"),
      options: keys.map(({ id, partner_id: partnerId, partner, prefix, label, revoked }) => ({
        id: `palette-key-${id}`,
        text: label === "" ? `${prefix}…` : label,
        detail: [`#${id}`, ...(label === "" ? [] : [`${prefix}…`]), partner].join(" · "),
        path: `/partners/${partnerId}`,
        ...(revoked ? { tag: say("revoked") } : {}),
      })),
    },
    {
      name: say("Stations"),
      options: stations.map(({ id, name, brand, addr, removed }) => ({
        id: `palette-station-${id}`,
        text: name || brand || id,
        path: `/stations/${id}`,
        detail: [...new Set([name === "" ? "" : brand, addr, id])].filter(Boolean).join(" · "),
        ...(removed ? { tag: say("out of service") } : {}),
      })),
    },
  ];
  return groups.filter(({ options }) => options.length > 0);
}
