import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "#web/kit/icon.tsx";
import { swipeDown } from "#web/widget/parts/swipe.ts";
import { closePanel } from "#web/widget/state.ts";
import { words } from "#web/widget/words.ts";

interface Props {
  title: string;
  /** Beside the title. */
  sign?: ComponentChildren;
  children: ComponentChildren;
  closable?: boolean;
}

/** A panel at the side, on phones a sheet at the bottom. It takes the focus; Escape closes it, a sheet also a swipe. */
export const Panel = ({ title, sign, children, closable = true }: Props) => {
  const heading = useRef<HTMLHeadingElement>(null);
  const sheet = useRef<HTMLElement>(null);
  const head = useRef<HTMLElement>(null);
  // Before anything else can happen: a Tab pressed at once must not be undone by a late focus.
  useLayoutEffect(() => heading.current?.focus(), []);
  useEffect(
    () =>
      closable && head.current !== null && sheet.current !== null
        ? swipeDown(head.current, sheet.current, closePanel)
        : undefined,
    [closable],
  );
  return (
    <section class="panel" aria-labelledby="panel-title" ref={sheet}>
      <header class={`panel-head${closable ? " grip" : ""}`} ref={head}>
        {sign}
        <h2 id="panel-title" ref={heading} tabIndex={-1}>
          {title}
        </h2>
        {closable ? (
          <button type="button" class="round" onClick={closePanel} aria-label={words.close}>
            <Icon name="close" />
          </button>
        ) : null}
      </header>
      <div class="panel-body">{children}</div>
    </section>
  );
};
