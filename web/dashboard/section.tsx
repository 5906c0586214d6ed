import type { ComponentChildren } from "preact";
import type { Resource } from "#web/kit/resource.ts";

/** A part of the page under its heading, reachable by `#id`. */
export function Section({
  id,
  title,
  tools,
  children,
}: {
  id: string;
  title: string;
  tools?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="card" id={id} aria-labelledby={`${id}-title`}>
      <header>
        <h2 id={`${id}-title`}>{title}</h2>
        {tools}
      </header>
      {children}
    </section>
  );
}

/** What the server has, as soon as it is there; before that a word, and why it is not there with a way to retry. */
export function Loaded<T>({
  of,
  children,
}: {
  of: Resource<T>;
  children: (value: T) => ComponentChildren;
}) {
  const { value, failure } = of;
  return (
    <>
      {failure.value !== null && (
        <div class="note bad" role="alert">
          <p>
            {failure.value.words}
            {failure.value.requestId !== null && (
              <>
                {" "}
                Request <code>{failure.value.requestId}</code>
              </>
            )}
            {value.value !== null && " What you see is older."}
          </p>
          <button type="button" onClick={() => void of.load()}>
            Try again
          </button>
        </div>
      )}
      {value.value !== null
        ? children(value.value)
        : failure.value === null && <p class="waiting">Loading …</p>}
    </>
  );
}
