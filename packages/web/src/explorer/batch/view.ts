/** The visible part of a tree, in leaves: from `start`, `span` leaves wide. */
export interface View {
  start: number;
  span: number;
}

/** So close, and no closer. */
const MIN_SPAN = 3;

/** Keeps a view within the tree. */
export function clampView({ start, span }: View, leafCount: number): View {
  const width = Math.min(Math.max(span, Math.min(MIN_SPAN, leafCount)), leafCount);
  return { span: width, start: Math.min(Math.max(start, 0), leafCount - width) };
}

/** Zooms by a factor, below 1 for closer, so that the leaf at `anchor` (0 to 1 of the width) stays where it is. */
export function zoomView({ start, span }: View, factor: number, anchor: number, leafCount: number): View {
  const fixed = start + anchor * span;
  const { span: width } = clampView({ start: 0, span: span * factor }, leafCount);
  return clampView({ start: fixed - anchor * width, span: width }, leafCount);
}

/** The nearest view in which leaves are visible, with some room around them. */
export function viewOf([from, to]: readonly [number, number], view: View, leafCount: number): View {
  const isVisible = from >= view.start && to <= view.start + view.span && to - from >= view.span / 200;
  if (isVisible) return view;
  const span = Math.max((to - from) * 1.6, Math.min(view.span, 24));
  return clampView({ start: (from + to - span) / 2, span }, leafCount);
}
