import { useMemo, useRef, useState } from "preact/hooks";
import { Value } from "../../shared/copyable.tsx";
import { Fact, Facts } from "../../shared/facts.tsx";
import { Form, TextField } from "../../shared/form.tsx";
import { formatBytes, plural, shorten } from "../../shared/format.ts";
import { config, hostOf } from "../shared/config.ts";
import { Term } from "../../shared/term.tsx";
import { Explanation } from "../shared/explanation.tsx";
import { RetryButton, Verdict } from "../shared/verdict.tsx";
import { callWorker } from "../shared/callWorker.ts";
import type { Batch, Failure, Progress } from "../worker/messages.ts";
import { useWorkerCall } from "../worker/useWorkerCall.ts";
import { BatchTree, type NodeRef } from "./batchTree.ts";
import { LeafTable } from "./leafTable.tsx";
import { TreeCanvas } from "./treeCanvas.tsx";

type Opened = { batch: Batch; received: number } | { failure: Failure };

interface BatchPageProps {
  root: string;
  /** The user whose record is selected. Empty for no selection. */
  userID: string;
  /** The content of a file that the visitor dropped. Undefined if the page fetches the file from the file host. */
  file: Uint8Array | undefined;
}

/** The page of one batch. The page shows the file's whole tree. */
export function BatchPage({ root, userID, file }: BatchPageProps) {
  const [state, retry] = useWorkerCall(
    async (signal): Promise<Opened> => {
      let received = 0;
      const onProgress = (event: Progress) => {
        if (event.kind === "received") received = Math.max(0, event.at - performance.timeOrigin);
      };
      const source = file === undefined ? { merkleUrl: config.merkleUrl } : { bytes: file };
      const result = await callWorker(
        "basic",
        "openBatch",
        { root, source, keyType: config.keyType },
        { signal, onProgress },
      );
      return "batch" in result ? { batch: result.batch, received } : { failure: result.failure };
    },
    [root, file],
  );
  return (
    <>
      <h1>All keys of a file</h1>
      {state === undefined && (
        <Verdict tone="busy" title="Opening the file …">
          <p>
            Your browser {file === undefined && `fetches it from ${hostOf(config.merkleUrl)} and `}computes its tree.
          </p>
        </Verdict>
      )}
      {state !== undefined && "defect" in state && (
        <Verdict tone="open" title="Not opened">
          <p>This page has a defect: {state.defect}</p>
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
          Your browser computed the <Term of="root" /> <code title={batch.root}>{shorten(batch.root)}</code> again from
          this file’s <Term of="record">records</Term> ({formatBytes(batch.bytes)}). <b>This rests on</b> no server. It
          does not show that the <Term of="contract" /> has this root for anybody. To check this, verify a user.
        </p>
      </Verdict>
      <section class="card" aria-labelledby="tree-title">
        <h2 id="tree-title">The tree</h2>
        <p class="detail">
          A <Term of="Merkle tree" /> of <Term of="hash">hashes</Term>: its <Term of="leaf">leaves</Term> are the hashes
          of the records. Two <Term of="sibling">siblings</Term> make one hash above.
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

/** Maximum number of listed search results. */
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
        label="Find a user or key"
        hint={
          <>
            Part of a user id or <Term of="key id" />, or the first digits of a leaf’s hash
          </>
        }
        error={isMissing ? "No record of this file contains this text." : undefined}
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

/** Shows the selected node and the node's neighbors in the tree as text. */
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
      <Facts>
        <Fact name="Hash" isWide>
          <Value value={tree.hash(selected)} name="the hash" />
        </Fact>
        {level === 0 && (
          <>
            <Fact name="User">
              <Value value={tree.userID(index)} name="the user id" href={`#/verify/${tree.userID(index)}`} />
            </Fact>
            <Fact name="Key id">
              <Value value={tree.keyID(index)} name="the key id" />
            </Fact>
          </>
        )}
      </Facts>
      <div class="buttons">
        {go("Parent", tree.parent(selected))}
        {sibling?.index !== index && go("Sibling", sibling)}
        {go("First child", tree.neighbor(selected, "down"))}
      </div>
    </div>
  );
}
