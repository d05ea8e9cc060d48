import { describeError } from "keyroot";
import { shorten } from "../../shared/format.ts";
import { Icon, type IconName } from "../../shared/icon.tsx";
import { sourceNamed } from "../verify/sources.ts";
import type { ContactResult, ContactVerdict, TrustChoice } from "../worker/messages.ts";

const TEXTS: Readonly<Record<ContactVerdict, string>> = {
  waiting: "…",
  same: "Same key",
  different: "Different key",
  published: "Published, nothing to compare",
  absent: "No key is published",
  rejected: "Do not use this key",
  open: "Not verified",
  unreadable: "The row cannot be read",
};

const ICONS: Readonly<Record<ContactVerdict, IconName | undefined>> = {
  waiting: undefined,
  same: "check",
  different: "cross",
  published: "check",
  absent: "warning",
  rejected: "cross",
  open: "warning",
  unreadable: "warning",
};

/** One row for each contact: the verdict, and a link to the page that explains it. */
export function ContactTable({ results, source }: { results: readonly ContactResult[]; source: TrustChoice["name"] }) {
  if (results.length === 0) return null;
  return (
    <table class="contacts">
      <thead>
        <tr>
          <th scope="col">User</th>
          <th scope="col">Verdict</th>
          <th scope="col">Published key id</th>
        </tr>
      </thead>
      <tbody>
        {results.map((result, i) => (
          <ContactRow key={i} result={result} source={source} />
        ))}
      </tbody>
    </table>
  );
}

function ContactRow({ result, source }: { result: ContactResult; source: TrustChoice["name"] }) {
  const { userID, verdict, keyID, failure, problem, evidence } = result;
  const icon = ICONS[verdict];
  const isProven = evidence !== undefined && sourceNamed(evidence.source).strength === "proven";
  return (
    <tr class={`contact contact-${verdict} ${isProven ? "contact-proven" : ""}`} data-contact={verdict}>
      <th scope="row">
        <span class="step-mark">{icon && <Icon name={icon} />}</span>
        {verdict === "unreadable" ? (
          <code>{userID}</code>
        ) : (
          <a href={`#/verify/${userID}/${source}`}>
            <code title={userID}>{shorten(userID, 10, 6)}</code>
          </a>
        )}
      </th>
      <td>
        <b>{TEXTS[verdict]}</b>
        {failure && verdict !== "absent" && (
          <span class="detail">
            {" "}
            {describeError(failure).title} · <code>{failure.code}</code>
          </span>
        )}
        {problem !== undefined && <span class="detail"> {problem}</span>}
      </td>
      <td>{keyID === undefined ? "" : <code>{keyID}</code>}</td>
    </tr>
  );
}
