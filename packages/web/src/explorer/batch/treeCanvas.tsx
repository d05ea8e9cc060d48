import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "../../shared/icon.tsx";
import { useMedia } from "../../shared/useMedia.ts";
import type { BatchTree, NodeRef } from "./batchTree.ts";
import { type Colors, drawTree, rowHeight, type Size } from "./drawTree.ts";
import { clampView, type View, viewOf, zoomView } from "./treeView.ts";

interface TreeCanvasProps {
  tree: BatchTree;
  selected: NodeRef | undefined;
  select: (node: NodeRef) => void;
  /** Called when the tree is first visible. */
  onDrawn: () => void;
}

const KEYS: Readonly<Record<string, "left" | "right" | "up" | "down">> = {
  ArrowLeft: "left",
  ArrowRight: "right",
  ArrowUp: "up",
  ArrowDown: "down",
};

const ANIMATION_MS = 220;
const STEP = 1.6;

/** Draws the whole tree on a canvas. Supports zoom, panning and selection by mouse, touch and keyboard. */
export function TreeCanvas({ tree, selected, select, onDrawn }: TreeCanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const help = useId();
  const [size, setSize] = useState<Size>();
  const whole: View = { start: 0, span: tree.leafCount };
  const [view, setView] = useState(whole);
  const calm = useMedia("(prefers-reduced-motion: reduce)");
  const dark = useMedia("(prefers-color-scheme: dark)");
  const animation = useRef(0);
  const pointers = useRef(new Map<number, { x: number; startX: number }>());

  useLayoutEffect(() => {
    const element = canvas.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => {
      setSize({ width: element.clientWidth, height: element.clientHeight });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
    };
  }, []);

  useLayoutEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context || size === undefined) return;
    element.width = size.width * devicePixelRatio;
    element.height = size.height * devicePixelRatio;
    context.scale(devicePixelRatio, devicePixelRatio);
    drawTree(context, tree, view, size, selected, colorsOf(element));
  }, [tree, view, size, selected, dark]);

  const isDrawn = size !== undefined;
  useEffect(() => {
    if (isDrawn) onDrawn();
  }, [isDrawn]);

  const moveTo = (target: View) => {
    cancelAnimationFrame(animation.current);
    if (calm) {
      setView(target);
      return;
    }
    const from = view;
    const start = performance.now();
    const step = (now: number) => {
      const time = Math.min(1, (now - start) / ANIMATION_MS);
      const eased = 1 - (1 - time) ** 3;
      // The zoom looks smooth if each step multiplies the span by the same factor.
      const span = from.span * (target.span / from.span) ** eased;
      const traveled = from.span === target.span ? eased : (from.span - span) / (from.span - target.span);
      setView(time === 1 ? target : { span, start: from.start + (target.start - from.start) * traveled });
      if (time < 1) animation.current = requestAnimationFrame(step);
    };
    animation.current = requestAnimationFrame(step);
  };
  useEffect(() => {
    if (selected) moveTo(viewOf(tree.span(selected), view, tree.leafCount));
  }, [selected]);
  useEffect(
    () => () => {
      cancelAnimationFrame(animation.current);
    },
    [],
  );

  const positionOf = ({ clientX }: { clientX: number }) => {
    const box = canvas.current?.getBoundingClientRect();
    return box ? (clientX - box.left) / box.width : 0;
  };
  useEffect(() => {
    const element = canvas.current;
    // The listener must not be passive. Otherwise, browsers would also scroll the page.
    const zoom = (event: WheelEvent) => {
      const factor = Math.exp(event.deltaY * 0.0015);
      const isWhole = view.span >= tree.leafCount;
      if (isWhole && factor > 1) return;
      event.preventDefault();
      setView(zoomView(view, factor, positionOf(event), tree.leafCount));
    };
    element?.addEventListener("wheel", zoom, { passive: false });
    return () => element?.removeEventListener("wheel", zoom);
  }, [view, tree]);

  const nodeAt = (event: MouseEvent): NodeRef | undefined => {
    const box = canvas.current?.getBoundingClientRect();
    if (!box || !size) return undefined;
    const level = tree.height - 1 - Math.floor((event.clientY - box.top) / rowHeight(tree, size));
    const leaf = view.start + positionOf(event) * view.span;
    if (level < 0 || leaf >= tree.leafCount) return undefined;
    return { level, index: Math.floor(leaf / 2 ** level) };
  };
  const drag = (event: PointerEvent) => {
    const held = pointers.current.get(event.pointerId);
    if (held === undefined) return;
    const x = positionOf(event);
    const [other] = [...pointers.current].filter(([id]) => id !== event.pointerId).map(([, pointer]) => pointer);
    if (other === undefined) {
      setView(clampView({ ...view, start: view.start - (x - held.x) * view.span }, tree.leafCount));
    } else {
      const factor = Math.abs(held.x - other.x) / Math.max(0.01, Math.abs(x - other.x));
      setView(zoomView(view, factor, other.x, tree.leafCount));
    }
    held.x = x;
  };
  const release = (event: PointerEvent) => {
    const held = pointers.current.get(event.pointerId);
    pointers.current.delete(event.pointerId);
    if (held === undefined || event.type !== "pointerup" || Math.abs(held.x - held.startX) > 0.005) return;
    const node = nodeAt(event);
    if (node) select(node);
  };
  const press = (event: KeyboardEvent) => {
    const direction = KEYS[event.key];
    if (direction !== undefined) {
      const root = { level: tree.height - 1, index: 0 };
      const next = selected ? tree.neighbor(selected, direction) : root;
      if (next) select(next);
    } else if (event.key === "+" || event.key === "=") moveTo(zoomView(view, 1 / STEP, 0.5, tree.leafCount));
    else if (event.key === "-") moveTo(zoomView(view, STEP, 0.5, tree.leafCount));
    else if (event.key === "0") moveTo(whole);
    else return;
    event.preventDefault();
  };

  const button = (icon: IconName, label: string, target: () => View) => (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={label}
      onClick={() => {
        moveTo(target());
      }}
    >
      <Icon name={icon} />
    </button>
  );
  return (
    <div class="tree">
      <div class="tree-buttons">
        {button("plus", "Zoom in", () => zoomView(view, 1 / STEP, 0.5, tree.leafCount))}
        {button("minus", "Zoom out", () => zoomView(view, STEP, 0.5, tree.leafCount))}
        {button("fit", "Show the whole tree", () => whole)}
      </div>
      <canvas
        ref={canvas}
        class="tree-canvas"
        tabIndex={0}
        role="application"
        aria-label={`The tree of ${tree.leafCount} records, with ${tree.height} levels`}
        aria-describedby={help}
        data-span={view.span}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          const x = positionOf(event);
          pointers.current.set(event.pointerId, { x, startX: x });
        }}
        onPointerMove={drag}
        onPointerUp={release}
        onPointerCancel={release}
        onKeyDown={press}
      />
      <p class="hint" id={help}>
        Each bar is a node, as wide as the records below it; the root is at the top. Scroll or pinch to zoom, drag to
        move. With the keyboard: arrows go to the next node, + and − zoom, 0 shows the whole tree.
      </p>
    </div>
  );
}

/** The stylesheet's colors. The colors differ in light and dark mode. */
function colorsOf(element: Element): Colors {
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(`--tree-${name}`);
  return {
    node: color("node"),
    dense: color("dense"),
    path: color("path"),
    pathText: color("path-text"),
    side: color("side"),
    text: color("text"),
  };
}
