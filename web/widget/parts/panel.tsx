import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "#web/kit/icon.tsx";
import { swipeDown } from "#web/widget/parts/swipe.ts";
import { closePanels, depth, stepBack, top } from "#web/widget/panels.ts";
import { canDraw } from "#web/widget/state.ts";
import { words } from "#web/widget/words.ts";

interface Props {
  title: string;
  /** Its greatest height as a sheet. */
  size?: "half" | "high";
  /** What it shows comes in a moment: a sheet has its whole height already. */
  waits?: boolean;
  /** A button beside the title. */
  action?: ComponentChildren;
  children: ComponentChildren;
}

/**
 * A panel at the side, on phones a sheet at the bottom. It takes the focus, or gives it back to the row that led away
 * from it, and is scrolled as it was left. Escape steps back, a swipe closes a sheet.
 */
export const Panel = ({ title, size = "high", waits = false, action = null, children }: Props) => {
  const heading = useRef<HTMLHeadingElement>(null);
  const sheet = useRef<HTMLElement>(null);
  const head = useRef<HTMLElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const opened = useRef(top.peek());
  const closable = canDraw.value || depth.value > 1;
  // Before anything else can happen: a Tab pressed at once must not be undone by a late focus.
  useLayoutEffect(() => {
    const entry = opened.current;
    const left = entry?.left?.id;
    const row = left === undefined ? null : body.current?.querySelector<HTMLElement>(rowOf(left));
    if (body.current !== null && entry !== null && entry.scrollPx > 0)
      body.current.scrollTop = entry.scrollPx;
    if (row instanceof HTMLElement) row.focus({ preventScroll: true });
    // What the page begins with takes the focus from nobody.
    else if (entry?.resting !== true || document.activeElement !== document.body)
      heading.current?.focus();
    const scrolled = body.current;
    return () => {
      if (entry !== null && scrolled !== null) entry.scrollPx = scrolled.scrollTop;
    };
  }, []);
  useEffect(
    () =>
      closable && head.current !== null && sheet.current !== null
        ? swipeDown(head.current, sheet.current, closePanels)
        : undefined,
    [closable],
  );
  return (
    <section
      class={`panel ${size}${waits ? " waits" : ""}`}
      aria-labelledby="panel-title"
      ref={sheet}
    >
      <header class={`panel-head${closable ? " grip" : ""}`} ref={head}>
        {depth.value > 1 ? (
          <button type="button" class="round" onClick={stepBack} aria-label={words.back}>
            <Icon name="back" />
          </button>
        ) : null}
        <h2 id="panel-title" ref={heading} tabIndex={-1}>
          {title}
        </h2>
        {action}
        {closable ? (
          <button type="button" class="round" onClick={closePanels} aria-label={words.close}>
            <Icon name="close" />
          </button>
        ) : null}
      </header>
      <div class="panel-body" ref={body}>
        {children}
      </div>
    </section>
  );
};

const rowOf = (id: string): string => `[data-id="${CSS.escape(id)}"]`;
