import { useId } from "preact/hooks";
import { Term } from "../../shared/term.tsx";
import { useMedia } from "../../shared/useMedia.ts";
import { Later } from "./later.tsx";
import { type DrawingProps, type DrawnComparison, type DrawnNode, layOut, NODE_HEIGHT } from "./pathLayout.ts";

const SIGNS: Readonly<Record<DrawnComparison["state"], string>> = { equal: "=", different: "≠", open: "?" };

/** Draws the path from the user's key to the root, beside the contract's root. */
export function PathDrawing(props: DrawingProps) {
  const narrow = useMedia("(max-width: 640px)");
  const title = useId();
  const { width, height, nodeWidth, nodes, edges, comparisons } = layOut(props, narrow);
  return (
    <figure class="drawing">
      <figcaption class="detail">
        A <Term of="leaf" /> is computed from one <Term of="record" />, and each value above from two{" "}
        <Term of="sibling">siblings</Term>.
      </figcaption>
      <svg
        class={narrow ? "path path-narrow" : "path"}
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
        role="img"
        aria-labelledby={title}
      >
        <title id={title}>{summaryOf(nodes, comparisons)}</title>
        <g class="edges">
          {edges.map(({ id, path, kind }) => (
            <path key={id} class={`edge-${kind}`} d={path} />
          ))}
        </g>
        {nodes.map((node) => (
          <Node key={node.id} node={node} width={nodeWidth} />
        ))}
        {comparisons.map(({ id, x, y, state }) => (
          <g key={id} class={`comparison comparison-${state}`} data-comparison={state}>
            <circle cx={x} cy={y} r={narrow ? 9 : 13} />
            <text x={x} y={y} dy="0.36em">
              {SIGNS[state]}
            </text>
          </g>
        ))}
      </svg>
      <details>
        <summary>The drawing as text</summary>
        <Later>
          <PathText nodes={nodes} comparisons={comparisons} />
        </Later>
      </details>
    </figure>
  );
}

function Node({ node, width }: { node: DrawnNode; width: number }) {
  const { id, x, y, caption, text, full, state, isMain } = node;
  const middle = x + width / 2;
  return (
    <g class={`node node-${state} ${isMain ? "node-main" : ""}`} data-node={id} data-state={state}>
      <title>{`${caption}: ${full}`}</title>
      <rect x={x} y={y} width={width} height={NODE_HEIGHT} rx={9} />
      <text class="node-caption" x={middle} y={y + 17}>
        {caption}
      </text>
      <text class="node-text" x={middle} y={y + 35}>
        {text}
      </text>
      {state === "bad" && (
        <g class="node-badge">
          <circle cx={x} cy={y + NODE_HEIGHT / 2} r={9} />
          <path d={`M${x - 3.5} ${y + NODE_HEIGHT / 2 - 3.5}l7 7m0 -7l-7 7`} />
        </g>
      )}
    </g>
  );
}

const STATE_WORDS: Readonly<Record<DrawnNode["state"], string>> = {
  good: "passed",
  bad: "wrong: the verification failed here",
  plain: "",
  ghost: "not reached",
};

/** Describes the drawing as a list from top to bottom, with complete values. */
function PathText({ nodes, comparisons }: { nodes: readonly DrawnNode[]; comparisons: readonly DrawnComparison[] }) {
  const rows = [...nodes].sort((a, b) => a.y - b.y || a.x - b.x);
  const roots = comparisons.find(({ id }) => id === "roots");
  return (
    <>
      <p>{rootSentence(roots?.state ?? "open")}</p>
      <ol class="path-text">
        {rows.map(({ id, caption, full, state }) => (
          <li key={id}>
            {caption}: <code>{full}</code> {STATE_WORDS[state] && <b>({STATE_WORDS[state]})</b>}
          </li>
        ))}
      </ol>
    </>
  );
}

function rootSentence(state: DrawnComparison["state"]): string {
  switch (state) {
    case "equal":
      return "The computed root is the contract’s root.";
    case "different":
      return "The computed root is not the contract’s root.";
    case "open":
      return "The roots have not been compared.";
  }
}

function summaryOf(nodes: readonly DrawnNode[], comparisons: readonly DrawnComparison[]): string {
  const levels = nodes.filter(({ id, state }) => id.startsWith("level-") && state !== "ghost").length;
  const wrong = nodes.filter(({ state }) => state === "bad").map(({ caption }) => caption);
  const path =
    levels > 1
      ? `The path from the user’s key over ${levels} levels of the tree to the root.`
      : "The path from the user’s key to the root.";
  const roots = comparisons.find(({ id }) => id === "roots");
  return [
    path,
    rootSentence(roots?.state ?? "open"),
    ...(wrong.length > 0 ? [`Wrong: ${wrong.join(", ")}.`] : []),
  ].join(" ");
}
