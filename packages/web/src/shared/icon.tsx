/** Line icons of 24 by 24 units. */
const PATHS = {
  check: "M5 12.5l4.5 4.5L19 7.5",
  cross: "M6.5 6.5l11 11M17.5 6.5l-11 11",
  warning: "M12 4L2.8 19.5h18.4L12 4zM12 10v4.5M12 17v.3",
  copy: "M9 9h10v11H9zM5 15V4h10",
  download: "M12 4v11M7 10.5l5 5 5-5M5 20h14",
  search: "M10.5 4.5a6 6 0 1 1 0 12 6 6 0 0 1 0-12zM15 15l5 5",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  fit: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  skip: "M6 12h12",
} as const;

export type IconName = keyof typeof PATHS;

/** A decorative icon. The text beside the icon has the same meaning. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
