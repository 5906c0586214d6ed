const farPx = 72;
const sheets = matchMedia("(max-width: 719.98px)");

/** Lets `head` be dragged down with its `sheet`; far enough, `close` is called. The answer takes that back. */
export function swipeDown(head: HTMLElement, sheet: HTMLElement, close: () => void): () => void {
  let from: number | null = null;
  const downBy = ({ clientY }: PointerEvent): number =>
    from === null ? 0 : Math.max(0, clientY - from);
  const begin = (event: PointerEvent): void => {
    if (!sheets.matches || (event.target as Element).closest("button") !== null) return;
    from = event.clientY;
    head.setPointerCapture(event.pointerId);
  };
  const move = (event: PointerEvent): void => {
    if (from !== null) sheet.style.transform = `translateY(${downBy(event)}px)`;
  };
  const end = (event: PointerEvent): void => {
    const far = event.type === "pointerup" && downBy(event) > farPx;
    from = null;
    sheet.style.transform = "";
    if (far) close();
  };
  const heard = [
    ["pointerdown", begin],
    ["pointermove", move],
    ["pointerup", end],
    ["pointercancel", end],
  ] as const;
  for (const [name, hear] of heard) head.addEventListener(name, hear);
  return () => {
    for (const [name, hear] of heard) head.removeEventListener(name, hear);
  };
}
