import { useState } from "preact/hooks";
import { formatCount } from "../../shared/format.ts";
import { Term } from "../../shared/term.tsx";
import type { BatchTree } from "./batchTree.ts";

const ROWS = 25;

/** A text table of all records in a file, page by page, with the size of each level. */
export function LeafTable({ tree }: { tree: BatchTree }) {
  const [page, setPage] = useState(0);
  const pages = Math.ceil(tree.leafCount / ROWS);
  const first = page * ROWS;
  const indexes = Array.from({ length: Math.min(ROWS, tree.leafCount - first) }, (_, i) => first + i);
  const levels = Array.from({ length: tree.height }, (_, i) => tree.height - 1 - i);
  const button = (label: string, target: number, isPossible: boolean) => (
    <button
      type="button"
      class="button"
      disabled={!isPossible}
      onClick={() => {
        setPage(target);
      }}
    >
      {label}
    </button>
  );
  return (
    <details class="card more">
      <summary>
        <h2>The same as text</h2>
      </summary>
      <div class="more-content">
        <details>
          <summary>Nodes of each level</summary>
          <ul class="levels">
            {levels.map((level) => (
              <li key={level}>
                Level {level}: {formatCount(tree.count(level))}
                {level === 0 ? " leaves" : level === tree.height - 1 ? ", the root" : ""}
              </li>
            ))}
          </ul>
        </details>
        <div class="table" tabIndex={0} role="region" aria-label="Records">
          <table>
            <thead>
              <tr>
                <th scope="col">Record</th>
                <th scope="col">User</th>
                <th scope="col">
                  <Term of="key id">Key id</Term>
                </th>
                <th scope="col">Leaf</th>
              </tr>
            </thead>
            <tbody>
              {indexes.map((index) => (
                <tr key={index}>
                  <td>{formatCount(index + 1)}</td>
                  <td>
                    <a href={`#/verify/${tree.userID(index)}`}>
                      <code>{tree.userID(index)}</code>
                    </a>
                  </td>
                  <td>
                    <code>{tree.keyID(index)}</code>
                  </td>
                  <td>
                    <code>{tree.hash({ level: 0, index })}</code>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        {pages > 1 && (
          <div class="buttons">
            {button("Previous", page - 1, page > 0)}
            {button("Next", page + 1, page < pages - 1)}
            <p role="status" class="page-number">
              Page {formatCount(page + 1)} of {formatCount(pages)}
            </p>
          </div>
        )}
      </div>
    </details>
  );
}
