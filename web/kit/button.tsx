import type { ComponentChildren } from "preact";

interface Props {
  words?: ComponentChildren;
  /** What it is about, for screen readers: they read the buttons of all rows one after the other. */
  of?: ComponentChildren;
  children?: ComponentChildren;
  onClick: () => unknown;
  class?: string;
  disabled?: boolean | undefined;
  "aria-expanded"?: boolean;
  "aria-pressed"?: boolean;
  "aria-label"?: string;
  "aria-haspopup"?: "dialog";
  "aria-keyshortcuts"?: string;
}

/** A button that sends no form. */
export const Button = ({ words, of, children, onClick, ...rest }: Props) => (
  <button type="button" {...(rest as object)} onClick={() => void onClick()}>
    {words}
    {children}
    {of !== undefined && <span class="unseen"> {of}</span>}
  </button>
);
