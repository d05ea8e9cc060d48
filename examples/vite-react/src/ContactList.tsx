import type { ContactOutcome } from "keyroot";
import { useEffect, useState } from "react";
import { Badge } from "./Badge";
import { type Contact, loadContacts, verifyContacts } from "./contacts";

export function ContactList() {
  const [contacts, setContacts] = useState<Contact[]>([]);
  const [outcomes, setOutcomes] = useState<ReadonlyMap<number, ContactOutcome>>(new Map());
  const [failure, setFailure] = useState("");
  const [round, setRound] = useState(0);

  useEffect(() => {
    const ended = new AbortController();
    const check = async () => {
      setOutcomes(new Map());
      setFailure("");
      const loaded = await loadContacts(ended.signal);
      if (ended.signal.aborted) return;
      setContacts(loaded);
      const onOutcome = (outcome: ContactOutcome, index: number) => {
        if (!ended.signal.aborted) setOutcomes((known) => new Map(known).set(index, outcome));
      };
      await verifyContacts(loaded, onOutcome, ended.signal);
    };
    check().catch((error: unknown) => {
      if (!ended.signal.aborted) setFailure(`The contacts could not be checked. ${String(error)}`);
    });
    return () => ended.abort();
  }, [round]);

  return (
    <main>
      <h1>Contacts</h1>
      <progress aria-label="Checked contacts" value={outcomes.size} max={contacts.length || 1} />
      <p role="status">{failure || `${outcomes.size} of ${contacts.length} contacts are checked.`}</p>
      <ul>
        {contacts.map(({ name, userID }, index) => (
          <li key={userID}>
            {name} <Badge outcome={outcomes.get(index)} />
          </li>
        ))}
      </ul>
      <button onClick={() => setRound(round + 1)}>Check again</button>
    </main>
  );
}
