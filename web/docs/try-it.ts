import { say } from "#web/docs/say.ts";

const stored = "docs-key";
/** Answers may be as long as the country: no more than this is shown. */
const shownCharacters = 20_000;

/** The form of an operation's page: sends the call from here, with the key that the reader enters. */
export function startTrying(): void {
  const form = document.querySelector<HTMLFormElement>("form.try");
  if (form === null) return;
  const key = form.elements.namedItem("key") as HTMLInputElement;
  key.value = kept() ?? "";
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    keep(key.value.trim());
    void send(form, key.value.trim());
  });
  form.querySelector("[data-forget]")!.addEventListener("click", () => {
    keep(null);
    key.value = "";
    key.focus();
  });
  form.hidden = false;
}

/** The key is for this tab alone, and goes with it. */
function kept(): string | null {
  try {
    return sessionStorage.getItem(stored);
  } catch {
    return null;
  }
}

function keep(key: string | null): void {
  try {
    if (key === null) sessionStorage.removeItem(stored);
    else sessionStorage.setItem(stored, key);
  } catch {
    // It stays in the form.
  }
}

async function send(form: HTMLFormElement, key: string): Promise<void> {
  const outcome = form.querySelector<HTMLElement>(".outcome")!;
  const button = form.querySelector<HTMLButtonElement>("[type=submit]")!;
  button.disabled = true;
  outcome.replaceChildren(say("Waiting …", "Ждём ответа …"));
  const startedAt = performance.now();
  try {
    const answer = await fetch(...requestOf(form, key));
    const text = await start(answer);
    const ms = Math.round(performance.now() - startedAt);
    const left = answer.headers.get("x-ratelimit-remaining");
    const status = document.createElement("p");
    status.textContent =
      say(`${answer.status} after ${ms} ms`, `${answer.status} за ${ms} мс`) +
      (left === null
        ? ""
        : say(
            `, ${left} requests left in this minute`,
            `, в эту минуту осталось запросов: ${left}`,
          ));
    outcome.replaceChildren(status);
    if (text !== "") outcome.append(block(text));
  } catch (error) {
    outcome.replaceChildren(`${say("The request failed", "Запрос не удался")}: ${String(error)}`);
  } finally {
    button.disabled = false;
  }
}

/** The request that the form describes; empty fields are left out. */
function requestOf(form: HTMLFormElement, key: string): [URL, RequestInit] {
  const { method = "GET", path = "" } = form.dataset;
  const fields = [...form.querySelectorAll<HTMLInputElement>("[data-in]")];
  const valuesIn = (place: string): [string, string][] =>
    fields
      .filter((field) => field.dataset["in"] === place && field.value !== "")
      .map((field) => [field.name, field.value]);
  const inPath = new Map(valuesIn("path"));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(inPath.get(name) ?? ""),
  );
  // Relative to /docs/api/…, because the service may stand below a path of its host.
  const url = new URL(`../../api/v1/partner${filled}`, location.href);
  url.search = new URLSearchParams(valuesIn("query")).toString();
  const body = form.querySelector<HTMLTextAreaElement>("[name=body]")?.value;
  return [
    url,
    {
      method,
      headers: {
        ...Object.fromEntries(valuesIn("header")),
        Authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      ...(body === undefined ? {} : { body }),
      // The call is that of a program: nothing of the dashboard's session goes along.
      credentials: "omit",
      cache: "no-store",
    },
  ];
}

/** The beginning of an answer, laid out if it is JSON and short. A stream is left after its first event. */
async function start(answer: Response): Promise<string> {
  const type = answer.headers.get("content-type") ?? "";
  if (answer.body === null) return "";
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let isWhole = false;
  while (text.length < shownCharacters) {
    const { done, value } = await reader.read();
    if (done) {
      isWhole = true;
      break;
    }
    text += value;
    if (type.startsWith("text/event-stream") && text.includes("\n\n")) break;
  }
  if (!isWhole) void reader.cancel();
  if (isWhole && /[/+]json/.test(type) && text !== "")
    text = JSON.stringify(JSON.parse(text), null, 2);
  return isWhole && text.length <= shownCharacters
    ? text
    : `${text.slice(0, shownCharacters)}\n… (${say("only the beginning is shown", "показано только начало")})`;
}

function block(text: string): HTMLElement {
  const pre = document.createElement("pre");
  pre.tabIndex = 0;
  pre.setAttribute("role", "group");
  pre.setAttribute("aria-label", say("Answer", "Ответ"));
  pre.textContent = text;
  return pre;
}
