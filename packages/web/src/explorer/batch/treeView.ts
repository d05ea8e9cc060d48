/** The visible part of a tree. `start` is the first visible leaf, and `span` is the width in leaves. */
export interface View {
  start: number;
  span: number;
}

/** Minimum width of a view, in leaves. */
const MIN_SPAN = 3;

/** Moves and shrinks a view to fit the tree. */
export function clampView({ start, span }: View, leafCount: number): View {
  const width = Math.min(Math.max(span, Math.min(MIN_SPAN, leafCount)), leafCount);
  return { span: width, start: Math.min(Math.max(start, 0), leafCount - width) };
}

/** Multiplies a view's width by a factor. The leaf at `anchor`, a share of the width from 0 to 1, stays in place. */
export function zoomView({ start, span }: View, factor: number, anchor: number, leafCount: number): View {
  const fixed = start + anchor * span;
  const { span: width } = clampView({ start: 0, span: span * factor }, leafCount);
  return clampView({ start: fixed - anchor * width, span: width }, leafCount);
}

/**
 * Returns a view that shows the leaves from `from` to `to`. If they are already visible and wide enough, it returns the
 * same view.
 */
export function viewOf([from, to]: readonly [number, number], view: View, leafCount: number): View {
  const isVisible = from >= view.start && to <= view.start + view.span && to - from >= view.span / 200;
  if (isVisible) return view;
  const span = Math.max((to - from) * 1.6, Math.min(view.span, 24));
  return clampView({ start: (from + to - span) / 2, span }, leafCount);
}
