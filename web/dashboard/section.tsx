import type { ComponentChildren } from "preact";
import type { Failure } from "#web/kit/page-api.ts";
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

/**
 * What the server has, as soon as it is there; before that a word, and why it is not there with a way to retry.
 * `quiet` where another part of the page tells why already.
 */
export function Loaded<T>({
  of,
  quiet = false,
  children,
}: {
  of: Resource<T>;
  quiet?: boolean;
  children: (value: T) => ComponentChildren;
}) {
  const { value, failure } = of;
  return (
    <>
      {failure.value !== null && !quiet && (
        <Failed
          failure={failure.value}
          isOlder={value.value !== null}
          retry={() => void of.load()}
        />
      )}
      {value.value !== null ? (
        children(value.value)
      ) : failure.value === null ? (
        <p class="waiting">Loading …</p>
      ) : (
        quiet && <p class="waiting">Not available at the moment.</p>
      )}
    </>
  );
}

const Failed = ({
  failure: { words, requestId },
  isOlder,
  retry,
}: {
  failure: Failure;
  isOlder: boolean;
  retry: () => void;
}) => (
  <div class="note bad" role="alert">
    <p>
      {words}
      {requestId !== null && (
        <>
          {" "}
          Request <code>{requestId}</code>
        </>
      )}
      {isOlder && " The data below is older."}
    </p>
    <button type="button" onClick={retry}>
      Try again
    </button>
  </div>
);
