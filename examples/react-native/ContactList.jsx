import { useEffect, useState } from "react";
import { Button, Text, View } from "react-native";
import { describeError } from "keyroot";
import { verifyContacts } from "./keys";

/** The title of a contact's button. A key that was verified earlier shows when. */
function titleOf(name, { cached }) {
  return `✓ ${name}, verified${cached?.offline ? ` on ${new Date(cached.checkedAt).toLocaleString()}` : ""}`;
}

/**
 * Shows why a contact's key is not verified. Only the advice `warn` is an alarm, but the app must never use the key.
 */
function Unverified({ name, error }) {
  const { title, text } = describeError(error);
  return <Text role={error.advice === "warn" ? "alert" : "note"}>{`${name}: ${title}. ${text}`}</Text>;
}

/** Shows the contacts, and marks contacts with a verified key. @param onChoose called with a name and a verified key */
export function ContactList({ onChoose }) {
  const [contacts, setContacts] = useState([]);
  const [status, setStatus] = useState("");
  const load = async () => {
    setStatus("Checking the keys …");
    try {
      const showProgress = (checked, count) => setStatus(`Checking the keys: ${checked} of ${count} …`);
      setContacts(await verifyContacts(showProgress));
      setStatus("");
    } catch (error) {
      setContacts([]);
      setStatus(`The contacts could not be loaded. ${error.message}`);
    }
  };
  useEffect(() => {
    void load();
  }, []);
  return (
    <View>
      <Text role="status">{status}</Text>
      {contacts.map(({ name, outcome }, i) =>
        "verified" in outcome ? (
          <Button key={i} title={titleOf(name, outcome.verified)} onPress={() => onChoose(name, outcome.verified)} />
        ) : (
          <Unverified key={i} name={name} error={outcome.error} />
        ),
      )}
      <Button title="Check again" onPress={load} />
    </View>
  );
}
