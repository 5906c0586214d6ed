/** Line drawings on a square of 24, for buttons that have their action in words. */
const paths = {
  search: "M10.5 4a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13zM15.5 15.5L21 21",
  filter: "M3 6h18M6.5 12h11M10 18h4",
  close: "M6 6l12 12M18 6L6 18",
  back: "M15 5l-7 7l7 7",
  list: "M8 6h13M8 12h13M8 18h13M3.5 6h.1M3.5 12h.1M3.5 18h.1",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  locate: "M12 8a4 4 0 1 0 0 8a4 4 0 1 0 0-8zM12 2v3M12 19v3M2 12h3M19 12h3",
  expand: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  shrink: "M9 4v5H4M15 4v5h5M9 20v-5H4M15 20v-5h5",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z",
  sun: "M12 8a4 4 0 1 0 0 8a4 4 0 1 0 0-8zM12 2v2M12 20v2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M2 12h2M20 12h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4",
  clock: "M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18zM12 7v5l3.5 2",
  people:
    "M9 5a3.5 3.5 0 1 0 0 7a3.5 3.5 0 1 0 0-7zM2.5 20c0-3.5 3-5.5 6.5-5.5s6.5 2 6.5 5.5M16 5.5a3.5 3.5 0 0 1 0 6.5M18 14.8c2.2.7 3.5 2.5 3.5 5.2",
  alert: "M12 3.5l9.5 17h-19zM12 10v4.5M12 17.5v.1",
  pin: "M12 21.5s7-6.3 7-12a7 7 0 1 0-14 0c0 5.7 7 12 7 12zM12 7a2.5 2.5 0 1 0 0 5a2.5 2.5 0 1 0 0-5z",
  check: "M5 12.5l4.5 4.5L19 7.5",
  route: "M12 2.5l9.5 9.5l-9.5 9.5L2.5 12zM9 15v-3.5h5.5M12.3 9.3l2.2 2.2l-2.2 2.2",
  share:
    "M18 8a2.5 2.5 0 1 0-2.4-1.8M6 14.5a2.5 2.5 0 1 0 0-5a2.5 2.5 0 1 0 0 5zM18 16a2.5 2.5 0 1 0 0 5a2.5 2.5 0 1 0 0-5zM8.2 10.8l7.4-4.6M8.2 13.2l7.6 4.2",
  more: "M5 11.5a.5.5 0 1 0 0 1a.5.5 0 1 0 0-1zM12 11.5a.5.5 0 1 0 0 1a.5.5 0 1 0 0-1zM19 11.5a.5.5 0 1 0 0 1a.5.5 0 1 0 0-1z",
  bell: "M6 16.5V11a6 6 0 1 1 12 0v5.5l1.5 1.5h-15zM10 20.5a2.2 2.2 0 0 0 4 0",
  language:
    "M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18zM3 12h18M12 3c-6 5.5-6 12.5 0 18c6-5.5 6-12.5 0-18",
  star: "M12 3.2l2.7 5.6l6.1.8l-4.5 4.2l1.1 6.1l-5.4-3l-5.4 3l1.1-6.1l-4.5-4.2l6.1-.8z",
} as const;

export type IconName = keyof typeof paths;

/** A picture beside words that say the same; hidden from readers of the screen. */
export const Icon = ({ name, size = 20 }: { name: IconName; size?: number }) => (
  <svg class="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
    <path d={paths[name]} />
  </svg>
);
