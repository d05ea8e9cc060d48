import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Value } from "../../shared/code.tsx";
import { Form } from "../../shared/form.tsx";
import { formatBytes, plural, shorten } from "../../shared/text.ts";
import { TextField } from "../../shared/textField.tsx";
import { config, hostOf } from "../config.ts";
import type { Batch, Failure, Progress } from "../messages.ts";
import { Explanation, RetryButton, Verdict } from "../verdict.tsx";
import { Terms } from "../terms.tsx";
import { callWorker } from "../workers.ts";
import { BatchTree, type NodeRef } from "./batchTree.ts";
import { LeafTable } from "./leafTable.tsx";
import { TreeCanvas } from "./treeCanvas.tsx";

type State = { batch: Batch; received: number } | { failure: Failure } | { defect: string } | undefined;

/** The whole tree of a file. */
export function BatchPage({ root, userID }: { root: string; userID: string }) {
  const [state, setState] = useState<State>();
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const set = (state: State) => {
      if (!signal.aborted) setState(state);
    };
    let received = 0;
    const onProgress = (event: Progress) => {
      if (event.kind === "received") received = Math.max(0, event.at - performance.timeOrigin);
    };
    set(undefined);
    callWorker("basic", "openBatch", { root, merkleUrl: config.merkleUrl }, { signal, onProgress }).then(
      (result) => {
        set("batch" in result ? { batch: result.batch, received } : { failure: result.failure });
      },
      (error: unknown) => {
        set({ defect: String(error) });
      },
    );
    return () => {
      controller.abort();
    };
  }, [root, attempt]);

  const retry = () => {
    setAttempt(attempt + 1);
  };
  return (
    <>
      <h1>All keys of a file</h1>
      <Terms />
      {state === undefined && (
        <Verdict tone="busy" title="Opening the file …">
          <p>Your browser fetches it from {hostOf(config.merkleUrl)} and computes its tree.</p>
        </Verdict>
      )}
      {state !== undefined && "defect" in state && (
        <Verdict tone="open" title="Not opened">
          <p>The page could not do its work: {state.defect}</p>
          <RetryButton retry={retry} />
        </Verdict>
      )}
      {state !== undefined && "failure" in state && (
        <Verdict tone={state.failure.name === "VerificationError" ? "bad" : "open"} title="This file cannot be shown">
          <Explanation failure={state.failure} />
          {state.failure.name === "TransportError" && <RetryButton retry={retry} />}
        </Verdict>
      )}
      {state !== undefined && "batch" in state && (
        <OpenBatch key={root} batch={state.batch} received={state.received} userID={userID} />
      )}
    </>
  );
}

function OpenBatch({ batch, received, userID }: { batch: Batch; received: number; userID: string }) {
  const tree = useMemo(() => new BatchTree(batch), [batch]);
  const [selected, setSelected] = useState<NodeRef | undefined>(() => {
    const index = userID === "" ? undefined : tree.indexOf(userID);
    return index === undefined ? undefined : { level: 0, index };
  });
  const measured = useRef(false);
  return (
    <>
      <Verdict tone="neutral" title={`${plural(tree.leafCount, "record")} in ${plural(tree.height, "level")}`}>
        <p>
          Your browser computed the tree of this file ({formatBytes(batch.bytes)}) again: its root is{" "}
          <code>{shorten(batch.root)}</code>. Whether the contract has this root for a user is checked when you verify
          the user.
        </p>
      </Verdict>
      <section class="card" aria-labelledby="tree-title">
        <h2 id="tree-title">The tree</h2>
        <p>
          A <dfn>Merkle tree</dfn> combines the <dfn>hashes</dfn>, short fingerprints, of all records in pairs until one
          is left: the <dfn>root</dfn>, which the contract stores. The hashes of the records are its <dfn>leaves</dfn>.
          The two of a pair are <dfn>siblings</dfn>.
        </p>
        <Search tree={tree} select={setSelected} />
        <TreeCanvas
          tree={tree}
          selected={selected}
          select={setSelected}
          onDrawn={() => {
            if (measured.current) return;
            measured.current = true;
            requestAnimationFrame(() => {
              performance.measure("keyroot: batch drawn", { start: received, end: performance.now() });
            });
          }}
        />
        <Selection tree={tree} selected={selected} select={setSelected} />
      </section>
      <LeafTable tree={tree} />
    </>
  );
}

/** How many results of a search are listed. */
const MAX_RESULTS = 8;

function Search({ tree, select }: { tree: BatchTree; select: (node: NodeRef) => void }) {
  const [text, setText] = useState("");
  const found = tree.search(text, MAX_RESULTS + 1);
  const isMissing = text.trim() !== "" && found.length === 0;
  return (
    <Form
      class="search"
      role="search"
      onSubmit={() => {
        const [index] = found;
        if (index !== undefined) select({ level: 0, index });
      }}
    >
      <TextField
        label="Find a record"
        hint="Part of a user id or key id, or the first digits of a leaf’s hash"
        error={isMissing ? "No record of this file contains that." : undefined}
        type="search"
        value={text}
        onInput={setText}
      />
      <ul class="results">
        {found.slice(0, MAX_RESULTS).map((index) => (
          <li key={index}>
            <button
              type="button"
              class="result"
              onClick={() => {
                select({ level: 0, index });
              }}
            >
              <code>{shorten(tree.userID(index), 12, 6)}</code>
            </button>
          </li>
        ))}
        {found.length > MAX_RESULTS && <li class="detail">and more</li>}
      </ul>
    </Form>
  );
}

interface SelectionProps {
  tree: BatchTree;
  selected: NodeRef | undefined;
  select: (node: NodeRef) => void;
}

/** The selected node as text, with its neighbors in the tree. */
function Selection({ tree, selected, select }: SelectionProps) {
  if (selected === undefined) {
    return (
      <p role="status" class="selection-empty">
        Select a node in the tree, or find a record.
      </p>
    );
  }
  const { level, index } = selected;
  const [from, to] = tree.span(selected);
  const name =
    level === 0 ? `Leaf ${index + 1}` : level === tree.height - 1 ? "The root" : `Node ${index + 1} of level ${level}`;
  const sibling = tree.sibling(selected);
  const go = (label: string, node: NodeRef | undefined) =>
    node && (
      <button
        type="button"
        class="button"
        onClick={() => {
          select(node);
        }}
      >
        {label}
      </button>
    );
  return (
    <div class="selection">
      <div role="status">
        <h3>{name}</h3>
        <p>
          {level === 0
            ? "The hash of one record."
            : `The hash of ${tree.count(level - 1) > 2 * index + 1 ? "its two children" : "its only child, taken twice"}, above ${plural(to - from, "record")}.`}
          {sibling?.index === index && " It is paired with itself."}
        </p>
      </div>
      <dl class="facts">
        <dt>Hash</dt>
        <dd>
          <Value value={tree.hash(selected)} name="the hash" />
        </dd>
        {level === 0 && (
          <>
            <dt>User</dt>
            <dd>
              <a href={`#/verify/${tree.userID(index)}`}>
                <code>{tree.userID(index)}</code>
              </a>
            </dd>
            <dt>Key id</dt>
            <dd>
              <Value value={tree.keyID(index)} name="the key id" />
            </dd>
          </>
        )}
      </dl>
      <div class="buttons">
        {go("Parent", tree.parent(selected))}
        {sibling?.index !== index && go("Sibling", sibling)}
        {go("First child", tree.neighbor(selected, "down"))}
      </div>
    </div>
  );
}
