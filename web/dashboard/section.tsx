import type { ComponentChildren } from "preact";

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
